/* SPDX-License-Identifier: BSD-3-Clause */
/** @file prefix.c
 *  Prefix sums: the sums of blocks, their own prefix sums in turn, and each block from its own on.
 */
#include "library/library.h"

#include <inttypes.h>

#include "library/prefix.kernel.h"

enum { MOST_LEVELS = 10 };

/* Level 0 is the array; each further one has an element for each block of the one before, down to
 * one block, whose element is 0. In scratch memory the last comes first: an array that is read
 * anywhere must lie behind what is written from it. */
typedef struct level {
    char *at;
    int64_t count;
} level;

static int lay_out(level *l, int64_t count, int64_t *scratch)
{
    int last = 0;
    l[0].count = count;
    *scratch = 0;
    do {
        l[last + 1].count = (l[last].count - 1) / META_PREFIX_BLOCK + 1;
        *scratch += l[++last].count;
    } while (l[last].count > 1);
    return last;
}

static meta_box cells_of(const level *l)
{
    return (meta_box){.ndim = 1, .size = {l->count}, .end = {l->count}};
}

static const meta_library_kernels reduce = META_LIBRARY_KERNELS(meta_prefix_reduce),
                                  scan = META_LIBRARY_KERNELS(meta_prefix_scan);

/* Before anything is written: a device may have no such type or no compiler. */
static meta_err build(meta_device *device, meta_kernel *kernel)
{
    meta_plugin_kernel *object;
    META_TRY(meta_user_open(kernel));
    return meta_user_object_of(device, &kernel->state->desc, &object);
}

/* Blocks. */
static meta_err run(const level *l, int last, int32_t inclusive, meta_type type)
{
    const uint64_t zero = 0;
    META_TRY(meta_fill(l[last].at, 1, &zero, type, META_ASYNC));
    for (int k = 0; k + 1 < last; ++k) {
        const meta_box blocks = cells_of(&l[k + 1]);
        META_TRY(meta_user_run(reduce[type], &blocks,
                               (const void *[]){l[k + 1].at, l[k].at, &l[k].count}, META_ASYNC));
    }
    for (int k = last - 1; k >= 0; --k) {
        const meta_box blocks = cells_of(&l[k + 1]);
        const int32_t includes = k == 0 && inclusive;
        META_TRY(meta_user_run(scan[type], &blocks,
                               (const void *[]){l[k].at, l[k + 1].at, &l[k].count, &includes},
                               k == 0 ? NULL : META_ASYNC));
    }
    return META_OK;
}

meta_err meta_prefix_sum(void *out, const void *in, int64_t count, int inclusive, meta_type type,
                         meta_event *done)
{
    level l[MOST_LEVELS + 1];
    meta_span to, from;
    size_t bytes;
    int64_t elements;
    void *scratch;
    META_ENTER();
    META_TRY(meta_type_arithmetic(type, &bytes));
    if (count < 0)
        return meta_fail(META_ERR_ARGUMENT, "argument 'count' is %" PRId64 ": give 0 or more",
                         count);
    if (inclusive != 0 && inclusive != 1)
        return meta_fail(META_ERR_ARGUMENT, "argument 'inclusive' is %d: give 0 or 1", inclusive);
    if (count == 0) return meta_submit_nothing(done);
    META_TRY(meta_resolve(out, count, type, "out", &to));
    META_TRY(meta_resolve(in, count, type, "in", &from));
    META_TRY(meta_same_device(&to, "out", &from, "in"));
    if (out != in)
        META_TRY(
            meta_no_overlap(&to, 0, count - 1, "out", bytes, &from, 0, count - 1, "in", bytes));
    const int last = lay_out(l, count, &elements);
    META_TRY(build(to.device, scan[type]));
    if (last > 1) META_TRY(build(to.device, reduce[type]));
    META_TRY(meta_scratch(to.device, (size_t)elements * bytes, &scratch));
    char *next = scratch;
    for (int k = last; k > 0; --k) l[k].at = next, next += (size_t)l[k].count * bytes;
    l[0].at = out;
    meta_err error = META_OK;
    if (out != in) error = meta_copy_d2d(out, in, (size_t)count * bytes, META_ASYNC);
    if (error == META_OK) error = run(l, last, inclusive, type);
    meta_scratch_free(scratch);
    return error == META_OK ? meta_submit_nothing(done) : error;
}
