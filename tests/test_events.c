/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_events.c
 *  Order and completion: blocking and non-blocking calls, execution order, events and their
 *  callbacks. The back end "late" (tests/plugins/late.c) delays its work as long as possible. */
/* TEST: backends=all,late auto=yes labels=core smoke=yes */
/* TEST: backends=all,late labels=core with=CHECK=1 */
#include "internal.h"
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/late.h"

enum { COUNT = 20000 };
static const size_t bytes = COUNT * sizeof(double);
static const meta_box all = {1, {COUNT}, {0}, {COUNT}};
static double *p, *q;
static double host[COUNT];

static bool is_late(void)
{
    const char *mode = getenv("META_MODE");
    return mode && strcmp(mode, "late") == 0;
}

static void make_buffers(void)
{
    CHECK_OK(meta_alloc((void **)&p, bytes));
    CHECK_OK(meta_alloc((void **)&q, bytes));
}

static void start(int *argc, char ***argv)
{
    test_find_own_plugins();
    test_device.start(argc, argv);
    make_buffers();
}

static int end(int status)
{
    CHECK_OK(meta_free(p));
    CHECK_OK(meta_free(q));
    return test_device.end(status);
}

static const test_setting setting = {.start = start, .end = end};

/* Queue the filling of p with @p value. */
static void queue_fill(double value, meta_event *done)
{
    CHECK_OK(meta_fill(p, COUNT, &value, META_F64, done));
}

static void check_host(double value)
{
    for (int k = 0; k < COUNT; ++k)
        if (!CHECK_NEAR(host[k], value, 0)) return;
}

/* ------------------------------------------------------------------ blocking and not */

static void without_an_event_a_call_is_complete_on_return(void)
{
    double sum = 0;
    queue_fill(3, NULL);
    CHECK_OK(meta_reduce(&sum, p, &all, META_SUM, META_F64, NULL));
    CHECK_NEAR(sum, 3.0 * COUNT, 0);
    CHECK_OK(meta_copy_d2h(host, p, bytes, NULL));
    check_host(3);
}

static void untracked_work_is_complete_after_flush(void)
{
    double sum = 0;
    queue_fill(4, META_ASYNC);
    CHECK_OK(meta_reduce(&sum, p, &all, META_SUM, META_F64, META_ASYNC));
    CHECK_OK(meta_copy_d2h(host, p, bytes, META_ASYNC));
    CHECK_OK(meta_flush());
    CHECK_NEAR(sum, 4.0 * COUNT, 0);
    check_host(4);
}

static void a_blocking_call_completes_the_work_before_it(void)
{
    queue_fill(5, META_ASYNC);
    CHECK_OK(meta_copy_d2d(q, p, bytes, META_ASYNC));
    queue_fill(6, META_ASYNC);
    CHECK_OK(meta_copy_d2h(host, q, bytes, NULL));
    check_host(5);
}

static void polling_eventually_completes_an_operation(void)
{
    meta_event event = META_EVENT_NULL;
    int complete = 0;
    queue_fill(7, META_ASYNC);
    CHECK_OK(meta_copy_d2h(host, p, bytes, &event));
    while (!complete)
        if (!CHECK_OK(meta_event_test(event, &complete))) return;
    CHECK_INT(complete, 1);
    check_host(7);
    complete = 0;
    CHECK_OK(meta_event_test(event, &complete));
    CHECK_INT(complete, 1);
    CHECK_OK(meta_event_free(&event));
    CHECK(event.slot == 0 && event.generation == 0);
}

static void waiting_does_not_free_an_event(void)
{
    meta_event event;
    CHECK_OK(meta_copy_h2d(p, host, bytes, &event));
    for (int k = 0; k < 3; ++k) CHECK_OK(meta_event_wait(event));
    CHECK_OK(meta_event_free(&event));
}

static void the_null_event_is_complete(void)
{
    meta_event null = META_EVENT_NULL, nothing = {3, 4};
    const meta_event several[] = {META_EVENT_NULL, META_EVENT_NULL};
    const meta_box empty = {1, {COUNT}, {5}, {5}};
    const double one = 1;
    int complete = 0;
    CHECK_OK(meta_event_test(null, &complete));
    CHECK_INT(complete, 1);
    CHECK_OK(meta_event_wait(null));
    CHECK_OK(meta_event_waitall(2, several));
    CHECK_OK(meta_event_waitall(0, NULL));
    CHECK_OK(meta_event_free(&null));
    CHECK_OK(meta_fill_box(p, &empty, &one, META_F64, &nothing));
    CHECK_OK(meta_event_wait(nothing));
    CHECK_OK(meta_event_free(&nothing));
}

