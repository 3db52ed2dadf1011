/* SPDX-License-Identifier: BSD-3-Clause */
/** @file sums.c
 *  Expected sums over many elements. */
#include "config.h"

#include "sums.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

long double sum_real(const void *array, int64_t at, meta_type type)
{
    switch (type) {
#define REAL(NAME, name, T, W)                                                                     \
    case META_##NAME:                                                                              \
        return (long double)((const T *)array)[at];
        CASE_ARITHMETIC_TYPES(REAL)
#undef REAL
    default:
        return 0;
    }
}

uint64_t sum_whole(const void *array, int64_t at, meta_type type)
{
    switch (type) {
    case META_I64:
    case META_U64:
        return ((const uint64_t *)array)[at];
    case META_I32:
        return (uint64_t)((const int32_t *)array)[at];
    case META_U32:
        return ((const uint32_t *)array)[at];
    default:
        return 0;
    }
}

void sum_add(sum_expected *sum, long double real, uint64_t whole)
{
    sum->real += real;
    sum->magnitude += fabsl(real);
    sum->whole += whole;
    ++sum->count;
}

static void check_real(long double found, const sum_expected *expected, meta_type type,
                       const char *where)
{
    const bool in_double = type == META_F64 || case_has_f64();
    const long double step = in_double ? DBL_EPSILON : FLT_EPSILON;
    const long double least =
        in_double ? DBL_TRUE_MIN : FLT_TRUE_MIN; /* products are rounded to it */
    long double bound = (long double)expected->count * (step * expected->magnitude + least);
    bound += type == META_F32 ? FLT_EPSILON * fabsl(expected->real) + FLT_TRUE_MIN : DBL_TRUE_MIN;
    if (!(fabsl(found - expected->real) <= bound))
        FAIL("%s: the sum is %.17Lg, expected %.17Lg within %Lg", where, found, expected->real,
             bound);
}

void sum_check(const void *found, const sum_expected *expected, meta_type type, const char *where)
{
    const size_t bytes = type == META_I32 || type == META_U32 ? 4 : 8;
    const uint64_t mask = bytes == 4 ? UINT32_MAX : UINT64_MAX;
    uint64_t whole = 0;
    if (case_is_float(type)) {
        check_real(sum_real(found, 0, type), expected, type, where);
        return;
    }
    memcpy(&whole, found, bytes);
    if (whole != (expected->whole & mask))
        FAIL("%s: the sum is 0x%" PRIx64 ", expected 0x%" PRIx64, where, whole,
             expected->whole & mask);
}
