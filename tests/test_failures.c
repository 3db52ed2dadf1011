/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_failures.c
 *  Whatever the host may refuse fails in turn: each allocation and each system call that libmeta
 * makes in a life of all its public functions, one at a time. Every time there is an error with a
 * message, or all results are right; nothing is left behind, and the library can be ended and
 * started again. */
/* TEST: backends=openmp,opencl labels=core */
/* TEST: backends=openmp labels=core with=CHECK=1 */
/* TEST: auto=yes backends=none labels=core long=yes */
#include "config.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "first_error.h"
#include "host_fault.h"
#include "meta_library.h"
#include "scratch.h"
#include "test.h"
#define META_KERNELS_HERE
#include "user_sound.kernel.h"

enum { NX = 8, NY = 6, NZ = 4, CELLS = NX * NY * NZ, BYTES = CELLS * sizeof(double), ROWS = 8 };
static const meta_box box = {3, {NX, NY, NZ}, {1, 1, 1}, {NX - 1, NY - 1, NZ - 1}};
static const meta_box all = {1, {CELLS}, {0}, {CELLS}};
static const double one = 1, two = 2;
static double pattern[CELLS], found[CELLS];

/* ------------------------------------------------------------------ what a life has */

static struct {
    bool started, timers, ranged;
    void *a, *b, *packed, *grid, *pinned, *wrapped, *matrix;
    meta_grid_field family[3];
    double native[CELLS];
    meta_event event;
    int called;
} life;

static void count_call(void *user, meta_err status)
{
    (void)status;
    ++*(int *)user;
}

static int first_candidate(const meta_decision *decision, void *user)
{
    (void)decision, (void)user;
    return 0;
}

/* ------------------------------------------------------------------ a life of all public functions
 */

static void describe(void)
{
    meta_device_desc device = META_DEVICE_DESC_INIT;
    meta_backend_desc backend = META_BACKEND_DESC_INIT;
    meta_variable_desc variable = META_VARIABLE_DESC_INIT;
    meta_mem_desc memory = META_MEM_DESC_INIT;
    meta_pool_desc pool = META_POOL_DESC_INIT;
    meta_state state = META_STATE_INIT;
    meta_mode mode;
    int count, index, threads;
    size_t size;
    STEP(meta_version(&count, &index, &threads));
    STEP(meta_backend_count(&count));
    for (int k = 0; k < count; ++k) STEP(meta_backend_info(k, &backend));
    STEP(meta_variable_count(&count));
    STEP(meta_variable_info(0, &variable));
    STEP(meta_type_size(META_F64, &size));
    STEP(meta_mode_find("openmp", &mode));
    STEP(meta_set_job(0, 1, 0, 1));
    STEP(meta_rank_device(0, 1, 0, 1, &mode, &index, &threads));
    STEP(meta_get_acc(&index, &mode));
    STEP(meta_set_acc(index, mode));
    STEP(meta_device_count(mode, &count));
    STEP(meta_device_info(index, mode, &device));
    STEP(meta_mem_info(index, mode, &memory));
    STEP(meta_pool_info(index, mode, &pool));
    STEP(meta_pool_limit(index, mode, (size_t)1 << 20));
    if (mode != META_AUTO) STEP(meta_get_state(index, mode, &state));
    STEP(meta_set_policy("cost", META_POLICY_THREAD));
    STEP(meta_set_policy_function(first_candidate, NULL, META_POLICY_THREAD));
    STEP(meta_set_policy_function(NULL, NULL, META_POLICY_THREAD));
    STEP(meta_set_policy(NULL, META_POLICY_THREAD));
}

