/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_team.c
 *  Kernels whose cells are computed by teams: in boxes of every shape the bits of plain loops over
 *  teams, members and phases, and no other cell touched. */
/* TEST: backends=all auto=yes labels=core smoke=yes */
/* TEST: backends=all auto=yes labels=core with=CHECK=1 */
/* TEST: backends=openmp labels=core with=THREADS=7 */
#define MEMBERS 1 /* the program's own, which the kernel file does not see */
#define SHARED  2
#define MY      4
#define EXTENT  8
#define START   16
#define TEAM    32
#define TEAMS   64
#define META_KERNELS_HERE
#include "user_team.kernel.h"

#include "mirror.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { ROOM = 1 << 14, BUFFERS = 6, DIMS = 4 };
static mirror buffer[BUFFERS];

static bool make_buffers(int count)
{
    for (int k = 0; k < count; ++k)
        if (!mirror_new(&buffer[k], ROOM * 4)) return false;
    return true;
}

static void free_buffers(void)
{
    for (int k = 0; k < BUFFERS; ++k)
        if (buffer[k].bytes) mirror_free(&buffer[k]);
}

static case_flavour flavour_of(meta_type type)
{
    return case_is_float(type) ? CASE_PLAIN : CASE_TINY;
}

/* ------------------------------------------------------------------ teams of a box */

/* A team, as the documentation describes it: coordinates within the box. */
typedef struct team {
    int64_t number[DIMS], teams[DIMS], first[DIMS], extent[DIMS];
} team;

static int64_t extent_of(const meta_box *box, int d)
{
    return d < box->ndim ? box->end[d] - box->start[d] : 1;
}

/* Team @p n of a box of at most DIMS dimensions; false if there are fewer. */
static bool team_of(const meta_box *box, const int64_t side[DIMS], int64_t n, team *t)
{
    for (int d = 0; d < DIMS; ++d) {
        const int64_t extent = extent_of(box, d);
        t->teams[d] = (extent + side[d] - 1) / side[d];
        t->number[d] = n % t->teams[d];
        n /= t->teams[d];
        t->first[d] = t->number[d] * side[d];
        t->extent[d] = extent - t->first[d] < side[d] ? extent - t->first[d] : side[d];
    }
    return n == 0;
}

static int64_t members_of(const team *t)
{
    return t->extent[0] * t->extent[1] * t->extent[2] * t->extent[3];
}

/* The place of member @p n in its team. */
static void member_of(const team *t, int64_t n, int64_t my[DIMS])
{
    for (int d = 0; d < DIMS; ++d) {
        my[d] = n % t->extent[d];
        n /= t->extent[d];
    }
}

/* The element of the box's array that belongs to a member. */
static int64_t element_of(const meta_box *box, const team *t, const int64_t my[DIMS])
{
    int64_t element = 0, step = 1;
    for (int d = 0; d < box->ndim; ++d) {
        element += (box->start[d] + t->first[d] + my[d]) * step;
        step *= box->size[d];
    }
    return element;
}

/* ------------------------------------------------------------------ every kind of parameter */

typedef struct sums_case {
    meta_box box;
    int32_t twice;
    int64_t cells;
    int32_t left;
} sums_case;

