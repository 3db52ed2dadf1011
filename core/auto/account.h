/* SPDX-License-Identifier: BSD-3-Clause */
/** @file account.h
 *  What META_MODE=auto does by itself, for the profile: its copies between devices and its
 * decisions. Events are kept only while somebody wants them, in the order in which they happened,
 * until they are taken. The lock here is the last one taken. */
#ifndef META_ACCOUNT_H
#define META_ACCOUNT_H

#include "device/device.h"

enum { META_AUTO_MOST = 16 }; /**< devices among which is chosen */

/** Why bytes are copied from one device to another. */
typedef enum meta_auto_why {
    META_AUTO_WHY_OPERAND, /**< a kernel that runs away from the home of its data reads them */
    META_AUTO_WHY_HOME,    /**< a kernel at the home of its data reads them */
    META_AUTO_WHY_PLAN,    /**< a kernel of a loop, where the loop's plan has it */
    META_AUTO_WHY_TRIAL,   /**< to know how long a kernel takes there */
    META_AUTO_WHY_ROOM,    /**< the memory of the device that held them alone was short */
    META_AUTO_WHY_HOST,    /**< for a copy to or from the host */
    META_AUTO_WHY_HALO,    /**< for a message or a halo exchange */
    META_AUTO_WHY_NATIVE,  /**< meta_native() keeps the buffer there */
    META_AUTO_WHY_COUNT
} meta_auto_why;

/** Flags of what is wanted. */
enum { META_ACCOUNT_MOVES = 1, META_ACCOUNT_DECISIONS = 2 };

/** A copy between devices, or a decision. */
typedef struct meta_auto_event {
    bool is_decision;
    meta_device *from; /**< of a copy */
    meta_device *to;   /**< of a copy, or chosen */
    meta_device *on;   /**< in whose queue it is */
    meta_queue_kind queue;
    meta_auto_why why;
    uint64_t bytes;
    uint64_t queued;  /**< by CLOCK_MONOTONIC */
    meta_stamp stamp; /**< .work is to be read and released by META_AUTO's table */
    char kernel[64];  /**< for which it is; empty: none */
    uint32_t type;    /**< of its elements */
    int operand;      /**< counted from 0; -1: none */
    char *text;       /**< what a decision rests on; freed by who takes it */
} meta_auto_event;

/** Set what is wanted from now on. */
void meta_account_want(int flags);
/** Take the oldest event. @return false if there is none. */
bool meta_account_take(meta_auto_event *event);
/** Events that were not kept, since thousands waited to be taken or memory was out. */
typedef struct meta_account_rest {
    uint64_t copies, bytes, decisions;
} meta_account_rest;
/** Those since this was called last. */
meta_account_rest meta_account_take_rest(void);
/** "carried home" */
const char *meta_auto_why_text(meta_auto_why why);
/** Device @p number among which is chosen; NULL: there are not so many. */
meta_device *meta_account_device(int number);
/** Nanoseconds that a run of a kernel takes on a device by what was learned there.
 * @return false if nothing is known of it, or the device cannot run it */
bool meta_account_expect(const char *kernel, uint32_t type, int device, uint64_t cells,
                         double *time);
/** Nanoseconds of @p copies copies of @p bytes together between a device and the host, @p out from
 * the device, as learned from copies between it and a device that uses the host's memory.
 * @return false if there were none */
bool meta_account_expect_copies(int device, bool out, uint64_t copies, uint64_t bytes,
                                double *time);

#endif
