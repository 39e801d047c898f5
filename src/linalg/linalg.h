/* Arrays, views and the dense kernels that everything in covar runs on.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     double a[4] = {4, 2, 2, 3};
 *     int32_t info;
 *     la_exec exec = la_exec_cpu(ctx);
 *     COVAR_TRY(la_potrf(&exec, la_mat_f64(a, 2, 2), &info));
 *
 * Conventions, unless a function says otherwise:
 *   - row-major; a matrix is the last two dims of a view, every dim before
 *     them counts a batch; dims of operands must match, nothing broadcasts;
 *   - matrices have unit last stride and a row stride >= columns; batch
 *     strides are free (0 repeats an input matrix);
 *   - elements are f64 or f32, equal for all operands;
 *   - outputs must not overlap inputs; "in place" is said where it holds;
 *   - a NULL exec, or one without a context, is COVAR_ERR_ARG;
 *   - sizes may be 0; a wrong shape, dtype or stride is COVAR_ERR_SHAPE or
 *     COVAR_ERR_DTYPE with both operands in the sentence, nothing touched;
 *   - f32 sums, log-determinants and distances accumulate in double;
 *   - no function allocates unless it says so; workspace comes in through
 *     `work` (64-byte aligned, at least `..._work_size` bytes);
 *   - any number of threads may call with different contexts. Own kernels
 *     give the same bits for any thread count; BLAS-based ones for an equal
 *     one. */
#ifndef COVAR_LINALG_H
#define COVAR_LINALG_H

#include <covar/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types -------------------------------------------------------------- */

typedef enum la_dtype { LA_F64 = 0, LA_F32, LA_I32, LA_U8 } la_dtype;

enum { LA_MAX_DIMS = 6 };

typedef struct la_device la_device; /* a table of kernels; see linalg_impl.h */
typedef struct la_array la_array;   /* counted owner of elements */

/* Elements that somebody else owns. Strides count elements, may be 0 (the
 * element repeats) or negative. device NULL = host memory. */
typedef struct la_view {
    void            *data;
    const la_device *device;
    la_dtype         dtype;
    int              rank;
    size_t           dim[LA_MAX_DIMS];
    ptrdiff_t        stride[LA_MAX_DIMS];
} la_view;

/* Where and how a kernel runs: first argument of every one below. */
typedef struct la_exec {
    covar_context   *ctx;     /* for the error sentence, ISA and heap */
    const la_device *device;  /* NULL = CPU */
    void            *stream;  /* of the device; NULL on the CPU */
    int              threads; /* upper limit, >= 1 */
} la_exec;

/* The CPU with the context's thread count. */
COVAR_API la_exec la_exec_cpu(covar_context *ctx);

COVAR_API size_t      la_dtype_size(la_dtype dtype); /* 0: unknown */
COVAR_API const char *la_dtype_name(la_dtype dtype); /* "f64", "unknown" */
COVAR_API bool        la_dtype_is_real(la_dtype dtype);

/* ---- Views: by value, never owning -------------------------------------- */

/* Dense views of user memory. They take pointers to const data because inputs
 * are the common case: a kernel writes only to what it documents as output. */
COVAR_API la_view la_scalar_f64(const double *p);
COVAR_API la_view la_vec_f64(const double *p, size_t n);
COVAR_API la_view la_mat_f64(const double *p, size_t rows, size_t cols);
COVAR_API la_view la_scalar_f32(const float *p);
COVAR_API la_view la_vec_f32(const float *p, size_t n);
COVAR_API la_view la_mat_f32(const float *p, size_t rows, size_t cols);
COVAR_API la_view la_vec_i32(const int32_t *p, size_t n);
COVAR_API la_view la_vec_u8(const uint8_t *p, size_t n);

/* General dense row-major view; `dim` holds `rank` sizes (rank <= 6). It and
 * the next give la_view_none() for an unknown dtype, a rank out of range or
 * sizes that are NULL. */
