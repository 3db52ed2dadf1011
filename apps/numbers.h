/* SPDX-License-Identifier: BSD-3-Clause */
/** @file numbers.h
 *  The element types the proxies can compute in, and strict parsing of integers. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum number {
    NUMBER_F64,
    NUMBER_F32,
    NUMBER_I64,
    NUMBER_U64,
    NUMBER_I32,
    NUMBER_U32,
    NUMBER_COUNT
} number;

/** The type's name as an option's value: "f64" … */
const char *number_name(number type);
/** The size of an element in bytes. */
size_t number_size(number type);
/** Find the type called @p name among the first @p count; false where it is none of them. */
bool number_find(const char *name, int count, number *type);

/** Element @p index of the array of @p type at @p base. */
static inline void *number_at(const void *base, int64_t index, number type)
{
    return (void *)((uintptr_t)base + (uintptr_t)index * number_size(type));
}

/** Read @p text as a decimal whole number. False, and nothing written, if there is anything else in
 *  it, if it is empty, or if it does not fit. */
bool number_parse(const char *text, int64_t *value);

/** Product of @p count factors, all at least 0; false where it does not fit. */
bool number_product(const int64_t *factors, int count, int64_t *product);

#endif
