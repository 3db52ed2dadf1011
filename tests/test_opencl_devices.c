/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_opencl_devices.c
 *  Devices of OpenCL other than the one at hand: its own answers to clGetDeviceInfo() are replaced,
 * so that it says that it is a GPU, that it has less room, or that it cannot be used. */
/* TEST: backends=opencl labels=core */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "caught.h"
#include "meta.h"
#include "opencl_real.h"
#include "test.h"
#define META_KERNELS_HERE
#include "user_team.kernel.h"

/* ------------------------------------------------------------------ what the device claims */

typedef struct pci_bus_info {
    cl_uint domain, bus, device, function;
} pci_bus_info;
enum { PCI_BUS_INFO = 0x410F };

typedef struct claim {
    cl_device_info what;
    const void *value;
    size_t bytes;
} claim;
enum { CLAIMS = 4 };
static claim claims[CLAIMS]; /* bytes 0: none */
static cl_device_id second;  /* a GPU beside it; NULL: there is none */

static const cl_bool no = CL_FALSE;
static const cl_device_type gpu = CL_DEVICE_TYPE_GPU;

static cl_int answer(const void *value, size_t bytes, size_t room, void *to, size_t *length)
{
    if (to && room < bytes) return CL_INVALID_VALUE;
    if (to) memcpy(to, value, bytes);
    if (length) *length = bytes;
    return CL_SUCCESS;
}

#pragma GCC visibility push(default)
cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void *to,
                       size_t *length)
{
    static __typeof__(clGetDeviceInfo) *real;
    if (!real) *(void **)&real = real_of("clGetDeviceInfo");
    if (device == second && second && what == CL_DEVICE_TYPE)
        return answer(&gpu, sizeof gpu, room, to, length);
    for (int k = 0; k < CLAIMS && device != second; ++k)
        if (claims[k].bytes > 0 && claims[k].what == what)
            return answer(claims[k].value, claims[k].bytes, room, to, length);
    return real(device, what, room, to, length);
}

/* The first device of a platform that has one, and the second behind it. */
cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room,
                      cl_device_id *devices, cl_uint *count)
{
    static __typeof__(clGetDeviceIDs) *real;
    if (!real) *(void **)&real = real_of("clGetDeviceIDs");
    const cl_int status =
        real(platform, type, room > 1 && second ? room - 1 : room, devices, count);
    if (status != CL_SUCCESS || !second) return status;
    if (devices && room > 1) devices[room - 1] = second;
    if (count) ++*count;
    return status;
}
#pragma GCC visibility pop

static void claim_nothing(void)
{
    memset(claims, 0, sizeof claims);
    second = NULL;
}

static void also_claim(cl_device_info what, const void *value, size_t bytes)
{
    int k = 0;
    while (claims[k].bytes > 0) ++k;
    claims[k] = (claim){what, value, bytes};
}

static void start(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    test_require_device();
    CHECK_OK(meta_finalize());
}

/* ------------------------------------------------------------------ promises */

static void check_refused(meta_err expected, const char *why)
{
    void *p = NULL;
    meta_err error = meta_init();
    const bool started = error == META_OK;
    test_case("the device %s", why);
    if (started) error = meta_alloc(&p, 64);
    CHECK_INT(error, expected);
    CHECK_CONTAINS(meta_last_error(), why);
    if (started) CHECK_OK(meta_finalize());
}

