/* SPDX-License-Identifier: BSD-3-Clause */
/** @file numbers.c
 *  The element types the proxies can compute in, and strict parsing of integers. */
#include "config.h"

#include "numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    size_t size;
} types[NUMBER_COUNT] = {
    [NUMBER_F64] = {"f64", 8}, [NUMBER_F32] = {"f32", 4}, [NUMBER_I64] = {"i64", 8},
    [NUMBER_U64] = {"u64", 8}, [NUMBER_I32] = {"i32", 4}, [NUMBER_U32] = {"u32", 4},
};

const char *number_name(number type)
{
    return types[type].name;
}

size_t number_size(number type)
{
    return types[type].size;
}

bool number_find(const char *name, int count, number *type)
{
    for (int i = 0; i < count; ++i)
        if (strcmp(name, types[i].name) == 0) {
            *type = (number)i;
            return true;
        }
    return false;
}

bool number_parse(const char *text, int64_t *value)
{
    const char *digits = text + (*text == '-');
    if (*digits == '\0' || digits[strspn(digits, "0123456789")] != '\0') return false;
    errno = 0;
    const long long parsed = strtoll(text, NULL, 10);
    if (errno == ERANGE) return false;
    *value = parsed;
    return true;
}

bool number_product(const int64_t *factors, int count, int64_t *product)
{
    int64_t result = 1;
    for (int i = 0; i < count; ++i)
        if (__builtin_mul_overflow(result, factors[i], &result)) return false;
    *product = result;
    return true;
}
