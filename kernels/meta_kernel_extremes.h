/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta_kernel_extremes.h
 *  Results of kernels that are the least or greatest contribution of all cells: MIN and MAX, and MIN_AT
 *  and MAX_AT, which also say where it lies. Only meta_kernel.h includes this. */
#ifndef META_KERNEL_EXTREMES_H
#define META_KERNEL_EXTREMES_H

/** An extreme and its place: what the argument of a MIN_AT or MAX_AT parameter of that type points to.
 *
 *  @p value is the least or the greatest of all contributions; a NaN among them is both. @p index is the
 *  index of the cell that contributed it, along each dimension of the box, counted like the box's start
 *  and INDEX(); it is 0 along dimensions that the box lacks. If several cells contributed that value
 *  (or a NaN, or zeros of either sign) it is the first of them in the order of memory, dimension 0
 *  fastest. So all bits are the same on every device and with any number of threads. If no cell
 *  contributed, or the box is empty, @p value is that of a MIN or MAX of nothing, and every index -1; a
 *  contribution of that value, such as INFINITY to a MIN_AT, has a place like any other. A cell that
 *  contributes several times counts with its least or greatest contribution. In a box of more than
 *  four dimensions, whose further ones INDEX() cannot name, @p index has all of them.
 *  META_REPRODUCIBLE changes nothing.
 *
 *  The structure has 88 bytes for every type, and its address is a multiple of 8. On the device it is
 *  that much room in any buffer, from which it is copied as bytes. */
#define META_EXTREME_TYPE(T, name)                                                                 \
    typedef struct meta_extreme_##name {                                                           \
        T value;                                                                                   \
        int64_t index[META_MAX_DIM];                                                               \
    } meta_extreme_##name;
META_EXTREME_TYPE(double, f64)
META_EXTREME_TYPE(float, f32)
META_EXTREME_TYPE(int64_t, i64)
META_EXTREME_TYPE(uint64_t, u64)
META_EXTREME_TYPE(int32_t, i32)
META_EXTREME_TYPE(uint32_t, u32)
#undef META_EXTREME_TYPE

/* META_K_EXTREME: the structure above for a type. META_K_CONTRIBUTED: what a cell has contributed to an
 * extreme, and whether it has, as a number of the same type, which vectorizes best; the latest
 * contribution; and, which only a team uses, the number of the cell that contributed the extreme. */
