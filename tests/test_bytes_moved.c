/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_bytes_moved.c
 *  META_MODE=auto moves little more than the least bytes with which a program can do, where that
 * can be worked out: programs whose calls go to given devices, on simulated devices that copy
 * between each other and count what they copy. */
/* TEST: backends=any labels=core */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "child.h"
#include "simulated.h"

enum { N = 96, SIDE = N + 2, CELLS = SIDE * SIDE * SIDE, BUFFERS = 6 };

/** A program and the devices that it runs on. */
typedef struct program {
    void (*run)(void);
    int devices;
    const char *memory; /**< of each; NULL: much */
    double most;        /**< times the least */
} program;

static const meta_box whole = {3, {SIDE, SIDE, SIDE}, {0, 0, 0}, {SIDE, SIDE, SIDE}};
static const meta_box interior = {3, {SIDE, SIDE, SIDE}, {1, 1, 1}, {SIDE - 1, SIDE - 1, SIDE - 1}};
static const uint64_t all = sizeof(double) * CELLS, inner = sizeof(double) * N * N * N;
static const uint64_t face = sizeof(double) * N * N;

static int devices, turn;
static void *buffer[BUFFERS], *pad;
static double *host;
static uint64_t least; /* of the program so far */

/* The next launch or copy goes to device @p d: each goes to the next one in turn, and what fills
 * one element takes the turns between. */
static void on(int d)
{
    const double zero = 0;
    for (; turn != d; turn = (turn + 1) % devices)
        CHECK_OK(meta_fill(pad, 1, &zero, META_F64, META_ASYNC));
    turn = (turn + 1) % devices;
}

static void write_from_host(int d, int k)
{
    on(d);
    CHECK_OK(meta_copy_h2d(buffer[k], host, all, NULL));
    least += all;
}

static void read_on(int d, int k, const meta_box *box)
{
    double sum;
    on(d);
    CHECK_OK(meta_reduce(&sum, buffer[k], box, META_MAX, META_F64, NULL));
}

static void fill_on(int d, int k, const meta_box *box)
{
    const double value = k;
    on(d);
    CHECK_OK(meta_fill_box(buffer[k], box, &value, META_F64, META_ASYNC));
}

static void stencil_on(int d, int to, int from)
{
    on(d);
    CHECK_OK(
        meta_stencil(buffer[to], buffer[from], &interior, META_3D7P, META_F64, NULL, META_ASYNC));
}

/* ------------------------------------------------------------------ the programs */

static void results(void)
{
    fill_on(0, 0, &whole);
    fill_on(1, 0, &whole);
    on(1);
    CHECK_OK(meta_copy_d2d(buffer[1], buffer[0], all, META_ASYNC));
    on(0);
    CHECK_OK(meta_copy_d2d(buffer[1], buffer[0], all, META_ASYNC)); /* and one is fetched */
    least += all;
}

static void readers(void)
{
    write_from_host(0, 0);
    for (int k = 0; k < 10; ++k)
        for (int d = 0; d < devices; ++d) read_on(d, 0, &whole);
    least += (uint64_t)(devices - 1) * all;
}

/* What is read, and the ghost cells of what is written, go to the second device once; then each
 * step needs what the last one has written. */
static void steps_in_turn(void)
{
    enum { STEPS = 50 };
    write_from_host(0, 0);
    write_from_host(0, 1);
    for (int k = 0; k < STEPS; ++k) stencil_on((k + 1) % 2, (k + 1) % 2, k % 2);
    least += inner + 6 * face + (all - inner) + (STEPS - 1) * inner;
}

/* The steps have moved for good; the second grid is written there for the first time. */
static void steps_elsewhere(void)
{
    write_from_host(0, 0);
    write_from_host(0, 1);
    for (int k = 0; k < 50; ++k) stencil_on(1, (k + 1) % 2, k % 2);
    least += inner + 6 * face + (all - inner);
}

/* Faces are packed where one grid is, and unpacked where the other one is. */
static void faces(void)
{
    write_from_host(0, 0);
    write_from_host(1, 1);
    for (int axis = 0; axis < 3; ++axis) {
        meta_face from, to;
        CHECK_OK(meta_face_slab(&from, &interior, axis, META_SLAB_LOW, 1));
        CHECK_OK(meta_face_slab(&to, &interior, axis, META_SLAB_HIGH_GHOST, 1));
        on(0);
        CHECK_OK(meta_pack_face(buffer[2], buffer[0], &from, META_F64, META_ASYNC));
        on(1);
        CHECK_OK(meta_unpack_face(buffer[1], buffer[2], &to, META_F64, META_ASYNC));
        least += face;
    }
}

/* Planes are written in turn and read together. */
static void planes(void)
{
    for (int z = 0; z < SIDE; ++z) {
        meta_box plane = whole;
        plane.start[2] = z;
        plane.end[2] = z + 1;
        fill_on(z % 2, 0, &plane);
    }
    read_on(0, 0, &whole);
    least += all / 2;
}

/* Some planes are read where the others are not. */
static void some_planes(void)
{
    meta_box middle = whole;
    middle.start[2] = 10;
    middle.end[2] = 20;
    write_from_host(0, 0);
    read_on(1, 0, &middle);
    least += 10 * sizeof(double) * SIDE * SIDE;
}

