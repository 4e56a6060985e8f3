/* Products of stacks of matrices by BLAS, in panels that do not depend on the number of threads. */
#ifndef STAGRAD_BLAS_H
#define STAGRAD_BLAS_H

/* A stack of matrices: element (i, j) of matrix (g, h) lies at g*outer + h*inner + i*row + j*column. */
typedef struct {
    char *data;
    int64_t outer, inner, row, column;
} sg_stack;

typedef struct {
    int64_t outer, inner, rows, columns, depth;
} sg_extents;

/* How a product is divided: `panels` of rows, of columns, or of the depth, whose parts are summed. */
typedef enum { SG_ROWS, SG_COLUMNS, SG_DEPTH } sg_direction;

typedef struct {
    void *gemm, *gemv;
    sg_extents size;
    sg_stack a, b, out;
    char *parts;
    int64_t panels, panel;
    sg_direction direction;
} sg_product;

#define SG_PANEL_FLOPS 2e8      /* work of a panel: more of them would pack the other operand oftener */
#define SG_CUT_FLOPS 1.2e7      /* least work that is cut in two */
#define SG_VECTOR_FLOPS 4e5     /* work of a panel of a vector times a matrix, which is read once */
#define SG_PANEL_EXTENT 64      /* rows or columns of a panel, at least: each packs the other operand */
#define SG_PANEL_DEPTH 512      /* depth of a panel, at least */
#define SG_PANELS 16
#define SG_SMALL_FLOPS 2048.0

static inline int64_t sg_least(double wanted, int64_t extent, int64_t least)
{
    const int64_t most = extent / least < SG_PANELS ? extent / least : SG_PANELS;
    return wanted < 2 || most < 2 ? 1 : wanted < most ? (int64_t)wanted : most;
}

/* Choose the panels of a product: they follow from the sizes alone. */
static inline void sg_cut(sg_product *product)
{
    const sg_extents s = product->size;
    const int vector = s.rows == 1 || s.columns == 1;
    const double flops = 2.0 * s.rows * s.columns * s.depth;
    double wanted = flops / (vector ? SG_VECTOR_FLOPS : SG_PANEL_FLOPS);
    if (!vector && flops > SG_CUT_FLOPS && wanted < 2)
        wanted = 2;
    /* A vector's panels follow the rows of the matrix as they lie in memory. */
    const int across = s.columns == 1 ? product->a.column != 1 : product->b.column == 1;
    const int64_t deep = sg_least(wanted, s.depth, SG_PANEL_DEPTH);
    product->direction = s.rows >= s.columns ? SG_ROWS : SG_COLUMNS;
    int64_t extent = s.rows >= s.columns ? s.rows : s.columns;
    product->panels = sg_least(wanted, extent, SG_PANEL_EXTENT);
    if (s.outer * s.inner == 1 && deep > 1 && (vector ? across : product->panels < 2)) {
        product->direction = SG_DEPTH;
        product->panels = deep;
        extent = s.depth;
    }
    product->panel = (extent + product->panels - 1) / product->panels;
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
        int64_t a_row, int64_t a_column, const TYPE *b, int64_t b_row, int64_t b_column, TYPE *out,\
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
        const int64_t matrix = index / p->panels, part = index % p->panels, from = part * p->panel;\
        const int64_t g = matrix / s.inner, h = matrix % s.inner;                                  \
        const TYPE *a = (const TYPE *)p->a.data + g * p->a.outer + h * p->a.inner;                 \
        const TYPE *b = (const TYPE *)p->b.data + g * p->b.outer + h * p->b.inner;                 \
        TYPE *out = (TYPE *)p->out.data + g * p->out.outer + h * p->out.inner;                     \
        int64_t rows = s.rows, columns = s.columns, depth = s.depth, ld = p->out.row;              \
        if (p->direction == SG_ROWS) {                                                             \
            rows = rows - from < p->panel ? rows - from : p->panel;                                \
            a += from * p->a.row;                                                                  \
            out += from * ld;                                                                      \
        } else if (p->direction == SG_COLUMNS) {                                                   \
            columns = columns - from < p->panel ? columns - from : p->panel;                       \
            b += from * p->b.column;                                                               \
            out += from;                                                                           \
        } else {                                                                                   \
            depth = depth - from < p->panel ? depth - from : p->panel;                             \
            depth = depth > 0 ? depth : 0;                                                         \
            a += from * p->a.column;                                                               \
            b += from * p->b.row;                                                                  \
            if (part > 0) {                                                                        \
                out = (TYPE *)p->parts + (part - 1) * s.rows * s.columns;                          \
                ld = s.columns;                                                                    \
            }                                                                                      \
        }                                                                                          \
        if (rows > 0 && columns > 0)                                                               \
            sg_one_product_##NAME(p->gemm, p->gemv, rows, columns, depth, a, p->a.row, p->a.column,\
                                  b, p->b.row, p->b.column, out, ld);                              \
    }                                                                                              \
                                                                                                   \
    static inline void sg_product_##NAME(const sg_runtime *rt, void *gemm, void *gemv,             \
                                         sg_extents size, sg_stack a, sg_stack b, sg_stack out)    \
    {                                                                                              \
        sg_product product = {gemm, gemv, size, a, b, out, NULL, 1, 0, SG_ROWS};                   \
        const int64_t points = size.rows * size.columns;                                           \
        sg_cut(&product);                                                                          \
        if (product.direction == SG_DEPTH) {                                                       \
            product.parts = malloc((product.panels - 1) * points * sizeof(TYPE));                  \
            if (product.parts == NULL) {                                                           \
                product.direction = SG_ROWS;                                                       \
                product.panels = 1;                                                                \
                product.panel = size.rows; /* too little memory: in one piece */                   \
            }                                                                                      \
        }                                                                                          \
        const int64_t panels = size.outer * size.inner * product.panels;                           \
        const double flops = 2.0 * points * size.depth * size.outer * size.inner;                  \
        if (panels == 1 || (product.panels == 1 && flops < SG_CUT_FLOPS / 8))                      \
            for (int64_t index = 0; index < panels; index++)                                       \
                sg_product_panel_##NAME(&product, index);                                          \
        else                                                                                       \
            rt->parallel(sg_product_panel_##NAME, &product, panels);                               \
        for (int64_t part = 1; product.parts != NULL && part < product.panels; part++)             \
            for (int64_t i = 0; i < size.rows; i++)                                                \
                for (int64_t j = 0; j < size.columns; j++)                                         \
                    ((TYPE *)product.out.data)[i * product.out.row + j] +=                         \
                        ((const TYPE *)product.parts)[(part - 1) * points + i * size.columns + j]; \
        free(product.parts);                                                                       \
    }

SG_PRODUCT(float, float)
SG_PRODUCT(double, double)
SG_PRODUCT(complex_float, float complex)
SG_PRODUCT(complex_double, double complex)

#endif
