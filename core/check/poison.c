/* SPDX-License-Identifier: BSD-3-Clause */
/** @file poison.c
 *  META_CHECK=on: cells of an OUT array hold a poison pattern while a kernel of the program's runs.
 * One that still does has not been written. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/cells.h"
#include "check/raw.h"
#include "check/watched.h"

/* Signalling NaN as f64 and, their lower half, as f32: arithmetic makes another NaN of them. What a
 * kernel writes may equal one of them, but not both. */
static const uint64_t patterns[2] = {UINT64_C(0x7ff5007e7fa5007e), UINT64_C(0x7ff5817f7fa5817f)};

/* Set the operand's cells in an image of the buffer that begins at address @p buffer. */
static void set(const meta_operation *op, uint32_t k, const char *buffer, int which,
                unsigned char *image)
{
    meta_walk w = meta_walk_begin(op, k, buffer);
    do memcpy(image + meta_walk_place(&w), &patterns[which], (size_t)w.bytes);
    while (meta_walk_next(&w));
}

static meta_err each_row(const meta_operation *op, uint32_t k, const char *buffer,
                         meta_err (*give)(void *with, int64_t from, uint64_t bytes), void *with)
{
    meta_walk w = meta_walk_begin(op, k, buffer);
    const int64_t last = op->space->extent[0] - 1;
    do {
        META_TRY(give(with, meta_walk_place(&w), (uint64_t)((last + 1) * w.bytes)));
        w.at[0] = last;
    } while (meta_walk_next(&w));
    return META_OK;
}

/* Set a bit of @p suspect at the first byte of each cell that holds pattern 0. @return how many do
 */
static uint64_t find(const meta_operation *op, uint32_t k, const char *buffer,
                     const unsigned char *image, unsigned char *suspect)
{
    meta_walk w = meta_walk_begin(op, k, buffer);
    uint64_t count = 0;
    do {
        const int64_t from = meta_walk_place(&w);
        if (memcmp(image + from, &patterns[0], (size_t)w.bytes) != 0) continue;
        suspect[from / 8] |= (unsigned char)(1u << from % 8);
        ++count;
    } while (meta_walk_next(&w));
    return count;
}

/* Give those cells among them that hold pattern 1 now back what they are in @p before. @return how
 * many do; @p first receives the coordinates of the first in the operation's space */
static uint64_t undo(const meta_operation *op, uint32_t k, const char *buffer,
                     const unsigned char *suspect, const unsigned char *before,
                     unsigned char *image, int64_t first[META_MAX_DIM])
{
    meta_walk w = meta_walk_begin(op, k, buffer);
    uint64_t count = 0;
    do {
        const int64_t from = meta_walk_place(&w);
        if (!(suspect[from / 8] >> from % 8 & 1) ||
            memcmp(image + from, &patterns[1], (size_t)w.bytes) != 0)
            continue;
        if (count++ == 0) memcpy(first, w.at, sizeof w.at);
        memcpy(image + from, before + from, (size_t)w.bytes);
    } while (meta_walk_next(&w));
    return count;
}

/* ------------------------------------------------------------------ a launch's buffers */

/* Whether operand @p k of @p op is an OUT array of a kernel of the program's, in a buffer of which
 * there is a copy. */
static bool is_out(const meta_operation *op, uint32_t k, const watched *w)
{
    const meta_kernel_desc *desc = op->call.desc;
    return desc->family == META_FAMILY_USER && desc->operand[k].access == META_ACCESS_OUT &&
           w->before && meta_watched_holds(w, op->operand[k].span.address);
}

static bool has_out(const meta_task *work, const watched *w)
{
    for (size_t n = 0; n < work->launch.count; ++n) {
        const meta_operation *op = meta_task_operation(work, n);
        for (uint32_t k = 0; k < op->call.desc->operands; ++k)
            if (is_out(op, k, w)) return true;
    }
    return false;
}

/* The new contents of a buffer. */
typedef struct contents {
    const watched *of;
    unsigned char *bytes;
} contents;

static meta_err give_row(void *with, int64_t from, uint64_t bytes)
{
    const contents *i = with;
    return meta_raw_copy(i->of->of.device, META_COPY_H2D, i->bytes + from, i->of->object,
                         i->of->offset + (uint64_t)from, bytes);
}

/* Poison the cells of OUT arrays in a buffer, and no others, since another thread may be writing
 * them; or (again) give all of it back first. */
static meta_err poison_one(const meta_task *work, const watched *w, bool again)
{
    contents i = {w, malloc(w->of.memory.bytes)};
    if (!i.bytes) return meta_no_memory(w->of.memory.bytes);
    memcpy(i.bytes, w->before, w->of.memory.bytes);
    meta_err error = META_OK;
    for (size_t n = 0; n < work->launch.count; ++n) {
        const meta_operation *op = meta_task_operation(work, n);
        for (uint32_t k = 0; k < op->call.desc->operands && error == META_OK; ++k) {
            if (!is_out(op, k, w)) continue;
            set(op, k, w->of.memory.address, again, i.bytes);
            if (!again) error = each_row(op, k, w->of.memory.address, give_row, &i);
        }
    }
    if (again) error = meta_watched_set(w, i.bytes);
    free(i.bytes);
    return error;
}