COVAR_API la_view la_view_dense(const void *p, la_dtype dtype, int rank,
                                const size_t *dim);

/* Any strides, in elements. */
COVAR_API la_view la_view_strided(const void *p, la_dtype dtype, int rank,
                                  const size_t *dim, const ptrdiff_t *stride);

/* No data: rank 0, NULL pointer. */
COVAR_API la_view la_view_none(void);
COVAR_API bool    la_view_is_none(la_view x);

/* Are dtype and rank in range, and is there data where there are elements? */
COVAR_API bool    la_view_is_valid(la_view x);

/* Number of elements; SIZE_MAX when it does not fit, 0 for a bad rank. */
COVAR_API size_t  la_view_count(la_view x);
COVAR_API bool    la_view_is_dense(la_view x);
COVAR_API bool    la_view_same_dims(la_view a, la_view b);

/* Parts of a view; la_view_none() when the axis or range is not in it. */
COVAR_API la_view la_view_transpose(la_view x); /* swaps the last two dims */
COVAR_API la_view la_view_slice(la_view x, int axis, size_t start,
                                size_t length);
COVAR_API la_view la_view_row(la_view x, size_t i); /* drops the first dim */
COVAR_API la_view la_view_diag(la_view x); /* of the last two dims, writable */

/* Inserts a dim of 1 before `axis` (axis = rank appends). */
COVAR_API la_view la_view_expand(la_view x, int axis);

/* Repeats dims of 1 (stride 0) up to `dim`; equal rank, or rank 0 to any.
 * False when a dim is neither equal nor 1. */
COVAR_API bool la_view_broadcast(la_view *out, la_view x, int rank,
                                 const size_t *dim);

/* Do the byte ranges of the two views overlap? */
COVAR_API bool la_view_overlap(la_view a, la_view b);

/* "f64 500x3" into buf; returns buf. For error sentences. */
COVAR_API const char *la_view_describe(char *buf, size_t size, la_view x);

/* Element as double (host only; indices in a dense index of the dims). NaN,
 * and nothing set, where there is no such element; nor is a value that an
 * integer cannot hold. */
COVAR_API double la_view_get(la_view x, size_t i);
COVAR_API void   la_view_set(la_view x, size_t i, double value);

/* ---- Arrays: counted owners --------------------------------------------- */

/* Dense array, elements zero. `*out` is NULL on failure. Errors: ARG (rank or
 * an overflow of the byte count), NOMEM. */
COVAR_API COVAR_MUST_CHECK covar_status
la_array_create(la_array **out, const la_exec *exec, la_dtype dtype, int rank,
                const size_t *dim);

/* The same with the elements of `x` (any strides). */
COVAR_API COVAR_MUST_CHECK covar_status
la_array_from_view(la_array **out, const la_exec *exec, la_view x);

/* Shares ownership (atomic count); NULL gives NULL. */
COVAR_API la_array *la_array_retain(la_array *a);

/* Gives up one share. Accepts NULL. */
COVAR_API void la_array_free(la_array *a);

COVAR_API la_view la_array_view(const la_array *a); /* none for NULL */

/* ---- Elementwise maps --------------------------------------------------- */

/* X(ROW, "name", arity): the rows of the map table. Comparisons give 0 or 1;
 * `where` takes its second operand where the first is not 0. Accuracy: <= 2
 * ulp against long double over the whole domain (sin, cos, tan: |x| <= 1e9);
 * NaN, infinities, signed zeros and denormals as in C's Annex F. f(x) depends
 * on x alone, not on its place in the array. */
