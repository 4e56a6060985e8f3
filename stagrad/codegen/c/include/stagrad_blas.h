/* Products of stacks of matrices by BLAS, in panels that do not depend on the number of threads. */
#ifndef STAGRAD_BLAS_H
#define STAGRAD_BLAS_H

/* A stack of matrices: element (i, j) of matrix (g, h) lies at g*outer + h*inner + i*row + j*column. */
typedef struct {
    const char *data;
    int64_t outer, inner, row, column;
} sg_stack;

typedef struct {
    int64_t outer, inner, rows, columns, depth;
} sg_extents;

typedef struct {
    void *gemm, *gemv;
    sg_extents size;
    sg_stack a, b;
    char *out;
    int64_t panels, panel;
    int by_rows;
} sg_product;

#define SG_PANEL_FLOPS 8e6 /* work of a panel, at least: about as long as ten wake-ups of a thread */
#define SG_PANEL_EXTENT 64 /* rows or columns of a panel, at least: each packs the other operand */
#define SG_PANELS 16
#define SG_SMALL_FLOPS 2048.0

/* Cut rows or columns into panels; how many follows from the sizes alone. */
static inline int64_t sg_cut(sg_product *product)
{
    const sg_extents s = product->size;
    const double flops = 2.0 * s.rows * s.columns * s.depth;
    product->by_rows = s.rows >= s.columns;
    const int64_t extent = product->by_rows ? s.rows : s.columns;
    double panels = flops / SG_PANEL_FLOPS;
    if (panels > extent / SG_PANEL_EXTENT)
        panels = extent / SG_PANEL_EXTENT;
    product->panels = panels < 1 ? 1 : panels > SG_PANELS ? SG_PANELS : (int64_t)panels;
    product->panel = (extent + product->panels - 1) / product->panels;
    return s.outer * s.inner * product->panels;
}

