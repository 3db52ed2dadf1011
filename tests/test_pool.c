/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_pool.c
 *  The memory pool: reuse of freed memory, how much is kept, and when it is released. */
/* TEST: backends=all labels=core smoke=yes */
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define MIB ((size_t)1 << 20)

static int device_index;
static meta_mode mode;

static void start(int *argc, char ***argv)
{
    test_device.start(argc, argv);
    CHECK_OK(meta_get_acc(&device_index, &mode));
}

static int end(int status)
{
    return test_device.end(status);
}

static const test_setting setting = {.start = start, .end = end};

static meta_pool_desc pool(void)
{
    meta_pool_desc desc = META_POOL_DESC_INIT;
    CHECK_OK(meta_pool_info(device_index, mode, &desc));
    return desc;
}

/* Nothing is kept where a checker watches memory. */
static bool empty_pool(size_t limit)
{
    CHECK_OK(meta_pool_limit(device_index, mode, limit));
    CHECK_OK(meta_pool_trim(device_index, mode, 0));
    CHECK_U64(pool().kept, 0);
    CHECK_U64(pool().blocks, 0);
    return pool().limit > 0;
}

static void *allocated(size_t bytes)
{
    void *p = NULL;
    CHECK_OK(meta_alloc(&p, bytes));
    return p;
}

/* ------------------------------------------------------------------ who gets it */

static void a_freed_buffer_serves_the_next_one_of_its_size(void)
{
    static const size_t sizes[] = {1, 63, 64, 100, 1000, 4096, 5000, 70000, MIB, 3 * MIB + 5};
    if (!empty_pool(64 * MIB)) return;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
        void *p = allocated(sizes[k]);
        CHECK_OK(meta_free(p));
        const meta_pool_desc before = pool();
        test_case("%zu bytes", sizes[k]);
        CHECK(before.kept >= sizes[k] && before.kept <= before.held);
        for (int again = 0; again < 3; ++again) {
            void *q = allocated(sizes[k]);
            CHECK(q == p);
            CHECK_OK(meta_free(q));
        }
        CHECK_U64(pool().reused, before.reused + 3);
        CHECK_U64(pool().made, before.made);
        CHECK_U64(pool().held, before.held);
        CHECK_OK(meta_pool_trim(device_index, mode, 0));
    }
}