#define LA_MAP_LIST(X)                                                        \
    X(LA_COPY, "copy", 1)                                                     \
    X(LA_NEG, "neg", 1)                                                       \
    X(LA_ABS, "abs", 1)                                                       \
    X(LA_SIGN, "sign", 1)                                                     \
    X(LA_FLOOR, "floor", 1)                                                   \
    X(LA_CEIL, "ceil", 1)                                                     \
    X(LA_ROUND, "round", 1)                                                   \
    X(LA_SQUARE, "square", 1)                                                 \
    X(LA_RECIP, "recip", 1)                                                   \
    X(LA_SQRT, "sqrt", 1)                                                     \
    X(LA_EXP, "exp", 1)                                                       \
    X(LA_EXPM1, "expm1", 1)                                                   \
    X(LA_LOG, "log", 1)                                                       \
    X(LA_LOG1P, "log1p", 1)                                                   \
    X(LA_LOG1MEXP, "log1mexp", 1) /* log(1 - exp(x)), x < 0 */                \
    X(LA_SIN, "sin", 1)                                                       \
    X(LA_COS, "cos", 1)                                                       \
    X(LA_TAN, "tan", 1)                                                       \
    X(LA_ATAN, "atan", 1)                                                     \
    X(LA_SINH, "sinh", 1)                                                     \
    X(LA_COSH, "cosh", 1)                                                     \
    X(LA_TANH, "tanh", 1)                                                     \
    X(LA_SIGMOID, "sigmoid", 1)                                               \
    X(LA_SOFTPLUS, "softplus", 1)                                             \
    X(LA_SOFTPLUS_INV, "softplus_inv", 1) /* log(expm1(x)), x > 0 */          \
    X(LA_LOG_SIGMOID, "log_sigmoid", 1)                                       \
    X(LA_ERF, "erf", 1)                                                       \
    X(LA_ERFC, "erfc", 1)                                                     \
    X(LA_LOG_ERFC, "log_erfc", 1)                                             \
    X(LA_NDTR, "ndtr", 1)         /* Phi, the normal distribution function */ \
    X(LA_LOG_NDTR, "log_ndtr", 1) /* log Phi */                               \
    X(LA_IS_FINITE, "is_finite", 1)                                           \
    X(LA_NOT, "not", 1)                                                       \
    X(LA_ADD, "add", 2)                                                       \
    X(LA_SUB, "sub", 2)                                                       \
    X(LA_MUL, "mul", 2)                                                       \
    X(LA_DIV, "div", 2)                                                       \
    X(LA_POW, "pow", 2)                                                       \
    X(LA_MIN, "min", 2) /* NaN if either is */                                \
    X(LA_MAX, "max", 2)                                                       \
    X(LA_EQ, "eq", 2)                                                         \
    X(LA_NE, "ne", 2)                                                         \
    X(LA_LT, "lt", 2)                                                         \
    X(LA_LE, "le", 2)                                                         \
    X(LA_WHERE, "where", 3)                                                   \
    X(LA_FMA, "fma", 3) /* a b + c, rounded once or twice by ISA */

#define LA_MAP_CODE(row, name, arity) row,
typedef enum la_map_row { LA_MAP_LIST(LA_MAP_CODE) LA_MAP_COUNT } la_map_row;
#undef LA_MAP_CODE

COVAR_API const char *la_map_name(la_map_row row);
COVAR_API int         la_map_arity(la_map_row row);

/* Axes to reduce are a bit mask: bit k = axis k. */
typedef enum la_reduce_kind {
    LA_REDUCE_NONE = 0, /* only in la_map_result: store every element */
    LA_REDUCE_SUM,
    LA_REDUCE_MAX,
    LA_REDUCE_MIN
} la_reduce_kind;

/* One step of a fused elementwise program: out = row(in[0], in[1], in[2]).
 * Registers number first the inputs, then the constants, then temporaries. */
typedef struct la_map_step {
    uint16_t row;
    uint16_t out;
    uint16_t in[3];
} la_map_step;

/* One result: a register, stored or reduced over `axes`. */
typedef struct la_map_result {
    uint16_t       reg;
    la_reduce_kind reduce;
    unsigned       axes;
} la_map_result;

