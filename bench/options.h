/* SPDX-License-Identifier: BSD-3-Clause */
/** @file options.h
 *  The command line of meta-bench. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "numbers.h"

enum { MOST_SIZES = 32, MOST_SIZE = 4096, MOST_COUNTS = 8, MOST_FIELDS = 40 };

typedef struct options {
    bool *wanted;        /**< of each group in the order of groups; all false: all of them */
    const char *backend; /**< NULL: the rank's own */
    int64_t sizes[MOST_SIZES];
    int size_count; /**< 0: each group's own sizes */
    int64_t fields[MOST_COUNTS]; /**< of group app */
    int fields_count;            /**< at least 1 */
    number type;
    int rounds;
    bool json;
} options;

typedef enum options_result {
    OPTIONS_RUN,
    OPTIONS_HELP,
    OPTIONS_VERSION,
    OPTIONS_WRONG /**< and a reason noted */
} options_result;

/** Read the command line; @p wanted has an element for each group. */
options_result options_parse(options *o, bool *wanted, int argc, char **argv);
void options_help(void);

#endif
