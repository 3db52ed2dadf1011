/* SPDX-License-Identifier: BSD-3-Clause */
/** @file exact.c
 *  Reproducible sums: the setting, queueing them, and a record of the exact sum behind each rounded
 *  result, from which meta_allreduce() continues.
 *
 *  A sum is queued as two launches through scratch memory of its own: the exact sum goes there,
 * then its rounded element to the caller's place; in a job the exact sum follows to a record in
 * host memory, which is complete no later than the result. A kernel of the program's may have
 * several sums, each with a second launch. */
#include "queue/join.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "exact.h"

/* How many results have records. */
enum { RECORDS = 4096, BUCKETS = 2 * RECORDS, NONE = -1 };
#define RESULT_BYTES ((uint64_t)META_EXACT_RESULT * sizeof(meta_i64))
#define RECORD_BYTES (META_EXACT_WORDS * sizeof(meta_i64))

/* The exact sum behind the element at an address; NULL: unused. Record k uses block k of the host
 * memory of the device that made the sum. */
typedef struct record {
    const char *address;
    int next;      /* in its bucket: its number + 1, or 0 */
    unsigned pins; /* messages that will read it */
    const meta_device *device;
    meta_i64 *limbs;
} record;

static _Atomic bool on;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all that follows */
static record records[RECORDS];
static int bucket[BUCKETS], cursor; /* of each bucket the first record's number + 1, or 0 */
static _Atomic int remembered; /* records with an address; mostly none, which saves the look-up */

meta_err meta_reproducible_read(void)
{
    bool wanted;
    META_TRY(meta_variable_switch("META_REPRODUCIBLE", &wanted));
    on = wanted;
    return META_OK;
}

int meta_is_reproducible(void)
{
    return on;
}

meta_err meta_set_reproducible(int wanted)
{
    META_ENTER();
    if (wanted != 0 && wanted != 1)
        return meta_fail(META_ERR_ARGUMENT, "argument 'on' is %d: give 0 or 1", wanted);
    on = wanted;
    return META_OK;
}

meta_err meta_get_reproducible(int *is_on)
{
    META_ENTER();
    if (!is_on) return meta_fail(META_ERR_ARGUMENT, "argument 'on' is NULL");
    *is_on = on;
    return META_OK;
}

/* ------------------------------------------------------------------ records; with the lock held */

static int *bucket_of(const char *address)
{
    return &bucket[(int)((uint64_t)(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15) >> 32) &
                   (BUCKETS - 1)];
}

static int find(const char *address)
{
    int k = *bucket_of(address) - 1;
    while (k != NONE && records[k].address != address) k = records[k].next - 1;
    return k;
}

static void unlink_record(int number)
{
    record *r = &records[number];
    int *at = bucket_of(r->address);
    while (*at != number + 1) at = &records[*at - 1].next;
    *at = r->next;
    r->address = NULL;
    --remembered;
}

/* A record that no message will read, the oldest first; NONE where there is none. */
static int unused_record(void)
{
    for (int tried = 0; tried < RECORDS; ++tried) {
        const int k = cursor;
        cursor = (k + 1) % RECORDS;
        if (records[k].pins > 0) continue;
        if (records[k].address) {
            meta_log(META_LOG_WARN,
                     "more than %d reproducible sums are kept at different addresses; the oldest "
                     "go into meta_allreduce() rounded",
                     (int)RECORDS);
            unlink_record(k);
        }
        return k;
    }
    return NONE;
}

static meta_err new_record(meta_device *device, const char *address, meta_i64 **limbs)
{
    int k = find(address);
    if (k != NONE && records[k].pins > 0) unlink_record(k), k = NONE;
    if (k == NONE) {
        k = unused_record();
        if (k == NONE)
            return meta_fail(META_ERR_NO_MEMORY,
                             "%d reproducible sums are in flight in meta_allreduce(): wait for "
                             "some of them",
                             (int)RECORDS);
        int *first = bucket_of(address);
        records[k].address = address;
        records[k].next = *first;
        *first = k + 1;
        ++remembered;
    }
    records[k].device = device;
    *limbs = records[k].limbs = (meta_i64 *)device->exact + (size_t)k * META_EXACT_WORDS;
    return META_OK;
}

void meta_exact_forget(const void *address, uint64_t bytes)
{
    const char *from = address;
    if (remembered == 0) return;
    pthread_mutex_lock(&lock);
    if (bytes <= 64) { /* elements are at least 4 bytes apart */
        for (uint64_t b = 0; b < bytes; b += 4) {
            const int k = find(from + b);
            if (k != NONE) unlink_record(k);
        }
    } else {
        for (int k = 0; k < RECORDS; ++k)
            if (records[k].address && (uint64_t)(records[k].address - from) < bytes)
                unlink_record(k);
    }
    pthread_mutex_unlock(&lock);
}

