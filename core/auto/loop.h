/* SPDX-License-Identifier: BSD-3-Clause */
/** @file loop.h
 *  Loops: a sequence of calls that repeats itself is recognised, and its devices are planned
 *  together. Host copies are calls too. */
#ifndef META_LOOP_H
#define META_LOOP_H

#include "auto/auto.h"
#include "auto/plan.h"

/* ------------------------------------------------------------------ loop.c */

/** A call as it is compared and timed. */
typedef struct meta_loop_call {
    uint64_t signature; /**< equal for calls that do the same with the same data */
    int kernel;         /**< its number in meta_auto.times, or one of the below */
    uint64_t cells, bytes;
    bool is_waited;  /**< the program waits for its results before the next call */
    bool is_tried;   /**< a trial has it on another device than the plan */
    uint32_t among;  /**< devices that can run it */
    double expected; /**< nanoseconds where it runs */
} meta_loop_call;
enum {
    META_LOOP_OTHER = -1, /**< its times are those it was noted with */
    META_LOOP_COPY_IN = -2,
    META_LOOP_COPY_OUT = -3
};

/** The call comes next in the program.
 *  @return the device that is planned for it, and in *call what the loop knows of it; -1: it is in
 *          no loop, and to be given to meta_loop_note() once its device is chosen */
int meta_loop_next(uint64_t signature, const meta_loop_call **call);
/** It was chosen to run on @p device; time[d] nanoseconds are expected on device d. */
void meta_loop_note(const meta_loop_call *call, const meta_auto_range *range, size_t ranges,
                    const double *time, int device);
/** Changes when the program leaves a loop: homes of clusters are where the loop has left the data.
 */
uint64_t meta_loop_left(void);
void meta_loop_close(void);

/* ------------------------------------------------------------------ expect.c */

/** Runs of a kernel by which its time is known, beside the first one, which does not count. */
enum { META_EXPECT_RUNS = 2 };

/** time[d]: expected nanoseconds of the call on device d. */
void meta_expect_times(const meta_loop_call *call, double *time);
/** Nanoseconds of the call on a device at the best rate that it has shown, or where there are other
 *  processes one of its kind, and at its last one; 0: it is no kernel. */
double meta_expect_best(const meta_loop_call *call, int device);
double meta_expect_last(const meta_loop_call *call, int device);
/** Whether runs of a kernel over about as many cells were timed there. */
bool meta_expect_is_known(int kernel, int device, uint64_t cells);

/* ------------------------------------------------------------------ events */

/** USES: buffers that a call of a loop may use. */
enum { META_LOOP_USES = 12 };

/** Bytes [begin, end) of the buffer at an address, which need not be there any more. */
typedef struct meta_loop_use {
    void *address;
    uint64_t size, begin, end; /**< the buffer has size bytes */
    bool reads, writes;
} meta_loop_use;

/** A call that was noted. */
typedef struct meta_loop_event {
    meta_loop_call call;
    double time[META_SLABS_DEVICES];
    int device;
    uint32_t uses;
    meta_loop_use use[META_LOOP_USES];
} meta_loop_event;

/* ------------------------------------------------------------------ pieces.c */

/** The uses, pieces and buffers of a step from its calls' events.
 *  @return false: memory is out */
bool meta_loop_divide(meta_plan_step *step, const meta_loop_event *const *event);

/* ------------------------------------------------------------------ course.c */

/** A loop's calls, and the devices on which they run from step to step. */
typedef struct meta_course meta_course;

/** The course of a loop whose step has @p calls calls, at first on the devices that they were noted
 *  with; NULL: memory is out. */
meta_course *meta_course_new(const meta_loop_event *const *event, uint32_t calls);
void meta_course_free(meta_course *course);
/** The signature of the call that is due. */
uint64_t meta_course_due(const meta_course *course);
/** The device of the call that is due; the next one is due then. */
int meta_course_next(meta_course *course, meta_loop_call **call);

#endif
