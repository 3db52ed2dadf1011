/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_coherence.c
 *  Random sequences of calls give the bits of plain arrays on the host, whichever devices the
 *  library chooses and wherever it moves the data. META_TEST_SEED sets the base seed;
 *  META_TEST_SEQUENCE=N runs only sequence N. With META_MODE set, the sequences run there. */
/* TEST: backends=any timeout=300 labels=core */
#include "coherence.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"

enum { STEPS = 100, NO_DEVICE = 77 };

/** The environment of a child process. */
typedef struct machine {
    const char *name;
    const char *devices;    /**< META_AUTO_DEVICES */
    const char *simulated;  /**< META_TEST_SIM; NULL if there is none */
    const char *must_exist; /**< a back end without which there is no test; NULL: none */
    int64_t few, many;      /**< sequences */
    int64_t life;           /**< sequences between meta_init() and meta_finalize() */
} machine;

/* ------------------------------------------------------------------ a sequence */

static const coherence_step *random_step(coherence_sequence *s)
{
    static const coherence_step *const tables[] = {coherence_move_steps, coherence_compute_steps};
    int total = 0;
    for (size_t t = 0; t < 2; ++t)
        for (const coherence_step *step = tables[t]; step->name; ++step) total += step->weight;
    int64_t left = coherence_in(s, 0, total - 1);
    for (size_t t = 0; t < 2; ++t)
        for (const coherence_step *step = tables[t]; step->name; ++step) {
            left -= step->weight;
            if (left < 0) return step;
        }
    return coherence_move_steps;
}

/* Another back end's device for plain buffers, -1 if there is none. */
static int plain_mode_beside(int mode)
{
    static const int modes[] = {META_OPENMP, META_OPENCL};
    for (size_t k = 0; k < sizeof modes / sizeof *modes; ++k) {
        int count = 0;
        if (modes[k] != mode && meta_device_count(modes[k], &count) == META_OK && count > 0)
            return modes[k];
    }
    return -1;
}

static void end_sequence(coherence_sequence *s)
{
    const bool has_failed = test_failures() > 0;
    if (!has_failed && coherence_one_in(s, 2)) coherence_flush(s);
    for (coherence_buffer *b = s->buffer; b < s->buffer + COHERENCE_BUFFERS; ++b)
        if (b->device && !has_failed) coherence_compare(s, b, 0, b->bytes);
    if (test_failures() > 0) return;
    coherence_flush(s);
    for (coherence_buffer *b = s->buffer; b < s->buffer + COHERENCE_BUFFERS; ++b)
        if (b->device) coherence_delete(s, b);
}

static void run_sequence(uint64_t seed)
{
    static const meta_type favourites[] = {META_F64, META_F32, META_I64, META_I32};
    coherence_sequence s = {.random = seed};
    s.favourite = favourites[coherence_in(&s, 0, 3)];
    if (!CHECK_OK(meta_get_acc(&s.index, &s.mode))) return;
    s.plain_mode = plain_mode_beside(s.mode);
    coherence_log_clear();
    coherence_new(&s, &s.buffer[0]);
    for (int k = 0; k < STEPS && test_failures() == 0; ++k) random_step(&s)->run(&s);
    end_sequence(&s);
    if (test_failures() > 0) coherence_log_print();
}

static uint64_t seed_of(uint64_t base, int64_t number)
{
    return base ^ (uint64_t)number * UINT64_C(0xd1342543de82ef95);
}

/* From sequence @p first to the end of the library's life. */
static void run_life(const char *name, uint64_t base, int64_t first, int64_t last)
{
    char policy[64];
    snprintf(policy, sizeof policy, "random:%" PRIu64, base % 1000000 + (uint64_t)first);
    setenv("META_POLICY", policy, 1);
    test_require_device();
    for (int64_t n = first; n <= last && test_failures() == 0; ++n) {
        test_case("%s, sequence %" PRId64 ", alone with META_TEST_SEQUENCE=%" PRId64, name, n, n);
        run_sequence(seed_of(base, n));
    }
    if (test_failures() == 0) CHECK_OK(meta_finalize());
}

/* What the library chooses depends on its life so far, so a sequence is repeated behind those that
 * it was behind. */
