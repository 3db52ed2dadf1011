/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fault.h
 *  For tests of the GPU back end with the fault injection layer: the module, and its statistics. */
#ifndef META_TEST_FAULT_H
#define META_TEST_FAULT_H

#include <stdbool.h>

#include "plugins/gpu_fault.h"

/** What the module is told and has seen; of fault_find(). */
extern gpu_fault *fault;

/** Let the module be the back end hip, and find its control. In a child process, before the library
 *  is started. */
bool fault_find(void);
/** Everything was given back, and no object was used where it does not belong. */
void fault_check_nothing_left(void);

#endif
