/* SPDX-License-Identifier: BSD-3-Clause */
/** @file lang_opencl_body.h
 *  The second half of the kernel language in OpenCL C: what needs meta_space. */
typedef struct meta_row {
    meta_i64 number;
    meta_i64 at[META_MAX_OPERANDS];
} meta_row;

static inline meta_row meta_row_of(const meta_space *s, meta_i64 number)
{
    meta_row r;
    meta_i64 rest = number;
    r.number = number;
    for (int k = 0; k < META_MAX_OPERANDS; ++k) r.at[k] = s->base[k];
    for (meta_i64 d = 1; d < s->ndim; ++d) {
        const meta_i64 c = rest % s->extent[d];
        rest /= s->extent[d];
        for (int k = 0; k < META_MAX_OPERANDS; ++k) r.at[k] += c * s->stride[k][d];
    }
    return r;
}

#define META_GLOBAL __global
#define META_JOIN_(a, b) a##_##b
#define META_JOIN(a, b) META_JOIN_(a, b)
#define META_KERNEL(name)                                                                       \
    __kernel void META_JOIN(name, META_SUFFIX)(__global void *operand0, __global void *operand1, \
                                               const meta_u64 scalar, const meta_space space,    \
                                               __global void *partials, __local void *scratch)
#define META_SPACE const meta_space *s = &space
#define META_OUT(T, name, k) __global T *name = (__global T *)operand##k
#define META_IN(T, name, k) __global const T *name = (__global const T *)operand##k
#define META_SCALAR(T, name)                  \
    union {                                   \
        meta_u64 bits;                        \
        T value;                              \
    } name##_of;                              \
    name##_of.bits = scalar;                  \
    const T name = name##_of.value
#define META_ROWS(r)                                                                  \
    for (meta_i64 row_ = get_global_id(1); row_ < s->rows; row_ += get_global_size(1)) \
        for (meta_row r = meta_row_of(s, row_), *once_ = &r; once_; once_ = 0)
#define META_COLUMNS(i) \
    for (meta_i64 i = get_global_id(0); i < s->extent[0]; i += get_global_size(0))
#define META_AT(r, k) r.at[k]
#define META_STRIDE(k, d) s->stride[k][d]
#define META_SIMD
#define META_SIMD_SUM(x)
#define META_REDUCE(A, accumulator, COMBINE)                                                    \
    do {                                                                                        \
        __local A *tree_ = (__local A *)scratch;                                                \
        const uint me_ = get_local_id(0);                                                       \
        tree_[me_] = accumulator;                                                               \
        barrier(CLK_LOCAL_MEM_FENCE);                                                           \
        for (uint half_ = get_local_size(0) / 2; half_ > 0; half_ /= 2) {                       \
            if (me_ < half_) tree_[me_] = COMBINE(tree_[me_], tree_[me_ + half_]);              \
            barrier(CLK_LOCAL_MEM_FENCE);                                                       \
        }                                                                                       \
        if (me_ == 0)                                                                           \
            ((__global A *)partials)[get_group_id(1) * get_num_groups(0) + get_group_id(0)] =   \
                tree_[0];                                                                       \
    } while (0)
#define META_PARTIALS s->extent[0]