#ifdef __cplusplus
template <typename meta_k> struct meta_k_extreme;
template <> struct meta_k_extreme<double> { typedef meta_extreme_f64 type; };
template <> struct meta_k_extreme<float> { typedef meta_extreme_f32 type; };
template <> struct meta_k_extreme<int64_t> { typedef meta_extreme_i64 type; };
template <> struct meta_k_extreme<uint64_t> { typedef meta_extreme_u64 type; };
template <> struct meta_k_extreme<int32_t> { typedef meta_extreme_i32 type; };
template <> struct meta_k_extreme<uint32_t> { typedef meta_extreme_u32 type; };
template <typename meta_k> struct meta_k_contributed {
    meta_k meta_value, meta_has, meta_new;
    int64_t meta_cell;
};
#define META_K_EXTREME(of)       meta_k_extreme<of>::type
#define META_K_CONTRIBUTED(type) meta_k_contributed<type>
#else
struct meta_k_contributed_f64 { double meta_value, meta_has, meta_new; int64_t meta_cell; };
struct meta_k_contributed_f32 { float meta_value, meta_has, meta_new; int64_t meta_cell; };
struct meta_k_contributed_i64 { int64_t meta_value, meta_has, meta_new, meta_cell; };
struct meta_k_contributed_u64 { uint64_t meta_value, meta_has, meta_new; int64_t meta_cell; };
struct meta_k_contributed_i32 { int32_t meta_value, meta_has, meta_new; int64_t meta_cell; };
struct meta_k_contributed_u32 { uint32_t meta_value, meta_has, meta_new; int64_t meta_cell; };
#define META_K_BY_TYPE(type, of)                                                                   \
    __typeof__(_Generic((type *)0, double *: *(struct of##_f64 *)0, float *: *(struct of##_f32 *)0, \
                        int64_t *: *(struct of##_i64 *)0, uint64_t *: *(struct of##_u64 *)0,       \
                        int32_t *: *(struct of##_i32 *)0, uint32_t *: *(struct of##_u32 *)0))
#define META_K_EXTREME(type)     META_K_BY_TYPE(type, meta_extreme)
#define META_K_CONTRIBUTED(type) META_K_BY_TYPE(type, meta_k_contributed)
#endif

/* ------------------------------------------------------------------ of the parameter list */

#define META_K_NEAR_MIN_AT(name, ...)
#define META_K_NEAR_MAX_AT(name, ...)
#define META_K_ROW_MIN_AT(type, name)    META_K_ROW_ALL(MIN_AT, type, name)
#define META_K_ROW_MAX_AT(type, name)    META_K_ROW_ALL(MAX_AT, type, name)
#define META_K_CALL_MIN_AT(type, name)   META_K_EXTREME(type) *name,
#define META_K_CALL_MAX_AT(type, name)   META_K_EXTREME(type) *name,
#define META_K_PASS_MIN_AT(name)         name,
#define META_K_PASS_MAX_AT(name)         name,
#define META_K_FIELD_MIN_AT(type, name) META_K_EXTREME(type) *name;
#define META_K_FIELD_MAX_AT(type, name) META_K_EXTREME(type) *name;
#define META_K_FORMAL_EXTREME(type, name)                                                          \
    META_K_CONTRIBUTED(type) *__restrict__ meta_extreme_##name META_K_UNUSED,
#define META_K_FORMAL_MIN(type, name)    META_K_FORMAL_EXTREME(type, name)
#define META_K_FORMAL_MAX(type, name)    META_K_FORMAL_EXTREME(type, name)
#define META_K_FORMAL_MIN_AT(type, name) META_K_FORMAL_EXTREME(type, name)
#define META_K_FORMAL_MAX_AT(type, name) META_K_FORMAL_EXTREME(type, name)

/* ------------------------------------------------------------------ the CPU code */

#define META_K_ORDER_MIN_AT(name) META_K_ORDER_ALL(name)
#define META_K_ORDER_MAX_AT(name) META_K_ORDER_ALL(name)
#define META_K_COLUMN_MIN_AT(name, ...)
#define META_K_COLUMN_MAX_AT(name, ...)
#define META_K_IS_RESULT_MIN_AT   +1
#define META_K_IS_RESULT_MAX_AT   +1
#define META_K_AHEAD_MIN_AT(type, name)
#define META_K_AHEAD_MAX_AT(type, name)
#define META_K_STEP_MIN_AT(name)
#define META_K_STEP_MAX_AT(name)
#define META_K_COMMA_MIN_AT(...)
#define META_K_COMMA_MAX_AT(...)

/* In which a chunk's extreme is found. */
#define META_K_LANES 32

/* What the argument of a MIN_AT or MAX_AT points to: the first extreme of the cells so far, and its
 * cell's number in the box, -1 for none. */
#define META_K_LOAD_AT(type, name, identity)                                                       \
    struct meta_k_best_##name {                                                                    \
        type value;                                                                                \
        int64_t number;                                                                            \
    } *const meta_of_##name = (struct meta_k_best_##name *)meta_r->argument[meta_n_##name].at,     \
             meta_best_##name = *meta_of_##name;                                                   \
    const type meta_none_##name = identity;                                                        \
    type meta_row_##name[META_K_CHUNK], meta_has_##name[META_K_CHUNK],                             \
        meta_lane_##name[META_K_LANES];
#define META_K_LOAD_MIN_AT(type, name) META_K_LOAD_AT(type, name, META_K_HIGHEST(type))
#define META_K_LOAD_MAX_AT(type, name) META_K_LOAD_AT(type, name, META_K_LOWEST(type))

#define META_K_BEGIN_EXTREME(type, name) META_K_CONTRIBUTED(type) name = {meta_none_##name, 0, 0, -1};
#define META_K_BEGIN_MIN(type, name)     META_K_BEGIN_EXTREME(type, name)
#define META_K_BEGIN_MAX(type, name)     META_K_BEGIN_EXTREME(type, name)
#define META_K_BEGIN_MIN_AT(type, name)  META_K_BEGIN_EXTREME(type, name)
#define META_K_BEGIN_MAX_AT(type, name)  META_K_BEGIN_EXTREME(type, name)
#define META_K_KEEP_MIN_AT(name)                                                                   \
    meta_row_##name[meta_i - meta_from] = name.meta_value;                                         \
    meta_has_##name[meta_i - meta_from] = name.meta_has;
#define META_K_KEEP_MAX_AT(name)   META_K_KEEP_MIN_AT(name)
#define META_K_ACTUAL_MIN_AT(name) META_K_ACTUAL_RESULT(name)
#define META_K_ACTUAL_MAX_AT(name) META_K_ACTUAL_RESULT(name)

/* After a chunk: whether it has anything that comes before the best so far; only then its extreme, in
 * lanes, and the place of that. */
#define META_K_IS_AT(name, n)                                                                      \
    (((meta_row_##name[n] == *meta_lane_##name) |                                                  \
      ((meta_row_##name[n] != meta_row_##name[n]) & (*meta_lane_##name != *meta_lane_##name))) &   \
     (meta_has_##name[n] != 0))
#define META_K_HALVE(name, to, half)                                                               \
    for (int meta_l = 0; meta_l < (half); ++meta_l)                                                \
        to(meta_lane_##name[meta_l], meta_lane_##name[meta_l + (half)]);
#define META_K_END_AT(name, to, BEYOND, BEHIND)                                                    \
    int meta_search_##name = meta_best_##name.number < 0 ||                                        \
                             meta_best_##name.number > meta_at + meta_from;                        \
    if (meta_best_##name.value == meta_best_##name.value) /* no NaN, before which nothing comes */ \
        for (int64_t meta_n = 0; meta_n < meta_cells; ++meta_n)                                    \
            meta_search_##name |= !(meta_row_##name[meta_n] BEHIND meta_best_##name.value);        \
    if (meta_search_##name) {                                                                      \
        META_K_SEARCH(name, to, BEYOND)                                                            \
    }
#define META_K_SEARCH(name, to, BEYOND)                                                            \
    for (int64_t meta_n = meta_cells; meta_n % META_K_LANES; ++meta_n) {                           \
        meta_row_##name[meta_n] = meta_none_##name;                                                \
        meta_has_##name[meta_n] = 0;                                                               \
    }                                                                                              \
    for (int meta_l = 0; meta_l < META_K_LANES; ++meta_l)                                          \
        meta_lane_##name[meta_l] = meta_row_##name[meta_l];                                        \
    for (int64_t meta_n = META_K_LANES; meta_n < meta_cells; meta_n += META_K_LANES)               \
        for (int meta_l = 0; meta_l < META_K_LANES; ++meta_l)                                      \
            to(meta_lane_##name[meta_l], meta_row_##name[meta_n + meta_l]);                        \
    META_K_HALVE(name, to, META_K_LANES / 2)                                                       \
    META_K_HALVE(name, to, META_K_LANES / 4)                                                       \
    META_K_HALVE(name, to, META_K_LANES / 8)                                                       \
    META_K_HALVE(name, to, META_K_LANES / 16)                                                      \
    META_K_HALVE(name, to, META_K_LANES / 32)                                                      \
    if (META_K_FIRST_OF(BEYOND, *meta_lane_##name, meta_at + meta_from, meta_best_##name.value,    \
                        meta_best_##name.number))                                                  \
        for (int64_t meta_n = 0; meta_n < meta_cells; meta_n += META_K_LANES) {                    \
            int64_t meta_p = meta_n;                                                               \
            int meta_found = 0;                                                                    \
            for (int meta_l = 0; meta_l < META_K_LANES; ++meta_l)                                  \
                meta_found |= META_K_IS_AT(name, meta_n + meta_l);                                 \
            if (!meta_found) continue;                                                             \
            while (!META_K_IS_AT(name, meta_p)) ++meta_p;                                          \
            if (META_K_FIRST_OF(BEYOND, meta_row_##name[meta_p], meta_at + meta_from + meta_p,     \
                                meta_best_##name.value, meta_best_##name.number)) {                \
                meta_best_##name.value = meta_row_##name[meta_p];                                  \
                meta_best_##name.number = meta_at + meta_from + meta_p;                            \
            }                                                                                      \
            break;                                                                                 \
        }
#define META_K_END_MIN_AT(name)  META_K_END_AT(name, META_K_TO_MIN, META_K_BELOW, >=)
#define META_K_END_MAX_AT(name)  META_K_END_AT(name, META_K_TO_MAX, META_K_ABOVE, <=)
#ifdef META_KERNEL_REPORT
#define META_K_GIVE_MIN_AT(name) __asm__ volatile("" : : "m"(meta_row_##name), "m"(meta_has_##name));
#define META_K_GIVE_MAX_AT(name) META_K_GIVE_MIN_AT(name)
#else
#define META_K_GIVE_MIN_AT(name) *meta_of_##name = meta_best_##name;
#define META_K_GIVE_MAX_AT(name) *meta_of_##name = meta_best_##name;
#endif

#endif