#define EACH_TYPE(X) X(F32, f32, float, HUGE_VALF) X(I32, i32, int32_t, INT32_MAX)
#define SUMS_ORACLE(NAME, name, T, HIGHEST)                                                        \
    static void sums_team_##name(sums_case *c, const team *t, T *part, T *low, T *high, T k)       \
    {                                                                                              \
        const meta_box *box = &c->box;                                                             \
        T *out = (T *)(void *)buffer[0].expected, *own = (T *)(void *)buffer[2].expected;          \
        T *sum = (T *)(void *)buffer[3].expected;                                                  \
        const T *x = (const T *)(void *)buffer[1].expected;                                        \
        const T *profile = (const T *)(void *)buffer[4].expected;                                  \
        int32_t *hits = (int32_t *)(void *)buffer[5].expected;                                     \
        const int64_t count = members_of(t);                                                       \
        int64_t my[DIMS], number = 0;                                                              \
        for (int d = DIMS - 1; d >= 0; --d) number = number * t->teams[d] + t->number[d];          \
        for (int64_t n = 0; n < count; ++n) {                                                      \
            member_of(t, n, my);                                                                   \
            const int64_t at = element_of(box, t, my);                                             \
            const T d = x[at] - x[at + case_box_away(box, -1, 0, 0, 0)];                           \
            ++c->cells;                                                                            \
            if (x[at] < *low) *low = x[at];                                                        \
            if (x[at] > *high) *high = x[at];                                                      \
            hits[at + case_box_away(box, 1, 0, 0, 0)] += 2;                                        \
            hits[at] += 1;                                                                         \
            part[n] = 0;                                                                           \
            if (d < 0) {                                                                           \
                ++c->left;                                                                         \
                continue;                                                                          \
            }                                                                                      \
            const volatile T product = k * x[at + case_box_away(box, 0, 1, 0, 0)];                 \
            part[n] = product + profile[box->start[1] + t->first[1] + my[1]];                      \
        }                                                                                          \
        for (int64_t half = 64; half > 0; half /= 2)                                               \
            for (int64_t n = 0; n < half && n + half < count; ++n) part[n] += part[n + half];      \
        sum[number] = part[0];                                                                     \
        for (int64_t n = 0; n < count; ++n) {                                                      \
            member_of(t, n, my);                                                                   \
            const int64_t at = element_of(box, t, my);                                             \
            const int64_t index = box->ndim > 3 ? box->start[3] + t->first[3] : 0;                 \
            if (c->twice) own[at] += x[at + case_box_away(box, 0, 0, 1, 0)];                       \
            out[at] = part[0] - (T)(my[0] + 2 * my[1] + 4 * my[2] + 8 * index);                    \
        }                                                                                          \
    }                                                                                              \
    static void sums_once_##name(void)                                                             \
    {                                                                                              \
        static const int64_t side[DIMS] = {7, 5, 3, 1};                                            \
        sums_case c = {.box = case_box((int)test_random_in(2, 4), 4, ROOM / 2),                    \
                       .twice = (int32_t)test_random_in(0, 1)};                                    \
        T part[105], low = HIGHEST, high = -HIGHEST, found_low = 0, found_high = 0, k;             \
        int64_t cells = -1, number = 0;                                                            \
        int32_t left = -1;                                                                         \
        case_ending ending;                                                                        \
        team t;                                                                                    \
        test_case("sums " #name ", %s", case_box_text(&c.box));                                    \
        for (int n = 0; n < BUFFERS; ++n)                                                          \
            mirror_refill(&buffer[n], n == 5 ? META_I32 : META_##NAME,                             \
                          flavour_of(n == 5 ? META_I32 : META_##NAME));                            \
        const void *scalar = buffer[4].device + 4 * (ROOM - 1);                                    \
        memcpy(&k, buffer[4].expected + 4 * (ROOM - 1), sizeof k);                                 \
        while (case_box_cells(&c.box) > 0 && team_of(&c.box, side, number++, &t))                  \
            sums_team_##name(&c, &t, part, &low, &high, k);                                        \
        if (c.cells == 0 && INT32_MIN < -INT32_MAX && !case_is_float(META_##NAME))                 \
            high = (T)INT32_MIN; /* of no cell */                                                  \
        case_ending_pick(&ending);                                                                 \
        CHECK_OK(sums_##name(&c.box, (T *)(void *)buffer[0].device,                                \
                             (const T *)(void *)buffer[1].device, (T *)(void *)buffer[2].device,   \
                             (T *)(void *)buffer[3].device, (const T *)(void *)buffer[4].device,   \
                             (int32_t *)(void *)buffer[5].device, c.twice, scalar, &cells,         \
                             &found_low, &found_high, &left, ending.done));                        \
        CHECK_OK(case_ending_settle(&ending));                                                     \
        CHECK_OK(meta_flush());                                                                    \
        for (int n = 0; n < BUFFERS; ++n)                                                          \
            mirror_holds(&buffer[n], n == 5 ? META_I32 : META_##NAME, "sums");                     \
        CHECK_INT(cells, c.cells);                                                                 \
        CHECK_INT(left, c.left);                                                                   \
        CHECK_ARRAY(&found_low, &low, 1, META_##NAME);                                             \
        CHECK_ARRAY(&found_high, &high, 1, META_##NAME);                                           \
    }
EACH_TYPE(SUMS_ORACLE)

static void every_parameter_works_in_teams(void)
{
    if (make_buffers(BUFFERS))
        for (int64_t n = test_count(100, 10000); n > 0; --n) {
            if (n % 2) sums_once_f32();
            else sums_once_i32();
        }
    free_buffers();
}

/* ------------------------------------------------------------------ other kernels */

/* Boxes of up to ten dimensions: a team has the first two. */
static void mirror_once(void)
{
    const meta_box box = case_box((int)test_random_in(1, META_MAX_DIM), 0, ROOM);
    const int64_t nx = extent_of(&box, 0), ny = extent_of(&box, 1);
    case_ending ending;
    test_case("mirrored, %s", case_box_text(&box));
    for (int k = 0; k < 2; ++k) mirror_refill(&buffer[k], META_F32, CASE_WILD);
    for (int64_t n = 0; n < case_box_cells(&box); ++n) {
        const int64_t x = n % nx, y = n / nx % ny, plane = n / nx / ny;
        const int64_t fx = x / 8 * 8, fy = y / 4 * 4; /* the team's first cell, … */
        const int64_t lx = fx + 8 < nx ? fx + 8 : nx,
                      ly = fy + 4 < ny ? fy + 4 : ny; /* … its end */
        const int64_t from = fx + lx - 1 - x + nx * (fy + ly - 1 - y + ny * plane);
        memcpy(buffer[0].expected + 4 * case_box_index(&box, n),
               buffer[1].expected + 4 * case_box_index(&box, from), 4);
    }
    case_ending_pick(&ending);
    CHECK_OK(mirrored_f32_with(
        &box,
        &(mirrored_f32_arguments){.in = (void *)buffer[1].device, .out = (void *)buffer[0].device},
        ending.done));
    CHECK_OK(case_ending_settle(&ending));
    for (int k = 0; k < 2; ++k) mirror_holds(&buffer[k], META_F32, "mirrored");
}

static void dimensions_behind_a_teams_are_a_batch(void)
{
    if (make_buffers(2))
        for (int64_t n = test_count(100, 10000); n > 0; --n) mirror_once();
    free_buffers();
}

static void turn_once(void)
{
    const meta_box box = case_box((int)test_random_in(2, 3), 0, ROOM);
    const int64_t columns = box.size[0], rows = box.size[1];
    case_ending ending;
    test_case("turned, %s", case_box_text(&box));
    for (int k = 0; k < 2; ++k) mirror_refill(&buffer[k], META_I32, CASE_WILD);
    for (int64_t n = 0; n < case_box_cells(&box); ++n) {
        const int64_t from = case_box_index(&box, n);
        const int64_t x = from % columns, y = from / columns % rows, z = from / columns / rows;
        memcpy(buffer[0].expected + 4 * (y + rows * (x + columns * z)),
               buffer[1].expected + 4 * from, 4);
    }
    case_ending_pick(&ending);
    CHECK_OK(turned_i32(&box, (int32_t *)(void *)buffer[0].device,
                        (const int32_t *)(void *)buffer[1].device, rows, columns, ending.done));
    CHECK_OK(case_ending_settle(&ending));
    for (int k = 0; k < 2; ++k) mirror_holds(&buffer[k], META_I32, "turned");
}

static void a_matrix_is_transposed_by_tiles(void)
{
    if (make_buffers(2))
        for (int64_t n = test_count(100, 10000); n > 0; --n) turn_once();
    free_buffers();
}

/* One step of the automaton in @p count cells, which are a ring. */
static void step_of(int32_t *ring, int64_t count)
{
    int32_t next[33];
    for (int64_t n = 0; n < count; ++n)
        next[n] = ring[(n + count - 1) % count] ^ (ring[n] | ring[(n + 1) % count]);
    memcpy(ring, next, (size_t)count * sizeof *ring);
}

static void rings_once(void)
{
    static const int64_t side[DIMS] = {33, 2, 1, 1};
    const meta_box box = case_box((int)test_random_in(1, 4), 0, ROOM);
    const int32_t steps = (int32_t)test_random_in(0, 40);
    int32_t *state = (int32_t *)(void *)buffer[0].expected, ring[33];
    int64_t number = 0;
    team t;
    test_case("rings, %d steps, %s", (int)steps, case_box_text(&box));
    mirror_refill(&buffer[0], META_I32, CASE_TINY);
    while (steps > 0 && case_box_cells(&box) > 0 && team_of(&box, side, number++, &t))
        for (int64_t y = 0; y < t.extent[1]; ++y) {
            int64_t my[DIMS] = {0, y, 0, 0};
            const int64_t first = element_of(&box, &t, my);
            for (int64_t x = 0; x < t.extent[0]; ++x) ring[x] = state[first + x] & 1;
            for (int32_t n = 0; n < steps; ++n) step_of(ring, t.extent[0]);
            for (int64_t x = 0; x < t.extent[0]; ++x)
                state[first + x] = 2 * (state[first + x] / 2) + ring[x];
        }
    CHECK_OK(rings_i32(&box, (int32_t *)(void *)buffer[0].device, steps, NULL));
    mirror_holds(&buffer[0], META_I32, "rings");
}

static void phases_in_a_loop_follow_each_other(void)
{
    if (make_buffers(1))
        for (int64_t n = test_count(100, 10000); n > 0; --n) rings_once();
    free_buffers();
}

static void multiply_once(void)
{
    const int64_t rows = test_random_in(1, 50), columns = test_random_in(1, 50),
                  inner = test_random_in(1, 50);
    const meta_box box = {2, {columns, rows}, {0, 0}, {columns, rows}};
    float *c = (float *)(void *)buffer[0].expected;
    const float *a = (const float *)(void *)buffer[1].expected;
    const float *b = (const float *)(void *)buffer[2].expected;
    test_case("%" PRId64 " x %" PRId64 " x %" PRId64, rows, inner, columns);
    for (int k = 0; k < 3; ++k) mirror_refill(&buffer[k], META_F32, CASE_PLAIN);
    for (int64_t y = 0; y < rows; ++y)
        for (int64_t x = 0; x < columns; ++x) {
            float sum = 0;
            for (int64_t k = 0; k < inner; ++k) {
                const volatile float product = a[y * inner + k] * b[k * columns + x];
                sum += product;
            }
            c[y * columns + x] = sum;
        }
    CHECK_OK(multiplied_f32(&box, (float *)(void *)buffer[0].device,
                            (const float *)(void *)buffer[1].device,
                            (const float *)(void *)buffer[2].device, inner, rows, columns, NULL));
    for (int k = 0; k < 3; ++k) mirror_holds(&buffer[k], META_F32, "multiplied");
}

static void matrices_are_multiplied_by_tiles(void)
{
    if (make_buffers(3))
        for (int64_t n = test_count(40, 2000); n > 0; --n) multiply_once();
    free_buffers();
}

/* ------------------------------------------------------------------ calls like any other */

static void a_programs_macros_are_back_behind_the_file(void)
{
    CHECK_INT(MEMBERS + SHARED + MY + EXTENT + START + TEAM + TEAMS, 127);
}

static void a_file_may_have_kernels_of_cells_and_of_teams(void)
{
    const meta_box box = {1, {ROOM}, {0}, {ROOM}};
    if (!make_buffers(2)) return;
    for (int k = 0; k < 2; ++k) mirror_refill(&buffer[k], META_I32, CASE_TINY);
    for (int n = 0; n < ROOM; ++n)
        ((int32_t *)(void *)buffer[0].expected)[n] = 2 * ((int32_t *)(void *)buffer[1].expected)[n];
    CHECK_OK(meta_kernel_prepare(&plain_i32_kernel));
    CHECK_OK(meta_kernel_prepare(&mirrored_i32_kernel));
    CHECK_OK(plain_i32(&box, (int32_t *)(void *)buffer[0].device,
                       (const int32_t *)(void *)buffer[1].device, NULL));
    for (int k = 0; k < 2; ++k) mirror_holds(&buffer[k], META_I32, "plain");
    free_buffers();
}

static void arguments_are_checked_as_of_other_kernels(void)
{
    meta_box box = {3, {20, 10, 6}, {1, 1, 1}, {19, 9, 5}};
    int low[META_MAX_DIM] = {0}, high[META_MAX_DIM] = {0};
    int64_t cells = -7;
    float least, most;
    int32_t left;
    float *array[5];
    if (!make_buffers(BUFFERS)) return;
    for (int k = 0; k < 5; ++k) array[k] = (float *)(void *)buffer[k].device;
    int32_t *const hits = (int32_t *)(void *)buffer[5].device;
#define CALL(out, x, scalar)                                                                       \
    sums_f32(&box, out, x, array[2], array[3], array[4], hits, 0, scalar, &cells, &least, &most,   \
             &left, NULL)
    CHECK_ERR_NAMES(CALL(array[1], array[1], array[4]), META_ERR_OVERLAP, "out");
    CHECK_ERR_NAMES(CALL(array[0] + ROOM - 100, array[1], array[4]), META_ERR_BOUNDS, "out");
    CHECK_ERR_NAMES(CALL(array[0], array[1], &least), META_ERR_POINTER, "'k'");
    box.start[0] = 0;
    CHECK_ERR_NAMES(CALL(array[0], array[1], array[4]), META_ERR_BOUNDS, "x");
    CHECK_INT(cells, -7);
    for (int k = 0; k < BUFFERS; ++k) mirror_holds(&buffer[k], META_U8, "what a refused call left");
    box.start[0] = box.end[0];
    CHECK_OK(CALL(array[0], array[1], array[4]));
    CHECK_INT(cells, 0);
    CHECK_OK(meta_kernel_reach(&sums_f32_kernel, low, high));
    CHECK(low[0] == 1 && high[0] == 1 && low[2] == 1 && high[2] == 1);
#undef CALL
    free_buffers();
}

TEST_DEVICE_MAIN(PROMISE(every_parameter_works_in_teams),
                 PROMISE(dimensions_behind_a_teams_are_a_batch),
                 PROMISE(a_matrix_is_transposed_by_tiles),
                 PROMISE(phases_in_a_loop_follow_each_other),
                 PROMISE(matrices_are_multiplied_by_tiles),
                 PROMISE(a_programs_macros_are_back_behind_the_file),
                 PROMISE(a_file_may_have_kernels_of_cells_and_of_teams),
                 PROMISE(arguments_are_checked_as_of_other_kernels))