/* ------------------------------------------------------------------ order */

static void work_on_a_device_runs_in_the_order_of_the_calls(void)
{
    const double half = 0.5, one = 1;
    double expected = 1;
    meta_event last;
    queue_fill(1, META_ASYNC);
    for (int k = 0; k < 40; ++k) { /* x := x/2 + 1, in five operations */
        CHECK_OK(meta_copy_d2d(q, p, bytes, META_ASYNC));
        queue_fill(0, META_ASYNC);
        CHECK_OK(meta_axpy(p, &half, q, &all, META_F64, META_ASYNC));
        CHECK_OK(meta_fill(q, COUNT, &one, META_F64, META_ASYNC));
        CHECK_OK(meta_axpy(p, &one, q, &all, META_F64, META_ASYNC));
        expected = expected / 2 + 1;
    }
    CHECK_OK(meta_copy_d2h(host, p, bytes, &last));
    CHECK_OK(meta_event_wait(last));
    CHECK_OK(meta_event_free(&last));
    check_host(expected);
}

static void freeing_a_buffer_completes_its_work_first(void)
{
    double *r, sum = 0;
    meta_event event;
    CHECK_OK(meta_alloc((void **)&r, bytes));
    queue_fill(2, META_ASYNC);
    CHECK_OK(meta_copy_d2d(r, p, bytes, META_ASYNC));
    CHECK_OK(meta_reduce(&sum, r, &all, META_SUM, META_F64, &event));
    CHECK_OK(meta_free(r));
    CHECK_NEAR(sum, 2.0 * COUNT, 0);
    CHECK_OK(meta_event_wait(event));
    CHECK_OK(meta_event_free(&event));
}

/* ------------------------------------------------------------------ callbacks */

typedef struct calls {
    int count, order[8];
    pthread_t thread;
    meta_err status;
    meta_event event;
} calls;

static void count_call(void *user, meta_err status)
{
    calls *c = user;
    ++c->count;
    c->thread = pthread_self();
    c->status = status;
}

static void a_callback_is_called_once_on_the_applications_thread(void)
{
    calls c = {.status = META_ERR_COUNT};
    meta_event event;
    queue_fill(8, &event);
    CHECK_OK(meta_event_then(event, count_call, &c));
    CHECK_INT(c.count, 0);
    CHECK_OK(meta_event_wait(event));
    CHECK_INT(c.count, 1);
    CHECK_INT(c.status, META_OK);
    CHECK(pthread_equal(c.thread, pthread_self()));
    CHECK_OK(meta_event_wait(event));
    CHECK_OK(meta_flush());
    CHECK_OK(meta_event_free(&event));
    CHECK_INT(c.count, 1);
}

static void a_callback_on_a_complete_event_waits_for_the_next_call(void)
{
    calls c = {0}, null = {0};
    meta_event event;
    int complete;
    queue_fill(8, &event);
    CHECK_OK(meta_event_wait(event));
    CHECK_OK(meta_event_then(event, count_call, &c));
    CHECK_OK(meta_event_then((meta_event)META_EVENT_NULL, count_call, &null));
    CHECK(c.count == 0 && null.count == 0);
    CHECK_OK(meta_event_test((meta_event)META_EVENT_NULL, &complete));
    CHECK(c.count == 1 && null.count == 1);
    CHECK_OK(meta_flush());
    CHECK(c.count == 1 && null.count == 1);
    CHECK_OK(meta_event_free(&event));
}

static void note_first(void *user, meta_err status)
{
    calls *c = user;
    (void)status;
    c->order[c->count++] = 1;
}

static void note_second(void *user, meta_err status)
{
    calls *c = user;
    (void)status;
    c->order[c->count++] = 2;
}

static void count_byte(void *user, meta_err status)
{
    unsigned char *times = user;
    (void)status;
    ++*times;
}

