/* Is BLAS slower than it need be? OpenBLAS chooses its kernels by the model of
 * the processor and takes its oldest for one that is newer than itself.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "app.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)

/* Only OpenBLAS has it; NULL with another BLAS. */
extern char *openblas_get_corename(void) __attribute__((weak));

/* Kernels from before AVX. */
static bool is_old(const char *core)
{
    static const char *const old[] = {
        "Generic", "Unknown", "Katmai",    "Coppermine", "Northwood", "Banias",
        "Atom",    "Core2",   "Penryn",    "Dunnington", "Nehalem",   "Athlon",
        "Opteron", "Bobcat",  "Barcelona", "Prescott",
    };
    for (size_t i = 0; i < sizeof(old) / sizeof(old[0]); i++)
        if (strncmp(core, old[i], strlen(old[i])) == 0)
            return true;
    return false;
}

void app_blas_note(const char *app)
{
    const char *core = openblas_get_corename ? openblas_get_corename() : NULL;
    if (!core || !is_old(core) || !__builtin_cpu_supports("avx2"))
        return;
    bool wide = __builtin_cpu_supports("avx512f") &&
                __builtin_cpu_supports("avx512dq") &&
                __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512vl");
    fprintf(stderr,
            "%s: OpenBLAS uses its %s kernels on this processor; "
            "OPENBLAS_CORETYPE=%s makes fits several times faster\n",
            app, core, wide ? "SkylakeX" : "Haswell");
}

#else

void app_blas_note(const char *app)
{
    (void)app;
}

#endif
