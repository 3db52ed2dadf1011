/* SPDX-License-Identifier: BSD-3-Clause */
/** @file options.h
 *  The command line of the 3D dot product. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "numbers.h"

typedef struct options {
    int64_t n[3], iters;
    number type;
    bool blas;
    const char *json; /**< NULL where not given */
} options;

typedef enum options_result {
    OPTIONS_RUN,
    OPTIONS_HELP,
    OPTIONS_VERSION,
    OPTIONS_WRONG
} options_result;

/** Read the command line; notes a failure where it returns OPTIONS_WRONG. */
options_result options_parse(options *o, int argc, char **argv);
/** Print what there is, to standard output. */
void options_help(void);

#endif
