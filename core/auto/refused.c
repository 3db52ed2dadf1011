/* SPDX-License-Identifier: BSD-3-Clause */
/** @file refused.c
 *  Kernels that devices have refused: their compiler does, or they lack an element type. Each
 * device is asked for a kernel once, since a compiler that fails may take a second for it. */
#include "auto/auto.h"

#include <stdlib.h>

static struct {
    uint64_t kernel; /* meta_auto_kernel() */
    uint32_t type, devices;
} * refused;
static size_t room;

static bool is_of(size_t k, const meta_call *call)
{
    return refused[k].kernel == meta_auto_kernel(call->desc) && refused[k].type == call->type;
}

static size_t find(const meta_call *call)
{
    size_t k = 0;
    while (k < meta_auto.refused && !is_of(k, call)) ++k;
    return k;
}

uint32_t meta_auto_refused_by(const meta_launch *launch)
{
    uint32_t devices = 0;
    for (size_t n = 0; n < launch->count; ++n) {
        const size_t k = find(meta_launch_call(launch, n));
        if (k < meta_auto.refused) devices |= refused[k].devices;
    }
    return devices;
}

static void tell(const meta_call *call, int d, meta_err error)
{
    char name[48];
    meta_log(error == META_ERR_TYPE ? META_LOG_INFO : META_LOG_WARN,
             "META_MODE=auto does not run kernel %s %s on %s: %s", call->desc->name,
             meta_element_name(call->type), meta_auto_name(d, name), meta_last_error());
}

void meta_auto_refuse(const meta_call *call, int d, meta_err error)
{
    const size_t k = find(call);
    tell(call, d, error);
    if (k == room) {
        const size_t more = room ? 2 * room : 16;
        void *larger = realloc(refused, more * sizeof *refused);
        if (!larger) return; /* it is asked again */
        refused = larger;
        room = more;
    }
    if (k == meta_auto.refused) {
        refused[k].kernel = meta_auto_kernel(call->desc);
        refused[k].type = call->type;
        refused[k].devices = 0;
        ++meta_auto.refused;
    }
    refused[k].devices |= UINT32_C(1) << d;
}

void meta_auto_refused_close(void)
{
    free(refused);
    refused = NULL;
    room = meta_auto.refused = 0;
}