/* Quadratic cost in their number would exceed the time limit of the test. */
static void each_of_a_hundred_thousand_callbacks_is_called_once(void)
{
    enum { MANY = 100000 };
    static unsigned char times[MANY];
    calls pending = {0};
    meta_event event;
    queue_fill(1, &event);
    CHECK_OK(meta_event_then(event, count_call, &pending));
    for (int k = 0; k < MANY; ++k)
        if (!CHECK_OK(meta_event_then((meta_event)META_EVENT_NULL, count_byte, &times[k]))) return;
    CHECK_OK(meta_flush());
    for (int k = 0; k < MANY; ++k)
        if (!CHECK_INT(times[k], 1)) break;
    CHECK_INT(pending.count, 1);
    CHECK_OK(meta_event_free(&event));
}

static void callbacks_of_an_event_are_called_in_their_order(void)
{
    calls c = {0};
    meta_event event;
    queue_fill(9, &event);
    CHECK_OK(meta_event_then(event, note_first, &c));
    CHECK_OK(meta_event_then(event, note_second, &c));
    CHECK_OK(meta_event_then(event, note_first, &c));
    CHECK_OK(meta_flush());
    CHECK_INT(c.count, 3);
    CHECK(c.order[0] == 1 && c.order[1] == 2 && c.order[2] == 1);
    CHECK_OK(meta_event_free(&event));
}

/* Queues more work, waits for it, frees the event it belongs to and follows the new one. */
static void call_the_library(void *user, meta_err status)
{
    calls *c = user;
    meta_event another;
    double sum = 0;
    CHECK_INT(status, META_OK);
    queue_fill(11, &another);
    CHECK_OK(meta_event_wait(another));
    CHECK_OK(meta_reduce(&sum, p, &all, META_MAX, META_F64, NULL));
    CHECK_NEAR(sum, 11, 0);
    CHECK_OK(meta_event_free(&another));
    CHECK_OK(meta_event_free(&c->event));
    if (++c->count < 5) {
        queue_fill(12, &c->event);
        CHECK_OK(meta_event_then(c->event, call_the_library, c));
    }
}

static void a_callback_may_call_the_library(void)
{
    calls c = {0};
    queue_fill(10, &c.event);
    CHECK_OK(meta_event_then(c.event, call_the_library, &c));
    for (int k = 0; k < 20 && c.count < 5; ++k) CHECK_OK(meta_flush());
    CHECK_INT(c.count, 5);
    CHECK_OK(meta_flush());
    CHECK_INT(c.count, 5);
}

static void a_freed_pending_event_still_completes_and_calls(void)
{
    calls c = {0};
    meta_event event, stale;
    queue_fill(13, META_ASYNC);
    CHECK_OK(meta_copy_d2h(host, p, bytes, &event));
    CHECK_OK(meta_event_then(event, count_call, &c));
    stale = event;
    CHECK_OK(meta_event_free(&event));
    CHECK_ERR_NAMES(meta_event_wait(stale), META_ERR_HANDLE, "event");
    CHECK_OK(meta_flush());
    CHECK_INT(c.count, 1);
    check_host(13);
    queue_fill(14, &event); /* without a callback */
    CHECK_OK(meta_event_free(&event));
    CHECK_OK(meta_copy_d2h(host, p, bytes, NULL));
    check_host(14);
}

/* ------------------------------------------------------------------ very many */

static void a_handle_is_stale_after_its_slot_is_reused(void)
{
    const int rounds = is_late() ? 1000 : 3000;
    meta_event event, first;
    int complete = -5, same_slot = 0;
    queue_fill(0, &first);
    event = first;
    CHECK_OK(meta_event_free(&event));
    for (int k = 0; k < rounds; ++k) {
        const double one = 1;
        CHECK_OK(meta_fill(p, 1, &one, META_F64, &event));
        same_slot += event.slot == first.slot;
        if (event.slot == first.slot && !CHECK(event.generation != first.generation)) break;
        if (!CHECK_ERR(meta_event_test(first, &complete), META_ERR_HANDLE)) break;
        CHECK_OK(meta_event_wait(event));
        CHECK_OK(meta_event_free(&event));
    }
    CHECK_INT(complete, -5);
    CHECK(same_slot > 0);
}

