/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_module.c
 *  The life of the program's own kernels: those of shared objects that are opened and closed, the
 *  library's end and new start between two runs, profiles, and a program that ends without it. */
/* TEST: backends=all labels=core smoke=yes */
#define META_KERNELS_HERE
#include "user_sound.kernel.h"

#include "internal.h"
#include "test.h"

#include <dlfcn.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { CELLS = 1000, BYTES = CELLS * 4 };
static const meta_box line = {1, {CELLS}, {1}, {CELLS - 1}};

extern char **environ;

/* ------------------------------------------------------------------ a program's end */

static const char *program;

/* With this variable set, the program runs a kernel and ends at once. */
#define END_AT_ONCE "META_TEST_USER_END"

static void run_and_end(void)
{
    const uint8_t zero = 0;
    int32_t most, total;
    int32_t *a[5];
    for (int k = 0; k < 5; ++k) {
        void *ptr = NULL;
        if (meta_alloc(&ptr, BYTES) || meta_fill(ptr, BYTES, &zero, META_U8, NULL)) exit(1);
        a[k] = ptr;
    }
    exit(sound_i32(&line, a[0], a[1], a[2], a[3], a[4], 1, &most, &total, NULL) != META_OK);
}

static void start(int *argc, char ***argv)
{
    program = (*argv)[0];
    test_device.start(argc, argv);
    if (getenv(END_AT_ONCE)) run_and_end();
}

static const test_setting setting = {.start = start};

static void a_program_may_end_without_ending_the_library(void)
{
    char name[4096];
    char *const arguments[] = {name, NULL};
    pid_t child = 0;
    int status = -1;
    snprintf(name, sizeof name, "%s", program);
    setenv(END_AT_ONCE, "1", 1);
    if (CHECK_INT(posix_spawn(&child, program, NULL, NULL, arguments, environ), 0))
        CHECK(waitpid(child, &status, 0) == child);
    unsetenv(END_AT_ONCE);
    CHECK_INT(status, 0);
}

/* ------------------------------------------------------------------ shared objects */

typedef meta_err module_run(const meta_box *box, int32_t *out, int32_t add, int32_t *total,
                            meta_event *done);

static void *open_module(module_run **run)
{
    void *module = dlopen(test_built("tests/plugins/.libs/user_module.so"), RTLD_NOW | RTLD_LOCAL);
    void *symbol = module ? dlsym(module, "user_module_run") : NULL;
    if (!symbol) FAIL("%s", dlerror());
    memcpy(run, &symbol, sizeof *run);
    return symbol ? module : NULL;
}

static void module_computes(module_run *run, int32_t add)
{
    int32_t found[CELLS], total = 0;
    int64_t expected = 0;
    void *out = NULL;
    if (!CHECK_OK(meta_alloc(&out, BYTES))) return;
    CHECK_OK(run(&line, out, add, &total, META_ASYNC));
    CHECK_OK(meta_copy_d2h(found, out, BYTES, NULL));
    CHECK_OK(meta_flush());
    for (int32_t k = 1; k < CELLS - 1; ++k) {
        if (!CHECK_INT(found[k], k + add)) break;
        expected += k + add;
    }
    CHECK_INT(total, expected);
    CHECK_OK(meta_free(out));
}

static void kernels_come_and_go_with_their_shared_object(void)
{
    int before = 0, during = 0, after = 0;
    meta_kernel *found = NULL;
    CHECK_OK(meta_kernel_count(&before));
    for (int round = 0; round < 5; ++round) {
        module_run *run;
        CHECK_ERR_NAMES(meta_kernel_find("modular", META_I32, &found), META_ERR_ARGUMENT,
                        "modular");
        void *module = open_module(&run);
        if (!module) return;
        CHECK_OK(meta_kernel_count(&during));
        CHECK_INT(during, before + 1);
        if (CHECK_OK(meta_kernel_find("modular", META_I32, &found)))
            CHECK_STRING(found->name, "modular");
        if (round != 3) module_computes(run, round); /* once it goes without having run */
        CHECK_INT(dlclose(module), 0);
        CHECK_OK(meta_kernel_count(&after));
        CHECK_INT(after, before);
    }
}

static void kernels_run_again_after_a_new_start(void)
{
    module_run *run;
    void *module = open_module(&run);
    if (!module) return;
    for (int round = 0; round < 3; ++round) {
        module_computes(run, 10 * round);
        CHECK_OK(meta_finalize());
        CHECK_OK(meta_init());
    }
    module_computes(run, -1);
    CHECK_OK(meta_finalize());
    CHECK_INT(dlclose(module), 0); /* its devices have gone before */
    CHECK_OK(meta_init());
    module = open_module(&run);
    if (!module) return;
    module_computes(run, 7);
    CHECK_INT(dlclose(module), 0);
}

/* ------------------------------------------------------------------ profiles */

static void a_profile_names_the_kernel_and_its_type(void)
{
    enum { TIMES = 5 };
    const uint64_t cells = CELLS - 2,
                   bytes = cells * 4 * 6; /* out, field twice, near, beside, table */
    meta_profile_share share;
    float most, total;
    float *a[5];
    module_run *run;
    void *module = open_module(&run), *out = NULL;
    int32_t sum;
    for (int k = 0; k < 5; ++k) {
        const float zero = 0;
        void *ptr = NULL;
        if (!CHECK_OK(meta_alloc(&ptr, BYTES))) return;
        CHECK_OK(meta_fill(ptr, CELLS, &zero, META_F32, NULL));
        a[k] = ptr;
    }
    if (!module || !CHECK_OK(meta_alloc(&out, BYTES))) return;
    CHECK_OK(meta_timers_init());
    for (int k = 0; k < TIMES; ++k)
        CHECK_OK(
            sound_f32(&line, a[0], a[1], a[2], a[3], (void *)a[4], 1, &most, &total, META_ASYNC));
    CHECK_OK(run(&line, out, 1, &sum, NULL));
    CHECK_OK(meta_flush());
    CHECK_INT(dlclose(module), 0); /* its name stays in the profile */
    if (CHECK_OK(meta_core_table.profile_share(&share))) {
        int seen = 0;
        for (size_t k = 0; k < share.count; ++k) {
            if (strcmp(share.rows[k].name, "sound f32") == 0) {
                CHECK_U64(share.rows[k].calls, TIMES);
                CHECK_U64(share.rows[k].bytes, TIMES * bytes);
                ++seen;
            }
            seen += strcmp(share.rows[k].name, "modular i32") == 0;
        }
        CHECK_INT(seen, 2);
        free(share.rows);
    }
    CHECK_OK(meta_timers_finalize());
    for (int k = 0; k < 5; ++k) CHECK_OK(meta_free(a[k]));
    CHECK_OK(meta_free(out));
}

TEST_MAIN_WITH(&setting, PROMISE(a_program_may_end_without_ending_the_library),
               PROMISE(kernels_come_and_go_with_their_shared_object),
               PROMISE(kernels_run_again_after_a_new_start),
               PROMISE(a_profile_names_the_kernel_and_its_type))