static void allocate(void)
{
    static const int64_t cells[] = {4, 4, 4};
    static const int ghosts[] = {1, 1, 1};
    static const char *const names[] = {"pressure", "velocity", NULL};
    meta_box laid;
    meta_device_desc device = META_DEVICE_DESC_INIT;
    meta_pointer_desc pointer = META_POINTER_DESC_INIT;
    meta_mode mode;
    int index;
    void *object;
    STEP(meta_get_acc(&index, &mode));
    STEP(meta_device_info(index, mode, &device));
    STEP(meta_alloc(&life.a, BYTES));
    STEP(meta_alloc(&life.b, BYTES));
    STEP(meta_alloc(&life.packed, BYTES));
    STEP(meta_alloc(&life.matrix, 256));
    STEP(meta_grid_alloc(&life.grid, &laid, 3, cells, ghosts, ghosts, META_F64));
    for (int k = 0; k < 3; ++k)
        life.family[k] = (meta_grid_field){
            .name = names[k], .type = k == 1 ? META_F32 : META_F64, .stagger = {k > 0}};
    STEP(meta_grid_family(life.family, 3, NULL, 3, cells, ghosts, ghosts));
    STEP(meta_grid_shape(life.packed, &box, META_F64));
    STEP(meta_grid_shape(life.packed, NULL, META_F64));
    STEP(meta_host_alloc(&life.pinned, BYTES));
    if (device.is_host)
        STEP(meta_wrap(&life.wrapped, life.native, sizeof life.native, META_NATIVE_HOST));
    STEP(meta_label(life.a, "density"));
    STEP(meta_pointer_info(life.a, &pointer));
    STEP(meta_native(life.a, &object, NULL));
    STEP(meta_native_end(life.a));
    if (device.is_host) STEP(meta_host_view(life.a, &object));
}

static void move(void)
{
    static const int64_t size[] = {NX, NY * NZ}, stride[] = {1, NX};
    meta_face face;
    int64_t elements;
    memcpy(life.pinned, pattern, BYTES);
    STEP(meta_copy_h2d(life.a, life.pinned, BYTES, NULL));
    STEP(meta_copy_d2d(life.b, life.a, BYTES, META_ASYNC));
    STEP(meta_copy_box(life.packed, &box, life.a, &box, META_F64, META_ASYNC));
    STEP(meta_copy_box_h2d(life.b, &box, pattern, &box, META_F64, NULL));
    STEP(meta_copy_box_d2h(found, &box, life.b, &box, META_F64, NULL));
    STEP(meta_fill_box(life.packed, &box, &one, META_F64, NULL));
    STEP(meta_face_make(&face, 0, 2, size, stride));
    STEP(meta_face_elements(&face, &elements));
    STEP(meta_pack_face(life.packed, life.a, &face, META_F64, NULL));
    STEP(meta_unpack_face(life.b, life.packed, &face, META_F64, NULL));
    STEP(meta_transpose_face(life.packed, life.b, size, META_F64, NULL));
    STEP(meta_face_slab(&face, &box, 0, META_SLAB_LOW, 1));
    STEP(meta_face_box(&face, &box));
    STEP(meta_copy_d2h(found, life.b, BYTES, NULL));
    for (int k = 0; k < CELLS; ++k)
        if (found[k] != pattern[k]) return right(found[k], pattern[k], "a copied element");
    STEP(meta_copy_d2h(found, life.packed, BYTES, NULL));
    right(found[1], pattern[NX], "a transposed element");
}

static void wait_for(void)
{
    int complete = 0;
    STEP(meta_fill(life.packed, CELLS, &two, META_F64, &life.event));
    STEP(meta_event_then(life.event, count_call, &life.called));
    STEP(meta_event_test(life.event, &complete));
    STEP(meta_event_wait(life.event));
    STEP(meta_event_waitall(1, &life.event));
    STEP(meta_event_free(&life.event));
    STEP(meta_flush());
    right(life.called, 1, "the number of callbacks");
}

static void compute(void)
{
    void *fields[] = {life.a, life.b};
    const meta_box boxes[] = {box, box};
    double sum = -1, sums[4], expected = 0, squares = 0;
    int on;
    for (int k = 0; k < CELLS; ++k) expected += pattern[k], squares += 2 * pattern[k];
    STEP(meta_stencil(life.b, life.a, &box, META_3D7P, META_F64, &sum, NULL));
    STEP(meta_stencil_sums(life.b, life.a, &box, META_3D7P, META_F64, &sum, sums, 2, boxes, NULL));
    STEP(meta_stencil(life.b, life.a, &box, META_3D27P, META_F64, NULL, META_ASYNC));
    STEP(meta_reduce(&sum, life.a, &all, META_SUM, META_F64, NULL));
    right(sum, expected, "the sum");
    STEP(meta_reduce_boxes(sums, 2, 2, fields, 2, boxes, META_MAX, META_F64, NULL));
    STEP(meta_dot(&sum, life.a, life.packed, &all, META_F64, NULL));
    right(sum, squares, "the dot product");
    STEP(meta_axpy(life.packed, &one, life.a, &all, META_F64, NULL));
    STEP(meta_set_reproducible(1));
    STEP(meta_get_reproducible(&on));
    STEP(meta_reduce(&sum, life.a, &all, META_SUM, META_F64, NULL));
    right(sum, expected, "the reproducible sum");
    STEP(meta_set_reproducible(0));
}