static void run_sequences(const machine *m)
{
    const uint64_t base = test_random();
    const char *only = getenv("META_TEST_SEQUENCE");
    const char *checked = getenv("META_CHECK"); /* each call is then a hundred times as long */
    const int64_t all = test_count(m->few, m->many), wanted = only ? atoll(only) : -1;
    const int64_t count = checked && strcmp(checked, "1") == 0 ? all / 50 + 1 : all;
    if (wanted >= 0) {
        run_life(m->name, base, wanted / m->life * m->life, wanted);
        return;
    }
    for (int64_t n = 0; n < count && test_failures() == 0; n += m->life)
        run_life(m->name, base, n, n + m->life < count ? n + m->life - 1 : count - 1);
}

/* ------------------------------------------------------------------ machines */

static void require_backend(const char *name)
{
    int mode, count = 0;
    if (!CHECK_OK(meta_mode_find(name, &mode)) || !CHECK_OK(meta_device_count(mode, &count)))
        return;
    if (count == 0) {
        printf("no device of %s\n", name);
        fflush(stdout);
        _exit(NO_DEVICE);
    }
}

static void run_machine(void *argument)
{
    const machine *m = argument;
    setenv("META_MODE", "auto", 1);
    setenv("META_AUTO_DEVICES", m->devices, 1);
    setenv("META_THREADS", "1", 0); /* more would wait for each other on a busy machine */
    unsetenv("META_RANK_MAP");
    if (m->simulated) {
        setenv("META_TEST_SIM", m->simulated, 1);
        setenv("META_BACKEND_PATH", test_built("tests/plugins/.libs"), 1);
    }
    if (m->must_exist && CHECK_OK(meta_init())) {
        require_backend(m->must_exist);
        CHECK_OK(meta_finalize());
    }
    run_sequences(m);
}

/* In a process of its own, since modules are never unloaded; skipped where devices are missing and
 * where META_MODE asks for another one. */
static void machine_holds(machine m)
{
    if (getenv("META_MODE")) return;
    const test_end end = test_child(run_machine, &m, NULL, 0);
    if (end.status == NO_DEVICE) return;
    test_check_child(end, __FILE__, __LINE__, m.name);
}

static void cpu_and_opencl_are_coherent(void)
{
    machine_holds((machine){.name = "openmp and opencl",
                            .devices = "openmp,opencl",
                            .must_exist = "opencl",
                            .few = 600,
                            .many = 60000,
                            .life = 100});
}

#define THREE_SIMULATED(memory)                                                                    \
    "a rate=1G memory=" memory "; b rate=4G latency=10us bandwidth=10G memory=" memory             \
    "; c rate=9G peer=50G memory=" memory

static void three_simulated_devices_are_coherent(void)
{
    machine_holds((machine){.name = "three simulated devices",
                            .devices = "sim",
                            .simulated = THREE_SIMULATED("1G"),
                            .few = 1500,
                            .many = 200000,
                            .life = 10});
}

/* 2.5 of the largest buffers fit. */
static void devices_with_little_memory_are_coherent(void)
{
    machine_holds((machine){.name = "three simulated devices with little memory",
                            .devices = "sim",
                            .simulated = THREE_SIMULATED("240K"),
                            .few = 1500,
                            .many = 200000,
                            .life = 10});
}

static void devices_that_copy_between_each_other_are_coherent_with_the_cpu(void)
{
    machine_holds((machine){.name = "the CPU and simulated devices with peer copies",
                            .devices = "openmp,sim",
                            .simulated = "a rate=4G peer=50G; b rate=9G peer=50G; c rate=2G",
                            .few = 1500,
                            .many = 100000,
                            .life = 10});
}

static void one_device_is_coherent(void)
{
    machine_holds((machine){
        .name = "openmp alone", .devices = "openmp", .few = 1500, .many = 100000, .life = 10});
}

static void the_device_of_meta_mode_is_coherent(void)
{
    static const machine own = {
        .name = "the device of META_MODE", .few = 600, .many = 60000, .life = 100};
    if (getenv("META_MODE")) run_sequences(&own);
}

TEST_MAIN(PROMISE(cpu_and_opencl_are_coherent), PROMISE(three_simulated_devices_are_coherent),
          PROMISE(devices_with_little_memory_are_coherent),
          PROMISE(devices_that_copy_between_each_other_are_coherent_with_the_cpu),
          PROMISE(one_device_is_coherent), PROMISE(the_device_of_meta_mode_is_coherent))
