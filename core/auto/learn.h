/* SPDX-License-Identifier: BSD-3-Clause */
/** @file learn.h
 *  What is learned of kernels and devices, from one process to the next. */
#ifndef META_AUTO_LEARN_H
#define META_AUTO_LEARN_H

#include "auto/learned.h"
#include "auto/machine.h"

/** Read META_LEARN. */
meta_err meta_learn_read(void);
/** Read what earlier processes have learned of the open devices. */
void meta_learn_open(void);
/** Add to it what this process has learned. */
void meta_learn_close(void);
/** The kernel's number in meta_auto.times, where what is known of it is put; -1: memory is out. */
int meta_learn_kernel(const meta_kernel_desc *desc, uint32_t type);

/** Where it is kept. */
typedef struct meta_learn_place {
    const char *named; /**< the file that META_LEARN names; NULL: one in the cache's folder */
    bool only_read;
    bool is_foreign; /**< that file is not libmeta's, or of another machine: it is left alone */
    char machine[META_SLABS_DEVICES * 512]; /**< lines which say what devices there are */
} meta_learn_place;
/** Read it into an empty table. If what is there cannot be used, or is needed and not there, a
 * warning says so. */
void meta_learn_load(meta_learn_place *place, meta_learned *table);
/** Let @p add change what is there now, while no other process does. */
void meta_learn_change(meta_learn_place *place, void (*add)(meta_learned *table));

#endif
