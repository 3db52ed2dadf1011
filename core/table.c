/* SPDX-License-Identifier: BSD-3-Clause */
/** @file table.c
 *  What the core offers libmeta_comm, as one table. */
#include "base/secure.h"
#include "check/check.h"
#include "internal.h"
#include "memory/shape.h"
#include "ops/ops.h"
#include "record/record.h"

static void hold(const void *ptr)
{
    meta_registry_hold(ptr, +1);
}

static void release(const void *ptr)
{
    meta_registry_hold(ptr, -1);
}

static meta_err launch(meta_device *device, meta_queue_kind queue, meta_builtin *moves,
                       size_t count, meta_pending *pending)
{
    return meta_launch_on(META_FROM_COMM, device, queue, &moves->op, sizeof *moves, count, pending);
}

static meta_err copy(meta_device *device, meta_queue_kind queue, meta_copy_kind kind, void *host,
                     const meta_span *span, size_t bytes, meta_pending *pending)
{
    return meta_copy_on(META_FROM_COMM, device, queue, kind, host, span, bytes, pending);
}

static meta_err check_shape(const meta_span *span, const meta_box *box, meta_type type,
                            const char *name)
{
    return meta_shape_check(span, box, type, name);
}

const meta_core meta_core_table = {
    .version = META_CORE_VERSION,
    .size = sizeof(meta_core),
    .enter = meta_enter,
    .leave = meta_leave,
    .ready = meta_ready,
    .in_call = meta_in_call,
    .hold_call = meta_call_hold,
    .fail = meta_fail,
    .fail_as = meta_fail_as,
    .failures = meta_failures,
    .log = meta_log,
    .variable = meta_variable,
    .is_secure = meta_is_secure,
    .sized_get = meta_sized_get,
    .sized_need = meta_sized_need,
    .checked = meta_checked,
    .started = meta_started,
    .cores = meta_cores_mine,
    .set_node_cores = meta_deal_cores,
    .set_threads = meta_threads_set,
    .set_hooks = meta_hooks_set,
    .check_type = meta_type_check_named,
    .check_op = meta_op_check,
    .check_box = meta_array_check,
    .resolve = meta_resolve,
    .resolve_face = meta_resolve_face,
    .resolve_any = meta_resolve_any,
    .check_shape = check_shape,
    .same_device = meta_same_device,
    .no_overlap = meta_no_overlap_face,
    .hold = hold,
    .release = release,
    .current_device = meta_device_current,
    .device_info = meta_device_desc_of,
    .is_host = meta_device_is_host,
    .scratch = meta_scratch,
    .scratch_free = meta_scratch_free,
    .scratch_leave = meta_scratch_leave,
    .staging = meta_staging_get,
    .staging_free = meta_staging_put,
    .move_begin = meta_move_begin,
    .move_bind = meta_move_bind,
    .launch = launch,
    .copy = copy,
    .queue_after = meta_queue_after,
    .pending_test = meta_pending_test,
    .pending_wait = meta_pending_wait,
    .pending_release = meta_pending_release,
    .reproducible = meta_is_reproducible,
    .exact_pin = meta_exact_pin,
    .exact_unpin = meta_exact_unpin,
    .exact_limbs = meta_exact_limbs,
    .exact_element = meta_exact_element,
    .exact_forget = meta_exact_forget,
    .event_new = meta_event_new,
    .event_complete = meta_event_complete,
    .profiling = &meta_profile_flags,
    .profile_want = meta_profile_want,
    .profile_measuring = meta_profile_measuring,
    .profile_now = meta_profile_now,
    .profile_comm = meta_overlap_comm,
    .profile_message = meta_profile_message,
    .profile_share = meta_profile_share_of,
    .profile_report = meta_profile_report,
    .profile_forget = meta_profile_forget,
    .trace_began = meta_profile_trace_began,
    .trace_text = meta_profile_trace,
    .trace_open = meta_trace_open,
    .trace_put = meta_trace_put,
    .trace_close = meta_trace_close,
    .trace_done = meta_profile_trace_done,
    .set_compiling = meta_compiling_set,
};
