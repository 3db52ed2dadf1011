/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_gpu_user_faults.c
 *  Every call of the runtime and the driver that a GPU back end makes for a program's own kernels
 *  fails in turn, once or for ever; see fault_lives.h. Their code is loaded from the cache or
 *  compiled; arguments are passed by value and in memory. */
/* TEST: backends=faults timeout=1800 labels=core */
#define META_KERNELS_HERE
#include "user_laden.kernel.h"
#include "user_smooth.kernel.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "fault_lives.h"

enum { N = 8, CELLS = N * N * N, INNER = (N - 2) * (N - 2) * (N - 2) };
enum { ARRAYS = 31, VALUES = 16 };
static const meta_box box = {3, {N, N, N}, {1, 1, 1}, {N - 1, N - 1, N - 1}};
static const meta_box all = {1, {CELLS}, {0}, {CELLS}};

/* ------------------------------------------------------------------ what is done */

/* A linear function, whose average around a cell is its value there. */
static void smooth(double *next, double *now)
{
    double in[CELLS], out[CELLS] = {0}, sum[2] = {0};
    meta_extreme_f64 most[2] = {{0}};
    meta_event done = META_EVENT_NULL;
    for (int k = 0; k < CELLS; ++k) in[k] = k;
    TRY(meta_copy_h2d(now, in, sizeof in, META_ASYNC));
    TRY(meta_copy_h2d(next, in, sizeof in, META_ASYNC));
    TRY(smooth_f64(&box, next, now, 0.125, &sum[0], &most[0], NULL));
    TRY(smooth_f64(&box, next, now, 0.25, &sum[1], &most[1], &done));
    TRY(meta_event_wait(done));
    TRY(meta_copy_d2h(out, next, sizeof out, NULL));
    for (int k = 0; k < 2; ++k) {
        CHECK_VALUE(sum[k], INNER * (CELLS - 1) / 2.0);
        CHECK_VALUE(most[k].value, CELLS - 2 - N - N * N);
    }
    CHECK_VALUE(out[1 + N + N * N], 1 + N + N * N);
    CHECK_OK(meta_event_free(&done));
}

/* Of one array, for all. */
static void run_laden(int32_t *to, const int32_t *from, const laden_block *value, int64_t *sum,
                      meta_extreme_i32 *most)
{
    const void *argument[1 + ARRAYS + VALUES + 2];
    int count = 0;
    argument[count++] = to;
    for (int k = 0; k < ARRAYS; ++k) argument[count++] = from;
    for (int k = 0; k < VALUES; ++k) argument[count++] = value;
    argument[count++] = sum;
    argument[count++] = most;
    TRY(meta_kernel_run(&laden_i32_kernel, &all, argument, META_ASYNC));
}

/* Launches that follow each other, with arguments in memory that the first must not take from the
 * second. */
static void load(int32_t *to, int32_t *from)
{
    enum { WEIGHTS = ARRAYS * (ARRAYS + 1) / 2, VALUE_WEIGHTS = VALUES * (VALUES + 1) / 2 };
    int32_t in[CELLS], out[CELLS] = {0};
    int64_t sum[2] = {0};
    meta_extreme_i32 most[2] = {{0}};
    for (int k = 0; k < CELLS; ++k) in[k] = k;
    TRY(meta_copy_h2d(from, in, sizeof in, META_ASYNC));
    for (int k = 0; k < 2; ++k) {
        laden_block value;
        for (int n = 0; n < 8; ++n) value.number[n] = k + 1;
        run_laden(to, from, &value, &sum[k], &most[k]);
    }
    TRY(meta_copy_d2h(out, to, sizeof out, META_ASYNC));
    TRY(meta_flush());
    for (int k = 0; k < 2; ++k) {
        const int own = VALUE_WEIGHTS * (k + 1);
        CHECK_VALUE((double)sum[k], WEIGHTS * (CELLS * (CELLS - 1) / 2.0) + CELLS * own);
        CHECK_VALUE(most[k].value, WEIGHTS * (CELLS - 1) + own);
    }
    CHECK_VALUE(out[5], WEIGHTS * 5 + 2 * VALUE_WEIGHTS);
}

static void use(bool again)
{
    void *a = NULL, *b = NULL;
    if (TRY(meta_alloc(&a, CELLS * sizeof(double))) &&
        TRY(meta_alloc(&b, CELLS * sizeof(double)))) {
        smooth(a, b);
        load(a, b);
        if (again && fault_reported) {
            fault_reported = false;
            smooth(a, b);
            load(a, b);
            CHECK(!fault_reported);
        }
    }
    if (a) TRY(meta_free(a));
    if (b) TRY(meta_free(b));
}