static void use_library(void)
{
    static const int32_t start[ROWS + 1] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, column[ROWS] = {0};
    static const double weights[7] = {0, 0, 0, 1, 0, 0, 0};
    const void *arrays[7];
    meta_csr matrix = META_CSR_INIT;
    meta_box cells;
    int64_t ghost, inner;
    uint32_t crc;
    double last;
    for (int k = 0; k < 7; ++k) arrays[k] = life.packed;
    STEP(meta_axpby(life.b, &one, life.a, &two, life.packed, &all, META_F64, NULL));
    STEP(meta_xpay(life.b, life.a, &two, life.packed, &all, META_F64, NULL));
    STEP(meta_scale(life.b, &two, life.a, &all, META_F64, NULL));
    STEP(meta_multiply(life.b, life.a, life.packed, &all, META_F64, NULL));
    STEP(meta_convert(life.b, META_F32, life.a, META_F64, &all, NULL));
    STEP(meta_stencil_constant(life.b, life.a, weights, &box, META_3D7P, META_F64, NULL, NULL));
    STEP(meta_stencil_variable(life.b, life.a, arrays, &box, META_3D7P, META_F64, NULL, NULL));
    STEP(meta_boundary(life.b, &box, 0, META_SLAB_LOW_GHOST, 1, META_BOUNDARY_EVEN, NULL, META_F64,
                       NULL));
    STEP(meta_boundary_slab(&cells, &ghost, &inner, &box, 0, META_SLAB_LOW_GHOST, 0, 0));
    STEP(meta_copy_h2d(life.matrix, start, sizeof start, NULL));
    STEP(meta_copy_h2d((char *)life.matrix + 64, column, sizeof column, NULL));
    matrix.rows = matrix.entries = ROWS;
    matrix.columns = 1;
    matrix.start = life.matrix;
    matrix.column = (char *)life.matrix + 64;
    matrix.value = life.a;
    STEP(meta_csr_check(&matrix));
    STEP(meta_csr_multiply(life.b, NULL, &matrix, life.a, NULL, NULL));
    STEP(meta_crc32(&crc, life.a, BYTES, NULL));
    STEP(meta_prefix_sum(life.b, life.a, CELLS, 1, META_F64, NULL));
    STEP(meta_copy_d2h(&last, (double *)life.b + 1, sizeof last, NULL));
    right(last, pattern[0] + pattern[1], "a prefix sum");
}

static void use_kernels(void)
{
    int low[META_MAX_DIM] = {0}, high[META_MAX_DIM] = {0}, count;
    meta_kernel *kernel, *const kernels[] = {&sound_f32_kernel};
    float most = 0, total = 0;
    STEP(meta_kernel_count(&count));
    STEP(meta_kernel_at(0, &kernel));
    STEP(meta_kernel_find("sound", META_F32, &kernel));
    STEP(meta_kernel_compile(&kernel, "sound", META_F32, "sound.kernel.h", sound_f32_kernel.text));
    STEP(meta_kernel_reach(kernel, low, high));
    STEP(meta_kernel_prepare(kernel));
    STEP(meta_kernels_prepare(kernels, 1));
    STEP(meta_fill(life.a, CELLS, &(float){1}, META_F32, NULL));
    STEP(meta_fill(life.b, CELLS, &(float){2}, META_F32, NULL));
    STEP(meta_fill(life.matrix, 8, &(int32_t){3}, META_I32, NULL));
    STEP(sound_f32(&box, life.packed, life.b, life.a, (float *)life.a, life.matrix, 4, &most,
                   &total, NULL));
    right(most, 9, "the kernel's maximum");
    right(total, (NX - 2) * (NY - 2) * (NZ - 2), "the kernel's sum");
}

