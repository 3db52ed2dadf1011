/* SPDX-License-Identifier: BSD-3-Clause */
/** @file plan.h
 *  The devices of a loop's calls, chosen together: how long a step takes once the data is where the
 *  plan keeps it, and a search for the plan that takes least. */
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
    bool is_copy;                    /**< with the host: on the device's link */
    bool is_waited;                  /**< the host goes on when it is complete */
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
    int engine[META_SLABS_DEVICES];      /**< 0 …: devices with one compute on the same cores */
    /** The host goes on when a call there that takes less is complete; 0: with none. */
    double blocks_below[META_SLABS_DEVICES];
    /** The host goes on when a copy is complete. */
    bool is_staged[META_SLABS_DEVICES][META_SLABS_DEVICES];
} meta_plan_step;

typedef struct meta_plan_search meta_plan_search;
/** A search for @p step, which must outlive it, that begins with @p device; NULL: memory is out. */
meta_plan_search *meta_plan_search_new(const meta_plan_step *step, const uint8_t *device);
void meta_plan_search_free(meta_plan_search *search);
/** The step's times have changed: go on from the plan found so far. */
void meta_plan_search_again(meta_plan_search *search);
/** Look at @p plans plans more.
 *  @return whether there are more to look at */
bool meta_plan_search_on(meta_plan_search *search, uint32_t plans);
/** The best plan so far: the device of each call. It is another one when the number of better plans
 *  found so far is another one. */
const uint8_t *meta_plan_found(const meta_plan_search *search);
/** What a step takes with it. */
double meta_plan_found_cost(const meta_plan_search *search);
uint64_t meta_plan_found_number(const meta_plan_search *search);
/** Nanoseconds that planning has taken so far, by what was looked at and not by the clock, so that
 *  who goes by it decides the same in each run. */
double meta_plan_spent(const meta_plan_search *search);
/** What a step takes with a plan, once the data is where the plan keeps it. */
double meta_plan_cost(meta_plan_search *search, const uint8_t *device);
/** What the first step takes more when plan @p next follows plan @p now. */
double meta_plan_change(meta_plan_search *search, const uint8_t *now, const uint8_t *next);

#endif