/* A fused elementwise program in f32 or f64. The arrays are borrowed. */
typedef struct la_map_code {
    la_dtype             dtype;
    int                  n_in, n_const, n_step, n_result;
    int                  n_reg; /* inputs + constants + temporaries */
    const double        *constants;
    const la_map_step   *steps;
    const la_map_result *results;
    /* The index space is (n,n) and each result, stored or summed over both
     * dims, is the same with the two swapped: then the elements below the
     * diagonal may stand for those above it. */
    bool symmetric;
} la_map_code;

enum { LA_MAP_MAX_REG = 64, LA_MAP_MAX_RESULT = 16 };

/* Can superinstructions be formed? Rewrites `steps` in place into a shorter
 * equal program (the table of pairs is private to the interpreter) and returns
 * the new number of steps. Optional: la_map_run accepts both forms. */
COVAR_API int la_map_optimise(la_map_step *steps, int n_step,
                              const la_map_code *code);

/* Runs `code` over the index space dim[rank] in blocks that stay in cache.
 * in[n_in]: views that broadcast to dim (any strides). out[n_result]: stored
 * results have exactly dim; reduced ones have dim with the reduced axes
 * dropped. A stored output may be the same view as an input (in place).
 * Reductions run in a fixed order whatever the thread count; a sum over
 * nothing is 0, max -inf, min +inf; NaN propagates. `work` may be NULL where
 * the reduced results have at most 1024 elements together. Symmetric programs
 * compute about half of the elements where that pays. */
COVAR_API COVAR_MUST_CHECK covar_status
la_map_run(const la_exec *exec, const la_map_code *code, int rank,
           const size_t *dim, const la_view *in, const la_view *out,
           void *work);
COVAR_API size_t la_map_work_size(const la_map_code *code, int rank,
                                  const size_t *dim, int threads);

/* A program bound to sizes and strides, for calls that come again: checked and
 * planned once, where arrays are small at a tenth of the cost of la_map_run.
 * The caller gives la_map_bound_size bytes, aligned to 8; exec and code are
 * borrowed. A run may have other data pointers than the views that were bound,
 * as long as the same pairs of arrays overlap. Shapes, errors and bits are
 * those of la_map_run (la_map_bind checks, la_map_run_bound only for NULL);
 * neither allocates. One thread at a time may run a bound program. */
typedef struct la_map_bound la_map_bound;
COVAR_API size_t la_map_bound_size(const la_map_code *code);
COVAR_API COVAR_MUST_CHECK covar_status
la_map_bind(la_map_bound *b, const la_exec *exec, const la_map_code *code,
            int rank, const size_t *dim, const la_view *in, const la_view *out);
COVAR_API COVAR_MUST_CHECK covar_status
la_map_run_bound(la_map_bound *b, const la_view *in, const la_view *out,
                 void *work);

/* One row as a program: out = row(in...), broadcast; in place allowed. */
COVAR_API COVAR_MUST_CHECK covar_status la_map(const la_exec *exec,
                                               la_map_row row, la_view out,
                                               const la_view *in);

/* out = x with conversion of dtype (float to integer truncates toward zero;
 * NaN or out of range is COVAR_ERR_NUMERIC); x broadcasts; any strides. */
COVAR_API COVAR_MUST_CHECK covar_status la_copy(const la_exec *exec,
                                                la_view out, la_view x);
COVAR_API COVAR_MUST_CHECK covar_status la_fill(const la_exec *exec,
                                                la_view out, double value);

/* out = reduction of x over `axes`, which are dropped; any strides. */
COVAR_API COVAR_MUST_CHECK covar_status la_reduce(const la_exec *exec,
                                                  la_reduce_kind kind,
                                                  la_view out, la_view x,
                                                  unsigned axes);

/* Is every element finite? If not, *first is the dense index of the first
 * that is not (may be NULL). Any strides; integers are finite; a view that is
 * not valid is not, at 0. */
COVAR_API bool la_all_finite(la_view x, size_t *first);

/* ---- Products ----------------------------------------------------------- */