static meta_err not_written(const meta_operation *op, uint32_t k, uint64_t count,
                            const int64_t *first)
{
    char cell[META_CELL_ROOM];
    meta_walk_text(op, first, cell);
    return meta_fail(
        META_ERR_ARGUMENT,
        "META_CHECK: kernel %s for %s does not write every cell of its OUT array '%s': "
        "of the box not %" PRIu64 ", the first at (%s); make it INOUT, or write them",
        op->call.desc->name, meta_element_name(op->call.type), op->operand[k].name, count, cell);
}

/* Cells that hold the poison of the first run. */
static meta_err suspect(const meta_task *work, watched *w, bool *any)
{
    unsigned char *image;
    if (!has_out(work, w)) return META_OK;
    META_TRY(meta_watched_get(w, &image));
    w->suspect = calloc(1, w->of.memory.bytes / 8 + 1);
    for (size_t n = 0; n < work->launch.count && w->suspect; ++n) {
        const meta_operation *op = meta_task_operation(work, n);
        for (uint32_t k = 0; k < op->call.desc->operands; ++k)
            if (is_out(op, k, w) && find(op, k, w->of.memory.address, image, w->suspect) > 0)
                *any = true;
    }
    free(image);
    return w->suspect ? META_OK : meta_no_memory(w->of.memory.bytes / 8);
}

/* Those of them that hold the poison of the second run have not been written: an error, and they
 * get back what they held. */
static meta_err convict(const meta_task *work, const watched *w)
{
    unsigned char *image;
    meta_err found = META_OK;
    if (!w->suspect) return META_OK;
    META_TRY(meta_watched_get(w, &image));
    for (size_t n = 0; n < work->launch.count; ++n) {
        const meta_operation *op = meta_task_operation(work, n);
        for (uint32_t k = 0; k < op->call.desc->operands; ++k) {
            int64_t first[META_MAX_DIM];
            if (!is_out(op, k, w)) continue;
            const uint64_t count =
                undo(op, k, w->of.memory.address, w->suspect, w->before, image, first);
            if (count > 0 && found == META_OK) found = not_written(op, k, count, first);
        }
    }
    const meta_err error = found == META_OK ? META_OK : meta_watched_set(w, image);
    free(image);
    return error == META_OK ? found : error;
}

/* Whether all that the launch writes can be given back: an exchange may be changing other buffers.
 */
static bool can_repeat(const meta_task *work, const watched *list, int listed)
{
    for (int b = 0; b < listed; ++b)
        if (!list[b].before) return false;
    for (size_t n = 0; n < work->launch.count; ++n) {
        const meta_operation *op = meta_task_operation(work, n);
        if (op->call.desc->family != META_FAMILY_USER) return false;
        for (uint32_t k = 0; k < op->call.desc->operands; ++k) {
            const meta_operand_desc *desc = &op->call.desc->operand[k];
            int b = 0;
            /* Of others the cells outside the box are not given back. */
            if (desc->access == META_ACCESS_ADD ||
                (desc->access != META_ACCESS_IN && desc->reach == META_REACH_WHOLE))
                return false;
            while (b < listed && !meta_watched_holds(&list[b], op->operand[k].span.address)) ++b;
            if (b == listed && desc->access != META_ACCESS_IN) return false;
        }
    }
    return true;
}

void meta_ticket_drop(const meta_task *work)
{
    meta_ticket *const ticket = work->launch.ticket;
    if (!ticket) return;
    if (*ticket) work->device->backend->ops.ticket_release(*ticket);
    *ticket = NULL;
}

static meta_err pass_and_wait(meta_task *work)
{
    META_TRY(meta_queue_pass(work));
    return meta_queue_after(work->device, META_QUEUE_COMPUTE, META_QUEUE_HALO);
}

/* Run the launch with poison in its OUT arrays. A kernel may write what equals a pattern, as a hash
 * or a copy does: where one is found, all is given back and it runs again with the other pattern.
 */
meta_err meta_poison_run(meta_task *work, watched *list, int listed)
{
    meta_task again = *work;
    bool any = false;
    if (!can_repeat(work, list, listed)) return pass_and_wait(work);
    for (int k = 0; k < listed; ++k)
        if (has_out(work, &list[k])) META_TRY(poison_one(work, &list[k], false));
    META_TRY(pass_and_wait(work));
    for (int k = 0; k < listed; ++k) META_TRY(suspect(work, &list[k], &any));
    if (!any) return META_OK;
    meta_ticket_drop(work);
    for (int k = 0; k < listed; ++k) META_TRY(poison_one(work, &list[k], true));
    META_TRY(pass_and_wait(&again));
    for (int k = 0; k < listed; ++k) META_TRY(convict(work, &list[k]));
    return META_OK;
}
