/* Hand-fused chains, once per instruction set.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "bench_elementwise.h"
#include "linalg/map_isa.h"

#define REAL_BODY "linalg/map_vec.inc"
#include "linalg/each_real.h"

#define REAL_BODY "linalg/map_pair.inc"
#include "linalg/each_real.h"

#include "linalg/map_exp.inc"
#include "linalg/map_hyperbolic.inc"
#include "linalg/map_erf.inc"
#include "linalg/map_brief.inc"
#include "linalg/map_f32.inc"

#define REAL_BODY "../bench/elementwise_fused.inc"
#include "linalg/each_real.h"
