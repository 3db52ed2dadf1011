/* SPDX-License-Identifier: BSD-3-Clause */
/** @file lang_opencl.h
 *  The kernel language in OpenCL C: dimension 0 of the launch strides over the columns, dimension 1
 *  over the rows.
 *
 *  All built-in kernels have the same parameters, so that a launch is data: operand 0, operand 1, the
 *  scalar's bits, the space, and for reductions the partial results and local memory for one
 *  accumulator of each work item of a group.
 *
 *  A kernel from text is compiled after this file and meta_space.h, with META_T defined as its element
 *  type. Its parameters are a __global pointer to each operand's memory object, a meta_u64 with the
 *  bits of each element that is passed by value, and META_SPACE_PARAMETER. It starts with META_SPACE,
 *  which declares `s`, a pointer to the space; `s->layout[k]` is where operand k's elements lie. There
 *  may be fewer work items than elements, so it loops over rows from get_global_id(1) in steps of
 *  get_global_size(1), and over columns likewise. */
#ifdef META_SPACE_IN_BUFFER /* the device has no room for the space among a kernel's arguments */
#define META_SPACE_MEMORY    __constant
#define META_SPACE_PARAMETER __constant meta_space *space
#define META_SPACE           META_SPACE_MEMORY const meta_space *s = space
#else
#define META_SPACE_PARAMETER const meta_space space
#define META_SPACE           const meta_space *s = &space
#endif
typedef long meta_i64;
typedef ulong meta_u64;
typedef int meta_i32;
typedef uint meta_u32;
typedef short meta_i16;
typedef ushort meta_u16;
typedef char meta_i8;
typedef uchar meta_u8;
typedef float meta_f32;
#ifdef META_HAS_F64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double meta_f64;
static inline meta_u64 meta_f64_bits(meta_f64 x)
{
    return as_ulong(x);
}
static inline meta_f64 meta_f64_of(meta_u64 bits)
{
    return as_double(bits);
}
#else
typedef float meta_f64; /* a device without double: f32 sums are accumulated in float */
#endif
#pragma OPENCL FP_CONTRACT OFF
