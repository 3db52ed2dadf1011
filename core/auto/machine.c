/* SPDX-License-Identifier: BSD-3-Clause */
/** @file machine.c
 *  The devices and all state of the room, and the clock by which they are timed. */
#include "auto/auto.h"

#include <string.h>

#include <stdio.h>
#include <time.h>

meta_auto_machine meta_auto;
_Atomic int meta_accounted;

const char *meta_auto_name(int number, char text[48])
{
    const meta_device *device = meta_auto.device[number].device;
    snprintf(text, 48, "%s:%d", device->backend->name, device->index);
    return text;
}

uint64_t meta_auto_now(void)
{
    struct timespec now;
    if (meta_auto.clock) return meta_auto.clock();
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool meta_auto_alike(int a, int b)
{
    const meta_device *one = meta_auto.device[a].device, *other = meta_auto.device[b].device;
    return one->backend == other->backend && strcmp(one->desc.name, other->desc.name) == 0 &&
           strcmp(one->desc.driver, other->desc.driver) == 0 &&
           one->desc.compute_units == other->desc.compute_units &&
           one->desc.memory == other->desc.memory && one->desc.is_host == other->desc.is_host;
}
