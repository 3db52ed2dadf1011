/* SPDX-License-Identifier: BSD-3-Clause */
/** @file explain.c
 *  META_EXPLAIN=on: each kind of decision, once, with what it rests on. */
#include "auto/auto.h"

#include "base/plain.h"

#include <inttypes.h>
#include <stdio.h>

enum { SEEN = 1024 };
static bool on;
static meta_auto_reasons kept; /* for meta_explained() */
static bool has_kept;
static uint64_t seen[SEEN]; /* a hash table of decisions that were explained; 0: an empty place */

meta_err meta_explain_read(void)
{
    for (int k = 0; k < SEEN; ++k) seen[k] = 0;
    return meta_variable_switch("META_EXPLAIN", &on);
}

/* Whether it is the first of its kind; those beyond the table are not explained. */
static bool is_new(const meta_auto_reasons *r, int chosen)
{
    const int octave = r->cells > 0 ? 63 - __builtin_clzll(r->cells) : 0;
    uint64_t key =
        (meta_auto_kernel(r->call->desc) ^ (uintptr_t)r->policy) * UINT64_C(0x9e3779b97f4a7c15);
    key = (key ^ r->call->type ^ (uint64_t)octave << 8 ^ (uint64_t)chosen << 16 ^
           (uint64_t)r->home << 24) *
          UINT64_C(0xbf58476d1ce4e5b9);
    key |= 1;
    for (uint64_t k = 0; k < SEEN; ++k) {
        uint64_t *at = &seen[(key / 2 + k) % SEEN];
        if (*at == key) return false;
        if (*at != 0) continue;
        *at = key;
        return true;
    }
    return false;
}

void meta_explain_terms(const meta_auto_reasons *r, char *text, size_t room)
{
    char name[48];
    size_t at = 0;
    for (int d = 0; d < meta_auto.devices && at < room; ++d) {
        const meta_auto_reason *one = &r->of[d];
        int length =
            snprintf(text + at, room - at, "%s%s ", d > 0 ? "; " : "", meta_auto_name(d, name));
        at += length > 0 ? (size_t)length : 0;
        if (at >= room) break;
        if (!one->is_candidate) length = snprintf(text + at, room - at, "cannot run it");
        else
            length = meta_plain_print(text + at, room - at, "%s%.1f us%s",
                                      one->is_known ? "" : "not known yet, at best ",
                                      one->time / 1e3, d == r->home ? " at home" : "");
        at += length > 0 ? (size_t)length : 0;
        if (at < room && one->is_candidate && one->move > 0) {
            length = meta_plain_print(text + at, room - at,
                                      " and %.1f us to move data there and back", one->move / 1e3);
            at += length > 0 ? (size_t)length : 0;
        }
    }
}

static void explain(const meta_auto_reasons *r, int chosen)
{
    char text[1024] = "", name[48];
    meta_explain_terms(r, text, sizeof text);
    fprintf(stderr, "libmeta: %s %s, %" PRIu64 " cells: %s: %s%s%s%s\n", r->call->desc->name,
            meta_element_name(r->call->type), r->cells, text, meta_auto_name(chosen, name),
            r->is_trial ? ", to know" : "", r->policy ? ", by " : "", r->policy ? r->policy : "");
}

const meta_auto_reasons *meta_explained(void)
{
    const meta_auto_reasons *reasons = has_kept ? &kept : NULL;
    has_kept = false;
    return reasons;
}

void meta_explain(const meta_auto_reasons *reasons, int chosen)
{
    if (reasons->is_trial) meta_auto.why = META_AUTO_WHY_TRIAL;
    else if (chosen == reasons->home && meta_auto.why == META_AUTO_WHY_OPERAND)
        meta_auto.why = META_AUTO_WHY_HOME;
    if (__builtin_expect(meta_accounted & META_ACCOUNT_DECISIONS, 0)) {
        kept = *reasons;
        has_kept = true;
    }
    if (__builtin_expect(on, 0) && is_new(reasons, chosen)) explain(reasons, chosen);
}

void meta_explain_plan(const uint8_t *plan, uint32_t calls, double now_ns, double next_ns)
{
    char text[512] = "", name[48];
    size_t at = 0;
    if (__builtin_expect(!on, 1)) return;
    for (int d = 0; d < meta_auto.devices && at < sizeof text; ++d) {
        uint32_t count = 0;
        for (uint32_t c = 0; c < calls; ++c) count += plan[c] == d;
        if (count == 0) continue;
        const int length = snprintf(text + at, sizeof text - at, "%s%" PRIu32 " on %s",
                                    at > 0 ? ", " : "", count, meta_auto_name(d, name));
        at += length > 0 ? (size_t)length : 0;
    }
    const locale_t before = meta_plain_begin();
    fprintf(stderr,
            "libmeta: a loop of %" PRIu32 " calls: %.1f us a step, with %s %.1f us: these\n", calls,
            now_ns / 1e3, text, next_ns / 1e3);
    meta_plain_end(before);
}

void meta_explain_trial(uint32_t calls, int d)
{
    char name[48];
    if (__builtin_expect(on, 0))
        fprintf(stderr, "libmeta: a loop of %" PRIu32 " calls: to know, on %s as well\n", calls,
                meta_auto_name(d, name));
}
