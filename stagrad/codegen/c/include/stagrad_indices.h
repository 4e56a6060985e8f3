/* Reading and writing at positions given by integer arrays. */
#ifndef STAGRAD_INDICES_H
#define STAGRAD_INDICES_H

/* One array of positions along an axis of `extent`, whose neighbours lie `stride` blocks apart.
   A `step` of 0 is one position for all. */
typedef struct {
    const int64_t *data;
    int64_t step, extent, stride;
} sg_index;

/* Say whether all positions lie within their axes; those below zero count from the end. */
static inline int sg_within(int64_t count, int64_t arrays, const sg_index *indices)
{
    int fine = 1;
    for (int64_t a = 0; a < arrays; a++)
        for (int64_t p = 0; p < (indices[a].step ? count : count > 0); p++)
            fine &= indices[a].data[p] < indices[a].extent && indices[a].data[p] >= -indices[a].extent;
    return fine;
}

/* Return the number of the block that position p of the arrays names. */
static inline int64_t sg_block(int64_t p, int64_t arrays, const sg_index *indices)
{
    int64_t block = 0;
    for (int64_t a = 0; a < arrays; a++) {
        const int64_t place = indices[a].data[p * indices[a].step];
        block += (place < 0 ? place + indices[a].extent : place) * indices[a].stride;
    }
    return block;
}

static inline void sg_copy(char *to, const char *from, int64_t bytes)
{
    if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes == 4)
        memcpy(to, from, 4);
    else
        memcpy(to, from, (size_t)bytes);
}

/* Copy `outer` times the blocks of `bytes` that the indices name, out of `blocks` of them. */
static inline void sg_gather(char *to, const char *from, int64_t outer, int64_t blocks,
                             int64_t bytes, int64_t count, int64_t arrays, const sg_index *indices)
{
    for (int64_t o = 0; o < outer; o++)
        for (int64_t p = 0; p < count; p++)
            sg_copy(to + (o * count + p) * bytes,
                    from + (o * blocks + sg_block(p, arrays, indices)) * bytes, bytes);
}

/* The same the other way, in order: of equal places the last wins. */
static inline void sg_scatter(char *to, const char *from, int64_t outer, int64_t blocks,
                              int64_t bytes, int64_t count, int64_t arrays, const sg_index *indices)
{
    for (int64_t o = 0; o < outer; o++)
        for (int64_t p = 0; p < count; p++)
            sg_copy(to + (o * blocks + sg_block(p, arrays, indices)) * bytes,
                    from + (o * count + p) * bytes, bytes);
}

/* Add blocks of `inner` numbers to those that the indices name. */
#define SG_SCATTER_ADD(type, to, from, outer, blocks, inner, count, arrays, indices)              \
    for (int64_t sg_o = 0; sg_o < (outer); sg_o++)                                                \
        for (int64_t sg_p = 0; sg_p < (count); sg_p++) {                                          \
            type *sg_to = (type *)(to) +                                                          \
                          (sg_o * (blocks) + sg_block(sg_p, arrays, indices)) * (inner);          \
            const type *sg_from = (const type *)(from) + (sg_o * (count) + sg_p) * (inner);       \
            for (int64_t sg_i = 0; sg_i < (inner); sg_i++)                                        \
                sg_to[sg_i] = (type)(sg_to[sg_i] + sg_from[sg_i]);                                \
        }

#endif
