/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_auto_clocks.c
 *  The times of work with META_MODE=auto, where each device has a clock of its own: a copy of which
 *  parts lie on two devices does not mix them. */
/* TEST: backends=none auto=yes labels=core */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "test.h"

enum { HALF = 1000, COPIES = 8, HEARD = 256 };

/* Device work in the order in which it was queued. */
static struct {
    int begins, ends;
    uint64_t first;
    uint64_t begin[HEARD], end[HEARD];
} heard;

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void hear_begin(void *user, meta_activity activity, const char *name, uint64_t bytes,
                       uint64_t id)
{
    (void)user, (void)activity, (void)name, (void)bytes;
    if (heard.begins++ == 0) heard.first = id;
}

static void hear_end(void *user, meta_activity activity, uint64_t id, uint64_t begin, uint64_t end)
{
    const uint64_t k = id - heard.first;
    (void)user, (void)activity;
    if (k >= HEARD) return;
    heard.begin[k] = begin;
    heard.end[k] = end;
    ++heard.ends;
}

/* Simulated devices have a virtual clock, which is not the host's. */
static bool is_simulated(void)
{
    const char *devices = getenv("META_AUTO_DEVICES");
    return devices && strstr(devices, "sim");
}

static void fill_on(const char *device, double *p, double value)
{
    CHECK_OK(meta_set_policy(device, META_POLICY_THREAD));
    CHECK_OK(meta_fill(p, HALF, &value, META_F64, NULL));
}

/* Two halves, each written by a device, that are copied to the host in one call. */
static void copy_from_two_devices(double *p, const char *first, const char *second, double value)
{
    static double host[2 * HALF];
    fill_on(first, p, value);
    fill_on(second, p + HALF, -value);
    CHECK_OK(meta_set_policy("cost", META_POLICY_THREAD)); /* from where they are */
    CHECK_OK(meta_copy_d2h(host, p, sizeof host, NULL));
    for (int k = 0; k < HALF; ++k)
        if (host[k] != value || host[HALF + k] != -value) FAIL("element %d is wrong", k);
}

/* Two halves, of a program that is listened to. */
static double *start(void)
{
    void *p = NULL;
    meta_tool tool = META_TOOL_INIT;
    memset(&heard, 0, sizeof heard);
    tool.begin = hear_begin;
    tool.end = hear_end;
    CHECK_OK(meta_set_tool(&tool));
    CHECK_OK(meta_init());
    CHECK_OK(meta_alloc(&p, 2 * HALF * sizeof(double)));
    return p;
}

static void work_of_two_clocks_lies_within_the_time_of_its_calls(void)
{
    double *p = start();
    const uint64_t began = now();
    for (int k = 0; k < COPIES; ++k) copy_from_two_devices(p, "device:0", "device:1", k + 1);
    CHECK_OK(meta_set_tool(NULL)); /* tells the ends that are left */
    const uint64_t ended = now();
    CHECK(heard.begins >= 3 * COPIES && heard.begins <= HEARD);
    CHECK_INT(heard.ends, heard.begins);
    for (int k = 0; k < heard.begins && k < HEARD; ++k) {
        test_case("work %d of %d", k, heard.begins);
        CHECK(heard.begin[k] <= heard.end[k]);
        if (is_simulated()) continue;
        CHECK(heard.begin[k] >= began);
        CHECK(heard.end[k] <= ended);
    }
    CHECK_OK(meta_free(p));
    CHECK_OK(meta_finalize());
}

/* Simulated devices share one clock. The link of device 2 takes 20 us, that of device 1 nothing. */
static void a_copy_of_two_parts_on_one_clock_has_the_time_of_both(void)
{
    if (!is_simulated()) return;
    unsetenv("META_CHECK"); /* whose look at the values brings both halves to one device first */
    double *p = start();
    copy_from_two_devices(p, "device:2", "device:1", 1);
    CHECK_OK(meta_set_tool(NULL));
    const int last = heard.begins - 1;
    if (CHECK(last >= 0 && last < HEARD)) CHECK(heard.end[last] - heard.begin[last] >= 20000);
    CHECK_OK(meta_free(p));
    CHECK_OK(meta_finalize());
}

TEST_MAIN(PROMISE(work_of_two_clocks_lies_within_the_time_of_its_calls),
          PROMISE(a_copy_of_two_parts_on_one_clock_has_the_time_of_both))