static void a_block_serves_only_slightly_smaller_sizes(void)
{
    if (!empty_pool(256 * MIB)) return;
    void *p = allocated(32 * MIB);
    CHECK_OK(meta_free(p));
    static const struct {
        size_t bytes;
        bool fits;
    } cases[] = {{32 * MIB, true},  {32 * MIB - 1, true}, {29 * MIB, true},      {28 * MIB, false},
                 {16 * MIB, false}, {1, false},           {32 * MIB + 1, false}, {40 * MIB, false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        test_case("%zu bytes of a piece of 32 MiB", cases[k].bytes);
        const uint64_t before = pool().reused;
        void *q = allocated(cases[k].bytes);
        CHECK_U64(pool().reused - before, cases[k].fits);
        CHECK((q == p) == cases[k].fits);
        CHECK_OK(meta_free(q));
        /* Only the first piece is to be there for the next case. */
        if (!cases[k].fits) {
            CHECK_OK(meta_pool_trim(device_index, mode, 0));
            p = allocated(32 * MIB);
            CHECK_OK(meta_free(p));
        }
    }
}

static void work_on_a_freed_buffer_does_not_reach_the_next_one(void)
{
    enum { COUNT = 1 << 18 };
    static double found[COUNT], expected[COUNT];
    for (int k = 0; k < 20; ++k) {
        const double old = -1, fresh = k;
        void *p = allocated(sizeof found), *q;
        for (int n = 0; n < 10; ++n) CHECK_OK(meta_fill(p, COUNT, &old, META_F64, META_ASYNC));
        CHECK_OK(meta_free(p));
        q = allocated(sizeof found);
        CHECK_OK(meta_fill(q, COUNT, &fresh, META_F64, META_ASYNC));
        CHECK_OK(meta_copy_d2h(found, q, sizeof found, NULL));
        for (int n = 0; n < COUNT; ++n) expected[n] = fresh;
        CHECK_ARRAY(found, expected, COUNT, META_F64);
        CHECK_OK(meta_free(q));
    }
}

/* ------------------------------------------------------------------ how much */

/* Buffers of different lengths, freed one after the other. */
static void free_one_by_one(const size_t *bytes, int count)
{
    void *p[8];
    for (int k = 0; k < count; ++k) p[k] = allocated(bytes[k]);
    for (int k = 0; k < count; ++k) CHECK_OK(meta_free(p[k]));
}

static bool is_kept(size_t bytes)
{
    const uint64_t before = pool().reused;
    void *p = allocated(bytes);
    const bool kept = pool().reused > before;
    CHECK_OK(meta_free(p));
    return kept;
}

static void beyond_the_limit_the_oldest_block_is_evicted(void)
{
    static const size_t bytes[] = {2 * MIB, 4 * MIB, 8 * MIB, 16 * MIB};
    if (!empty_pool(28 * MIB)) return;
    free_one_by_one(bytes, 4);
    CHECK_U64(pool().kept, 28 * MIB);
    CHECK_U64(pool().blocks, 3);
    for (int k = 3; k > 0; --k) CHECK(is_kept(bytes[k]));
    CHECK(!is_kept(bytes[0]));
    /* Now that one was kept last, and the last of those before went for it. */
    CHECK_U64(pool().kept, 14 * MIB);
    CHECK(!is_kept(bytes[3]));
}

static void a_block_beyond_the_limit_evicts_nothing(void)
{
    static const size_t bytes[] = {2 * MIB, 4 * MIB, 32 * MIB};
    if (!empty_pool(8 * MIB)) return;
    const meta_pool_desc before = pool();
    free_one_by_one(bytes, 3);
    CHECK_U64(pool().kept, 6 * MIB);
    CHECK_U64(pool().returned, before.returned + 1);
    CHECK_U64(pool().held, before.held + 6 * MIB);
    CHECK(pool().held_peak >= before.held + 38 * MIB);
}

static void trimming_and_a_lower_limit_give_back_the_oldest(void)
{
    static const size_t bytes[] = {2 * MIB, 4 * MIB, 8 * MIB, 16 * MIB};
    if (!empty_pool(64 * MIB)) return;
    const uint64_t held = pool().held;
    free_one_by_one(bytes, 4);
    CHECK_U64(pool().kept, 30 * MIB);
    CHECK_U64(pool().held, held + 30 * MIB);
    CHECK_OK(meta_pool_trim(device_index, mode, 100 * MIB));
    CHECK_U64(pool().kept, 30 * MIB);
    CHECK_OK(meta_pool_trim(device_index, mode, 27 * MIB));
    CHECK_U64(pool().kept, 24 * MIB);
    CHECK_OK(meta_pool_limit(device_index, mode, 16 * MIB));
    CHECK_U64(pool().kept, 16 * MIB);
    CHECK(is_kept(16 * MIB));
    CHECK_OK(meta_pool_trim(device_index, mode, 16 * MIB - 1));
    CHECK_U64(pool().blocks, 0);
    CHECK_U64(pool().held, held);
    CHECK_OK(meta_pool_limit(device_index, mode, 0));
    free_one_by_one(bytes, 4);
    CHECK_U64(pool().kept, 0);
}

static void kept_memory_is_not_counted_as_allocated(void)
{
    meta_mem_desc before = META_MEM_DESC_INIT, now = META_MEM_DESC_INIT;
    empty_pool(64 * MIB);
    CHECK_OK(meta_mem_info(device_index, mode, &before));
    void *p = allocated(5 * MIB + 3);
    CHECK_OK(meta_mem_info(device_index, mode, &now));
    CHECK_U64(now.allocated, before.allocated + 5 * MIB + 3);
    CHECK_OK(meta_free(p));
    CHECK_OK(meta_mem_info(device_index, mode, &now));
    CHECK_U64(now.allocated, before.allocated);
    CHECK_U64(now.buffers, before.buffers);
}

/* ------------------------------------------------------------------ when there is no room */

static size_t address_space(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%lu", &pages) == 1);
    if (file) fclose(file);
    return pages * 4096ul;
}

/* Let the process have so much more address space, and no more. */
static bool allow(size_t more, struct rlimit *before)
{
    struct rlimit limit;
    if (!CHECK(getrlimit(RLIMIT_AS, before) == 0)) return false;
    limit = *before;
    limit.rlim_cur = address_space() + more;
    return CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

/* Three quarters of a GPU's memory are kept when half of it is asked for, by quarters: OpenCL's
 * devices need not give more at once, and may take the memory when it is first used. Where others
 * use the GPU as well, there may not be so much. */
static void what_a_gpu_keeps_goes_back_before_memory_is_refused(size_t all)
{
    void *part[6] = {NULL}, *p = &p;
    char asked[32];
    const size_t quarter = all / 4 / MIB * MIB;
    meta_err error = META_OK;
    if (!empty_pool(all)) return;
    for (int k = 0; k < 6 && error == META_OK; ++k) error = meta_alloc(&part[k], quarter / 2);
    for (int k = 0; k < 6 && part[k]; ++k) CHECK_OK(meta_free(part[k]));
    if (error == META_OK) {
        const meta_pool_desc full = pool();
        CHECK_U64(full.kept, quarter / 2 * 6);
        for (int k = 0; k < 2; ++k) CHECK_OK(meta_alloc(&part[k], quarter));
        for (int k = 0; k < 2; ++k) CHECK_OK(meta_free(part[k]));
        if (mode != META_OPENCL) CHECK(pool().returned > full.returned);
    } else {
        CHECK_INT(error, META_ERR_NO_MEMORY);
    }
    CHECK_ERR(meta_alloc(&p, all + MIB + 1), META_ERR_NO_MEMORY);
    CHECK(p == &p);
    snprintf(asked, sizeof asked, "%zu", all + MIB + 1);
    CHECK_CONTAINS(meta_last_error(), asked);
    CHECK_U64(pool().kept, 0);
}

static void what_is_kept_goes_back_before_memory_is_refused(void)
{
    static const size_t bytes[] = {300 * MIB, 300 * MIB};
    struct rlimit before;
    meta_pool_desc full;
    meta_device_desc device = META_DEVICE_DESC_INIT;
    const char *sanitize = getenv("META_TEST_SANITIZE");
    void *p = &p;
    CHECK_OK(meta_device_info(device_index, mode, &device));
    /* A GPU's memory is not the process's, and its driver may reserve addresses for all of it. */
    if (device.is_gpu) {
        what_a_gpu_keeps_goes_back_before_memory_is_refused((size_t)device.memory);
        return;
    }
    /* ThreadSanitizer ends a process in which it finds no room for itself. */
    if (sanitize && strcmp(sanitize, "thread") == 0) return;
    if (!empty_pool(1024 * MIB)) return;
    for (int host = 0; host < 2; ++host) {
        test_case("%s memory", host ? "host" : "device");
        free_one_by_one(bytes, 2);
        full = pool();
        CHECK_U64(full.kept, 600 * MIB);
        if (!allow(100 * MIB, &before)) return;
        const meta_err error = host ? meta_host_alloc(&p, 500 * MIB) : meta_alloc(&p, 500 * MIB);
        setrlimit(RLIMIT_AS, &before);
        if (!CHECK_OK(error)) return;
        CHECK_U64(pool().kept, 0);
        CHECK_U64(pool().returned, full.returned + 2);
        CHECK_OK(host ? meta_host_free(p) : meta_free(p));
        CHECK_OK(meta_pool_trim(device_index, mode, 0));
    }
    /* And where that does not help, it is refused, with the size that was asked for. */
    if (!allow(100 * MIB, &before)) return;
    p = &p;
    const meta_err error = meta_alloc(&p, 500 * MIB + 1);
    setrlimit(RLIMIT_AS, &before);
    CHECK_INT(error, META_ERR_NO_MEMORY);
    CHECK(p == &p);
    CHECK_CONTAINS(meta_last_error(), "524288001");
}

/* Where memory is the process's own, which shows when it is allocated; threads that come meanwhile
 * may take some as well. */
static void what_is_kept_goes_back_at_the_end(void)
{
    static const size_t bytes[] = {256 * MIB, 256 * MIB};
    if (!empty_pool(1024 * MIB)) return;
    const size_t before = address_space();
    free_one_by_one(bytes, 2);
    const size_t full = address_space();
    CHECK_U64(pool().kept, 512 * MIB);
    CHECK_OK(meta_finalize());
    if (full >= before + 512 * MIB) CHECK(address_space() + 256 * MIB <= full);
    test_require_device();
    CHECK_U64(pool().held, 0);
}

/* ------------------------------------------------------------------ random sequences */

typedef struct buffer {
    unsigned char *p;
    size_t bytes;
    unsigned char mark;
} buffer;
enum { MOST = 64 };

static size_t random_bytes(void)
{
    const size_t magnitude = (size_t)1 << test_random_in(0, 21);
    return magnitude + (size_t)test_random_in(0, (int64_t)magnitude - 1);
}

static void make(buffer *b)
{
    b->bytes = random_bytes();
    b->mark = (unsigned char)test_random();
    if (!CHECK_OK(meta_alloc((void **)&b->p, b->bytes))) return;
    CHECK_OK(meta_fill(b->p, (int64_t)b->bytes, &b->mark, META_U8, META_ASYNC));
}

static void check_and_free(buffer *b)
{
    unsigned char found[3] = {0};
    const size_t at = (size_t)test_random_in(0, (int64_t)b->bytes - 1);
    CHECK_OK(meta_copy_d2h(&found[0], b->p, 1, META_ASYNC));
    CHECK_OK(meta_copy_d2h(&found[1], b->p + at, 1, META_ASYNC));
    CHECK_OK(meta_copy_d2h(&found[2], b->p + b->bytes - 1, 1, NULL));
    for (int k = 0; k < 3; ++k) CHECK_INT(found[k], b->mark);
    CHECK_OK(meta_free(b->p));
    b->p = NULL;
}

/* With META_CHECK=1 freed memory is in quarantine for a while, and there are guards. */
static bool checked(void)
{
    const char *value = getenv("META_CHECK");
    return value && strcmp(value, "1") == 0;
}

static void memory_statistics_agree_in_any_sequence(void)
{
    static buffer live[MOST];
    const int64_t steps = test_count(4000, 40000);
    if (checked()) return;
    empty_pool(0);
    const meta_pool_desc start_of = pool();
    uint64_t allocations = 0, count = 0, bytes = 0, highest = start_of.held;
    for (int64_t k = 0; k < steps; ++k) {
        buffer *b = &live[test_random_in(0, MOST - 1)];
        test_case("step %lld", (long long)k);
        if (k % 500 == 0)
            CHECK_OK(meta_pool_limit(device_index, mode, (size_t)test_random_in(0, 8) * MIB));
        if (k % 300 == 0)
            CHECK_OK(meta_pool_trim(device_index, mode, (size_t)test_random_in(0, 4) * MIB));
        if (b->p) bytes -= b->bytes, --count, check_and_free(b);
        else make(b), bytes += b->bytes, ++count, ++allocations;
        const meta_pool_desc now = pool();
        if (now.held > highest) highest = now.held;
        CHECK(now.kept <= now.limit);
        CHECK_U64(now.made + now.reused - start_of.made - start_of.reused, allocations);
        CHECK_U64(now.made - now.returned - (start_of.made - start_of.returned),
                  count + now.blocks);
        CHECK(now.held - start_of.held >= bytes + now.kept);
        /* What rounding up costs is an eighth, twice where a longer piece serves, and a line. */
        CHECK(now.held - start_of.held <= now.kept + bytes + bytes / 3 + count * 4096);
        CHECK(now.held_peak >= highest);
        if (test_failures() > 5) return;
    }
    for (int k = 0; k < MOST; ++k)
        if (live[k].p) check_and_free(&live[k]);
    CHECK_OK(meta_pool_trim(device_index, mode, 0));
    CHECK_U64(pool().held, start_of.held);
}

static atomic_int busy;

static void *alloc_and_free(void *failed)
{
    uint64_t state = (uintptr_t)failed;
    for (int k = 0; k < 3000; ++k) {
        unsigned char *p, mark, found[2] = {0};
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        const size_t bytes = (size_t)1 + (state >> 50);
        mark = (unsigned char)(state >> 32);
        if (meta_alloc((void **)&p, bytes) != META_OK ||
            meta_fill(p, (int64_t)bytes, &mark, META_U8, META_ASYNC) != META_OK ||
            meta_copy_d2h(&found[0], p, 1, NULL) != META_OK ||
            meta_copy_d2h(&found[1], p + bytes - 1, 1, NULL) != META_OK || found[0] != mark ||
            found[1] != mark || meta_free(p) != META_OK) {
            *(bool *)failed = true;
            break;
        }
    }
    --busy;
    return NULL;
}

static void threads_share_a_pool(void)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    bool failed[THREADS] = {false};
    empty_pool(MIB);
    const uint64_t held = pool().held;
    busy = THREADS;
    for (int k = 0; k < THREADS; ++k)
        CHECK_INT(pthread_create(&thread[k], NULL, alloc_and_free, &failed[k]), 0);
    while (busy > 0) { /* what they use is not to be given back */
        const size_t limit = (size_t)test_random_in(0, MIB);
        CHECK_OK(meta_pool_limit(device_index, mode, limit));
        CHECK_OK(meta_pool_trim(device_index, mode, limit / 2));
        CHECK(pool().kept <= limit);
    }
    for (int k = 0; k < THREADS; ++k) pthread_join(thread[k], NULL);
    for (int k = 0; k < THREADS; ++k) CHECK(!failed[k]);
    CHECK_OK(meta_pool_trim(device_index, mode, 0));
    if (!checked()) CHECK_U64(pool().held, held);
}

/* ------------------------------------------------------------------ the variable */

static void again_with(const char *value)
{
    CHECK_OK(meta_finalize());
    setenv("META_POOL", value, 1);
    test_require_device();
}

static void META_POOL_sets_the_limit(void)
{
    const char *given = getenv("META_POOL");
    char *before = strdup(given ? given : "");
    const bool pooled = empty_pool(MIB);
    again_with("12345678");
    CHECK_U64(pool().limit, pooled ? 12345678 : 0);
    again_with("12 MiB");
    CHECK_U64(pool().limit, pooled ? 12 * MIB : 0);
    CHECK_U64(pool().held, 0);
    again_with("off");
    CHECK_OK(meta_free(allocated(100)));
    CHECK_OK(meta_pool_limit(device_index, mode, MIB));
    CHECK_OK(meta_free(allocated(100)));
    CHECK_U64(pool().kept, 0);
    if (!checked()) CHECK_U64(pool().held, 0);
    CHECK_U64(pool().reused, 0);
    CHECK_OK(meta_finalize());
    static const char *const wrong[] = {"on", "-1", "12q", "1e6", "99999999999999999999999"};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        setenv("META_POOL", wrong[k], 1);
        CHECK_ERR_NAMES(meta_init(), META_ERR_ENVIRONMENT, wrong[k]);
    }
    setenv("META_POOL", before, 1);
    free(before);
    test_require_device();
}

TEST_MAIN_WITH(&setting, PROMISE(a_freed_buffer_serves_the_next_one_of_its_size),
               PROMISE(a_block_serves_only_slightly_smaller_sizes),
               PROMISE(work_on_a_freed_buffer_does_not_reach_the_next_one),
               PROMISE(beyond_the_limit_the_oldest_block_is_evicted),
               PROMISE(a_block_beyond_the_limit_evicts_nothing),
               PROMISE(trimming_and_a_lower_limit_give_back_the_oldest),
               PROMISE(kept_memory_is_not_counted_as_allocated),
               PROMISE(what_is_kept_goes_back_before_memory_is_refused),
               PROMISE(what_is_kept_goes_back_at_the_end),
               PROMISE(memory_statistics_agree_in_any_sequence), PROMISE(threads_share_a_pool),
               PROMISE(META_POOL_sets_the_limit))
