/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_unchecked.c
 *  META_CHECK=on for the program's own kernels on back ends of other makers: what needs no help of
 * theirs is checked, and what does is checked or the log says once that it is not. The back ends
 * sim and blind of tests/plugins are alike but for this. */
/* TEST: backends=any labels=core */
#define META_KERNELS_HERE
#include "user_heavy.kernel.h"

#include "user_reach.kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "caught.h"
#include "child.h"
#include "test.h"

enum { CELLS = 16, INDICES = CELLS * sizeof(int32_t) };
static const meta_box inner = {1, {CELLS}, {4}, {CELLS - 4}};
static void *a, *b, *c;

static bool begin(const char *mode)
{
    const int32_t zeros[CELLS] = {0};
    test_case("%s", mode);
    setenv("META_MODE", mode, 1);
    setenv("META_AUTO_DEVICES", "blind", 1);
    setenv("META_BACKEND_PATH", test_built("tests/plugins/.libs"), 1);
    setenv("META_TEST_SIM", "cpu host", 1);
    setenv("META_CHECK", "on", 1);
    catch_errors();
    if (!CHECK_OK(meta_init()) || !CHECK_OK(meta_alloc(&a, CELLS * 8)) ||
        !CHECK_OK(meta_alloc(&b, CELLS * 8)) || !CHECK_OK(meta_alloc(&c, INDICES)))
        return false;
    CHECK_OK(meta_fill(a, CELLS, &(double){5}, META_F64, NULL));
    CHECK_OK(meta_fill(b, CELLS, &(double){2}, META_F64, NULL));
    CHECK_OK(meta_copy_h2d(c, zeros, INDICES, NULL));
    return true;
}

/* @p said receives what was logged. */
static void end(char *said, size_t room)
{
    CHECK_OK(meta_free(a));
    CHECK_OK(meta_free(b));
    CHECK_OK(meta_free(c));
    CHECK_OK(meta_finalize());
    take_caught(said, room);
    unsetenv("META_AUTO_DEVICES");
    unsetenv("META_CHECK");
}

static int times(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)); ++at) ++count;
    return count;
}

static void run_blind(void *mode)
{
    char said[8192];
    if (!begin(mode)) return;
    CHECK_OK(writes_f64(&inner, a, 0, NULL));
    CHECK_OK(writes_f32(&inner, a, 0, NULL));
    CHECK_OK(gets_f64(&inner, a, b, c, NULL));
    CHECK_OK(gets_f64(&inner, a, b, c, NULL));
    /* It is of plug-in ABI 2.4, and may have room for smaller values only. */
    CHECK_ERR_NAMES(heavy_i32_with(&inner,
                                   &(heavy_i32_arguments){.out = a, .in = c, .sum = &(int32_t){0}},
                                   NULL),
                    META_ERR_UNSUPPORTED, "blind is of 2.4");
    CHECK_CONTAINS(meta_last_error(), "kernel heavy: values of more than 64 bytes");
    end(said, sizeof said);
    CHECK_INT(times(said, "the back end blind does not check"), 1);
    CHECK_CONTAINS(said, "AT() beyond the declared reach");
    CHECK_CONTAINS(said, "GET() or SHARED() beyond the array");
}

/* Each in a process of its own: what was logged is not logged again. */
static void what_a_back_end_does_not_check_is_logged_once(void)
{
    static char blind[] = "blind", automatic[] = "auto";
    CHECK_CHILD(run_blind, blind);
    CHECK_CHILD(run_blind, automatic);
}

/* Cells that are not written, and memory beside what is. */
static void what_needs_no_help_of_the_back_end_is_checked(void)
{
    char said[8192];
    int64_t cells = 0;
    if (!begin("blind")) return;
    CHECK_ERR_NAMES(skips_f64(&inner, a, b, 6, &cells, NULL), META_ERR_ARGUMENT, "skips");
    CHECK_ERR_NAMES(writes_f64(&inner, a, -3, NULL), META_ERR_DEVICE, "META_CHECK");
    end(said, sizeof said);
}

static void a_back_end_that_says_so_checks_accesses_too(void)
{
    char said[8192];
    if (!begin("sim")) return;
    CHECK_OK(gets_f64(&inner, a, b, c, NULL));
    CHECK_ERR_NAMES(writes_f64(&inner, a, -3, NULL), META_ERR_BOUNDS, "writes");
    end(said, sizeof said);
    CHECK_INT(times(said, "does not check"), 0);
}

/* Without META_CHECK there is nothing to say. */
static void nothing_is_logged_where_nothing_is_to_be_checked(void)
{
    char said[8192];
    setenv("META_CHECK", "off", 1);
    setenv("META_MODE", "blind", 1);
    setenv("META_BACKEND_PATH", test_built("tests/plugins/.libs"), 1);
    setenv("META_TEST_SIM", "cpu host", 1);
    catch_errors();
    if (CHECK_OK(meta_init()) && CHECK_OK(meta_alloc(&a, CELLS * 8))) {
        CHECK_OK(writes_f64(&inner, a, 0, NULL));
        CHECK_OK(meta_free(a));
        CHECK_OK(meta_finalize());
    }
    take_caught(said, sizeof said);
    CHECK_STRING(said, "");
}

TEST_MAIN(PROMISE(what_a_back_end_does_not_check_is_logged_once),
          PROMISE(what_needs_no_help_of_the_back_end_is_checked),
          PROMISE(a_back_end_that_says_so_checks_accesses_too),
          PROMISE(nothing_is_logged_where_nothing_is_to_be_checked))
