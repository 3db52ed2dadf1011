/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fault.h
 *  For tests of the GPU back ends on the CPU, where calls of the runtime fail as ordered: which
 * back end is tested, its module, and the module's statistics. */
#ifndef META_TEST_FAULT_H
#define META_TEST_FAULT_H

#include <stdbool.h>

#include "meta.h"
#include "plugins/gpu_fault.h"

/** A back end, and what its messages say. */
typedef struct fault_gpu {
    const char *name;   /**< as in META_MODE; the names of the runtime's calls begin with it */
    const char *driver; /**< and those of the driver's with this; NULL: it has none */
    const char *folder; /**< of its module, in the build tree */
    meta_mode mode;
    const char *title;           /**< what its devices are called */
    const char *visible;         /**< the variable by which devices are hidden */
    const char *arch;            /**< configure's option for kinds of devices */
    int good_driver, old_driver; /**< versions that the runtime can and cannot use */
    const char *old_version;     /**< the latter, as text */
} fault_gpu;

/** The one that META_MODE named when the test began. */
extern const fault_gpu *gpu;

/** What the module is told and has seen; of fault_find(). */
extern gpu_fault *fault;

/** Let the module be the back end, and find its control. In a child process, before the library is
 *  started. Two devices are simulated unless META_TEST_GPUS says otherwise. */
bool fault_find(void);
/** The name of a call of the runtime, in a static buffer. */
const char *fault_call(const char *name);
/** Whether @p text names a call of the runtime or the driver; names of status codes are none. */
bool fault_is_named(const char *text);
/** Everything was given back, and no object was used where it does not belong. */
void fault_check_nothing_left(void);

#endif
