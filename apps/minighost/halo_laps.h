/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_laps.h
 *  meta_halo_exchange() with a lap between its two parts. */
#ifndef HALO_LAPS_H
#define HALO_LAPS_H

#include "laps.h"
#include "meta_comm.h"

static inline meta_err exchange_in_laps(meta_halo plan, void *const *fields)
{
    const meta_err error = meta_halo_start(plan, fields);
    if (error != META_OK) return error;
    lap(LAP_START);
    return meta_halo_finish(plan, META_ASYNC);
}

#endif
