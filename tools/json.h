/* SPDX-License-Identifier: BSD-3-Clause */
/** @file json.h
 *  Writing JSON documents to a stream. */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct json {
    FILE *to;
    bool comma; /**< the next value is not the first one of its object or array */
    int depth;
    bool line; /**< everything on one line */
} json;

/** Start an object or an array; @p key is NULL in an array and for the document itself. */
void json_open(json *j, const char *key, char bracket);
void json_close(json *j, char bracket);
/** A member; @p key is NULL in an array. A NULL @p value is null; bytes that are no UTF-8 become
 *  U+FFFD. */
void json_string(json *j, const char *key, const char *value);
void json_number(json *j, const char *key, int64_t value);
void json_size(json *j, const char *key, uint64_t value);
void json_bool(json *j, const char *key, bool value);
/** A NaN or infinity becomes null. */
void json_real(json *j, const char *key, double value);
/** The same with enough digits to round-trip. */
void json_exact(json *j, const char *key, double value);

#endif
