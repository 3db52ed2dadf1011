/* SPDX-License-Identifier: BSD-3-Clause */
/** @file lang_opencl.h
 *  The kernel language in OpenCL C: dimension 0 of the launch strides over the columns, dimension 1
 *  over the rows. Every kernel has the same parameters, so that a launch is data:
 *  operand 0, operand 1, the scalar's bits, the space, and for reductions the partial results and a
 *  local buffer of one accumulator for each work item of a group. */
typedef long meta_i64;
typedef ulong meta_u64;
typedef int meta_i32;
typedef uint meta_u32;
typedef ushort meta_u16;
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
