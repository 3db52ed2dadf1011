/* SPDX-License-Identifier: BSD-3-Clause */
/** @file course.h
 *  A loop's calls on their way from step to step, for course.c and trials.c. */
#ifndef META_AUTO_COURSE_H
#define META_AUTO_COURSE_H

#include "auto/loop.h"

struct meta_course {
    meta_plan_step step;
    meta_plan_search *search;
    meta_loop_call *call;
    uint8_t *plan, *trial;            /* the trial's plan */
    uint32_t at;                      /* the call that is due */
    uint64_t learned;                 /* meta_auto.learned when times were read */
    double now;                       /* nanoseconds of a step with the plan */
    double saved;                     /* nanoseconds, by the best plan found */
    double change;                    /* what it costs to follow it; negative: not known yet */
    uint64_t change_to;               /* the number of that plan */
    double planned;                   /* nanoseconds that were charged, of meta_plan_spent() */
    double hoped[META_SLABS_DEVICES]; /* nanoseconds that trials on the devices might have saved */
    uint64_t hoped_at;                /* the step of which that was added last */
    double price[META_SLABS_DEVICES]; /* of trials there, times the cost; doubles with each */
    int tried;                        /* the device of a trial; -1: there is none */
    int steps, least;                 /* of it so far, and at least */
    uint64_t turns;
    double since[META_SLABS_DEVICES]; /* nanoseconds since the device was tried again */
    bool is_searching;                /* for a better plan */
    bool is_due;                      /* to consider devices that were slower */
    double may_spend;                 /* nanoseconds, on trials of calls that are unknown */
    double spent;                     /* on the one of now, as it was thought to cost; 0: on none */
    uint32_t unknown;                 /* which call and device is considered next */
    uint64_t moves;                   /* meta_share.seen when one was tried */
};

/** What planning took since the last call is owed: for the search, or else for trials. */
static inline void meta_course_charge(meta_course *course, double *owed)
{
    const double planned = meta_plan_spent(course->search);
    *owed += planned - course->planned;
    course->planned = planned;
}

/** Whether the time of call @p c on device @p d is known. */
static inline bool meta_course_knows(const meta_course *course, uint32_t c, int d)
{
    return meta_expect_is_known(course->call[c].kernel, d, course->call[c].cells);
}

/* ------------------------------------------------------------------ step.c */

/** Set which devices compute on the same cores, and for what the host waits. */
void meta_step_read_engines(meta_plan_step *step);
/** Set what is known now of links, memory and times, and begin the search anew. Devices on which a
 *  call's time is not known are not planned for it. */
void meta_step_read_times(meta_course *course);
/** Whether what is known now differs from that by more than noise. */
bool meta_step_is_old(const meta_course *course);
/** Say on the board that the devices of @p plan are used as long as its calls take there. */
void meta_step_claim(const meta_course *course, const uint8_t *plan);

/* ------------------------------------------------------------------ trials.c */

/** Behind a step in which nothing was tried: begin a trial where one is due. */
void meta_trials_consider(meta_course *course);
/** Before each call of a trial: end it as soon as its calls' times are known, or when they do not
 *  come to be. */
void meta_trials_end(meta_course *course);

#endif
