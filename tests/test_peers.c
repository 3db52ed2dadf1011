/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_peers.c
 *  The peers compute correctly: dot products, sums, copies and triads of any length at any
 *  offset, and a time step of Gray-Scott, on the memory that meta_native() returns; a peer that
 * cannot be loaded gives the reason. */
/* TEST: backends=all fake=no labels=peers */
#include "config.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "load.h"

enum { MOST = 200003, LEAD = 3 };
static const int64_t counts[] = {0, 1, 2, 7, 1000, 4096, MOST};
static const size_t cases = sizeof counts / sizeof *counts;

static const meta_peer_table *table;
static meta_peer *peer;
static bool has_f64;

/* LeakSanitizer asks this at the end; over the threads of the OpenCL peer's libraries it crashes.
 */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    const char *mode = getenv("META_MODE");
    return mode && strcmp(mode, "opencl") == 0;
}

static bool open_it(void)
{
    int index = 0;
    meta_mode mode = META_SPREAD;
    char reason[1024] = "";
    meta_device_desc device = META_DEVICE_DESC_INIT;
    if (!CHECK_OK(meta_get_acc(&index, &mode))) return false;
    if (!CHECK_OK(meta_device_info(index, mode, &device))) return false;
    has_f64 = device.has_f64;
    table = peer_open(mode, index, &peer, reason, sizeof reason);
    return table || FAIL("no peer of %s: %s", device.backend, reason);
}

static meta_peer_memory behind(const void *ptr)
{
    meta_peer_memory m = {NULL, 0};
    CHECK_OK(meta_native(ptr, &m.object, &m.offset));
    return m;
}

/* Whole numbers, so that sums are right in any order. */
static void put(void *buffer, int64_t count, meta_type type, int64_t factor)
{
    const size_t bytes = type == META_F64 ? 8 : 4;
    char *host = malloc((size_t)(count + LEAD) * bytes);
    for (int64_t k = 0; k < count + LEAD; ++k) {
        const int64_t value = k * factor % 7 - 2;
        if (type == META_F64) ((double *)(void *)host)[k] = (double)value;
        else ((float *)(void *)host)[k] = (float)value;
    }
    CHECK_OK(meta_copy_h2d(buffer, host, (size_t)(count + LEAD) * bytes, NULL));
    free(host);
}

static int64_t value_at(int64_t k, int64_t factor)
{
    return (k + LEAD) * factor % 7 - 2;
}

/* ------------------------------------------------------------------ promises */

static void dot_of(meta_type type, int64_t count)
{
    const size_t bytes = type == META_F64 ? 8 : 4;
    void *a, *b;
    double found = -1, right = 0;
    float single = -1;
    if (!CHECK_OK(meta_alloc(&a, (size_t)(count + LEAD + 1) * bytes))) return;
    if (!CHECK_OK(meta_alloc(&b, (size_t)(count + LEAD + 1) * bytes))) return;
    put(a, count, type, 3);
    put(b, count, type, 5);
    for (int64_t k = 0; k < count; ++k) right += (double)(value_at(k, 3) * value_at(k, 5));
    const meta_peer_memory at = behind((char *)a + LEAD * bytes);
    void *result = type == META_F64 ? (void *)&found : &single;
    if (table->dot(peer, type, count, at, behind((char *)b + LEAD * bytes), result) != 0)
        FAIL("dot of %lld: %s", (long long)count, table->reason(peer));
    CHECK_NEAR(type == META_F64 ? found : (double)single, right, 0);
    right = 0;
    for (int64_t k = 0; k < count; ++k) right += (double)value_at(k, 3);
    if (table->sum) {
        CHECK_INT(table->sum(peer, type, count, at, result), 0);
        CHECK_NEAR(type == META_F64 ? found : (double)single, right, 0);
    }
    CHECK_OK(meta_free(a));
    CHECK_OK(meta_free(b));
}

static void dot_products_are_correct(void)
{
    if (!open_it()) return;
    if (!table->blas) CHECK_CONTAINS(table->no_blas, "BLAS");
    for (size_t k = 0; table->blas && k < cases; ++k) {
        if (has_f64) dot_of(META_F64, counts[k]);
        dot_of(META_F32, counts[k]);
    }
    table->close(peer);
}

