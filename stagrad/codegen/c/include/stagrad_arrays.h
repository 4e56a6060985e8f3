/* Operations along one axis of a whole array, of extents outer, extent and inner. Locals are named
   apart from a program's arrays, which the arguments may be. */
#ifndef STAGRAD_ARRAYS_H
#define STAGRAD_ARRAYS_H

/* The first largest (`>`) or smallest (`<`) element; the first NaN comes before all numbers. */
#define SG_POSITION(type, before, from, to, outer, extent, inner)                                 \
    for (int64_t sg_o = 0; sg_o < (outer); sg_o++)                                                \
        for (int64_t sg_k = 0; sg_k < (inner); sg_k++) {                                          \
            const type *sg_x = (const type *)(from) + sg_o * (extent) * (inner) + sg_k;           \
            type sg_best = sg_x[0];                                                               \
            int64_t sg_place = 0;                                                                 \
            for (int64_t sg_i = 1; sg_i < (extent); sg_i++) {                                     \
                const type sg_item = sg_x[sg_i * (inner)];                                        \
                if (sg_item before sg_best || (sg_item != sg_item && sg_best == sg_best))         \
                    sg_best = sg_item, sg_place = sg_i;                                           \
            }                                                                                     \
            ((int64_t *)(to))[sg_o * (inner) + sg_k] = sg_place;                                  \
        }

/* Running sums or products; with `reverse` from the end. */
#define SG_CUMULATE(type, op, from, to, outer, extent, inner, reverse)                            \
    for (int64_t sg_o = 0; sg_o < (outer); sg_o++)                                                \
        for (int64_t sg_i = 0; sg_i < (extent); sg_i++) {                                         \
            const int64_t sg_row = (reverse) ? (extent) - 1 - sg_i : sg_i;                        \
            const int64_t sg_at = (sg_o * (extent) + sg_row) * (inner);                           \
            const int64_t sg_last = sg_at + ((reverse) ? (inner) : -(inner));                     \
            const type *sg_x = (const type *)(from);                                              \
            type *sg_y = (type *)(to);                                                            \
            for (int64_t sg_k = 0; sg_k < (inner); sg_k++)                                        \
                sg_y[sg_at + sg_k] = sg_i ? (type)(sg_y[sg_last + sg_k] op sg_x[sg_at + sg_k])    \
                                          : sg_x[sg_at + sg_k];                                   \
        }

#endif