static void thousands_of_events_can_be_live(void)
{
    enum { EVENTS = 6000 };
    static meta_event events[EVENTS];
    static calls counts[EVENTS];
    double *const target = p;
    memset(counts, 0, sizeof counts);
    for (int k = 0; k < EVENTS; ++k) {
        const double value = k;
        CHECK_OK(meta_fill(target + k, 1, &value, META_F64, &events[k]));
        if (k % 3 == 0) CHECK_OK(meta_event_then(events[k], count_call, &counts[k]));
    }
    for (int step = 0; step < EVENTS / 2; ++step) {
        const int k = (int)test_random_in(0, EVENTS - 1);
        int complete;
        if (events[k].generation == 0) continue;
        if (step % 2) CHECK_OK(meta_event_test(events[k], &complete));
        if (step % 3) CHECK_OK(meta_event_free(&events[k]));
    }
    CHECK_OK(meta_event_waitall(EVENTS, events));
    CHECK_OK(meta_flush());
    for (int k = 0; k < EVENTS; ++k) {
        test_case("event %d", k);
        CHECK_INT(counts[k].count, k % 3 == 0);
        CHECK_OK(meta_event_free(&events[k]));
    }
    CHECK_OK(meta_copy_d2h(host, p, bytes, NULL));
    for (int k = 0; k < EVENTS; ++k)
        if (!CHECK_NEAR(host[k], k, 0)) break;
}

/* ------------------------------------------------------------------ errors */

static void waitall_waits_for_all_and_returns_the_first_error(void)
{
    meta_event events[4], stale;
    int complete = 0;
    for (int k = 0; k < 4; ++k) queue_fill(20 + k, &events[k]);
    stale = events[1];
    CHECK_OK(meta_event_free(&events[1]));
    events[1] = stale;
    CHECK_ERR_NAMES(meta_event_waitall(4, events), META_ERR_HANDLE, "events");
    for (int k = 0; k < 4; ++k) {
        if (k == 1) continue;
        CHECK_OK(meta_event_test(events[k], &complete));
        CHECK_INT(complete, 1);
        CHECK_OK(meta_event_free(&events[k]));
    }
}

static void queue_fault(meta_event *done)
{
    const unsigned char fault = LATE_FAULT;
    CHECK_OK(meta_fill(q, 8, &fault, META_U8, done));
}

static void an_operations_error_is_reported_by_its_event(void)
{
    calls c = {0};
    meta_event events[3], fault;
    int complete = 0;
    if (!is_late()) return;
    queue_fill(1, &events[0]);
    queue_fault(&events[1]);
    queue_fill(2, &events[2]);
    fault = events[1];
    CHECK_OK(meta_event_then(fault, count_call, &c));
    CHECK_ERR_NAMES(meta_event_waitall(3, events), META_ERR_DEVICE, "told to fail");
    CHECK_INT(c.count, 1);
    CHECK_INT(c.status, META_ERR_DEVICE);
    CHECK_OK(meta_flush());
    for (int k = 0; k < 2; ++k) {
        CHECK_ERR_NAMES(meta_event_wait(fault), META_ERR_DEVICE, "told to fail");
        CHECK_ERR(meta_event_test(fault, &complete), META_ERR_DEVICE);
    }
    CHECK_OK(meta_event_wait(events[0]));
    CHECK_OK(meta_event_wait(events[2]));
    for (int k = 0; k < 3; ++k) CHECK_OK(meta_event_free(&events[k]));
}

static void the_first_of_several_errors_is_returned(void)
{
    meta_event events[3], stale;
    if (!is_late()) return;
    queue_fill(1, &events[0]);
    queue_fault(&events[1]);
    queue_fill(2, &stale);
    events[2] = stale;
    CHECK_OK(meta_event_free(&stale));
    CHECK_ERR_NAMES(meta_event_waitall(3, events), META_ERR_DEVICE, "told to fail");
    CHECK_OK(meta_event_free(&events[0]));
    CHECK_OK(meta_event_free(&events[1]));
}

