/* All row functions of one instruction set, for f64 and f32.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

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

#define REAL_BODY "linalg/map_funcs.inc"
#include "linalg/each_real.h"

#define REAL_BODY "linalg/map_each.inc"
#include "linalg/each_real.h"

#define REAL_BODY "linalg/map_rows.inc"
#include "linalg/each_real.h"

#define REAL_BODY "linalg/map_divide.inc"
#include "linalg/each_real.h"

#define REAL_BODY "linalg/map_super.inc"
#include "linalg/each_real.h"

#define REAL_BODY "linalg/map_reduce.inc"
#include "linalg/each_real.h"
