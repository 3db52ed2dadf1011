/* SPDX-License-Identifier: BSD-3-Clause */
/** @file notes.c
 *  META_CHECK=on: where kernels note, in the memory of their device, an access beyond the reach or
 * the size of an array. */
#include "check/notes.h"

#include <stdlib.h>
#include <string.h>

#include "check/raw.h"
#define META_NEAR_LAYOUT_ONLY
#include "lang_check.h"

/* A copy of an operation, with room for one operand more. */
typedef struct meta_noted {
    meta_operation op;
    meta_operand operand[META_MAX_OPERANDS];
    void *object[META_MAX_OPERANDS];
    union {
        meta_space space;
        char bytes[offsetof(meta_space, layout) + META_MAX_OPERANDS * sizeof(meta_layout)];
    } in;
} meta_noted;

enum { SECTION_BYTES = META_NEAR_WORDS * sizeof(int64_t) };

static bool is_user(const meta_operation *op)
{
    return op->call.desc->family == META_FAMILY_USER;
}

static bool has_user(const meta_task *work)
{
    for (size_t n = 0; n < work->launch.count; ++n)
        if (is_user(meta_task_operation(work, n))) return true;
    return false;
}

/* The CPU's code asks the core for the sizes of arrays. The object of a buffer of META_AUTO is not
 * its address: META_AUTO says what is when it has chosen a device. */
static void expect(const meta_task *work)
{
    for (size_t n = 0; n < work->launch.count; ++n) {
        const meta_operation *op = meta_task_operation(work, n);
        for (uint32_t k = 0; is_user(op) && k < op->call.desc->operands; ++k) {
            const meta_span *span = &op->operand[k].span;
            if (op->call.desc->operand[k].reach == META_REACH_WHOLE)
                meta_user_expect((char *)span->object + span->offset, span->room);
        }
    }
}

/* Make operation number @p n of the launch one that writes to section @p n. */
static void add_operand(meta_notes *notes, meta_noted *to, const meta_operation *op, size_t n)
{
    const meta_kernel_desc *desc = op->call.desc;
    const uint32_t last = desc->operands;
    int64_t *elements = &notes->section[n * META_NEAR_WORDS + META_NEAR_ELEMENTS];
    memcpy(to->operand, op->operand, last * sizeof *op->operand);
    memcpy(to->object, op->call.object, last * sizeof *to->object);
    memcpy(&to->in, op->call.space, meta_space_bytes(last));
    for (uint32_t k = 0; k < last; ++k)
        if (desc->operand[k].reach == META_REACH_WHOLE) elements[k] = op->operand[k].high + 1;
    to->op.operand = to->operand;
    to->op.object = to->object;
    to->op.space = &to->in.space;
    to->op.call.object = to->object;
    to->op.call.space = &to->in.space;
    to->op.call.desc = &meta_user_of(desc)->checked;
    to->operand[last] = (meta_operand){.name = "notes",
                                       .span = {.device = op->device,
                                                .object = notes->memory.object,
                                                .room = notes->memory.bytes,
                                                .address = notes->memory.address}};
    to->object[last] = notes->memory.object;
    *meta_operation_layout(&to->op, last) = (meta_layout){.base = (int64_t)n * META_NEAR_WORDS};
}

static void release(meta_notes *notes)
{
    const meta_device *device = notes->task.device;
    if (notes->memory.object) device->backend->ops.free(device->plugin, &notes->memory);
    free(notes->section);
    free(notes->of);
}

static meta_err make(meta_notes *notes, const meta_task *work)
{
    const size_t count = work->launch.count;
    meta_device *device = work->device;
    notes->of = calloc(count, sizeof *notes->of);
    notes->section = calloc(count, SECTION_BYTES);
    if (!notes->of || !notes->section)
        return meta_fail(META_ERR_NO_MEMORY, "the host has no memory for META_CHECK");
    META_TRY(meta_device_memory(device, count * SECTION_BYTES, &notes->memory));
    for (size_t n = 0; n < count; ++n) {
        const meta_operation *op = meta_task_operation(work, n);
        notes->of[n].op = *op;
        if (is_user(op)) add_operand(notes, &notes->of[n], op, n);
    }
    notes->task.launch.calls = &notes->of->op.call;
    notes->task.launch.stride = sizeof *notes->of;
    return meta_raw_copy(device, META_COPY_H2D, notes->section, notes->memory.object, 0,
                         count * SECTION_BYTES);
}

meta_err meta_notes_begin(meta_notes *notes, const meta_task *work)
{
    *notes = (meta_notes){.task = *work};
    if (!has_user(work)) return META_OK;
    if (meta_device_is_host(work->device) || work->device->backend->mode == META_AUTO) expect(work);
    if (!meta_user_is_checked(work->device)) return META_OK;
    const meta_err error = make(notes, work);
    if (error != META_OK) release(notes);
    return error;
}

/* Fetch what the device noted. If that fails, an @p error that came before it keeps its message. */
static meta_err fetch(const meta_notes *notes, meta_err error)
{
    char *message = error != META_OK ? meta_error_copy() : NULL;
    const meta_err read =
        meta_raw_copy(notes->task.device, META_COPY_D2H, notes->section, notes->memory.object, 0,
                      notes->task.launch.count * SECTION_BYTES);
    if (read != META_OK && message) meta_fail_as(error, message);
    free(message);
    return read;
}

meta_err meta_notes_end(meta_notes *notes, meta_err error)
{
    /* What is fetched is there when the work is complete, be it on the CPU. */
    const meta_err read = notes->of ? fetch(notes, error) : META_OK;
    const meta_err beyond = meta_user_beyond();
    if (beyond != META_OK) error = beyond;
    if (!notes->of) return error;
    const size_t count = notes->task.launch.count;
    if (read != META_OK && error == META_OK) error = read;
    for (size_t n = 0; n < count && read == META_OK; ++n) {
        const meta_kernel_desc *desc = notes->of[n].op.call.desc;
        if (!is_user(&notes->of[n].op)) continue;
        const meta_err noted =
            meta_user_noted(meta_user_of(desc)->kernel, notes->section + n * META_NEAR_WORDS);
        if (noted == META_OK) continue;
        error = noted;
        break;
    }
    release(notes);
    return error;
}
