/* SPDX-License-Identifier: BSD-3-Clause */
/** @file exact.c
 *  Reproducible sums: whether they are asked for, queueing them, and the exact sums behind the
 *  rounded results, remembered so that meta_allreduce() can go on with them.
 *
 *  A sum is queued as two launches through a slot of device memory: the exact sum goes there, then
 *  its rounded element to the caller's place; in a job the exact sum follows to a record in host
 *  memory. A device's queue is in order, so a slot is free again once all three are queued, and the
 *  record is complete no later than the result. */
#include "core.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "exact.h"

/* How many threads queue sums on one device at once, the others waiting for a slot, and how many
 * results a device has records of. */
enum { SLOTS = 16, RECORDS = 4096, BUCKETS = 2 * RECORDS, NONE = -1 };
#define SLOT_BYTES   ((uint64_t)META_EXACT_RESULT * sizeof(meta_i64))
#define RECORD_BYTES (META_EXACT_WORDS * sizeof(meta_i64))

/* The exact sum behind the element at an address; of no element where that is NULL. */
typedef struct record {
    const char *address;
    int next;      /* in its bucket */
    unsigned pins; /* messages that will read it */
    meta_i64 *limbs;
} record;

typedef struct meta_exact_store {
    meta_memory slots;
    bool taken[SLOTS];
    meta_i64 *host; /* the records' limbs; NULL until there is a job */
    record record[RECORDS];
    int bucket[BUCKETS], cursor;
} meta_exact_store;

static _Atomic bool on;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all stores */
static pthread_cond_t given_back = PTHREAD_COND_INITIALIZER;
static _Atomic int with_records; /* stores that have any; mostly there is none to look into */

/* ------------------------------------------------------------------ whether */

