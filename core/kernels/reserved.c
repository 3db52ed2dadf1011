/* SPDX-License-Identifier: BSD-3-Clause */
/** @file reserved.c
 *  See reserved.h. The names are those of OpenCL C 1.2 and 3.0 (sections 6.1 to 6.15 of "The OpenCL
 * C Specification", Khronos), of C++23 ([lex.key], [lex.digraph] of ISO/IEC 14882) and of the "CUDA
 * C++ Programming Guide". A name that C's headers have too, such as bool or fma, is not among them:
 * a kernel file may mean theirs. A name too many does no harm, as it is replaced wherever the file
 * has it. */
#include "kernels/reserved.h"

#include <stdio.h>
#include <string.h>

/* A blank is before and behind each. */
static const char cxx_keywords[] =
    " and and_eq bitand bitor catch char8_t class co_await co_return co_yield compl concept "
    "const_cast consteval constexpr constinit decltype delete dynamic_cast explicit export "
    "friend mutable namespace new noexcept not not_eq nullptr operator or or_eq private "
    "protected public reinterpret_cast requires static_cast template this throw try typeid "
    "typename using virtual xor xor_eq ";

static const char of_devices[] =
    " abs_diff acospi add_sat all any asinpi atan2pi atanpi barrier bitselect blockDim "
    "blockIdx brev clamp clk_event_t clock clock64 clz constant cospi cross ctz cyl_bessel_i0 "
    "cyl_bessel_i1 degrees dim3 distance dot enqueue_kernel erfcinv erfcx erfinv event_t "
    "exp10 fdivide ffs ffsll fract generic global gridDim hadd half i386 image isequal "
    "isnotequal isordered kernel length linux local mad mad24 mad_hi mad_sat max maxmag "
    "mem_fence min minmag mix mul24 mul_hi mulhi ndrange_t norm norm3d norm4d normalize "
    "normcdf normcdfinv pipe popcount pown powr prefetch quad queue_t radians rcbrt "
    "read_mem_fence read_only read_write reserve_id_t rhadd rhypot rnorm rnorm3d rnorm4d "
    "rootn rotate rsqrt sampler_t saturate select shuffle shuffle2 sign sincos sincospi sinpi "
    "smoothstep step sub_sat tanpi threadIdx uchar uniform unix upsample vec_step warpSize "
    "write_mem_fence write_only ";

/* How families of functions and types begin. */
static const char *const family[] = {
    "as_",     "async_",     "atom_",      "atomic_",  "convert_", "cuda",        "fast_",
    "get_",    "half_",      "hip",        "image1d_", "image2d_", "image3d_",    "intel_",
    "native_", "read_image", "sub_group_", "vload",    "vstore",   "work_group_", "write_image",
};

/* Of vectors; a number follows. */
static const char elements[] =
    " bool char double float half int long longlong quad short uchar uint ulong ulonglong "
    "ushort ";

enum { LONGEST = 64 }; /* no name of the lists is longer, families aside */

static bool is_among(const char *list, const char *name, size_t length)
{
    char text[LONGEST + 3];
    if (length > LONGEST) return false;
    snprintf(text, sizeof text, " %.*s ", (int)length, name);
    return strstr(list, text) != NULL;
}

static bool begins_family(const char *name, size_t length)
{
    for (size_t k = 0; k < sizeof family / sizeof *family; ++k)
        if (length >= strlen(family[k]) && memcmp(name, family[k], strlen(family[k])) == 0)
            return true;
    return false;
}

/* Such as float4 and char16. */
static bool is_vector(const char *name, size_t length)
{
    size_t digits = 0;
    while (digits < length && name[length - digits - 1] >= '0' && name[length - digits - 1] <= '9')
        ++digits;
    return digits >= 1 && digits <= 2 && is_among(elements, name, length - digits);
}

bool meta_is_reserved(const char *name, size_t length)
{
    return is_among(cxx_keywords, name, length) || is_among(of_devices, name, length) ||
           begins_family(name, length) || is_vector(name, length);
}

bool meta_find_keyword_of_cxx(const char *text, meta_words *found)
{
    *found = (meta_words){.at = text, .line = 1};
    do {
        meta_words_next_everywhere(found);
        if (is_among(cxx_keywords, found->word, found->length)) return true;
    } while (found->length > 0);
    return false;
}