static void use_kernels(void)
{
    use(false);
}

static void use_kernels_beside_openmp(void)
{
    use(true);
}

/* ------------------------------------------------------------------ promises */

static void a_failing_call_for_a_programs_kernel_is_an_error_or_recovered_from(void)
{
    fault_each((fault_life){.use = use_kernels}, 1, 1);
}

static void a_device_that_is_lost_with_a_programs_kernels_leaves_the_others(void)
{
    fault_each((fault_life){.use = use_kernels, .sticky = true}, 1, test_long() ? 1 : 2);
}

static void with_auto_a_programs_kernels_go_on_without_a_device_that_fails(void)
{
    const fault_life life = {.use = use_kernels_beside_openmp, .automatic = true};
    const fault_life lost = {.use = use_kernels_beside_openmp, .automatic = true, .sticky = true};
    fault_each(life, 1, test_long() ? 1 : 2);
    fault_each(lost, 2, test_long() ? 1 : 2);
}

/* HIP-CPU's compiler makes no call of the runtime. */
static void failures_around_the_compiler_are_handled(void)
{
    const int64_t step = gpu->driver ? 3 : 40;
    fault_each((fault_life){.use = use_kernels, .compile = true}, 1, test_long() ? 1 : step);
    fault_each((fault_life){.use = use_kernels, .compile = true, .sticky = true}, 2,
               test_long() ? 1 : 2 * step);
}

/* What the driver does with code when it is given some, and when that runs. */
static const char *const driver_calls[] = {"ModuleLoadData", "ModuleGetFunction", "LaunchKernel"};

/* Let each call in turn find no code for the device until the driver's has; in a second round the
 * kernel has been made. */
static bool refuse(const char *call, double *a, double *b, double *sum, meta_extreme_f64 *most)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", gpu->driver, call);
    for (int round = 0; round < 2; ++round) {
        fault->failed = name;
        for (int k = 1; fault->failed; ++k) {
            fault->failed = NULL;
            fault->fail_at = fault->calls + k;
            (void)smooth_f64(&box, a, b, 0, sum, most, NULL);
            if (fault->failed && strncmp(fault->failed, name, strlen(name)) == 0) return true;
        }
    }
    return FAIL("%s is not called", name);
}

/* A life whose kernel is made anew, with two arrays. */
static bool begin_with_log(const char *log, double **a, double **b)
{
    if (!fault_find()) return false;
    setenv("META_LOG", log, 1);
    setenv("META_CACHE_DIR", "off", 1);
    return CHECK_OK(meta_init()) && CHECK_OK(meta_alloc((void **)a, CELLS * sizeof **a)) &&
           CHECK_OK(meta_alloc((void **)b, CELLS * sizeof **b));
}

static bool begin(double **a, double **b)
{
    return begin_with_log("off", a, b);
}

static void end(double *a, double *b)
{
    CHECK_OK(meta_free(a));
    CHECK_OK(meta_free(b));
    CHECK_OK(meta_finalize());
    fault_check_nothing_left();
}

static void refuse_code(void *call)
{
    double *a = NULL, *b = NULL, sum = 0;
    meta_extreme_f64 most;
    if (!begin(&a, &b)) return;
    fault->status = GPU_FAULT_NO_KERNEL;
    if (refuse(call, a, b, &sum, &most)) {
        CHECK_CONTAINS(meta_last_error(), fault->failed);
        CHECK_CONTAINS(meta_last_error(), "add the folder of that to LD_LIBRARY_PATH");
        CHECK(!strstr(meta_last_error(), gpu->arch));
    }
    fault->fail_at = 0;
    CHECK_OK(smooth_f64(&box, a, b, 0, &sum, &most, NULL));
    end(a, b);
}

/* It was made for the device: what would help is another compiler. */
static void code_that_the_driver_refuses_is_not_blamed_on_the_build(void)
{
    for (size_t k = 0; gpu->driver && k < sizeof driver_calls / sizeof *driver_calls; ++k) {
        test_case("%s", driver_calls[k]);
        CHECK_CHILD(refuse_code, (void *)(uintptr_t)driver_calls[k]);
    }
}

