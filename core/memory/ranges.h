/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ranges.h
 *  Allocations in the order of their addresses: found, added and removed at a cost that hardly
 * grows with their number. All is for callers that keep others out. */
#ifndef META_RANGES_H
#define META_RANGES_H

#include "memory/memory.h"

/** The one that holds @p address; NULL: none does. */
meta_allocation *meta_ranges_around(const void *address);
/** The first one that begins behind @p address; NULL: none does. */
meta_allocation *meta_ranges_behind(const void *address);
/** The last one of all. */
meta_allocation *meta_ranges_last(void);
/** A copy of @p a, which begins where no other does; it stays where it is. NULL: no memory. */
meta_allocation *meta_ranges_add(const meta_allocation *a);
/** Remove one of them. */
void meta_ranges_remove(meta_allocation *a);
/** Remove all, and give all memory back. */
void meta_ranges_forget(void);

#endif