/* Three buffers fit. Those that the other device has as well need not be carried there. */
static void little_memory(void)
{
    for (int k = 0; k < 3; ++k) write_from_host(0, k);
    for (int k = 0; k < 3; ++k) read_on(1, k, &whole);
    for (int k = 3; k < 6; ++k) write_from_host(0, k);
    least += 3 * all;
}

/* The first device carries one away to be able to hold a fourth. */
static void one_too_many(void)
{
    for (int k = 0; k < 4; ++k) write_from_host(0, k);
    for (int k = 1; k < 4; ++k) read_on(0, k, &whole);
    least += all;
}

static void host_and_back(void)
{
    write_from_host(1, 0);
    on(1);
    CHECK_OK(meta_axpy(buffer[0], host, buffer[0], &whole, META_F64, META_ASYNC));
    on(1);
    CHECK_OK(meta_copy_d2h(host, buffer[0], all, NULL));
    least += all;
}

/* ------------------------------------------------------------------ what they move */

/* Of all devices. */
static uint64_t sum_of(const char *report, const char *name)
{
    uint64_t sum = 0;
    for (const char *at = strstr(report, name); at; at = strstr(at + 1, name))
        sum += strtoull(at + strlen(name), NULL, 10);
    return sum;
}

static bool begin(const program *p)
{
    char text[256] = "";
    size_t at = 0;
    for (int d = 0; d < p->devices; ++d)
        at += (size_t)snprintf(text + at, sizeof text - at, "%cd%d peer=50G%s%s", d > 0 ? ';' : ' ',
                               d, p->memory ? " memory=" : "", p->memory ? p->memory : "");
    simulated_set(text, "round_robin");
    unsetenv("META_TEST_SIM_EAGER"); /* copies run as late as their order permits */
    devices = p->devices;
    host = calloc(CELLS, sizeof *host);
    return CHECK(host != NULL) && simulated_report_begin() && CHECK_OK(meta_init());
}

static void run(void *argument)
{
    const program *p = argument;
    if (!begin(p)) return;
    CHECK_OK(meta_alloc(&pad, sizeof(double)));
    for (int k = 0; k < BUFFERS; ++k) CHECK_OK(meta_alloc(&buffer[k], all));
    p->run();
    CHECK_OK(meta_flush());
    for (int k = 0; k < BUFFERS; ++k) CHECK_OK(meta_free(buffer[k]));
    CHECK_OK(meta_free(pad));
    CHECK_OK(meta_finalize());
    const char *report = simulated_report_end();
    const uint64_t bytes = sum_of(report, " bytes_in ") + sum_of(report, " bytes_out ") +
                           sum_of(report, " bytes_peer ");
    free(host);
    if (getenv("META_TEST_VERBOSE"))
        printf("%.4f of the least %" PRIu64 " bytes\n", (double)bytes / (double)least, least);
    if (bytes < least) FAIL("%" PRIu64 " bytes are less than the least, %" PRIu64, bytes, least);
    if ((double)bytes > p->most * (double)least)
        FAIL("%" PRIu64 " bytes are %.3f times the least, %" PRIu64, bytes,
             (double)bytes / (double)least, least);
}

static void moves(void (*function)(void), int count, const char *memory, double most)
{
    program p = {function, count, memory, most};
    if (!getenv("META_MODE")) CHECK_CHILD(run, &p);
}

static void results_fetch_nothing(void)
{
    moves(results, 2, NULL, 1);
}
static void what_is_only_read_is_copied_once_to_each_device(void)
{
    moves(readers, 3, NULL, 1);
}
static void a_stencil_in_turn_on_two_devices_moves_what_each_step_has_written(void)
{
    moves(steps_in_turn, 2, NULL, 1.10);
}
/* The range that is written with ghost cells between is fetched whole, once. */
static void a_stencil_that_goes_elsewhere_moves_its_grids_once(void)
{
    moves(steps_elsewhere, 2, NULL, 1.35);
}
static void faces_move_alone(void)
{
    moves(faces, 2, NULL, 1);
}
static void planes_that_are_written_move_where_they_are_read(void)
{
    moves(planes, 2, NULL, 1);
}
static void planes_that_are_not_read_stay(void)
{
    moves(some_planes, 2, NULL, 1);
}
static void copies_that_others_have_are_dropped_without_a_move(void)
{
    moves(little_memory, 2, "23M", 1);
}
static void one_buffer_too_many_is_carried_away_alone(void)
{
    moves(one_too_many, 2, "23M", 1);
}
static void what_comes_from_the_host_goes_to_its_device_at_once(void)
{
    moves(host_and_back, 2, NULL, 1);
}

TEST_MAIN(PROMISE(results_fetch_nothing), PROMISE(what_is_only_read_is_copied_once_to_each_device),
          PROMISE(a_stencil_in_turn_on_two_devices_moves_what_each_step_has_written),
          PROMISE(a_stencil_that_goes_elsewhere_moves_its_grids_once), PROMISE(faces_move_alone),
          PROMISE(planes_that_are_written_move_where_they_are_read),
          PROMISE(planes_that_are_not_read_stay),
          PROMISE(copies_that_others_have_are_dropped_without_a_move),
          PROMISE(one_buffer_too_many_is_carried_away_alone),
          PROMISE(what_comes_from_the_host_goes_to_its_device_at_once))
