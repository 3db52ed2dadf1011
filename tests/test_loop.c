/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_loop.c
 *  The recognition of loops and the pieces of their data, alone: a loop is entered with the call
 *  and after the step that a plain search finds, and its pieces cover what each call uses, wherever
 *  buffers lie. */
/* TEST: labels=core smoke=yes */
#include "auto/loop.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_CALLS = 40, BUFFERS = 6, BYTES = 64 };

meta_auto_machine meta_auto;

/* ------------------------------------------------------------------ in place of course.c */

struct meta_course {
    uint32_t calls, at;
    uint64_t signature[MOST_CALLS];
};
static uint32_t entered; /* loops */

meta_course *meta_course_new(const meta_loop_event *const *event, uint32_t calls)
{
    meta_course *course = calloc(1, sizeof *course);
    if (!CHECK(course && calls <= MOST_CALLS)) return free(course), NULL;
    course->calls = calls;
    for (uint32_t c = 0; c < calls; ++c) course->signature[c] = event[c]->call.signature;
    ++entered;
    return course;
}

void meta_course_free(meta_course *course)
{
    free(course);
}

uint64_t meta_course_due(const meta_course *course)
{
    return course->signature[course->at];
}

int meta_course_next(meta_course *course, meta_loop_call **call)
{
    static meta_loop_call due;
    due.signature = meta_course_due(course);
    course->at = (course->at + 1) % course->calls;
    *call = &due;
    return 0;
}

/* ------------------------------------------------------------------ recognition */

/* The call happens.
 * @return whether it is part of a loop that was known before */
static bool happens(uint64_t signature)
{
    const double time[META_SLABS_DEVICES] = {0};
    const meta_loop_call call = {.signature = signature}, *known;
    if (meta_loop_next(signature, &known) >= 0) return true;
    meta_loop_note(&call, NULL, 0, time, 0);
    return false;
}

/* Signatures of which all low bits, or all high ones, may be the same. */
static void fill_signatures(uint64_t *signature, uint32_t calls)
{
    const int shift = (int)test_random_in(0, 50);
    for (uint32_t c = 0; c < calls; ++c) signature[c] = (uint64_t)(c + 1) << shift;
}

/* As many calls must have come again as the step has, but eight at least. */
static void a_loop_is_entered_after_two_steps(void)
{
    for (int k = 0; k < test_count(2000, 100000); ++k) {
        uint64_t signature[MOST_CALLS];
        const uint32_t calls = (uint32_t)test_random_in(4, MOST_CALLS);
        const uint32_t before = (uint32_t)test_random_in(0, 600), first = entered;
        test_case("%u calls, behind %u others", calls, before);
        fill_signatures(signature, calls);
        for (uint32_t n = 0; n < before; ++n) CHECK(!happens(~(uint64_t)n));
        const uint32_t unknown = calls + (calls < 8 ? 8 : calls);
        for (uint32_t n = 0; n < unknown; ++n) {
            CHECK_INT(entered, first);
            CHECK(!happens(signature[n % calls]));
        }
        CHECK_INT(entered, first + 1);
        for (uint32_t n = unknown; n < unknown + 2 * calls; ++n)
            CHECK(happens(signature[n % calls]));
        CHECK_INT(entered, first + 1);
        meta_loop_close();
    }
}

/* ------------------------------------------------------------------ pieces */

static unsigned char memory[BUFFERS * BYTES];
static meta_loop_event event[MOST_CALLS];
static const meta_loop_event *events[MOST_CALLS];

static void add_random_use(meta_loop_event *e, const int *place)
{
    const int buffer = (int)test_random_in(0, BUFFERS - 1);
    const uint64_t begin = (uint64_t)test_random_in(0, BYTES - 1),
                   end = (uint64_t)test_random_in((int64_t)begin + 1, BYTES);
    e->use[e->uses++] = (meta_loop_use){
        .address = memory + place[buffer] * BYTES,
        .size = BYTES,
        .begin = begin,
        .end = end,
        .reads = test_random_in(0, 1),
        .writes = test_random_in(0, 1),
    };
}

