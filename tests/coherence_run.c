/* SPDX-License-Identifier: BSD-3-Clause */
/** @file coherence_run.c
 *  Sequences of random steps on a machine, and their ends. META_TEST_SEED sets the base seed;
 *  META_TEST_SEQUENCE=N runs only sequence N. */
#include "coherence.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 100 };

/* ------------------------------------------------------------------ a sequence */

static const coherence_step *random_step(coherence_sequence *s, const coherence_step *beside)
{
    const coherence_step *const tables[] = {coherence_move_steps, coherence_compute_steps, beside};
    const size_t count = beside ? 3 : 2;
    int total = 0;
    for (size_t t = 0; t < count; ++t)
        for (const coherence_step *step = tables[t]; step->name; ++step) total += step->weight;
    int64_t left = coherence_in(s, 0, total - 1);
    for (size_t t = 0; t < count; ++t)
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

static void run_sequence(const coherence_machine *m, uint64_t seed)
{
    static const meta_type favourites[] = {META_F64, META_F32, META_I64, META_I32};
    coherence_sequence s = {.random = seed, .may_fail = m->fails};
    s.favourite = favourites[coherence_in(&s, 0, 3)];
    if (!CHECK_OK(meta_get_acc(&s.index, &s.mode))) return;
    s.plain_mode = plain_mode_beside(s.mode);
    coherence_log_clear();
    if (!m->fails) coherence_new(&s, &s.buffer[0]);
    for (int k = 0; k < STEPS && test_failures() == 0; ++k) {
        const coherence_step *step = random_step(&s, m->beside);
        if (s.may_fail) coherence_failure_step(&s, step);
        else step->run(&s);
    }
    end_sequence(&s);
    if (test_failures() > 0) coherence_log_print();
}

static uint64_t seed_of(uint64_t base, int64_t number)
{
    return base ^ (uint64_t)number * UINT64_C(0xd1342543de82ef95);
}

/* Sequences @p first to @p last, from the start of the library to its end. */
static void run_life(const coherence_machine *m, uint64_t base, int64_t first, int64_t last)
{
    char policy[64];
    snprintf(policy, sizeof policy, "random:%" PRIu64, base % 1000000 + (uint64_t)first);
    setenv("META_POLICY", policy, 1);
    setenv("META_TEST_WORKER", first / m->life % 2 ? "on" : "auto", 1);
    if (m->fails) coherence_failure_plan(seed_of(base, first), m->simulated);
    if (m->start) m->start();
    else test_require_device();
    for (int64_t n = first; n <= last && test_failures() == 0; ++n) {
        test_case("%s, sequence %" PRId64 ", alone with META_TEST_SEQUENCE=%" PRId64, m->name, n,
                  n);
        run_sequence(m, seed_of(base, n));
    }
    if (test_failures() > 0) return;
    if (m->stop) m->stop();
    else CHECK_OK(meta_finalize());
}

void coherence_machine_set(const coherence_machine *m)
{
    if (!m->devices) return;
    setenv("META_MODE", "auto", 1);
    setenv("META_AUTO_DEVICES", m->devices, 1);
    setenv("META_THREADS", "1", 0); /* more would wait for each other on a busy machine */
    unsetenv("META_RANK_MAP");
    if (!m->simulated) return;
    setenv("META_TEST_SIM", m->simulated, 1);
    setenv("META_BACKEND_PATH", test_built("tests/plugins/.libs"), 1);
}

/* What the library chooses depends on its life so far, so a sequence is repeated behind those that
 * it was behind. */
void coherence_run(const coherence_machine *m)
{
    const uint64_t base = test_random();
    const char *only = getenv("META_TEST_SEQUENCE");
    const char *checked = getenv("META_CHECK"); /* each call is then a hundred times as long */
    const int64_t all = test_count(m->few, m->many), wanted = only ? atoll(only) : -1;
    const int64_t count = checked && strcmp(checked, "1") == 0 ? all / 50 + 1 : all;
    if (wanted >= 0) {
        run_life(m, base, wanted / m->life * m->life, wanted);
        return;
    }
    for (int64_t n = 0; n < count && test_failures() == 0; n += m->life)
        run_life(m, base, n, n + m->life < count ? n + m->life - 1 : count - 1);
    if (m->found >= count && test_failures() == 0)
        run_life(m, base, m->found / m->life * m->life, m->found);
}
