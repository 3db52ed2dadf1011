/* SPDX-License-Identifier: BSD-3-Clause */
/** @file check.h
 *  Shared by the libmeta versions of the proxies: libmeta errors become failures of the program,
 *  and element types become libmeta's. */
#ifndef CHECK_H
#define CHECK_H

#include "failure.h"
#include "meta_comm.h"
#include "numbers.h"

/** Record a failed call; the program continues to the next agreement point, unless one of the ranks
 *  was lost. */
static inline void check(meta_err err)
{
    if (err == META_OK) return;
    if (err == META_ERR_PEER) failure_abort(meta_last_error());
    failure_note("%s", *meta_last_error() != '\0' ? meta_last_error() : meta_strerror(err));
}

static inline meta_type type_of(number type)
{
    static const meta_type types[NUMBER_COUNT] = {
        [NUMBER_F64] = META_F64, [NUMBER_F32] = META_F32, [NUMBER_I64] = META_I64,
        [NUMBER_U64] = META_U64, [NUMBER_I32] = META_I32, [NUMBER_U32] = META_U32,
    };
    return types[type];
}

#endif