static void errors_of_untracked_work_are_reported_by_flush(void)
{
    const unsigned char fault = LATE_FAULT;
    meta_event event;
    if (!is_late()) return;
    CHECK_ERR_NAMES(meta_fill(q, 8, &fault, META_U8, NULL), META_ERR_DEVICE, "told to fail");
    CHECK_OK(meta_flush());
    queue_fault(META_ASYNC);
    CHECK_ERR_NAMES(meta_flush(), META_ERR_DEVICE, "told to fail");
    CHECK_OK(meta_flush());
    /* Checked work is complete before its event could be freed. */
    if (getenv("META_CHECK") && strcmp(getenv("META_CHECK"), "1") == 0) return;
    queue_fault(&event);
    CHECK_OK(meta_event_free(&event)); /* meta_flush() alone reports its error */
    CHECK_ERR(meta_flush(), META_ERR_DEVICE);
    CHECK_OK(meta_flush());
}

/* ------------------------------------------------------------------ the end of a life */

static void events_do_not_outlive_the_library(void)
{
    calls c = {0};
    meta_event event;
    int complete = -5;
    queue_fill(1, &event);
    CHECK_OK(meta_event_then(event, count_call, &c));
    CHECK_OK(meta_free(p));
    CHECK_OK(meta_free(q));
    CHECK_OK(meta_finalize());
    CHECK_INT(c.count, 1);
    CHECK_OK(meta_init());
    make_buffers();
    CHECK_ERR(meta_event_test(event, &complete), META_ERR_HANDLE);
    CHECK_INT(complete, -5);
}

static meta_err init_error, finalize_error;

static void end_the_library(void *user, meta_err status)
{
    count_call(user, status);
    init_error = meta_init();
    finalize_error = meta_finalize();
}

static void a_callback_of_meta_finalize_cannot_end_or_start_the_library(void)
{
    calls c = {0};
    meta_event event;
    queue_fill(1, &event);
    CHECK_OK(meta_event_then(event, end_the_library, &c));
    CHECK_OK(meta_free(p));
    CHECK_OK(meta_free(q));
    CHECK_OK(meta_finalize());
    CHECK_INT(c.count, 1);
    CHECK_INT(init_error, META_ERR_STATE);
    CHECK_INT(finalize_error, META_ERR_STATE);
    CHECK_ERR(meta_finalize(), META_ERR_INIT);
    CHECK_OK(meta_init());
    make_buffers();
}

/* As libmeta_comm makes events, which it then completes. */
static void waiting_for_a_message_that_nobody_completes_is_an_error(void)
{
    meta_event event;
    int complete = -5;
    CHECK_OK(meta_core_table.event_new(&event));
    CHECK_OK(meta_event_test(event, &complete));
    CHECK_INT(complete, 0);
    CHECK_ERR_NAMES(meta_event_wait(event), META_ERR_STATE, "libmeta_comm");
    CHECK_ERR(meta_event_waitall(1, &event), META_ERR_STATE);
    meta_core_table.event_complete(event, META_OK, NULL);
    CHECK_OK(meta_event_wait(event));
    CHECK_OK(meta_event_free(&event));
}

TEST_MAIN_WITH(&setting, PROMISE(without_an_event_a_call_is_complete_on_return),
               PROMISE(untracked_work_is_complete_after_flush),
               PROMISE(a_blocking_call_completes_the_work_before_it),
               PROMISE(polling_eventually_completes_an_operation),
               PROMISE(waiting_does_not_free_an_event), PROMISE(the_null_event_is_complete),
               PROMISE(work_on_a_device_runs_in_the_order_of_the_calls),
               PROMISE(freeing_a_buffer_completes_its_work_first),
               PROMISE(a_callback_is_called_once_on_the_applications_thread),
               PROMISE(a_callback_on_a_complete_event_waits_for_the_next_call),
               PROMISE(each_of_a_hundred_thousand_callbacks_is_called_once),
               PROMISE(callbacks_of_an_event_are_called_in_their_order),
               PROMISE(a_callback_may_call_the_library),
               PROMISE(a_freed_pending_event_still_completes_and_calls),
               PROMISE(a_handle_is_stale_after_its_slot_is_reused),
               PROMISE(thousands_of_events_can_be_live),
               PROMISE(waitall_waits_for_all_and_returns_the_first_error),
               PROMISE(an_operations_error_is_reported_by_its_event),
               PROMISE(the_first_of_several_errors_is_returned),
               PROMISE(errors_of_untracked_work_are_reported_by_flush), PROMISE(events_do_not_outlive_the_library),
               PROMISE(a_callback_of_meta_finalize_cannot_end_or_start_the_library),
               PROMISE(waiting_for_a_message_that_nobody_completes_is_an_error))
