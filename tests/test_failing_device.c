/* SPDX-License-Identifier: BSD-3-Clause */
/* META_MODE=auto goes on without a device that fails while the program runs: what only it held is
 * lost, and said to be; all else is as if it had never been there. */
/* TEST: backends=any labels=core */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "caught.h"
#include "child.h"
#include "simulated.h"

enum { N = 1000 };

static double *a, *b, ones[N], twos[N], found[N];
static meta_box all = {.ndim = 1, .start = {0}, .end = {N}, .size = {N}};

static void set_machine(const char *machine, const char *policy)
{
    simulated_set(machine, policy);
    unsetenv("META_TEST_SIM_EAGER"); /* so that a failure may be noticed late */
    test_case("%s", machine);
}

static bool start(void)
{
    for (int k = 0; k < N; ++k) ones[k] = 1, twos[k] = 2;
    return CHECK_OK(meta_init()) && CHECK_OK(meta_alloc((void **)&a, sizeof ones)) &&
           CHECK_OK(meta_alloc((void **)&b, sizeof ones)) && CHECK_OK(meta_label(a, "pressure")) &&
           CHECK_OK(meta_label(b, "density"));
}

/* Two devices, of which the second takes all work until launch or copy number @p fails fails. */
static bool begin(int fails, const char *kind)
{
    char text[128];
    snprintf(text, sizeof text, "good; bad %s fails=%d", kind, fails);
    set_machine(text, "device:1");
    return start();
}

static void end(void)
{
    CHECK_OK(meta_flush());
    CHECK_OK(meta_free(a));
    CHECK_OK(meta_free(b));
    CHECK_OK(meta_finalize());
}

/* What is written again is right, on the other device. */
static void goes_on(void)
{
    const double three = 3;
    CHECK_OK(meta_copy_h2d(a, ones, sizeof ones, NULL));
    CHECK_OK(meta_copy_h2d(b, twos, sizeof twos, NULL));
    CHECK_OK(meta_axpy(a, &three, b, &all, META_F64, META_ASYNC));
    CHECK_OK(meta_copy_d2h(found, a, sizeof found, NULL));
    for (int k = 0; k < N; ++k)
        if (found[k] != 7) FAIL("element %d is %g", k, found[k]);
}

static void late_failure(void *unused)
{
    char said[4096];
    const double three = 3;
    (void)unused;
    if (!begin(3, "")) return;
    catch_errors();
    CHECK_OK(meta_copy_h2d(a, ones, sizeof ones, META_ASYNC));     /* 1 */
    CHECK_OK(meta_copy_h2d(b, twos, sizeof twos, META_ASYNC));     /* 2 */
    CHECK_OK(meta_axpy(a, &three, b, &all, META_F64, META_ASYNC)); /* 3 */
    CHECK_ERR(meta_flush(), META_ERR_DEVICE);
    CHECK_ERR_NAMES(meta_copy_d2h(found, a, sizeof found, NULL), META_ERR_DEVICE, "pressure");
    CHECK_CONTAINS(meta_last_error(), "sim:1");
    CHECK_ERR_NAMES(meta_axpy(b, &three, a, &all, META_F64, NULL), META_ERR_DEVICE, "sim:1");
    take_caught(said, sizeof said);
    CHECK_CONTAINS(said, "goes on without sim:1");
    CHECK_CONTAINS(said, "pressure");
    CHECK_CONTAINS(said, "density");
    goes_on();
    end();
}

static void failure_at_once(void *unused)
{
    char said[4096];
    double sum = 0;
    (void)unused;
    if (!begin(3, "sync")) return;
    catch_errors();
    CHECK_OK(meta_copy_h2d(a, ones, sizeof ones, NULL));   /* 1 */
    CHECK_OK(meta_copy_d2h(found, a, sizeof found, NULL)); /* 2 */
    CHECK_ERR_NAMES(meta_reduce(&sum, a, &all, META_SUM, META_F64, NULL), META_ERR_DEVICE,
                    "pressure"); /* 3, and the other device cannot have it */
    take_caught(said, sizeof said);
    CHECK_CONTAINS(said, "goes on without sim:1");
    CHECK_CONTAINS(said, "pressure");
    CHECK(!strstr(said, "density")); /* there was nothing in it */
    goes_on();
    end();
}

/* The error of several reductions is that of the one that failed, though others are waited for. */
static void failure_among_reductions(void *unused)
{
    const meta_box part[2] = {{1, {N}, {0}, {N / 2}}, {1, {N}, {N / 2}, {N}}};
    double sums[2];
    void *field;
    (void)unused;
    if (!begin(3, "sync")) return;
    catch_errors();
    field = a;
    CHECK_OK(meta_copy_h2d(a, ones, sizeof ones, NULL)); /* 1 */
    CHECK_ERR_NAMES(
        meta_reduce_boxes(sums, 2, 1, &field, 2, part, META_SUM, META_F64, NULL), /* 2, 3 */
        META_ERR_DEVICE, "pressure");
    take_caught((char[4096]){0}, 4096);
    goes_on();
    end();
}

