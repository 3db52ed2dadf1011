/* SPDX-License-Identifier: BSD-3-Clause */
/** @file step.c
 *  A loop's step as plans see it: devices, links, and the times of its calls. */
#include <math.h>

#include "auto/course.h"
#include "auto/link.h"
#include "auto/share.h"
#include "auto/worker.h"

/* Times that have changed by less are the same, and those that add up to less of a step's do not
 * matter. */
static const double noise = 0.05, matters = 0.01;
/* Nanoseconds to find out what a call takes on a device. */
static const double look_up = 40;

/* OpenMP, and OpenCL on the CPU, compute on the same cores, and on the first the caller waits. */
void meta_step_read_engines(meta_plan_step *s)
{
    int cores = -1;
    for (int d = 0; d < s->devices; ++d) {
        const bool is_cpu = meta_auto.device[d].is_cpu;
        if (is_cpu && cores < 0) cores = d;
        s->engine[d] = is_cpu ? cores : d;
        s->blocks_below[d] = meta_worker_has(&meta_auto.device[d]) ? META_WORKER_LONG
                             : meta_auto.device[d].is_host         ? INFINITY
                                                                   : 0;
        for (int from = 0; from < s->devices; ++from)
            s->is_staged[from][d] = !meta_auto.device[from].is_host &&
                                    !meta_auto.device[d].is_host &&
                                    !(meta_auto.peers[d] >> from & 1);
    }
}

static void read_links(meta_plan_step *s)
{
    for (int from = 0; from < s->devices; ++from)
        for (int to = 0; to < s->devices; ++to)
            meta_auto_link_line(from, to, &s->latency[from][to], &s->per_byte[from][to]);
}

static void read_call(const meta_course *course, uint32_t c, meta_plan_call *planned)
{
    const meta_loop_call *call = &course->call[c];
    meta_expect_times(call, planned->time);
    planned->is_waited = call->is_waited || call->kernel == META_LOOP_COPY_OUT;
    planned->among = 0;
    for (int d = 0; d < course->step.devices; ++d)
        if (call->among >> d & 1 && (d == course->plan[c] || meta_course_knows(course, c, d)))
            planned->among |= UINT32_C(1) << d;
    meta_auto.owed_search += look_up * course->step.devices;
}

void meta_step_read_times(meta_course *course)
{
    read_links(&course->step);
    for (int d = 0; d < course->step.devices; ++d) course->step.memory[d] = meta_share_memory(d);
    course->learned = meta_auto.learned;
    for (uint32_t c = 0; c < course->step.calls; ++c) read_call(course, c, &course->step.call[c]);
    meta_plan_search_again(course->search);
    course->now = meta_plan_cost(course->search, course->plan);
    course->change = -1;
    course->is_searching = true;
}

static bool is_other(double now, double planned)
{
    return fabs(now - planned) > noise * planned;
}

static bool has_other_links(const meta_plan_step *s)
{
    for (int from = 0; from < s->devices; ++from)
        for (int to = 0; to < s->devices; ++to) {
            double latency, per_byte;
            meta_auto_link_line(from, to, &latency, &per_byte);
            if (is_other(latency, s->latency[from][to]) ||
                is_other(per_byte, s->per_byte[from][to]))
                return true;
        }
    return false;
}

bool meta_step_is_old(const meta_course *course)
{
    const meta_plan_step *s = &course->step;
    double changed[META_SLABS_DEVICES] = {0};
    if (has_other_links(s)) return true;
    for (uint32_t c = 0; c < s->calls; ++c) {
        const meta_plan_call *planned = &s->call[c];
        meta_plan_call now = *planned;
        read_call(course, c, &now);
        if (now.among != planned->among || now.is_waited != planned->is_waited) return true;
        for (int d = 0; d < s->devices; ++d) {
            if (!(now.among >> d & 1) || !is_other(now.time[d], planned->time[d])) continue;
            changed[d] += fabs(now.time[d] - planned->time[d]);
            if (changed[d] > matters * course->now) return true;
        }
    }
    return false;
}

void meta_step_claim(const meta_course *course, const uint8_t *plan)
{
    double time[META_SLABS_DEVICES] = {0};
    for (uint32_t c = 0; c < course->step.calls; ++c)
        if (course->call[c].kernel >= 0)
            time[plan[c]] += course->step.call[c].time[plan[c]] / meta_share.share[plan[c]];
    meta_share_claim(time);
}
