/* Products of stacks of matrices by plain loops, for programs that do without BLAS. */
#ifndef STAGRAD_PRODUCT_H
#define STAGRAD_PRODUCT_H

/* A stack of matrices: element (i, j) of matrix (g, h) lies at g*outer + h*inner + i*row + j*column. */
typedef struct {
    char *data;
    int64_t outer, inner, row, column;
} sg_stack;

typedef struct {
    int64_t outer, inner, rows, columns, depth;
} sg_extents;

/* A block of the second matrix is copied to where it lies in rows and stays in the cache. */
enum { SG_BLOCK_DEPTH = 32, SG_BLOCK_COLUMNS = 64 };

static inline int64_t sg_part(int64_t extent, int64_t from, int64_t block)
{
    return extent - from < block ? extent - from : block;
}

/* out = a b */
static void sg_product_double(sg_extents size, sg_stack a, sg_stack b, sg_stack out)
{
    double block[SG_BLOCK_DEPTH][SG_BLOCK_COLUMNS], sums[SG_BLOCK_COLUMNS];
    for (int64_t matrix = 0; matrix < size.outer * size.inner; matrix++) {
        const int64_t g = matrix / size.inner, h = matrix % size.inner;
        const double *const first = (const double *)a.data + g * a.outer + h * a.inner;
        const double *const second = (const double *)b.data + g * b.outer + h * b.inner;
        double *const result = (double *)out.data + g * out.outer + h * out.inner;
        if (size.depth == 0)
            for (int64_t i = 0; i < size.rows; i++)
                for (int64_t j = 0; j < size.columns; j++)
                    result[i * out.row + j * out.column] = 0;
        for (int64_t j0 = 0; j0 < size.columns; j0 += SG_BLOCK_COLUMNS)
            for (int64_t k0 = 0; k0 < size.depth; k0 += SG_BLOCK_DEPTH) {
                const int64_t columns = sg_part(size.columns, j0, SG_BLOCK_COLUMNS);
                const int64_t depth = sg_part(size.depth, k0, SG_BLOCK_DEPTH);
                for (int64_t k = 0; k < depth; k++)
                    for (int64_t j = 0; j < columns; j++)
                        block[k][j] = second[(k0 + k) * b.row + (j0 + j) * b.column];
                for (int64_t i = 0; i < size.rows; i++) {
                    double *const row = result + i * out.row + j0 * out.column;
                    for (int64_t j = 0; j < columns; j++)
                        sums[j] = k0 == 0 ? 0 : row[j * out.column];
                    for (int64_t k = 0; k < depth; k++) {
                        const double factor = first[i * a.row + (k0 + k) * a.column];
                        for (int64_t j = 0; j < columns; j++)
                            sums[j] += factor * block[k][j];
                    }
                    for (int64_t j = 0; j < columns; j++)
                        row[j * out.column] = sums[j];
                }
            }
    }
}

#endif