static void load_in_vain(void *unused)
{
    double *a = NULL, *b = NULL, sum = 0;
    meta_extreme_f64 most;
    (void)unused;
    setenv("FAKE_CUDA_FAIL_CALL", "cuModuleLoadDataEx", 1);
    if (!begin_with_log("warn", &a, &b)) return;
    CHECK_ERR_NAMES(smooth_f64(&box, a, b, 0, &sum, &most, NULL), META_ERR_DEVICE,
                    "cuModuleLoadDataEx");
    end(a, b);
}

/* Its status does not say what is wrong with the code. */
static void what_the_driver_says_of_code_that_it_refuses_is_logged(void)
{
    char said[8192];
    if (!gpu->driver) return;
    if (CHECK_CHILD_SAYS(load_in_vain, NULL, said))
        CHECK_CONTAINS(said, "CUDA driver, kernel smooth for f64, 1: the failure was ordered");
}

/* Functions of NVRTC, and what the error says where one fails; NULL: code is made nevertheless. */
typedef struct compiler_call {
    const char *name, *says;
} compiler_call;
static const compiler_call compiler_calls[] = {
    {"nvrtcVersion", "nvrtcVersion: NVRTC_ERROR_INTERNAL_ERROR"},
    {"nvrtcGetNumSupportedArchs", NULL},
    {"nvrtcGetSupportedArchs", NULL},
    {"nvrtcCreateProgram", "program of kernel smooth for f64: NVRTC_ERROR_INTERNAL_ERROR"},
    {"nvrtcCompileProgram", "kernel smooth for f64 does not compile"},
    {"nvrtcGetProgramLogSize", NULL},
    {"nvrtcGetProgramLog", NULL},
    {"nvrtcGetCUBINSize", "code of kernel smooth for f64: NVRTC_ERROR_INTERNAL_ERROR"},
    {"nvrtcGetCUBIN", "code of kernel smooth for f64: NVRTC_ERROR_INTERNAL_ERROR"},
    {"nvrtcDestroyProgram", NULL},
};

/* The failure is no longer there when the kernel is run again. */
static void fail_in_compiler(void *argument)
{
    const compiler_call *call = argument;
    double *a = NULL, *b = NULL, sum = 0;
    meta_extreme_f64 most;
    setenv("FAKE_CUDA_FAIL_CALL", call->name, 1);
    if (!begin(&a, &b)) return;
    const meta_err error = smooth_f64(&box, a, b, 0, &sum, &most, NULL);
    unsetenv("FAKE_CUDA_FAIL_CALL");
    if (CHECK_INT(error != META_OK, call->says != NULL) && call->says)
        CHECK_CONTAINS(meta_last_error(), call->says);
    /* A library that does not tell its version is not looked for again. */
    if (strcmp(call->name, "nvrtcVersion") != 0) smooth(a, b);
    end(a, b);
}

static void a_failing_function_of_nvrtc_is_named_or_done_without(void)
{
    for (size_t k = 0; gpu->driver && k < sizeof compiler_calls / sizeof *compiler_calls; ++k) {
        test_case("%s", compiler_calls[k].name);
        CHECK_CHILD(fail_in_compiler, (void *)(uintptr_t)&compiler_calls[k]);
    }
}

/* The driver makes its code of PTX for the newest GPU that NVRTC knows. */
static void compile_ptx(void *argument)
{
    double *a = NULL, *b = NULL;
    (void)argument;
    setenv("FAKE_CUDA_CAPABILITY", "199", 1);
    if (!begin(&a, &b)) return;
    smooth(a, b);
    end(a, b);
}

static void code_for_a_gpu_that_nvrtc_does_not_know_is_made_by_the_driver(void)
{
    if (gpu->driver) CHECK_CHILD(compile_ptx, NULL);
}

TEST_MAIN(PROMISE(a_failing_call_for_a_programs_kernel_is_an_error_or_recovered_from),
          PROMISE(a_device_that_is_lost_with_a_programs_kernels_leaves_the_others),
          PROMISE(with_auto_a_programs_kernels_go_on_without_a_device_that_fails),
          PROMISE(failures_around_the_compiler_are_handled),
          PROMISE(code_that_the_driver_refuses_is_not_blamed_on_the_build),
          PROMISE(what_the_driver_says_of_code_that_it_refuses_is_logged),
          PROMISE(a_failing_function_of_nvrtc_is_named_or_done_without),
          PROMISE(code_for_a_gpu_that_nvrtc_does_not_know_is_made_by_the_driver))
