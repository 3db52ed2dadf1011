/* SPDX-License-Identifier: BSD-3-Clause */
/** @file stream.c
 *  Choosing between cached and nontemporal stores. A cached store first reads the line, which adds
 * half as much traffic, but leaves it in the cache for the next reader. Which is faster beyond a
 * core's private cache depends on the machine, so it is measured on first use. */
#include "openmp.h"

#include "stream.h"
#include "variable.h"
#include "vector.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { USUAL_CACHE = 1 << 20, HUGE_PAGE = 1 << 21 };

static meta_i64 forced_bytes = -1; /* META_STREAM_BYTES; -1 if unset */
static meta_i64 own_cache = USUAL_CACHE;

/* A cache's size as the system reports it, or a typical one. */
static meta_i64 cache_bytes(int name, meta_i64 usual)
{
    const long bytes = sysconf(name);
    return bytes > 0 ? bytes : usual;
}

meta_err stream_begin(void)
{
#ifdef _SC_LEVEL2_CACHE_SIZE
    own_cache = cache_bytes(_SC_LEVEL2_CACHE_SIZE, USUAL_CACHE);
#endif
    return meta_stream_bytes(openmp_host, -1, &forced_bytes);
}

meta_i64 stream_cache(void)
{
    return own_cache;
}

/* Four concurrent streams, since one does not saturate a core's memory bandwidth. */
void stream_copy(void *to, const void *from, size_t bytes)
{
    enum { STREAMS = 4, LINE = 64 };
    char *d = to;
    const char *a = from;
    const size_t head = -(uintptr_t)d % LINE;
    const size_t part = bytes > head ? (bytes - head) / STREAMS / LINE * LINE : 0;
    if (part == 0) {
        vector_stream_copy(to, from, bytes);
        return;
    }
    vector_stream_copy(d, a, head);
    for (size_t k = head; k < head + part; k += LINE)
        for (size_t s = 0; s < STREAMS * part; s += part)
            for (size_t v = k + s; v < k + s + LINE; v += VECTOR_BYTES) vector_stream(d + v, a + v);
    const size_t done = head + STREAMS * part;
    vector_stream_copy(d + done, a + done, bytes - done);
}

void stream_end(void)
{
    vector_stream_end();
}

/* ------------------------------------------------------------------ measuring the machine */

/* Per-thread footprints (bytes read and written) for which copies are timed. */
enum { SIZES = 4, FIRST_SIZE = 2 << 20 };

typedef void copy_function(void *to, const void *from, size_t bytes);

static pthread_mutex_t measure_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int sizes_measured;    /* number of sizes measured */
static _Atomic int pays_from = SIZES; /* first size at which streaming is faster */

static void swap(double *a, double *b)
{
    const double was = *a;
    *a = *b;
    *b = was;
}

static double seconds_of(copy_function *copy, char *memory, size_t bytes)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    copy(memory + bytes, memory, bytes);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}

static void cached_copy(void *to, const void *from, size_t bytes)
{
    char *d = to;
    const char *a = from;
    for (size_t k = 0; k < bytes; k += VECTOR_BYTES) memcpy(d + k, a + k, VECTOR_BYTES);
}

static void streamed_copy(void *to, const void *from, size_t bytes)
{
    stream_copy(to, from, bytes);
    stream_end();
}

/* Compare the medians of a few alternating copies. @return 1 if streaming is faster. */
static int streaming_wins(size_t bytes)
{
    enum { TRIALS = 5 };
    double cached[TRIALS], streamed[TRIALS];
    char *memory = NULL;
    if (posix_memalign((void **)&memory, HUGE_PAGE, 2 * bytes) != 0) return 0;
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, 2 * bytes, MADV_HUGEPAGE);
#endif
    memset(memory, 1, 2 * bytes);
    for (int k = 0; k < TRIALS; ++k) {
        cached[k] = seconds_of(cached_copy, memory, bytes);
        streamed[k] = seconds_of(streamed_copy, memory, bytes);
        for (int n = k; n > 0 && cached[n] < cached[n - 1]; --n) swap(&cached[n], &cached[n - 1]);
        for (int n = k; n > 0 && streamed[n] < streamed[n - 1]; --n)
            swap(&streamed[n], &streamed[n - 1]);
    }
    free(memory);
    const int wins = streamed[TRIALS / 2] < cached[TRIALS / 2];
    openmp_host->log(
        META_LOG_INFO,
        "OpenMP: copies of %zu KiB take %.3f ms through the caches, %.3f ms past them: "
        "results of that size are stored %s them",
        bytes >> 10, 1e3 * cached[TRIALS / 2], 1e3 * streamed[TRIALS / 2],
        wins ? "past" : "through");
    return wins;
}

/* Whether @p size is decided: measured, or streaming wins at a smaller size already. */
static int known(int size)
{
    return size >= pays_from || size < sizes_measured;
}

static int pays_at(int size)
{
    if (!known(size)) {
        pthread_mutex_lock(&measure_lock);
        while (!known(size)) {
            if (streaming_wins((size_t)FIRST_SIZE / 2 << 2 * sizes_measured))
                pays_from = sizes_measured;
            ++sizes_measured;
        }
        pthread_mutex_unlock(&measure_lock);
    }
    return size >= pays_from;
}

int stream_pays(meta_i64 bytes)
{
#ifdef __SSE2__
    int size = -1;
    if (forced_bytes >= 0) return bytes >= forced_bytes;
    if (2 * bytes <= own_cache) return 0; /* fast path: called for the smallest copies, too */
    const meta_i64 mine = 2 * bytes / openmp_host->threads();
    if (mine <= own_cache) return 0;
    while (size + 1 < SIZES && mine >= (meta_i64)FIRST_SIZE << 2 * (size + 1)) ++size;
    return size >= 0 && pays_at(size);
#else
    (void)bytes, (void)pays_at;
    return 0;
#endif
}

int stream_wanted(meta_i64 bytes)
{
#ifdef __SSE2__
    if (forced_bytes >= 0) return bytes >= forced_bytes ? 1 : 0;
    return -1;
#else
    (void)bytes;
    return 0;
#endif
}
