# What the library exports, calls and keeps:
# only names with our prefixes, no forbidden function, no mutable global.
# SPDX-License-Identifier: GPL-3.0-or-later
. "${top_srcdir:-.}/tests/tap.sh"
: "${NM:=nm}"
shared=$top_builddir/.libs/libcovar.so
core=$top_builddir/.libs/libcovar_core.a
[ -f "$core" ] || core=$top_builddir/libcovar_core.a
if [ ! -f "$core" ]; then core=$(find "$top_builddir" -name libcovar_core.a |
    head -n 1); fi
prefixes='covar|la|ad|gp|blr|kalman|dnn|rnn|dataset'
# What sanitizers and the linker add of their own.
foreign='__odr_asan|_init$|_fini$|_edata$|_end$|__bss_start'

if [ -f "$shared" ]; then
    $NM -D --defined-only "$shared" |
        $AWK '$2 ~ /[A-Z]/ || $2 == "i" || $2 == "u" { print $3 }' |
        sed 's/@.*//' > "$scratch/exported"
    grep -Ev "^(($prefixes)_|$foreign)" "$scratch/exported" > "$scratch/bad"
    [ -s "$scratch/exported" ] || echo "nothing exported" >> "$scratch/bad"
    check "exported names have our prefixes" "$scratch/bad"
else
    skip "exported names have our prefixes" "no shared library"
fi

# Fortran BLAS only: another library may take over the cblas names. The
# library never prints, exits or reads the environment.
forbidden='cblas_[a-z0-9_]*|openblas_set_num_threads|getenv|secure_getenv'
forbidden="$forbidden|setenv|putenv|printf|vprintf|puts|putchar|perror"
forbidden="$forbidden|__printf_chk|__vprintf_chk|stdout|stderr|exit|_exit"
forbidden="$forbidden|abort|rand|srand|random|drand48|strtok|setlocale"
forbidden="$forbidden|signal|sigaction"
$NM -A -u "$core" | grep -E " U ($forbidden)$" > "$scratch/bad"
check "no forbidden function is called" "$scratch/bad"

$NM -A --defined-only --format=sysv "$core" | $AWK -F'|' '
    { section = $NF; gsub(/[ \t]/, "", section) }
    section ~ /^\.data\.rel\.ro/ { next }
    section ~ /^(\.data|\.bss|\.tdata|\.tbss|\.ldata|\.lbss|COM|\*COM\*)/ {
        print $1 " in " section
    }' | grep -Ev "$foreign" > "$scratch/bad"
check "no mutable globals" "$scratch/bad"
finish