typedef enum la_trans { LA_NO_TRANS = 0, LA_TRANS } la_trans;
typedef enum la_side { LA_LEFT = 0, LA_RIGHT } la_side;
typedef enum la_uplo { LA_LOWER = 0, LA_UPPER } la_uplo;
typedef enum la_diag { LA_NON_UNIT = 0, LA_UNIT } la_diag;

/* C = alpha op(A) op(B) + beta C; op(A) (n,k), op(B) (k,m), C (n,m). With
 * beta = 0 C is not read. 2 n k m flops. */
COVAR_API COVAR_MUST_CHECK covar_status
la_gemm(const la_exec *exec, double alpha, la_trans ta, la_view A,
        la_trans tb, la_view B, double beta, la_view C);

/* C = alpha A A' + beta C (LA_NO_TRANS, A (n,k)) or alpha A'A + beta C, the
 * full symmetric result; of C the lower triangle is read. n^2 k flops. */
COVAR_API COVAR_MUST_CHECK covar_status la_syrk(const la_exec *exec,
                                                double alpha, la_trans trans,
                                                la_view A, double beta,
                                                la_view C);

/* In place: B = alpha op(T) B (LA_LEFT) or alpha B op(T); T triangular, its
 * other triangle is not read. */
COVAR_API COVAR_MUST_CHECK covar_status
la_trmm(const la_exec *exec, la_side side, la_uplo uplo, la_trans trans,
        la_diag diag, double alpha, la_view T, la_view B);

/* In place: B = alpha op(T)^-1 B (LA_LEFT) or alpha B op(T)^-1. alpha = 0
 * gives zeros. A zero on the diagonal gives infinities, as in BLAS. */
COVAR_API COVAR_MUST_CHECK covar_status
la_trsm(const la_exec *exec, la_side side, la_uplo uplo, la_trans trans,
        la_diag diag, double alpha, la_view T, la_view B);

/* ---- Factorisations ----------------------------------------------------- */

/* `info` holds one word per batch element: 0 fine, k > 0 failed. A failed
 * element is filled with NaN, the others are finished, the status is OK: the
 * caller decides. info must not be NULL. */

/* In place: lower L with L L' = A; reads the lower triangle of A, zeroes the
 * strict upper one. info k = leading minor of order k is not positive.
 * n^3/3 flops. */
COVAR_API COVAR_MUST_CHECK covar_status la_potrf(const la_exec *exec, la_view A,
                                                 int32_t *info);

/* In place: L becomes (L L')^-1, full symmetric; reads the lower triangle.
 * info k = L_kk is 0 or NaN. 2 n^3/3 flops, no workspace. */
COVAR_API COVAR_MUST_CHECK covar_status la_potri(const la_exec *exec, la_view L,
                                                 int32_t *info);

/* Reverse mode of the Cholesky factorisation, in place over L_bar (lower
 * triangle read): A_bar = 1/2 L^-T sym(L' L_bar) L^-1, full symmetric.
 * Blocked, 2 n^3/3 flops. Source: Murray, arXiv 1602.07527. */
COVAR_API COVAR_MUST_CHECK covar_status la_chol_rev(const la_exec *exec,
                                                    la_view L, la_view L_bar);

/* Symmetric eigenproblem U A = diag(lambda) U, in place: A (lower triangle
 * read) becomes U, rows are eigenvectors, lambda ascending. Sign: the entry of
 * largest magnitude of each row is positive, the lowest index breaks ties.
 * info > 0: no convergence, or (n + 1) an element that is not finite. About
 * 9 n^3 flops. */
COVAR_API COVAR_MUST_CHECK covar_status la_syevd(const la_exec *exec, la_view A,
                                                 la_view lambda, void *work,
                                                 int32_t *info);
COVAR_API size_t la_syevd_work_size(la_dtype dtype, size_t n);

/* 1-norm condition estimate of A = L L' from its factor and |A|_1 (dpocon):
 * *rcond in [0, 1]. One matrix, f64 or f32. Allocates O(n). */
