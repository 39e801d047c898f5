/* All of covar in one include, and its version.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COVAR_H
#define COVAR_H

#include <covar/base.h>
#include <covar/status.h>
#include <covar/context.h>
#include <covar/rng.h>
#include <covar/linalg.h>
#include <covar/autodiff.h>
#include <covar/op.h>
#include <covar/optim.h>
#include <covar/gp.h>
#include <covar/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of these headers. */
#define COVAR_VERSION_MAJOR 0
#define COVAR_VERSION_MINOR 1
#define COVAR_VERSION_PATCH 0
#define COVAR_VERSION "0.1.0"

/* Version of the library that is running, e.g. "0.1.0". Thread-safe. */
COVAR_API const char *covar_version(void);

#ifdef __cplusplus
}
#endif

#endif