static void what_blas_does_not_compute_is_refused(void)
{
    int64_t result;
    void *a;
    if (!open_it()) return;
    CHECK_OK(meta_alloc(&a, 64));
    CHECK_INT(table->dot(peer, META_I64, 1, behind(a), behind(a), &result), -1);
    CHECK_CONTAINS(table->reason(peer), table->blas ? "f64 and f32" : table->no_blas);
    CHECK_OK(meta_free(a));
    table->close(peer);
}

static double expected(meta_peer_work work, int64_t k)
{
    const int64_t a = value_at(k, 3), b = value_at(k, 5);
    return (double)(work == META_PEER_TRIAD ? a + 3 * b : a);
}

/* The cells before and behind stay as they are. */
static void memory_of(meta_peer_work work, int64_t count, double *host, double *buffer[3])
{
    double result = -1, sum = 0;
    const meta_peer_memory out = behind(buffer[0] + LEAD), a = behind(buffer[1] + LEAD),
                           b = behind(buffer[2] + LEAD);
    const double untouched = -77;
    test_case("work %d on %lld doubles", (int)work, (long long)count);
    CHECK_OK(meta_fill(buffer[0], MOST + 2 * LEAD, &untouched, META_F64, NULL));
    if (table->memory(peer, work, count, out, a, b, &result) != 0) FAIL("%s", table->reason(peer));
    for (int64_t k = 0; k < count; ++k) sum += expected(work, k);
    if (work == META_PEER_READ) {
        CHECK_NEAR(result, sum, 0);
        return;
    }
    CHECK_OK(meta_copy_d2h(host, buffer[0], (MOST + 2 * LEAD) * sizeof *host, NULL));
    for (int64_t k = -LEAD; k < MOST + LEAD; ++k) {
        const double right = k < 0 || k >= count ? untouched : expected(work, k);
        if (host[k + LEAD] != right && !CHECK_NEAR(host[k + LEAD], right, 0)) return;
    }
}

static void loops_of_doubles(void)
{
    static double host[MOST + 2 * LEAD];
    double *buffer[3];
    for (int k = 0; k < 3; ++k)
        if (!CHECK_OK(meta_alloc((void **)&buffer[k], sizeof host))) return;
    put(buffer[1], MOST, META_F64, 3);
    put(buffer[2], MOST, META_F64, 5);
    for (size_t k = 0; k < cases; ++k)
        for (int work = META_PEER_COPY; work <= META_PEER_READ; ++work)
            memory_of((meta_peer_work)work, counts[k], host, buffer);
    for (int k = 0; k < 3; ++k) CHECK_OK(meta_free(buffer[k]));
}

static void loops_over_memory_are_correct(void)
{
    if (!open_it()) return;
    if (has_f64) loops_of_doubles();
    table->close(peer);
}

enum { GX = 70, GY = 9, GZ = 6, GRID = GX * GY * GZ };

/* The step's cells in whole numbers and small fractions, which are exact; others stay as they are.
 */
static double reacted(bool of_v, int64_t c)
{
    static const int64_t sides[] = {-1, 1, -GX, GX, -GX * GY, GX * GY};
    const double u = (double)(value_at(c, 3)), v = (double)(value_at(c, 5)), uvv = u * v * v;
    double spread = -6 * (of_v ? v : u);
    for (int k = 0; k < 6; ++k) spread += (double)value_at(c + sides[k], of_v ? 5 : 3);
    return of_v ? v + 0.5 * (0.25 * spread + uvv - (2 + 4) * v)
                : u + 0.5 * (0.5 * spread - uvv + 2 * (1 - u));
}