#define SG_PRODUCT(NAME, TYPE)                                                                     \
    typedef void sg_gemm_##NAME(const char *, const char *, const int *, const int *, const int *, \
                                const TYPE *, const TYPE *, const int *, const TYPE *,             \
                                const int *, const TYPE *, TYPE *, const int *);                   \
    typedef void sg_gemv_##NAME(const char *, const int *, const int *, const TYPE *,              \
                                const TYPE *, const int *, const TYPE *, const int *,              \
                                const TYPE *, TYPE *, const int *);                                \
                                                                                                   \
    static inline void sg_small_product_##NAME(                                                    \
        int64_t rows, int64_t columns, int64_t depth, const TYPE *a, int64_t a_row,                \
        int64_t a_column, const TYPE *b, int64_t b_row, int64_t b_column, TYPE *out, int64_t ld)   \
    {                                                                                              \
        for (int64_t i = 0; i < rows; i++)                                                         \
            for (int64_t j = 0; j < columns; j++) {                                                \
                TYPE sum = 0;                                                                      \
                for (int64_t k = 0; k < depth; k++)                                                \
                    sum += a[i * a_row + k * a_column] * b[k * b_row + j * b_column];              \
                out[i * ld + j] = sum;                                                             \
            }                                                                                      \
    }                                                                                              \
                                                                                                   \
    /* out = a b, one matrix of a stack; BLAS counts by columns, so it is given b' a'. */          \
    static inline void sg_one_product_##NAME(                                                      \
        void *gemm, void *gemv, int64_t rows, int64_t columns, int64_t depth, const TYPE *a,       \
        int64_t a_row, int64_t a_column, const TYPE *b, int64_t b_row, int64_t b_column, TYPE *out, \
        int64_t ld)                                                                                \
    {                                                                                              \
        if (2.0 * rows * columns * depth <= SG_SMALL_FLOPS) {                                      \
            sg_small_product_##NAME(rows, columns, depth, a, a_row, a_column, b, b_row, b_column,  \
                                    out, ld);                                                      \
            return;                                                                                \
        }                                                                                          \
        const TYPE one = 1, zero = 0;                                                              \
        const int m = (int)rows, n = (int)columns, k = (int)depth, step = 1;                       \
        const int a_plain = a_column == 1 || depth == 1, b_plain = b_column == 1 || columns == 1;  \
        int lda = (int)(a_plain ? a_row : a_column), ldb = (int)(b_plain ? b_row : b_column);      \
        const int a_least = a_plain ? k : m, b_least = b_plain ? n : k;                            \
        lda = lda < a_least ? a_least : lda;                                                       \
        ldb = ldb < b_least ? b_least : ldb;                                                       \
        const int ldc = (int)ld, strided = (int)ld;                                                \
        if (columns == 1 && b_row > 0) {                                                           \
            const int by = (int)b_row;                                                             \
            ((sg_gemv_##NAME *)gemv)(a_plain ? "T" : "N", a_plain ? &k : &m, a_plain ? &m : &k,    \
                                     &one, a, &lda, b, &by, &zero, out, &strided);                 \
        } else if (rows == 1 && a_column > 0) {                                                    \
            const int by = (int)a_column;                                                          \
            ((sg_gemv_##NAME *)gemv)(b_plain ? "N" : "T", b_plain ? &n : &k, b_plain ? &k : &n,    \
                                     &one, b, &ldb, a, &by, &zero, out, &step);                    \
        } else {                                                                                   \
            ((sg_gemm_##NAME *)gemm)(b_plain ? "N" : "T", a_plain ? "N" : "T", &n, &m, &k, &one,   \
                                     b, &ldb, a, &lda, &zero, out, &ldc);                          \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static inline void sg_product_panel_##NAME(void *closure, int64_t index)                       \
    {                                                                                              \
        const sg_product *const p = closure;                                                       \
        const sg_extents s = p->size;                                                              \
        const int64_t matrix = index / p->panels, from = index % p->panels * p->panel;             \
        const int64_t g = matrix / s.inner, h = matrix % s.inner;                                  \
        const TYPE *a = (const TYPE *)p->a.data + g * p->a.outer + h * p->a.inner;                 \
        const TYPE *b = (const TYPE *)p->b.data + g * p->b.outer + h * p->b.inner;                 \
        TYPE *out = (TYPE *)p->out + matrix * s.rows * s.columns;                                  \
        int64_t rows = s.rows, columns = s.columns;                                                \
        if (p->by_rows) {                                                                          \
            rows = rows - from < p->panel ? rows - from : p->panel;                                \
            a += from * p->a.row;                                                                  \
            out += from * s.columns;                                                               \
        } else {                                                                                   \
            columns = columns - from < p->panel ? columns - from : p->panel;                       \
            b += from * p->b.column;                                                               \
            out += from;                                                                           \
        }                                                                                          \
        if (rows > 0 && columns > 0)                                                               \
            sg_one_product_##NAME(p->gemm, p->gemv, rows, columns, s.depth, a, p->a.row,           \
                                  p->a.column, b, p->b.row, p->b.column, out, s.columns);          \
    }                                                                                              \
                                                                                                   \
    static inline void sg_product_##NAME(const sg_runtime *rt, void *gemm, void *gemv,             \
                                         sg_extents size, sg_stack a, sg_stack b, char *out)       \
    {                                                                                              \
        sg_product product = {gemm, gemv, size, a, b, out, 1, 0, 1};                               \
        const int64_t panels = sg_cut(&product);                                                   \
        const double flops = 2.0 * size.rows * size.columns * size.depth * size.outer * size.inner; \
        if (panels == 1 || flops < SG_PANEL_FLOPS)                                                 \
            for (int64_t index = 0; index < panels; index++)                                       \
                sg_product_panel_##NAME(&product, index);                                          \
        else                                                                                       \
            rt->parallel(sg_product_panel_##NAME, &product, panels);                               \
    }

SG_PRODUCT(float, float)
SG_PRODUCT(double, double)
SG_PRODUCT(complex_float, float complex)
SG_PRODUCT(complex_double, double complex)

#endif