COVAR_API COVAR_MUST_CHECK covar_status la_rcond_chol(const la_exec *exec,
                                                      la_view L, double norm1,
                                                      double *rcond);

/* ---- Triangles and diagonals -------------------------------------------- */

typedef enum la_tri_kind {
    LA_TRIL,     /* lower triangle, diagonal included */
    LA_TRIU,     /* upper triangle, diagonal included */
    LA_TRI_PHI,  /* strict lower triangle plus half the diagonal */
    LA_TRI_SYM,  /* lower triangle mirrored up */
    LA_TRI_MEAN  /* (x + x') / 2 */
} la_tri_kind;

/* out = the named part of x (n,n), zero elsewhere; may be in place. */
COVAR_API COVAR_MUST_CHECK covar_status la_tri(const la_exec *exec,
                                               la_tri_kind kind, la_view out,
                                               la_view x);

/* out (n) = 2-D diagonal k of x: k > 0 above the main one. */
COVAR_API COVAR_MUST_CHECK covar_status la_extract_diag(const la_exec *exec,
                                                        ptrdiff_t k,
                                                        la_view out, la_view x);

/* out = zeros with x on diagonal k. */
COVAR_API COVAR_MUST_CHECK covar_status la_make_diag(const la_exec *exec,
                                                     ptrdiff_t k, la_view out,
                                                     la_view x);

/* In place: A's main diagonal += v (n), or a batch of scalars if v has one dim
 * less. */
COVAR_API COVAR_MUST_CHECK covar_status la_add_diag(const la_exec *exec,
                                                    la_view A, la_view v);

/* out = lower triangle of x (n,n) packed by rows (n(n+1)/2), and back with
 * zeros above. */
COVAR_API COVAR_MUST_CHECK covar_status la_extract_trian(const la_exec *exec,
                                                         la_view out,
                                                         la_view x);
COVAR_API COVAR_MUST_CHECK covar_status la_make_trian(const la_exec *exec,
                                                      la_view out, la_view x);

/* out (batch) = sum_i log L_ii. */
COVAR_API COVAR_MUST_CHECK covar_status la_sum_log_diag(const la_exec *exec,
                                                        la_view out, la_view L);

/* ---- Distances, rows, random numbers ------------------------------------ */

/* out_ij = |x_i - z_j|^2; X (n,d), Z (m,d), out (n,m). Z = la_view_none()
 * means Z = X: exactly symmetric, exactly zero on the diagonal. Inputs with a
 * large common offset lose nothing: direct differences for d <= 16, else
 * centred blocks through gemm. 2 n m d flops. */
COVAR_API COVAR_MUST_CHECK covar_status la_sqdist(const la_exec *exec,
                                                  la_view out, la_view X,
                                                  la_view Z, void *work);
COVAR_API size_t la_sqdist_work_size(la_view X, la_view Z);

/* out[i] = x[index[i]] along the first dim; index i32 (k). An index outside
 * 0..dim-1 is COVAR_ERR_ARG with its place. */
COVAR_API COVAR_MUST_CHECK covar_status la_gather(const la_exec *exec,
                                                  la_view out, la_view x,
                                                  la_view index);

/* In place: out[index[i]] += x[i], in the order of i. */
COVAR_API COVAR_MUST_CHECK covar_status la_scatter_add(const la_exec *exec,
                                                       la_view out, la_view x,
                                                       la_view index);

typedef enum la_random_kind { LA_UNIFORM, LA_NORMAL } la_random_kind;

/* Fills dense out from key i32 (3) = {seed low, seed high, step}: element e of
 * the Philox stream (stream << 32 | step), as in <covar/rng.h>. */
COVAR_API COVAR_MUST_CHECK covar_status la_random(const la_exec *exec,
                                                  la_random_kind kind,
                                                  la_view out, la_view key,
                                                  uint32_t stream);

#ifdef __cplusplus
}
#endif

#endif
