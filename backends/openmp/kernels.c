/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernels.c
 *  The shared kernels, compiled for the CPU once for each type, and the table of them. */
#include "openmp.h"

#include <math.h>

/* ------------------------------------------------------------------ moving, by element size */

#define META_SUFFIX u64
#define META_M meta_u64
#include "move.h"
#undef META_SUFFIX
#undef META_M
#define META_SUFFIX u32
#define META_M meta_u32
#include "move.h"
#undef META_SUFFIX
#undef META_M
#define META_SUFFIX u16
#define META_M meta_u16
#include "move.h"
#undef META_SUFFIX
#undef META_M
#define META_SUFFIX u8
#define META_M meta_u8
#include "move.h"
#undef META_SUFFIX
#undef META_M

/* ------------------------------------------------------------------ arithmetic, by type */

#define META_SUFFIX f64
#define META_T meta_f64
#define META_W meta_f64
#define META_A meta_f64
#define META_LOWEST (-(meta_f64)INFINITY)
#define META_HIGHEST ((meta_f64)INFINITY)
#include "arithmetic_type.h"
#define META_SUFFIX f32
#define META_T meta_f32
#define META_W meta_f32
#define META_A meta_f64
#define META_LOWEST (-(meta_f32)INFINITY)
#define META_HIGHEST ((meta_f32)INFINITY)
#include "arithmetic_type.h"
#define META_SUFFIX i64
#define META_T meta_i64
#define META_W meta_u64
#define META_A meta_u64
#define META_LOWEST INT64_MIN
#define META_HIGHEST INT64_MAX
#include "arithmetic_type.h"
#define META_SUFFIX u64
#define META_T meta_u64
#define META_W meta_u64
#define META_A meta_u64
#define META_LOWEST 0
#define META_HIGHEST UINT64_MAX
#include "arithmetic_type.h"
#define META_SUFFIX i32
#define META_T meta_i32
#define META_W meta_u32
#define META_A meta_u32
#define META_LOWEST INT32_MIN
#define META_HIGHEST INT32_MAX
#include "arithmetic_type.h"
#define META_SUFFIX u32
#define META_T meta_u32
#define META_W meta_u32
#define META_A meta_u32
#define META_LOWEST 0
#define META_HIGHEST UINT32_MAX
#include "arithmetic_type.h"

/* ------------------------------------------------------------------ tables */

/* By element size: 8, 4, 2, 1 bytes. */
static meta_kernel_function *const move[][4] = {
#define ROW(NAME, name, operands) \
    [META_KERNEL_##NAME] = {name##_u64, name##_u32, name##_u16, name##_u8},
    META_MOVE_KERNELS(ROW)
#undef ROW
};

static const unsigned char size_class[META_TYPE_COUNT] = {
    [META_F64] = 0, [META_I64] = 0, [META_U64] = 0, [META_F32] = 1, [META_I32] = 1,
    [META_U32] = 1, [META_I16] = 2, [META_U16] = 2, [META_I8] = 3,  [META_U8] = 3,
};

enum { FIRST_COMPUTING = META_KERNEL_AXPY, ARITHMETIC_TYPES = META_I16 };

static const openmp_kernel computing[][ARITHMETIC_TYPES] = {
#define ROW(NAME, name, operands)                                                              \
    [META_KERNEL_##NAME - FIRST_COMPUTING] = {{name##_f64, NULL}, {name##_f32, NULL},          \
                                              {name##_i64, NULL}, {name##_u64, NULL},          \
                                              {name##_i32, NULL}, {name##_u32, NULL}},
    META_MAP_KERNELS(ROW)
#undef ROW
#define ROW(NAME, name, operands, finish)                                                        \
    [META_KERNEL_##NAME - FIRST_COMPUTING] = {                                                   \
        {name##_f64, finish##_f64}, {name##_f32, finish##_f32}, {name##_i64, finish##_i64},      \
        {name##_u64, finish##_u64}, {name##_i32, finish##_i32}, {name##_u32, finish##_u32}},
    META_REDUCTION_KERNELS(ROW)
#undef ROW
};
/* The columns of `computing` are written in the order of the types. */
_Static_assert(META_F64 == 0 && META_F32 == 1 && META_I64 == 2 && META_U64 == 3 && META_I32 == 4 &&
                   META_U32 == 5 && ARITHMETIC_TYPES == 6,
               "the order of the arithmetic types");

openmp_kernel openmp_kernel_of(uint32_t kernel, uint32_t type)
{
    const openmp_kernel none = {NULL, NULL};
    if (type >= META_TYPE_COUNT || kernel >= META_KERNEL_COUNT) return none;
    if (kernel < FIRST_COMPUTING) return (openmp_kernel){move[kernel][size_class[type]], NULL};
    return type < ARITHMETIC_TYPES ? computing[kernel - FIRST_COMPUTING][type] : none;
}