static void a_device_that_cannot_be_used_is_named_with_the_reason(void)
{
    static const struct {
        cl_device_info what;
        const void *value;
        size_t bytes;
        const char *why;
    } cases[] = {{CL_DEVICE_AVAILABLE, &no, sizeof no, "is not available"},
                 {CL_DEVICE_COMPILER_AVAILABLE, &no, sizeof no, "has no compiler for kernels"},
                 {CL_DEVICE_ENDIAN_LITTLE, &no, sizeof no, "is not little-endian"},
                 {CL_DEVICE_VERSION, "OpenCL 1.1 old", 15, "is older than OpenCL 1.2"},
                 {CL_DEVICE_VERSION, "another", 8, "is older than OpenCL 1.2"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        claim_nothing();
        also_claim(cases[k].what, cases[k].value, cases[k].bytes);
        check_refused(META_ERR_NO_DEVICE, cases[k].why);
    }
    claim_nothing();
}

static void values_of_the_tests_own_variables_are_checked(void)
{
    static const char *const names[] = {"META_TEST_OPENCL_DOUBLE", "META_TEST_OPENCL_ATOMICS"};
    for (int k = 0; k < 2; ++k) {
        const char *was = getenv(names[k]);
        char text[64], kept[64];
        snprintf(kept, sizeof kept, "%s", was ? was : "");
        snprintf(text, sizeof text, "%s=perhaps", names[k]);
        setenv(names[k], "perhaps", 1);
        check_refused(META_ERR_ENVIRONMENT, text);
        if (was) setenv(names[k], kept, 1);
        else unsetenv(names[k]);
    }
}

enum { NX = 70, NY = 40, NZ = 3, CELLS = NX * NY * NZ };
static const meta_box box = {3, {NX, NY, NZ}, {1, 1, 1}, {NX - 1, NY - 1, NZ - 1}};
static const meta_box all = {1, {CELLS}, {0}, {CELLS}};

static void compute_as_a_loop_does(void)
{
    static double a[CELLS], b[CELLS];
    void *x = NULL, *y = NULL;
    double sum = 0, most = 0, exact = 0, expected = 0, inner = 0;
    for (int k = 0; k < CELLS; ++k) a[k] = 1 + k % 23, expected += a[k];
    for (int z = 1; z < NZ - 1; ++z)
        for (int row = 1; row < NY - 1; ++row)
            for (int col = 1; col < NX - 1; ++col) inner += a[col + NX * (row + NY * z)];
    CHECK_OK(meta_alloc(&x, sizeof a));
    CHECK_OK(meta_alloc(&y, sizeof a));
    CHECK_OK(meta_copy_h2d(x, a, sizeof a, NULL));
    CHECK_OK(meta_reduce(&sum, x, &all, META_SUM, META_F64, NULL));
    CHECK_NEAR(sum, expected, 0);
    CHECK_OK(meta_reduce(&sum, x, &box, META_SUM, META_F64, NULL));
    CHECK_NEAR(sum, inner, 0);
    CHECK_OK(meta_reduce(&most, x, &all, META_MAX, META_F64, NULL));
    CHECK_NEAR(most, 23, 0);
    CHECK_OK(meta_set_reproducible(1));
    CHECK_OK(meta_reduce(&exact, x, &all, META_SUM, META_F64, NULL));
    CHECK_NEAR(exact, expected, 0);
    CHECK_OK(meta_set_reproducible(0));
    CHECK_OK(meta_fill(y, CELLS, &(double){0}, META_F64, NULL));
    CHECK_OK(meta_copy_box(y, &box, x, &box, META_F64, NULL));
    CHECK_OK(meta_copy_d2h(b, y, sizeof b, NULL));
    for (int k = 0; k < CELLS; ++k) {
        const int col = k % NX, row = k / NX % NY, z = k / NX / NY;
        const bool within = col > 0 && col < NX - 1 && row > 0 && row < NY - 1 && z == 1;
        if (b[k] != (within ? a[k] : 0)) {
            FAIL("cell %d is %g", k, b[k]);
            break;
        }
    }
    CHECK_OK(meta_free(x));
    CHECK_OK(meta_free(y));
}

/* Its work groups have many items, and their sums barriers. */
static void a_gpu_computes_as_a_loop_does_and_tells_where_it_is(void)
{
    static const pci_bus_info place = {0, 0x41, 0, 1};
    meta_device_desc desc = META_DEVICE_DESC_INIT;
    claim_nothing();
    also_claim(CL_DEVICE_TYPE, &gpu, sizeof gpu);
    also_claim(PCI_BUS_INFO, &place, sizeof place);
    test_require_device();
    CHECK_OK(meta_device_info(0, META_OPENCL, &desc));
    CHECK_INT(desc.is_gpu, 1);
    CHECK_STRING(desc.pci, "0000:41:00.1");
    if (desc.has_f64) compute_as_a_loop_does();
    CHECK_OK(meta_finalize());
    claim_nothing();
}

/* A part of the device at hand, which is in @p whole then; NULL: the driver divides no device.
 * Leaves the library ended. */
static cl_device_id part_of_device(meta_state *whole)
{
    const cl_device_partition_property one[] = {CL_DEVICE_PARTITION_BY_COUNTS, 1,
                                                CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
    __typeof__(clCreateSubDevices) *divide;
    cl_device_id part = NULL;
    cl_uint count = 0;
    *(void **)&divide = real_of("clCreateSubDevices");
    test_require_device();
    CHECK_OK(meta_get_state(0, META_OPENCL, whole));
    const cl_int status = divide ? divide(whole->device, one, 1, &part, &count) : -1;
    CHECK_OK(meta_finalize());
    return status == CL_SUCCESS ? part : NULL;
}

static void gpus_come_before_cpus(void)
{
    meta_device_desc desc = META_DEVICE_DESC_INIT;
    meta_state state = META_STATE_INIT;
    int devices = 0;
    cl_device_id part = part_of_device(&state);
    if (!part) return; /* a driver that divides no device */
    second = part;
    CHECK_OK(meta_init());
    CHECK_OK(meta_device_count(META_OPENCL, &devices));
    CHECK(devices >= 2);
    CHECK_OK(meta_device_info(0, META_OPENCL, &desc));
    CHECK_INT(desc.is_gpu, 1);
    CHECK_OK(meta_device_info(devices - 1, META_OPENCL, &desc));
    CHECK_INT(desc.is_gpu, 0);
    CHECK_OK(meta_finalize());
    claim_nothing();
}

/* A cell gets what the opposite cell of its team of 8 × 4 has, unless the device has no room for
 * teams: then the message has the remedy. */
static void mirror_in_teams(const char *remedy)
{
    enum { COLUMNS = 16, ROWS = 8, NUMBERS = COLUMNS * ROWS };
    const meta_box cells = {2, {COLUMNS, ROWS}, {0}, {COLUMNS, ROWS}};
    float values[NUMBERS], found[NUMBERS];
    void *from = NULL, *to = NULL;
    for (int k = 0; k < NUMBERS; ++k) values[k] = (float)k;
    test_require_device();
    CHECK_OK(meta_alloc(&from, sizeof values));
    CHECK_OK(meta_alloc(&to, sizeof values));
    CHECK_OK(meta_copy_h2d(from, values, sizeof values, NULL));
    if (remedy) {
        CHECK_ERR_NAMES(mirrored_f32(&cells, to, from, NULL), META_ERR_UNSUPPORTED, remedy);
    } else {
        CHECK_OK(mirrored_f32(&cells, to, from, NULL));
        CHECK_OK(meta_copy_d2h(found, to, sizeof found, NULL));
        for (int k = 0; k < NUMBERS; ++k) {
            const int x = k % COLUMNS, y = k / COLUMNS;
            CHECK_NEAR(found[k], (y / 4 * 4 + 3 - y % 4) * COLUMNS + x / 8 * 8 + 7 - x % 8, 0);
        }
    }
    CHECK_OK(meta_free(from));
    CHECK_OK(meta_free(to));
    CHECK_OK(meta_finalize());
}

static void teams_that_a_gpu_has_no_room_for_are_refused_with_the_remedy(void)
{
    static const size_t items = 16;
    static const cl_ulong room = 64;
    claim_nothing();
    also_claim(CL_DEVICE_TYPE, &gpu, sizeof gpu);
    mirror_in_teams(NULL);
    also_claim(CL_DEVICE_MAX_WORK_GROUP_SIZE, &items, sizeof items);
    mirror_in_teams("at most 16: use smaller teams");
    claim_nothing();
    also_claim(CL_DEVICE_TYPE, &gpu, sizeof gpu);
    also_claim(CL_DEVICE_LOCAL_MEM_SIZE, &room, sizeof room);
    mirror_in_teams("has 64: use smaller teams or share less");
    claim_nothing();
}

static void check_state(meta_state state, const char *why)
{
    test_case("%s", why);
    CHECK_ERR_NAMES(meta_set_state(0, META_OPENCL, &state), META_ERR_ARGUMENT, why);
}

/* With its own context, and beside objects that are not of that part. */
static void a_part_of_a_device_is_adopted_alone(void)
{
    __typeof__(clCreateContext) *make_context;
    __typeof__(clCreateCommandQueue) *make_queue;
    const meta_state none = META_STATE_INIT;
    meta_device_desc desc = META_DEVICE_DESC_INIT;
    meta_state found = none, given = none;
    cl_int status = CL_SUCCESS;
    *(void **)&make_context = real_of("clCreateContext");
    *(void **)&make_queue = real_of("clCreateCommandQueue");
    cl_device_id part = part_of_device(&found);
    if (!part) return; /* a driver that divides no device */
    cl_context context = make_context(NULL, 1, (cl_device_id *)&found.device, NULL, NULL, &status);
    if (!CHECK_INT(status, CL_SUCCESS)) return;
    cl_command_queue queue = make_queue(context, found.device, 0, &status);
    CHECK_INT(status, CL_SUCCESS);
    CHECK_OK(meta_init());
    given.device = part;
    given.context = context;
    check_state(given, "state->context is not of the device asked for");
    given.queue = queue;
    check_state(given, "state->queue is not on state->device");
    given = none;
    given.device = part;
    also_claim(CL_DEVICE_AVAILABLE, &no, sizeof no);
    check_state(given, "is not available");
    claim_nothing();
    CHECK_OK(meta_set_state(0, META_OPENCL, &given));
    CHECK_OK(meta_set_acc(0, META_OPENCL));
    CHECK_OK(meta_get_state(0, META_OPENCL, &found));
    CHECK(found.device == part);
    CHECK_OK(meta_device_info(0, META_OPENCL, &desc));
    if (desc.has_f64) compute_as_a_loop_does();
    CHECK_OK(meta_finalize());
    second = part;
    CHECK_OK(meta_init());
    given = none;
    given.queue = queue;
    check_state(given, "the device of state->queue is not the device asked for");
    CHECK_OK(meta_finalize());
    claim_nothing();
}

static void check_warning(cl_device_fp_config single, const char *warning)
{
    char text[4096];
    void *p = NULL;
    claim_nothing();
    also_claim(CL_DEVICE_SINGLE_FP_CONFIG, &single, sizeof single);
    catch_errors();
    const meta_err started = meta_init(), error = meta_alloc(&p, 64);
    take_caught(text, sizeof text);
    CHECK_OK(started);
    CHECK_OK(error);
    CHECK_CONTAINS(text, warning);
    CHECK_OK(meta_free(p));
    CHECK_OK(meta_finalize());
    claim_nothing();
}

static void a_device_of_other_arithmetic_is_told(void)
{
    setenv("META_LOG", "warn", 1);
    check_warning(CL_FP_DENORM, "does not round f32 divisions correctly; f32 results may differ");
    check_warning(CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT,
                  "does not keep denormal f32 numbers; f32 results may differ");
    unsetenv("META_LOG");
}

static const test_setting setting = {start, NULL, NULL};
TEST_MAIN_WITH(&setting, PROMISE(a_device_that_cannot_be_used_is_named_with_the_reason),
               PROMISE(values_of_the_tests_own_variables_are_checked),
               PROMISE(a_gpu_computes_as_a_loop_does_and_tells_where_it_is),
               PROMISE(gpus_come_before_cpus), PROMISE(a_part_of_a_device_is_adopted_alone),
               PROMISE(a_device_of_other_arithmetic_is_told),
               PROMISE(teams_that_a_gpu_has_no_room_for_are_refused_with_the_remedy))
