/* GSL vectors and matrices as views, without a copy.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     gsl_matrix *X = ...; gsl_vector *y = ...;
 *     gp_fit(&m, ctx, la_from_gsl_matrix(X), la_from_gsl_vector(y), NULL,
 *            NULL);
 *
 * A view is valid as long as the GSL object; of NULL it is la_view_none().
 * These are inline functions, so that the library itself does not ask for
 * GSL's headers. */
#ifndef COVAR_GSL_H
#define COVAR_GSL_H

#include <covar/linalg.h>
#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>

#ifdef __cplusplus
extern "C" {
#endif

/* (n), f64, with the vector's stride. */
static inline la_view la_from_gsl_vector(const gsl_vector *v)
{
    if (!v)
        return la_view_none();
    size_t dim[1] = { v->size };
    ptrdiff_t stride[1] = { (ptrdiff_t)v->stride };
    return la_view_strided(v->data, LA_F64, 1, dim, stride);
}

/* (size1, size2), f64, rows tda apart. */
static inline la_view la_from_gsl_matrix(const gsl_matrix *m)
{
    if (!m)
        return la_view_none();
    size_t dim[2] = { m->size1, m->size2 };
    ptrdiff_t stride[2] = { (ptrdiff_t)m->tda, 1 };
    return la_view_strided(m->data, LA_F64, 2, dim, stride);
}

/* The same in single precision. */
static inline la_view la_from_gsl_vector_float(const gsl_vector_float *v)
{
    if (!v)
        return la_view_none();
    size_t dim[1] = { v->size };
    ptrdiff_t stride[1] = { (ptrdiff_t)v->stride };
    return la_view_strided(v->data, LA_F32, 1, dim, stride);
}

static inline la_view la_from_gsl_matrix_float(const gsl_matrix_float *m)
{
    if (!m)
        return la_view_none();
    size_t dim[2] = { m->size1, m->size2 };
    ptrdiff_t stride[2] = { (ptrdiff_t)m->tda, 1 };
    return la_view_strided(m->data, LA_F32, 2, dim, stride);
}

#ifdef __cplusplus
}
#endif

#endif