static void profile(void)
{
    STEP(meta_timers_init());
    life.timers = true;
    STEP(meta_range_push("range"));
    life.ranged = true;
}

static void unprofile(void)
{
    STEP(meta_range_pop());
    life.ranged = false;
    STEP(meta_timers_print());
    STEP(meta_timers_finalize());
    life.timers = false;
}

static void live(void)
{
    /* Before there is work whose speed limits a summary would have to measure. */
    void (*const parts[])(void) = {describe, profile, unprofile,   allocate,   move,
                                   wait_for, compute, use_library, use_kernels};
    STEP(meta_init());
    life.started = true;
    for (size_t k = 0; k < sizeof parts / sizeof *parts && first.code == META_OK; ++k) parts[k]();
}

/* The end of a life, from wherever it stopped. One call may still fail; it does not fail twice. */
static void end_twice(meta_err (*end)(void *), void **ptr, const char *call)
{
    if (!*ptr) return;
    meta_err code = end(*ptr);
    if (!went(code, call)) code = end(*ptr);
    /* After an error it is gone or can be ended again. */
    if (code != META_OK && code != META_ERR_POINTER) FAIL("%s: %s", call, meta_last_error());
    *ptr = NULL;
}
#define END(function, ptr) end_twice(function, &(ptr), #function)

static void check_usable(void)
{
    void *p = NULL;
    double sum = 0;
    const meta_err code = first.code;
    const meta_err opened = meta_alloc(&p, BYTES);
    /* A driver that told of no device is asked again in the next life. */
    if (code == META_ERR_NO_DEVICE && opened == META_ERR_NO_DEVICE) return;
    if (!CHECK_OK(opened)) return;
    CHECK_OK(meta_fill(p, CELLS, &two, META_F64, NULL));
    CHECK_OK(meta_reduce(&sum, p, &all, META_SUM, META_F64, NULL));
    if (sum != 2 * CELLS) FAIL("the sum is %g afterwards", sum);
    CHECK_OK(meta_free(p));
    first.code = code;
}

static void end_life(void)
{
    if (!life.started) return;
    if (life.ranged) went(meta_range_pop(), "meta_range_pop()");
    if (life.timers) went(meta_timers_finalize(), "meta_timers_finalize()");
    if (life.event.slot && !went(meta_event_free(&life.event), "meta_event_free()"))
        CHECK_OK(meta_event_free(&life.event));
    END((meta_unwrap), life.wrapped);
    END((meta_free), life.a);
    END((meta_free), life.b);
    END((meta_free), life.packed);
    END((meta_free), life.grid);
    for (int k = 0; k < 3; ++k) END((meta_free), life.family[k].ptr);
    END((meta_free), life.matrix);
    END((meta_host_free), life.pinned);
    if (first.code != META_OK) check_usable();
    if (!went(meta_finalize(), "meta_finalize()")) {
        const meta_err again = meta_finalize();
        if (again != META_OK && again != META_ERR_INIT) FAIL("ending twice: %s", meta_last_error());
    }
}

/* ------------------------------------------------------------------ failures in turn */

static long at_hand; /* which call fails */

static void report_crash(int signal)
{
    char text[4608];
    const int length = snprintf(text, sizeof text, "signal %d when call %ld failed: %s\n", signal,
                                at_hand, host_fault_place());
    if (write(STDOUT_FILENO, text, (size_t)length) < length) _exit(3);
    _exit(1);
}

/* One life, in which call @p n fails. @return the calls it made */
static long live_with(long n)
{
    memset(&life, 0, sizeof life);
    memset(&first, 0, sizeof first);
    at_hand = n;
    test_case("call %ld fails", n);
    alarm(120);
    host_fault_arm(n);
    live();
    end_life();
    host_fault_disarm();
    alarm(0);
    return host_fault_calls();
}

/* Outcomes by the function that failed. */
static struct {
    char function[32];
    long errors, right;
} outcome[64];

static void count_outcome(void)
{
    size_t k = 0;
    while (*outcome[k].function && strcmp(outcome[k].function, host_fault_function()) != 0) ++k;
    snprintf(outcome[k].function, sizeof outcome[k].function, "%s", host_fault_function());
    if (first.code != META_OK) ++outcome[k].errors;
    else ++outcome[k].right;
}

