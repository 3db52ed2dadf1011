/* SPDX-License-Identifier: BSD-3-Clause */
/** @file documents.h
 *  Where the documents of libmeta are: installed, in an installation that was moved, or built. */
#ifndef META_DOCUMENTS_H
#define META_DOCUMENTS_H

#include <limits.h>

#include "json.h"

/** Paths; an empty one is not there. */
typedef struct documents {
    char readme[PATH_MAX];
    char guides[PATH_MAX]; /**< the folder */
    char cheat_sheet[PATH_MAX];
    char examples[PATH_MAX]; /**< the folder */
    char manual[PATH_MAX];   /**< the folder for man -M */
    char html[PATH_MAX];     /**< the first page */
} documents;

void documents_find(documents *d);
/** Print where they are, and the guides' titles. */
void documents_print(void);
/** The same as object `documents`. */
void documents_write(json *j);

#endif
