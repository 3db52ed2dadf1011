/* SPDX-License-Identifier: BSD-3-Clause */
/** @file plan.h
 *  The devices of a loop's calls, chosen together: what a step costs once the data is where the
 *  plan keeps it, and a search for the plan that costs least. */
#ifndef META_PLAN_H
#define META_PLAN_H

#include "auto/slabs.h"

/** Pieces [first, last) of the step's data that a call reads, writes or both. */
typedef struct meta_plan_use {
    uint32_t first, last;
    bool reads, writes;
} meta_plan_use;

typedef struct meta_plan_call {
    uint32_t first, last;            /**< its uses */
    uint32_t among;                  /**< devices that can run it */
    uint64_t kind;                   /**< calls of one kind are tried together */
    double time[META_SLABS_DEVICES]; /**< nanoseconds */
} meta_plan_call;

/** Bytes that the step's calls use alike. */
typedef struct meta_plan_piece {
    uint64_t bytes;
    uint32_t buffer;
} meta_plan_piece;

/** A step of a loop: its calls in order, and the machine. */
typedef struct meta_plan_step {
    int devices;
    uint32_t calls, uses, pieces, buffers;
    meta_plan_call *call;
    meta_plan_use *use;
    meta_plan_piece *piece;
    uint64_t *buffer; /**< bytes of each */
    /** A copy from one device to another takes latency + bytes * per_byte nanoseconds. */
    double latency[META_SLABS_DEVICES][META_SLABS_DEVICES];
    double per_byte[META_SLABS_DEVICES][META_SLABS_DEVICES];
    uint64_t memory[META_SLABS_DEVICES]; /**< bytes; 0: not known */
} meta_plan_step;

/** Nanoseconds of one step with call n on device[n]. valid[k] is the set of devices that hold piece
 *  k before the step, 0 where nobody has written it yet, and after it. */
double meta_plan_pass(const meta_plan_step *step, const uint8_t *device, uint32_t *valid);

typedef struct meta_plan_search meta_plan_search;
/** A search for @p step, which must outlive it, that begins with @p device; NULL: memory is out. */
meta_plan_search *meta_plan_search_new(const meta_plan_step *step, const uint8_t *device);
void meta_plan_search_free(meta_plan_search *search);
/** The step's times have changed: go on from the plan found so far. */
void meta_plan_search_again(meta_plan_search *search);
/** Look at @p plans plans more.
 *  @return whether there are more to look at */
bool meta_plan_search_on(meta_plan_search *search, uint32_t plans);
/** The best plan so far: the device of each call. */
const uint8_t *meta_plan_found(const meta_plan_search *search);
/** What a step costs with a plan, once the data is where the plan keeps it. */
double meta_plan_cost(meta_plan_search *search, const uint8_t *device);
/** What the first step costs more when plan @p next follows plan @p now. */
double meta_plan_change(meta_plan_search *search, const uint8_t *now, const uint8_t *next);

#endif
