/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_notes.c
 *  META_CHECK=on where a device fails while its notes on stray accesses are fetched: the code that
 * is returned and the message belong to the same mistake. core/check/notes.c alone, with a device
 * that is made here. */
/* TEST: labels=core smoke=yes */
#include "check/notes.h"
#include "check/raw.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>
#define META_NEAR_LAYOUT_ONLY
#include "lang_check.h"

static bool fetch_fails, is_noted, is_beyond;

/* ------------------------------------------------------------------ what the rest of the core does
 */

bool meta_user_is_checked(const meta_device *device)
{
    (void)device;
    return true;
}

int meta_device_is_host(const meta_device *device)
{
    (void)device;
    return 0;
}

void meta_user_expect(const void *at, uint64_t bytes)
{
    (void)at;
    (void)bytes;
}

meta_err meta_device_memory(meta_device *device, uint64_t bytes, meta_memory *memory)
{
    (void)device;
    *memory = (meta_memory){.object = malloc(bytes), .bytes = bytes};
    return META_OK;
}

static void free_memory(meta_plugin_device *device, const meta_memory *memory)
{
    (void)device;
    free(memory->object);
}

meta_err meta_raw_copy(meta_device *device, meta_copy_kind kind, void *host, void *object,
                       uint64_t offset, uint64_t bytes)
{
    (void)device;
    (void)object;
    (void)offset;
    (void)bytes;
    if (kind == META_COPY_H2D) return META_OK;
    if (fetch_fails) return meta_fail(META_ERR_DEVICE, "the notes cannot be fetched");
    ((int64_t *)host)[META_NEAR_STATE] = is_noted;
    return META_OK;
}

meta_err meta_user_beyond(void)
{
    return is_beyond ? meta_fail(META_ERR_BOUNDS, "a stray access on the CPU") : META_OK;
}

meta_err meta_user_noted(const meta_kernel *kernel, const int64_t *section)
{
    (void)kernel;
    return section[META_NEAR_STATE] ? meta_fail(META_ERR_BOUNDS, "a stray access") : META_OK;
}

/* ------------------------------------------------------------------ a launch of one kernel */

/* @p launched: what it returned. @return what meta_notes_end() does */
static meta_err error_of(meta_err launched)
{
    static const meta_operand_desc array;
    static struct meta_kernel_state state = {
        .desc = {.family = META_FAMILY_USER, .operands = 1, .operand = &array},
        .checked = {.number = META_USER_CHECKED_NUMBER, .family = META_FAMILY_USER}};
    meta_backend backend = {.ops = {.free = free_memory}};
    meta_device device = {.backend = &backend};
    meta_operand operand = {.name = "x"};
    meta_space space = {.ndim = 1};
    void *object = NULL;
    meta_operation op = {
        .call = {.size = sizeof op.call, .desc = &state.desc, .space = &space, .object = &object},
        .operand = &operand,
        .object = &object,
        .space = &space,
        .device = &device};
    const meta_task task = {.device = &device,
                            .launch = {.calls = &op.call, .count = 1, .stride = sizeof op}};
    meta_notes notes;
    if (!CHECK_OK(meta_notes_begin(&notes, &task))) return META_OK;
    if (launched != META_OK) meta_fail(launched, "the launch has failed");
    return meta_notes_end(&notes, launched);
}

static void the_first_error_keeps_its_message(void)
{
    fetch_fails = true;
    CHECK_ERR_NAMES(error_of(META_ERR_NO_MEMORY), META_ERR_NO_MEMORY, "the launch has failed");
    is_beyond = true;
    CHECK_ERR_NAMES(error_of(META_OK), META_ERR_BOUNDS, "a stray access on the CPU");
    CHECK_ERR_NAMES(error_of(META_ERR_NO_MEMORY), META_ERR_BOUNDS, "a stray access on the CPU");
    is_beyond = false;
    CHECK_ERR_NAMES(error_of(META_OK), META_ERR_DEVICE, "the notes cannot be fetched");
    fetch_fails = false;
}

static void a_note_explains_the_error_of_a_launch(void)
{
    is_noted = true;
    CHECK_ERR_NAMES(error_of(META_OK), META_ERR_BOUNDS, "a stray access");
    CHECK_ERR_NAMES(error_of(META_ERR_DEVICE), META_ERR_BOUNDS, "a stray access");
    is_noted = false;
    CHECK_ERR_NAMES(error_of(META_ERR_DEVICE), META_ERR_DEVICE, "the launch has failed");
    CHECK_OK(error_of(META_OK));
}

TEST_MAIN(PROMISE(the_first_error_keeps_its_message),
          PROMISE(a_note_explains_the_error_of_a_launch))