static void several_reductions_of_which_one_fails_are_an_error(void)
{
    CHECK_CHILD(failure_among_reductions, NULL);
}

static void failure_of_a_copy_in(void *unused)
{
    (void)unused;
    if (!begin(1, "sync")) return;
    catch_errors();
    CHECK_OK(meta_copy_h2d(a, ones, sizeof ones, NULL)); /* goes to the other device */
    CHECK_OK(meta_copy_d2h(found, a, sizeof found, NULL));
    CHECK(memcmp(found, ones, sizeof found) == 0);
    take_caught((char[4096]){0}, 4096);
    goes_on();
    end();
}

/* Devices of which one fails; each launch and copy goes to the next one in turn. */
static bool begin_in_turn(const char *devices)
{
    set_machine(devices, "round_robin");
    return start();
}

/* Work that writes b fails on the second device, which is not known yet. The next turn is the first
 * one's. */
static bool begin_with_late_failure(void)
{
    static const double three = 3;
    double sum = 0;
    if (!begin_in_turn("good peer=50G; bad peer=50G fails=3")) return false;
    catch_errors();
    CHECK_OK(meta_copy_h2d(a, ones, sizeof ones, NULL));            /* good */
    CHECK_OK(meta_copy_h2d(b, twos, sizeof twos, NULL));            /* bad, 1 */
    CHECK_OK(meta_reduce(&sum, a, &all, META_SUM, META_F64, NULL)); /* good */
    CHECK_OK(meta_axpy(b, &three, a, &all, META_F64, META_ASYNC));  /* bad, 2 and 3 */
    return true;
}

/* Before the failure is known, another device has copied what was to be written. */
static void failure_of_what_was_copied(void *unused)
{
    double sum = 0;
    (void)unused;
    if (!begin_with_late_failure()) return;
    CHECK_OK(meta_reduce(&sum, b, &all, META_SUM, META_F64, META_ASYNC)); /* good */
    CHECK_ERR(meta_flush(), META_ERR_DEVICE);
    CHECK_ERR_NAMES(meta_copy_d2h(found, b, sizeof found, NULL), META_ERR_DEVICE, "density");
    CHECK_OK(meta_copy_d2h(found, a, sizeof found, NULL));
    CHECK(memcmp(found, ones, sizeof found) == 0);
    take_caught((char[4096]){0}, 4096);
    goes_on();
    end();
}

/* Before the failure is known, another device has computed with what was to be written. */
static void failure_of_what_is_used(void *unused)
{
    const double three = 3;
    double sum = 0;
    (void)unused;
    if (!begin_with_late_failure()) return;
    CHECK_OK(meta_axpy(a, &three, b, &all, META_F64, META_ASYNC));        /* good */
    CHECK_OK(meta_reduce(&sum, b, &all, META_SUM, META_F64, META_ASYNC)); /* bad */
    CHECK_ERR_NAMES(meta_copy_d2h(found, a, sizeof found, NULL), META_ERR_DEVICE, "behind work");
    CHECK_ERR(meta_flush(), META_ERR_DEVICE);
    CHECK_ERR_NAMES(meta_copy_d2h(found, a, sizeof found, NULL), META_ERR_DEVICE,
                    "write them again");
    take_caught((char[4096]){0}, 4096);
    goes_on();
    end();
}

/* One of two devices from which data could come fails, and the other one's is taken. */
static void failure_of_a_source(void *unused)
{
    double sum = 0;
    (void)unused;
    if (!begin_in_turn("bad sync fails=3; other; good")) return;
    catch_errors();
    CHECK_OK(meta_copy_h2d(b, ones, sizeof ones, NULL));            /* bad, 1 */
    CHECK_OK(meta_reduce(&sum, b, &all, META_SUM, META_F64, NULL)); /* other, from bad, 2 */
    CHECK_OK(meta_reduce(&sum, b, &all, META_SUM, META_F64, NULL)); /* good, from bad, 3 */
    if (sum != N) FAIL("the sum is %g", sum);
    take_caught((char[4096]){0}, 4096);
    goes_on();
    end();
}

