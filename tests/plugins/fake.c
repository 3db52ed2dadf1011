/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fake.c
 *  Back ends with one fault each, selected by -DFAKE_…: the core must detect the fault, and
 *  report it, before it calls a function that it must not call. With -DFAKE_CARDS=N, a back end
 *  with N devices that can be described but not opened. */
#include <stdio.h>
#include <stdlib.h>

#include "meta_backend.h"

#ifndef FAKE_NAME
#define FAKE_NAME "fake"
#endif
#ifndef FAKE_MAGIC
#define FAKE_MAGIC META_PLUGIN_MAGIC
#endif
#ifndef FAKE_ABI
#define FAKE_ABI META_PLUGIN_ABI_MAJOR
#endif
#ifndef FAKE_SIZE
#define FAKE_SIZE sizeof(meta_plugin)
#endif
#ifndef FAKE_OPS_SIZE
#define FAKE_OPS_SIZE sizeof(meta_ops)
#endif

#ifdef FAKE_NO_SYMBOL
META_API extern const int not_a_plugin;
const int not_a_plugin = 1;
#else

static meta_err init(const meta_host *host)
{
#if defined FAKE_INIT_FAILS
    return host->fail(META_ERR_DEVICE, "the fake driver is %d years too old", 12);
#elif defined FAKE_NO_DEVICE || defined FAKE_CARDS
    (void)host;
    return META_OK;
#else
    (void)host;
    abort(); /* must not be called */
#endif
}

#ifdef FAKE_CARDS
static int device_count(char *reason, size_t room)
{
    (void)reason, (void)room;
    return FAKE_CARDS;
}

/* A GPU each in slots 10, 20, … */
static meta_err device_info(int index, meta_device_desc *desc)
{
    desc->is_gpu = 1;
    snprintf(desc->pci, sizeof desc->pci, "0000:%d0:00.0", (index + 1) % 10);
    return META_OK;
}
#else
static int device_count(char *reason, size_t room)
{
    snprintf(reason, room, "the fake driver knows no device");
    return 0;
}
#endif

/* Never called, of whatever type. */
static void must_not_be_called(void)
{
    abort();
}
#define FAKE(member) .member = (__typeof__(((meta_ops *)NULL)->member))must_not_be_called

static const meta_ops ops = {
    .size = FAKE_OPS_SIZE,
    .device_count = device_count,
#ifdef FAKE_CARDS
    .device_info = device_info,
#else
    FAKE(device_info),
#endif
    FAKE(open),
    FAKE(close),
    FAKE(state),
    FAKE(alloc),
    FAKE(free),
    FAKE(wrap),
    FAKE(unwrap),
    FAKE(queue_create),
    FAKE(queue_destroy),
    FAKE(queue_finish),
    FAKE(queue_after),
    FAKE(copy),
#ifndef FAKE_NO_LAUNCH
    FAKE(launch),
#endif
    FAKE(ticket_test),
    FAKE(ticket_wait),
    FAKE(ticket_release),
#ifdef FAKE_HALF_TIMED
    FAKE(launch_timed),
#endif
};

META_API const meta_plugin meta_plugin_v1 = {
    .magic = FAKE_MAGIC,
    .abi_major = FAKE_ABI,
    .size = FAKE_SIZE,
    .name = FAKE_NAME,
    .description = "a fake",
#ifndef FAKE_NO_INIT
    .init = init,
#endif
    .ops = &ops,
};
#ifdef FAKE_NO_INIT
/* Otherwise nobody would use it. */
META_API meta_err (*const fake_init)(const meta_host *) = init;
#endif

#endif