/* Buffers in random places in memory. */
static void random_events(meta_plan_step *step)
{
    int place[BUFFERS];
    for (int b = 0; b < BUFFERS; ++b) {
        const int other = (int)test_random_in(0, b);
        place[b] = place[other];
        place[other] = b;
    }
    *step = (meta_plan_step){.calls = (uint32_t)test_random_in(1, MOST_CALLS)};
    for (uint32_t c = 0; c < step->calls; ++c) {
        const int uses = (int)test_random_in(0, META_LOOP_USES);
        event[c] = (meta_loop_event){.uses = 0};
        for (int u = 0; u < uses; ++u) add_random_use(&event[c], place);
        step->uses += event[c].uses;
        events[c] = &event[c];
    }
}

/* A use's pieces are as long as it, and begin as far behind the buffer's first one as it does
 * behind the buffer's first byte in use. */
static void check_use(const meta_plan_step *s, const meta_plan_use *use, const meta_loop_use *of,
                      const uint64_t *lowest, const uint32_t *first_piece)
{
    const uint32_t b = s->piece[use->first].buffer;
    uint64_t before = 0, bytes = 0;
    for (uint32_t p = first_piece[b]; p < use->first; ++p) before += s->piece[p].bytes;
    for (uint32_t p = use->first; p < use->last; ++p) {
        CHECK_INT(s->piece[p].buffer, b);
        bytes += s->piece[p].bytes;
    }
    CHECK_INT(before, of->begin - lowest[b]);
    CHECK_INT(bytes, of->end - of->begin);
    CHECK_INT(use->reads, of->reads);
    CHECK_INT(use->writes, of->writes);
}

static void check_pieces(const meta_plan_step *s)
{
    const void *address[BUFFERS];
    uint64_t lowest[BUFFERS];
    uint32_t first_piece[BUFFERS + 1] = {0}, buffers = 0;
    uint32_t number[BUFFERS]; /* of the buffer at each place */
    memset(number, 0xff, sizeof number);
    for (uint32_t c = 0; c < s->calls; ++c)
        for (uint32_t u = 0; u < event[c].uses; ++u) {
            const meta_loop_use *of = &event[c].use[u];
            uint32_t *b = &number[((unsigned char *)of->address - memory) / BYTES];
            if (*b == UINT32_MAX) {
                *b = buffers++;
                address[*b] = of->address;
                lowest[*b] = of->begin;
            }
            if (of->begin < lowest[*b]) lowest[*b] = of->begin;
        }
    if (!CHECK_INT(s->buffers, buffers)) return;
    for (uint32_t p = s->pieces; p-- > 0;)
        if (CHECK(s->piece[p].buffer < buffers && s->piece[p].bytes > 0))
            first_piece[s->piece[p].buffer] = p;
    for (uint32_t c = 0, n = 0; c < s->calls; ++c)
        for (uint32_t u = 0; u < event[c].uses; ++u, ++n) {
            const uint32_t b = s->piece[s->use[n].first].buffer;
            if (!CHECK(b < buffers && address[b] == event[c].use[u].address)) return;
            check_use(s, &s->use[n], &event[c].use[u], lowest, first_piece);
        }
}

static void buffers_are_numbered_as_they_are_used_and_pieces_cover_the_uses(void)
{
    for (int k = 0; k < test_count(2000, 100000); ++k) {
        meta_plan_step step;
        test_case("case %d", k);
        random_events(&step);
        if (CHECK(meta_loop_divide(&step, events))) check_pieces(&step);
        free(step.use);
        free(step.piece);
        free(step.buffer);
    }
}

TEST_MAIN(PROMISE(a_loop_is_entered_after_two_steps),
          PROMISE(buffers_are_numbered_as_they_are_used_and_pieces_cover_the_uses))