static void step_of(meta_type type)
{
    const size_t bytes = type == META_F64 ? 8 : 4;
    const double untouched_f64 = -77;
    const float untouched_f32 = -77;
    const void *untouched = type == META_F64 ? (const void *)&untouched_f64 : &untouched_f32;
    static double host[GRID + LEAD];
    char *array[4];
    for (int k = 0; k < 4; ++k) {
        if (!CHECK_OK(meta_alloc((void **)&array[k], (GRID + LEAD) * bytes))) return;
        if (k < 2) CHECK_OK(meta_fill(array[k], GRID + LEAD, untouched, type, NULL));
        else put(array[k], GRID, type, k == 2 ? 3 : 5);
    }
    const meta_peer_gray_scott step = {.type = type,
                                       .size = {GX, GY, GZ},
                                       .start = {1, 2, 1},
                                       .end = {GX - 2, GY - 1, GZ - 1},
                                       .u1 = behind(array[0] + LEAD * bytes),
                                       .v1 = behind(array[1] + LEAD * bytes),
                                       .u0 = behind(array[2] + LEAD * bytes),
                                       .v0 = behind(array[3] + LEAD * bytes),
                                       .Du = 0.5,
                                       .Dv = 0.25,
                                       .F = 2,
                                       .k = 4,
                                       .dt = 0.5};
    for (int time = 0; time < 2; ++time)
        if (table->gray_scott(peer, &step) != 0) FAIL("%s", table->reason(peer));
    for (int k = 0; k < 2; ++k) {
        CHECK_OK(meta_copy_d2h(host, array[k], (GRID + LEAD) * bytes, NULL));
        for (int64_t c = -LEAD; c < GRID; ++c) {
            const int64_t x = c % GX, y = c / GX % GY, z = c / GX / GY;
            const bool inside =
                c >= 0 && x >= 1 && x < GX - 2 && y >= 2 && y < GY - 1 && z >= 1 && z < GZ - 1;
            const double found =
                type == META_F64 ? host[c + LEAD] : (double)((float *)(void *)host)[c + LEAD];
            test_case("array %d, cell %lld", k, (long long)c);
            if (!CHECK_NEAR(found, inside ? reacted(k == 1, c) : -77, 0)) return;
        }
    }
    for (int k = 0; k < 4; ++k) CHECK_OK(meta_free(array[k]));
}

static void kernels_written_by_hand_are_correct(void)
{
    const meta_peer_gray_scott whole = {.type = META_I32};
    if (!open_it()) return;
    if (table->gray_scott) {
        if (has_f64) step_of(META_F64);
        step_of(META_F32);
        CHECK_INT(table->gray_scott(peer, &whole), -1);
        CHECK_CONTAINS(table->reason(peer), "f64 and f32");
    }
    table->close(peer);
}

static void empty_launches_can_be_repeated(void)
{
    if (!open_it()) return;
    CHECK(table->launch != NULL);
    CHECK_INT(table->empty(peer, 0), 0);
    CHECK_INT(table->empty(peer, 100), 0);
    table->close(peer);
}

static void memory_can_be_allocated_and_freed_repeatedly(void)
{
    static const size_t bytes[] = {1, 4096, 1000001};
    if (!open_it()) return;
    for (size_t k = 0; k < sizeof bytes / sizeof *bytes; ++k) {
        test_case("%zu bytes", bytes[k]);
        CHECK_INT(table->pairs(peer, bytes[k], 0), 0);
        CHECK_INT(table->pairs(peer, bytes[k], 30), 0);
    }
    CHECK_INT(table->pairs(peer, (size_t)1 << 56, 1), -1);
    CHECK(strlen(table->reason(peer)) > 0);
    table->close(peer);
}

static void a_missing_back_end_has_no_peer(void)
{
    char reason[1024] = "";
    CHECK(!peer_open(META_SPREAD, 0, &peer, reason, sizeof reason));
    CHECK_CONTAINS(reason, "no back end");
    CHECK(!peer_open(META_AUTO, 0, &peer, reason, sizeof reason));
    CHECK_CONTAINS(reason, "META_MODE=auto chooses one for each call");
    CHECK(!peer_open(META_OPENMP, 9, &peer, reason, sizeof reason));
    CHECK_CONTAINS(reason, "9");
}

TEST_DEVICE_MAIN(PROMISE(dot_products_are_correct), PROMISE(what_blas_does_not_compute_is_refused),
                 PROMISE(loops_over_memory_are_correct),
                 PROMISE(kernels_written_by_hand_are_correct),
                 PROMISE(empty_launches_can_be_repeated),
                 PROMISE(memory_can_be_allocated_and_freed_repeatedly),
                 PROMISE(a_missing_back_end_has_no_peer))