/* The program has the native object of a buffer on the device that fails. */
static void failure_of_the_device_of_a_native_object(void *unused)
{
    const double three = 3;
    void *object = NULL;
    size_t offset = 0;
    double sum = 0;
    (void)unused;
    if (!begin(3, "sync")) return;
    catch_errors();
    CHECK_OK(meta_copy_h2d(a, ones, sizeof ones, NULL)); /* 1 */
    CHECK_OK(meta_copy_h2d(b, twos, sizeof twos, NULL)); /* 2 */
    CHECK_OK(meta_native(a, &object, &offset));
    CHECK_ERR(meta_axpy(a, &three, b, &all, META_F64, NULL), META_ERR_DEVICE); /* 3 */
    CHECK_ERR_NAMES(meta_reduce(&sum, a, &all, META_SUM, META_F64, NULL), META_ERR_DEVICE,
                    "pressure");
    CHECK_CONTAINS(meta_last_error(), "sim:1, which has failed: call meta_native_end()");
    CHECK_ERR(meta_copy_d2h(found, a, sizeof found, NULL), META_ERR_DEVICE);
    CHECK_OK(meta_native_end(a));
    take_caught((char[4096]){0}, 4096);
    goes_on();
    end();
}

/* The device of the policy has no memory for a buffer. */
static void native_object_elsewhere(void *unused)
{
    meta_pointer_desc desc = META_POINTER_DESC_INIT;
    void *object = NULL;
    size_t offset = 0;
    (void)unused;
    if (!begin(0, "memory=4K")) return;
    CHECK_OK(meta_native(a, &object, &offset));
    CHECK_OK(meta_pointer_info(a, &desc));
    CHECK_INT(desc.index, 0);
    CHECK_OK(meta_native_end(a));
    end();
}

/* There is only the device that fails. */
static void failure_of_the_last(void *unused)
{
    void *object = NULL;
    size_t offset = 0;
    double sum = 0;
    (void)unused;
    set_machine("good; bad sync fails=1", "cost");
    setenv("META_AUTO_DEVICES", "sim:1", 1);
    if (!start()) return;
    catch_errors();
    CHECK_ERR(meta_copy_h2d(a, ones, sizeof ones, NULL), META_ERR_DEVICE);
    for (int again = 0; again < 2; ++again) {
        CHECK_ERR_NAMES(meta_copy_h2d(a, ones, sizeof ones, NULL), META_ERR_DEVICE, "all devices");
        CHECK_ERR_NAMES(meta_copy_d2h(found, a, sizeof found, NULL), META_ERR_DEVICE,
                        "all devices");
        CHECK_ERR_NAMES(meta_reduce(&sum, a, &all, META_SUM, META_F64, NULL), META_ERR_DEVICE,
                        "all devices");
        CHECK_ERR_NAMES(meta_native(a, &object, &offset), META_ERR_DEVICE, "all devices");
    }
    take_caught((char[4096]){0}, 4096);
    end();
}

static void work_that_fails_later_is_reported_and_its_data_lost(void)
{
    CHECK_CHILD(late_failure, NULL);
}
static void a_launch_that_fails_goes_elsewhere_if_its_data_can(void)
{
    CHECK_CHILD(failure_at_once, NULL);
}
static void a_copy_that_fails_goes_elsewhere(void)
{
    CHECK_CHILD(failure_of_a_copy_in, NULL);
}
static void copies_of_what_failing_work_wrote_are_lost_as_well(void)
{
    CHECK_CHILD(failure_of_what_was_copied, NULL);
}
static void results_of_what_failing_work_wrote_are_lost_as_well(void)
{
    CHECK_CHILD(failure_of_what_is_used, NULL);
}
static void data_comes_from_another_device_where_one_fails(void)
{
    CHECK_CHILD(failure_of_a_source, NULL);
}
static void a_buffer_kept_on_a_device_that_fails_is_named(void)
{
    CHECK_CHILD(failure_of_the_device_of_a_native_object, NULL);
}
static void a_native_object_is_on_a_device_that_has_memory(void)
{
    CHECK_CHILD(native_object_elsewhere, NULL);
}
static void without_any_device_calls_are_errors(void)
{
    CHECK_CHILD(failure_of_the_last, NULL);
}

TEST_MAIN(PROMISE(work_that_fails_later_is_reported_and_its_data_lost),
          PROMISE(a_launch_that_fails_goes_elsewhere_if_its_data_can),
          PROMISE(a_copy_that_fails_goes_elsewhere),
          PROMISE(several_reductions_of_which_one_fails_are_an_error),
          PROMISE(copies_of_what_failing_work_wrote_are_lost_as_well),
          PROMISE(results_of_what_failing_work_wrote_are_lost_as_well),
          PROMISE(data_comes_from_another_device_where_one_fails),
          PROMISE(a_buffer_kept_on_a_device_that_fails_is_named),
          PROMISE(a_native_object_is_on_a_device_that_has_memory),
          PROMISE(without_any_device_calls_are_errors))