void *meta_exact_pin(const void *address)
{
    pthread_mutex_lock(&lock);
    const int k = find(address);
    if (k != NONE) ++records[k].pins;
    pthread_mutex_unlock(&lock);
    return k != NONE ? &records[k] : NULL;
}

void meta_exact_unpin(void *pinned)
{
    if (!pinned) return;
    pthread_mutex_lock(&lock);
    --((record *)pinned)->pins;
    pthread_mutex_unlock(&lock);
}

void meta_exact_limbs(const void *pinned, const void *value, meta_type type, int64_t *limbs)
{
    const int bytes = type == META_F32 ? 4 : 8;
    uint64_t bits = 0;
    float f32;
    double f64;
    memcpy(&bits, value, (size_t)bytes);
    if (pinned) {
        memcpy(limbs, ((const record *)pinned)->limbs, RECORD_BYTES);
        if (meta_exact_round(limbs, bytes) == bits) return;
    }
    memset(limbs, 0, RECORD_BYTES);
    memcpy(&f32, value, sizeof f32);
    if (type == META_F64) memcpy(&f64, value, sizeof f64);
    else f64 = (double)f32;
    meta_exact_add(limbs, f64);
    meta_exact_carry(limbs);
}

void meta_exact_element(int64_t *limbs, meta_type type, void *value)
{
    const int bytes = type == META_F32 ? 4 : 8;
    meta_exact_carry(limbs);
    const uint64_t bits = meta_exact_round(limbs, bytes);
    memcpy(value, &bits, (size_t)bytes);
}

static meta_err remember(meta_device *device, const void *address, meta_i64 **limbs)
{
    meta_err error = META_OK;
    pthread_mutex_lock(&lock);
    if (!device->exact) error = meta_host_memory(device, RECORDS * RECORD_BYTES, &device->exact);
    if (error == META_OK) error = new_record(device, address, limbs);
    pthread_mutex_unlock(&lock);
    return error;
}

void meta_exact_close(meta_device *device)
{
    if (!device->exact) return;
    pthread_mutex_lock(&lock);
    for (int k = 0; k < RECORDS; ++k)
        if (records[k].device == device) {
            if (records[k].address) unlink_record(k);
            records[k].pins = 0;
            records[k].device = NULL;
        }
    pthread_mutex_unlock(&lock);
    meta_host_memory_free(device, device->exact, RECORDS * RECORD_BYTES);
    device->exact = NULL;
}

/* ------------------------------------------------------------------ queueing */

meta_err meta_exact_wanted(const meta_device *device, uint32_t type, bool *exact)
{
    *exact = on && (type == META_F64 || type == META_F32);
    /* For F64 the back end has the better message. */
    if (!*exact || device->desc.has_f64 || type == META_F64) return META_OK;
    return meta_fail(META_ERR_UNSUPPORTED,
                     "reproducible sums need double precision, which %s:%d (%s) does not have: use "
                     "another device, or switch META_REPRODUCIBLE or meta_set_reproducible() off",
                     device->backend->name, device->index, device->desc.name);
}

/* Move the rounded element from behind the exact sum to the caller's place: the largest of one
 * element is itself. */
static meta_err move_element(meta_builtin *move, meta_device *device, meta_type type,
                             const meta_result *to, const meta_span *scratch)
{
    const meta_face one = {.count = 1, .size = {1}, .stride = {1}};
    meta_operation_begin(move, META_KERNEL_REDUCE_MAX, type, &one);
    meta_operand_lay(&move->op, 0, &one);
    move->operand[0].span = *scratch;
    move->operand[0].span.offset += RECORD_BYTES;
    *move->op.where = *to;
    move->op.call.result = move->op.where;
    move->op.device = device;
    META_TRY(meta_kernel_object(device, move->op.call.desc, type, &move->op.call.kernel));
    move->object[0] = scratch->object;
    move->space.layout[0].base =
        (meta_i64)(move->operand[0].span.offset / meta_element_bytes(type));
    return META_OK;
}

static meta_err launch(meta_operation *op, meta_pending *pending)
{
    return meta_launch_on(META_FROM_PROGRAM, op->device, META_QUEUE_COMPUTE, op, 0, 1, pending);
}

/* The caller may free what the steps before a failed one use. */
static void finish_failed(meta_device *device, meta_pending *pending, meta_err error)
{
    char *message = meta_error_copy();
    meta_device_finish(device);
    if (pending) meta_pending_release(pending);
    if (message) meta_fail_as(error, message);
    free(message);
}

/* Queue what goes to the caller's place, and its record. *pending is joined with both, or on a
 * device that works in order becomes that of the last step if it @p is_last. */
