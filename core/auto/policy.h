/* SPDX-License-Identifier: BSD-3-Clause */
/** @file policy.h
 *  Policies: how the device of a kernel is chosen. */
#ifndef META_AUTO_POLICY_H
#define META_AUTO_POLICY_H

#include "base/base.h"

typedef enum meta_policy_kind {
    META_POLICY_COST,
    META_POLICY_GREEDY,
    META_POLICY_PROFILE,
    META_POLICY_LOCALITY,
    META_POLICY_DEVICE,
    META_POLICY_TYPE,
    META_POLICY_ROUND_ROBIN,
    META_POLICY_RANDOM,
    META_POLICY_FUNCTION
} meta_policy_kind;

typedef struct meta_policy {
    meta_policy_kind kind;
    int device;
    uint64_t turn, random;
    char type[32];
    meta_policy_function *function;
    void *user;
} meta_policy;

/** Read META_POLICY. */
meta_err meta_policy_read(void);
/** Whether the devices that META_POLICY names are there. */
meta_err meta_policy_check(void);
/** The policy of this thread, for its next kernel or for anything else. */
meta_policy *meta_policy_now(bool is_kernel);
/** The devices of a policy's type. */
uint32_t meta_policy_devices(const meta_policy *policy);

#endif