meta_err meta_reproducible_read(void)
{
    const char *value = meta_variable("META_REPRODUCIBLE");
    if (value && strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
        return meta_fail(META_ERR_ENVIRONMENT, "META_REPRODUCIBLE=%s: give 0 or 1", value);
    on = value && *value == '1';
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

static int bucket_of(const char *address)
{
    return (int)((uint64_t)(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (BUCKETS - 1);
}

static int find(const meta_exact_store *store, const char *address)
{
    int k = store->bucket[bucket_of(address)];
    while (k != NONE && store->record[k].address != address) k = store->record[k].next;
    return k;
}

static void unlink_record(meta_exact_store *store, int number)
{
    record *r = &store->record[number];
    int *at = &store->bucket[bucket_of(r->address)];
    while (*at != number) at = &store->record[*at].next;
    *at = r->next;
    r->address = NULL;
}

/* A record that no message will read, the oldest first; NONE where there is none. */
static int unused_record(meta_exact_store *store)
{
    for (int tried = 0; tried < RECORDS; ++tried) {
        const int k = store->cursor;
        store->cursor = (k + 1) % RECORDS;
        if (store->record[k].pins > 0) continue;
        if (store->record[k].address) {
            meta_log(META_LOG_WARN,
                     "more than %d reproducible sums are kept at different addresses; the oldest "
                     "go into meta_allreduce() rounded",
                     (int)RECORDS);
            unlink_record(store, k);
        }
        return k;
    }
    return NONE;
}

static meta_err new_record(meta_exact_store *store, const char *address, meta_i64 **limbs)
{
    int k = find(store, address);
    if (k != NONE && store->record[k].pins > 0) unlink_record(store, k), k = NONE;
    if (k == NONE) {
        k = unused_record(store);
        if (k == NONE)
            return meta_fail(META_ERR_NO_MEMORY,
                             "%d reproducible sums are on their way in meta_allreduce(): wait for "
                             "some of them",
                             (int)RECORDS);
        record *r = &store->record[k];
        r->address = address;
        r->next = store->bucket[bucket_of(address)];
        store->bucket[bucket_of(address)] = k;
    }
    *limbs = store->record[k].limbs;
    return META_OK;
}

/* Addresses whose sums are to be forgotten, in all stores but one. */
typedef struct range {
    const char *from;
    uint64_t bytes;
    const meta_exact_store *spared;
} range;

static meta_err forget_range(meta_device *device, void *context)
{
    const range *r = context;
    meta_exact_store *store = device->exact;
    if (!store || store == r->spared || !store->host) return META_OK;
    if (r->bytes <= 64) { /* elements are at least 4 bytes apart */
        for (uint64_t b = 0; b < r->bytes; b += 4) {
            const int k = find(store, r->from + b);
            if (k != NONE) unlink_record(store, k);
        }
        return META_OK;
    }
    for (int k = 0; k < RECORDS; ++k) {
        const char *address = store->record[k].address;
        if (address && (uint64_t)(address - r->from) < r->bytes) unlink_record(store, k);
    }
    return META_OK;
}

static void forget(const void *address, uint64_t bytes, const meta_exact_store *spared)
{
    range r = {address, bytes, spared};
    meta_devices_each(forget_range, &r);
}

void meta_exact_forget(const void *address, uint64_t bytes)
{
    if (with_records == 0) return;
    pthread_mutex_lock(&lock);
    forget(address, bytes, NULL);
    pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------ records, for messages */

typedef struct search {
    const char *address;
    record *found;
} search;

static meta_err search_device(meta_device *device, void *context)
{
    search *s = context;
    meta_exact_store *store = device->exact;
    const int k = store && store->host && !s->found ? find(store, s->address) : NONE;
    if (k != NONE) s->found = &store->record[k];
    return META_OK;
}

void *meta_exact_pin(const void *address)
{
    search s = {address, NULL};
    pthread_mutex_lock(&lock);
    meta_devices_each(search_device, &s);
    if (s.found) ++s.found->pins;
    pthread_mutex_unlock(&lock);
    return s.found;
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

/* ------------------------------------------------------------------ a device's store */

static meta_err make_store(meta_device *device, meta_exact_store **made)
{
    meta_exact_store *store = calloc(1, sizeof *store);
    if (!store) return meta_fail(META_ERR_NO_MEMORY, "the host has no memory for sums");
    const meta_err error = meta_device_memory(device, SLOTS * SLOT_BYTES, &store->slots);
    if (error != META_OK) return free(store), error;
    for (int k = 0; k < BUCKETS; ++k) store->bucket[k] = NONE;
    *made = store;
    return META_OK;
}

static meta_err make_host(meta_device *device, meta_exact_store *store)
{
    void *host;
    META_TRY(meta_host_memory(device, RECORDS * RECORD_BYTES, &host));
    for (int k = 0; k < RECORDS; ++k)
        store->record[k].limbs = (meta_i64 *)host + (size_t)k * META_EXACT_WORDS;
    store->host = host;
    ++with_records;
    return META_OK;
}

void meta_exact_close(meta_device *device)
{
    meta_exact_store *store = device->exact;
    if (!store) return;
    if (store->host) {
        meta_host_memory_free(device, store->host, RECORDS * RECORD_BYTES);
        --with_records;
    }
    device->backend->ops.free(device->plugin, &store->slots);
    free(store);
    device->exact = NULL;
}

/* Take a slot, and where @p limbs is not NULL a record for the element at @p address. */
static meta_err take(meta_device *device, const void *address, int *slot, meta_i64 **limbs)
{
    meta_err error = META_OK;
    pthread_mutex_lock(&lock);
    if (!device->exact) error = make_store(device, &device->exact);
    meta_exact_store *store = device->exact;
    if (error == META_OK && limbs && !store->host) error = make_host(device, store);
    if (error == META_OK && limbs) error = new_record(store, address, limbs);
    if (error == META_OK && limbs) forget(address, 1, store);
    for (*slot = SLOTS; error == META_OK && *slot == SLOTS;) {
        for (*slot = 0; *slot < SLOTS && store->taken[*slot];) ++*slot;
        if (*slot == SLOTS) pthread_cond_wait(&given_back, &lock);
    }
    if (error == META_OK) store->taken[*slot] = true;
    pthread_mutex_unlock(&lock);
    return error;
}

static void give_back(meta_device *device, int slot)
{
    pthread_mutex_lock(&lock);
    device->exact->taken[slot] = false;
    pthread_cond_signal(&given_back);
    pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------ queueing */

static bool is_float(uint32_t type)
{
    return type == META_F64 || type == META_F32;
}

meta_err meta_exact_wanted(const meta_device *device, meta_type type, bool *exact)
{
    *exact = on && is_float(type);
    /* The back end's own words are better for F64. */
    if (!*exact || device->desc.has_f64 || type == META_F64) return META_OK;
    return meta_fail(META_ERR_UNSUPPORTED,
                     "reproducible sums need double precision, which %s:%d (%s) does not have: use "
                     "another device, or switch META_REPRODUCIBLE or meta_set_reproducible() off",
                     device->backend->name, device->index, device->desc.name);
}

/* The largest of one element is itself. */
static void move_element(meta_call *call, const meta_call *sum, const meta_span *element)
{
    const meta_face one = {.count = 1, .size = {1}, .stride = {1}};
    meta_call_begin(call, META_KERNEL_REDUCE_MAX, (meta_type)sum->type, &one);
    meta_call_operand(call, 0, element, &one);
    call->result_host = sum->result_host;
    call->result_object = sum->result_object;
    call->result_offset = sum->result_offset;
}

static meta_err queue_steps(meta_device *device, const meta_call *calls, size_t count, int slot,
                            meta_i64 *limbs, meta_pending *pending)
{
    const meta_span sum = {.device = device,
                           .object = device->exact->slots.object,
                           .offset = (uint64_t)slot * SLOT_BYTES,
                           .room = SLOT_BYTES};
    meta_span rounded = sum;
    meta_call exact = calls[count - 1], element;
    rounded.offset += RECORD_BYTES;
    move_element(&element, &exact, &rounded);
    exact.result_host = NULL;
    exact.result_object = sum.object;
    exact.result_offset = sum.offset;
    for (size_t k = 0; k + 1 < count; ++k)
        META_TRY(meta_launch(device, META_QUEUE_COMPUTE, &calls[k], 1, NULL));
    META_TRY(meta_launch(device, META_QUEUE_COMPUTE, &exact, 1, NULL));
    META_TRY(meta_launch(device, META_QUEUE_COMPUTE, &element, 1, limbs ? NULL : pending));
    if (!limbs) return META_OK;
    return meta_copy_on(device, META_QUEUE_COMPUTE, META_COPY_D2H, limbs, &sum, RECORD_BYTES,
                        pending);
}

meta_err meta_exact_queue(meta_device *device, const meta_call *calls, size_t count,
                          const void *address, meta_pending *pending)
{
    meta_i64 *limbs = NULL;
    int slot;
    META_TRY(take(device, address, &slot, meta_hooks_get() ? &limbs : NULL));
    const meta_err error = queue_steps(device, calls, count, slot, limbs, pending);
    /* The caller may free what the steps before use. */
    if (error != META_OK) {
        char *message = meta_error_copy();
        meta_exact_forget(address, 1);
        meta_device_finish(device);
        if (message) meta_fail_as(error, message);
        free(message);
    }
    give_back(device, slot);
    return error;
}