static meta_err queue_element(meta_operation *element, const meta_span *scratch, meta_i64 *limbs,
                              bool is_last, meta_pending *pending)
{
    const bool apart = pending && !meta_in_order(element->device);
    const bool tracked = apart || (pending && is_last);
    meta_pending piece = {NULL, NULL};
    META_TRY(launch(element, tracked && (apart || !limbs) ? &piece : NULL));
    if (tracked) meta_pending_join(pending, &piece);
    if (!limbs) return META_OK;
    piece = (meta_pending){NULL, NULL};
    META_TRY(meta_copy_on(META_FROM_PROGRAM, element->device, META_QUEUE_COMPUTE, META_COPY_D2H,
                          limbs, scratch, RECORD_BYTES, tracked ? &piece : NULL));
    if (tracked) meta_pending_join(pending, &piece);
    return META_OK;
}

static meta_err queue_steps(meta_builtin *ops, size_t count, const meta_span *scratch,
                            meta_i64 *limbs, meta_pending *pending)
{
    meta_builtin *sum = &ops[count - 1], element;
    META_TRY(move_element(&element, sum->op.device, (meta_type)sum->op.call.type, sum->op.where,
                          scratch));
    *sum->op.where = (meta_result){.object = scratch->object, .offset = scratch->offset};
    for (size_t k = 0; k < count; ++k) META_TRY(launch(&ops[k].op, NULL));
    return queue_element(&element.op, scratch, limbs, true, pending);
}

meta_err meta_exact_queue(meta_builtin *ops, size_t count, const void *address,
                          meta_pending *pending)
{
    meta_device *device = ops->op.device;
    meta_workspace *block;
    meta_span scratch;
    meta_i64 *limbs = NULL;
    if (meta_hooks_get()) META_TRY(remember(device, address, &limbs));
    else meta_exact_forget(address, 1);
    meta_err error =
        meta_workspace_take(device, META_QUEUE_COMPUTE, RESULT_BYTES, &block, &scratch);
    if (error == META_OK) {
        error = queue_steps(ops, count, &scratch, limbs, pending);
        if (error != META_OK) finish_failed(device, pending, error);
        meta_workspace_give(device, block);
    }
    if (error != META_OK) meta_exact_forget(address, 1);
    return error;
}

/* ------------------------------------------------------------------ of a program's kernel */

/* One of a kernel's exact sums. */
typedef struct exact_result {
    meta_type type;
    const void *address; /* as the program passed it */
    meta_result to;
    meta_span scratch;
    meta_i64 *limbs; /* of its record; NULL: there is none */
} exact_result;

/* The exact sums go to scratch memory. @return how many there are */
static uint32_t divert(meta_operation *op, const meta_span *scratch, exact_result *sum)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < op->results; ++k) {
        if (op->call.desc->result[k].combine != META_COMBINE_exact) continue;
        exact_result *e = &sum[count];
        *e = (exact_result){.type = meta_operation_result_type(op, k),
                            .address = meta_result_address(op, k),
                            .to = op->where[k],
                            .scratch = *scratch};
        e->scratch.offset += count++ * RESULT_BYTES;
        op->where[k] = (meta_result){.object = e->scratch.object, .offset = e->scratch.offset};
    }
    return count;
}

/* The kernel, then for each sum its element and, in a job, its record. On a device that works in
 * order the last step of all tells when they are complete. */
static meta_err queue_results(meta_operation *op, exact_result *sum, uint32_t count,
                              meta_pending *pending)
{
    meta_builtin element;
    const bool apart = pending && !meta_in_order(op->device);
    META_TRY(launch(op, apart ? pending : NULL));
    for (uint32_t k = 0; k < count; ++k) {
        exact_result *e = &sum[k];
        META_TRY(move_element(&element, op->device, e->type, &e->to, &e->scratch));
        META_TRY(queue_element(&element.op, &e->scratch, e->limbs, k + 1 == count, pending));
    }
    return META_OK;
}

meta_err meta_exact_queue_results(meta_operation *op, meta_pending *pending)
{
    exact_result sum[META_KERNEL_PARAMETERS];
    meta_workspace *block;
    meta_span scratch;
    meta_err error = META_OK;
    META_TRY(meta_workspace_take(op->device, META_QUEUE_COMPUTE,
                                 meta_exact_results(op->call.desc) * RESULT_BYTES, &block,
                                 &scratch));
    const uint32_t count = divert(op, &scratch, sum);
    for (uint32_t k = 0; k < count && error == META_OK && meta_hooks_get(); ++k)
        error = remember(op->device, sum[k].address, &sum[k].limbs);
    if (error == META_OK) {
        error = queue_results(op, sum, count, pending);
        if (error != META_OK) finish_failed(op->device, pending, error);
    }
    meta_workspace_give(op->device, block);
    for (uint32_t k = 0; k < count && error != META_OK; ++k) meta_exact_forget(sum[k].address, 1);
    return error;
}
