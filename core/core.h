/* SPDX-License-Identifier: BSD-3-Clause */
/** @file core.h
 *  Every room's header. */
#ifndef META_CORE_H
#define META_CORE_H

#include "base/base.h"
#include "base/module.h"
#include "check/check.h"
#include "device/device.h"
#include "internal.h"
#include "memory/memory.h"
#include "ops/ops.h"
#include "queue/queue.h"
#include "record/record.h"

#endif