static void check_error(void)
{
    if (first.code == META_OK) return;
    if ((int)first.code < 0 || first.code >= META_ERR_COUNT)
        FAIL("%s gives %d, which is no code", first.call, (int)first.code);
    if (strncmp(first.message, "meta_", 5) != 0 && strncmp(first.message, "sound_", 6) != 0)
        FAIL("the message of %s is \"%s\"", first.call, first.message);
}

static void fail_in_turn(bool driver)
{
    char folder[1024], file[2304];
    long calls, lives = 0, errors = 0;
    const char *number = getenv("META_TEST_FAIL_AT");
    for (int k = 0; k < CELLS; ++k) pattern[k] = 1 + k % 17;
    scratch_make("failures", folder, sizeof folder);
    /* A summary measures the devices' speed at the end of each life. */
    if (test_long()) snprintf(file, sizeof file, "json:%s/profile,trace:%s/trace", folder, folder);
    else snprintf(file, sizeof file, "trace:%s/trace", folder);
    /* Names stay for ever, and where kernels run at random there are new ones at any time. */
    if (!getenv("META_POLICY")) setenv("META_PROFILE", file, 1);
    snprintf(file, sizeof file, "%s/log", folder);
    setenv("META_LOG_FILE", file, 1);
    /* What is printed is checked elsewhere. */
    if (!freopen("/dev/null", "w", stderr)) FAIL("/dev/null cannot be opened");
    signal(SIGSEGV, report_crash);
    signal(SIGBUS, report_crash);
    signal(SIGABRT, report_crash);
    signal(SIGALRM, report_crash);
    memset(outcome, 0, sizeof outcome);
    host_fault_of_driver(driver);
    for (int k = 0; k < 2; ++k) live_with(0); /* what is kept for ever is there now */
    if (first.code == META_ERR_NO_DEVICE) exit(77);
    if (!CHECK_INT(first.code, META_OK)) {
        printf("%s: %s\n", first.call, first.message);
        return;
    }
    calls = live_with(0);
    const int64_t wanted = test_count(100, calls), least = 20;
    const int64_t step = number ? 1 : 1 + (calls - 1) / (wanted > least ? wanted : least);
    long blocks = host_fault_blocks();
    int files = host_fault_descriptors();
    for (long n = number ? atol(number) : 1 + (long)(test_random() % (uint64_t)step);; n += step) {
        const long from = host_fault_next_block();
        const long made = live_with(n);
        if (!*host_fault_place() && n > made) break;
        test_case("call %ld failed: %s\n    first error: %s, %s", n, host_fault_place(),
                  first.call ? first.call : "none", first.message);
        ++lives;
        if (first.code != META_OK) ++errors;
        count_outcome();
        check_error();
        CHECK_ERR(meta_flush(), META_ERR_INIT); /* a long message is kept until the next one */
        const long kept = host_fault_blocks_kept(blocks);
        if (kept > 0) {
            FAIL("%ld blocks are left behind:%s", kept, host_fault_blocks_text(from));
            blocks = host_fault_blocks();
        }
        if (host_fault_descriptors() > files) {
            FAIL("%d descriptors are left open", host_fault_descriptors() - files);
            files = host_fault_descriptors();
        }
        if (number) {
            printf("note   %s\n    first error: %s, %s\n", host_fault_place(),
                   first.call ? first.call : "none", first.message);
            break;
        }
    }
    test_case("the whole");
    CHECK(lives > 0 || driver || !host_fault_possible());
    printf("note   of %ld calls %ld failed, one at a time: %ld errors, %ld right results\n", calls,
           lives, errors, lives - errors);
    for (size_t k = 0; *outcome[k].function; ++k)
        printf("note   %s: %ld errors, %ld right results\n", outcome[k].function, outcome[k].errors,
               outcome[k].right);
    scratch_remove(folder);
}

static void whatever_the_host_refuses_is_an_error(void)
{
    fail_in_turn(false);
}

/* Back ends without one look for OpenCL's devices too. */
static void whatever_the_driver_refuses_is_an_error(void)
{
    fail_in_turn(true);
}

TEST_MAIN(PROMISE(whatever_the_driver_refuses_is_an_error),
          PROMISE(whatever_the_host_refuses_is_an_error))
