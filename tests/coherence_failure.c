/* SPDX-License-Identifier: BSD-3-Clause */
/** @file coherence_failure.c
 *  Sequences in which a device fails. Each step is completed, so that only what the step wrote in
 *  which the device fails may have any contents. */
#include "coherence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const coherence_buffer *b)
{
    uint64_t hash = UINT64_C(14695981039346656037) ^ (uintptr_t)b->expected, word = 0;
    if (!b->device) return 0;
    for (size_t k = 0; k < b->bytes; k += sizeof word) {
        const size_t left = b->bytes - k;
        memcpy(&word, b->expected + k, left < sizeof word ? left : sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

void coherence_failure_plan(uint64_t seed, const char *simulated)
{
    coherence_sequence s = {.random = seed};
    char text[512];
    int devices = 1;
    for (const char *at = simulated; *at; ++at) devices += *at == ';';
    const char *end = simulated;
    for (int64_t k = coherence_in(&s, 0, devices - 1); k >= 0; --k)
        end += strcspn(end, ";") + (k > 0);
    snprintf(text, sizeof text, "%.*s%s fails=%d%s", (int)(end - simulated), simulated,
             coherence_one_in(&s, 2) ? " sync" : "", (int)coherence_size(&s, 200), end);
    setenv("META_TEST_SIM", text, 1);
    setenv("META_LOG_FILE", "/dev/null", 0); /* it says each time what is lost */
}

/* New contents, which some device takes. */
static void write_again(coherence_sequence *s, coherence_buffer *b)
{
    coherence_fill(s, b->expected, b->cells, b->type);
    CHECK_OK(meta_copy_h2d(b->device, b->expected, b->bytes, NULL));
}

/* What the step has written may be anything; of the rest a part may be lost. */
static void recover(coherence_sequence *s, coherence_buffer *b, bool is_written)
{
    unsigned char *found = malloc(b->bytes);
    const meta_err err = meta_copy_d2h(found, b->device, b->bytes, NULL);
    const bool is_lost = err == META_ERR_DEVICE;
    coherence_log("%s is %s", coherence_name(s, b),
                  is_lost      ? "lost"
                  : is_written ? "unknown"
                               : "still there");
    if (is_lost) CHECK_CONTAINS(meta_last_error(), "write them again before they are read");
    else if (CHECK_OK(err) && !is_written) CHECK_ARRAY(found, b->expected, b->cells, b->type);
    if (is_lost || is_written) write_again(s, b);
    free(found);
}

void coherence_failure_step(coherence_sequence *s, const coherence_step *step)
{
    uint64_t before[COHERENCE_BUFFERS];
    for (int k = 0; k < COHERENCE_BUFFERS; ++k) {
        before[k] = hash_of(&s->buffer[k]);
        s->buffer[k].is_chained = false;
    }
    step->run(s);
    coherence_flush(s);
    if (!s->has_failed) return;
    coherence_log("a device has failed");
    for (int k = 0; k < COHERENCE_BUFFERS; ++k)
        if (s->buffer[k].device)
            recover(s, &s->buffer[k],
                    hash_of(&s->buffer[k]) != before[k] || s->buffer[k].is_chained);
    s->has_failed = s->may_fail = false; /* no other one will */
}
