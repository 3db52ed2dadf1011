/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fault_lives.c
 *  Lives of the library in which calls of a GPU's runtime fail. */
#include "config.h"

#include "fault_lives.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "child.h"
#include "test.h"

bool fault_reported;

/* ------------------------------------------------------------------ calls that may fail */

/* In META_MODE=auto the device that failed may be named instead. Of memory it is said how much was
 * wanted. */
static bool is_named(const char *text)
{
    char device[16];
    snprintf(device, sizeof device, "%s:0", gpu->name);
    return (fault->sticky ? fault_is_named(text) : strstr(text, fault->failed) != NULL) ||
           strstr(text, "bytes asked for") || strstr(text, device);
}

bool fault_went(meta_err err, const char *call, const char *file, int line)
{
    char text[512];
    if (err == META_OK) return true;
    snprintf(text, sizeof text, "%s", meta_last_error());
    if (!fault->failed ||
        (err != META_ERR_DEVICE && err != META_ERR_NO_MEMORY && err != META_ERR_NO_DEVICE))
        return test_fail(file, line, "%s: %s (%s), failed: %s", call, meta_strerror(err), text,
                         fault->failed ? fault->failed : "nothing");
    /* A later error may be one of what the first has left. */
    if (!fault_reported && !is_named(text))
        test_fail(file, line, "%s: \"%s\" does not name %s", call, text, fault->failed);
    fault_reported = true;
    return false;
}

void fault_check_value(double found, double expected, const char *text, const char *file, int line)
{
    if (!fault_reported && found != expected)
        test_fail(file, line, "%s is %g, expected %g, and no error was returned", text, found,
                  expected);
}

/* ------------------------------------------------------------------ a life */

/* The rest of the library does not notice. */
static void compute_on_openmp(void)
{
    enum { CELLS = 1000 };
    const meta_box all = {1, {CELLS}, {0}, {CELLS}};
    const double two = 2;
    double *p = NULL, sum = 0;
    CHECK_OK(meta_set_acc(0, META_OPENMP));
    if (!CHECK_OK(meta_alloc((void **)&p, CELLS * sizeof *p))) return;
    CHECK_OK(meta_fill(p, CELLS, &two, META_F64, NULL));
    CHECK_OK(meta_reduce(&sum, p, &all, META_SUM, META_F64, NULL));
    CHECK(sum == 2 * CELLS);
    CHECK_OK(meta_free(p));
}

/* Twice: a failure that passes is one of a single try. */
static bool open_device(const fault_life *life, void *stream)
{
    meta_state state = META_STATE_INIT;
    state.queue = stream;
    for (int tries = 0; tries < 2; ++tries) {
        if (stream && !TRY(meta_set_state(0, gpu->mode, &state))) continue;
        if (TRY(meta_set_acc(0, life->automatic ? META_AUTO : gpu->mode))) return true;
    }
    return false;
}

static void live(const fault_life *life)
{
    void *stream = life->adopt ? fault->make_stream(0) : NULL;
    fault_reported = false;
    if (life->start ? TRY(life->start()) : CHECK_OK(meta_init())) {
        if (open_device(life, stream)) life->use();
        compute_on_openmp();
        TRY(life->stop ? life->stop() : meta_finalize());
    }
    if (stream) fault->free_stream(stream);
    fault_check_nothing_left();
}

/* ------------------------------------------------------------------ children */

/* What a child writes for the test: how many calls there were, and of all children those that made
 * fewer calls than the one that was to fail. */
typedef struct told {
    long calls, unreached;
} told;

typedef struct child {
    const fault_life *life;
    told *told;
} child;

/* Where a child's profile is written, if anywhere. */
static const char *profile_file(void)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/libmeta-test-%ld.json", (long)getpid());
    return path;
}

static void set_environment(const fault_life *life)
{
    char devices[32], profile[80];
    snprintf(profile, sizeof profile, "trace:%s", profile_file());
    if (life->profile) setenv("META_PROFILE", profile, 1);
    snprintf(devices, sizeof devices, "openmp,%s", gpu->name);
    setenv("META_LOG", "off", 1);
    setenv("META_MODE", life->automatic ? "auto" : gpu->name, 1);
    setenv("META_AUTO_DEVICES", devices, 1);
    setenv("META_POLICY", "device:1", 1);
    unsetenv("META_RANK_MAP");
    setenv("HWLOC_COMPONENTS", "-pci", 1); /* looking for the device's place takes long */
    setenv("META_POOL", "off", 1);         /* each buffer is to be the driver's */
    setenv("META_GPU_POOL", life->adopt ? "off" : "1048576", 1);
}

/* Of what the back end itself took from the host, where a sanitizer keeps account. */
__attribute__((weak)) int __lsan_do_recoverable_leak_check(void);

static void live_twice(void *argument)
{
    const child *c = argument;
    const char *cache = getenv("META_CACHE_DIR");
    char kept[4096];
    alarm(120); /* a hang is a failure */
    if (!fault_find()) return;
    set_environment(c->life);
    snprintf(kept, sizeof kept, "%s", cache ? cache : "off");
    if (c->life->compile) setenv("META_CACHE_DIR", "off", 1);
    fault->fail_at = c->life->fail_at;
    fault->status = c->life->status;
    fault->sticky = c->life->sticky;
    live(c->life);
    c->told->calls = fault->calls;
    if (c->life->fail_at && !fault->failed) ++c->told->unreached;
    /* The device works again in the next life. */
    setenv("META_CACHE_DIR", kept, 1);
    fault->fail_at = 0;
    fault->failed = NULL;
    live(c->life);
    if (c->life->profile) CHECK(unlink(profile_file()) == 0);
    /* MPI leaves something of its own. */
    if (__lsan_do_recoverable_leak_check && !c->life->start)
        CHECK_INT(__lsan_do_recoverable_leak_check(), 0);
}

static told *share(void)
{
    told *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return CHECK(shared != MAP_FAILED) ? shared : NULL;
}

long fault_calls(fault_life life)
{
    told *shared = share();
    if (!shared) return 0;
    CHECK_CHILD(live_twice, (&(child){&life, shared}));
    const long calls = shared->calls;
    munmap(shared, sizeof *shared);
    return calls;
}

void fault_each(fault_life life, long from, long step)
{
    static const int statuses[] = {GPU_FAULT_OUT_OF_MEMORY, GPU_FAULT_LAUNCH_FAILURE,
                                   GPU_FAULT_NOT_SUPPORTED};
    enum { STATUSES = sizeof statuses / sizeof *statuses };
    const long calls = fault_calls(life);
    long cases = 0;
    told *shared = share();
    CHECK(calls > 50);
    if (!shared) return;
    for (long k = from; k <= calls; k += step)
        for (int s = 0; s < (test_long() ? STATUSES : 1); ++s) {
            life.fail_at = k;
            life.status = statuses[(k + s) % STATUSES];
            /* With META_MODE=auto a device that is full is not one that is lost. */
            if (life.automatic && life.sticky) life.status = GPU_FAULT_LAUNCH_FAILURE;
            test_case("call %ld of %ld fails with status %d%s", k, calls, life.status,
                      life.sticky ? ", as do all later ones" : "");
            CHECK_CHILD(live_twice, (&(child){&life, shared}));
            ++cases;
        }
    test_case("%ld of %ld cases without a failing call", shared->unreached, cases);
    CHECK(shared->unreached * 20 <= cases);
    munmap(shared, sizeof *shared);
}
