/* SPDX-License-Identifier: BSD-3-Clause */
/** @file openmp.h
 *  Private header of the OpenMP back end. */
#ifndef META_OPENMP_H
#define META_OPENMP_H

#include "config.h"

#include <time.h>

#include "meta_backend.h"

/** The core's services to plugins. */
extern const meta_host *openmp_host;

/** Exact sums of what a program's kernel's cells contribute, each in memory of its own: begin, add,
 * and end, after which the memory begins with the META_EXACT_WORDS words of the sum. */
typedef struct openmp_exact {
    size_t bytes;
    void (*begin)(void *sum);
    void (*take)(void *sum, const double *contribution, int64_t cells);
    void (*end)(void *sum);
} openmp_exact;

/** A kernel object: a kernel's function for one type and, for a reduction, the function that
 * combines the threads' partial results. */
typedef struct openmp_kernel {
    meta_kernel_function *run, *finish;
    /** Runs two calls interleaved that differ only in their base offsets; may be NULL. */
    void (*run_two)(const meta_work *work, const meta_work *also);
    size_t partial_bytes;       /**< size of a partial result */
    const meta_kernel *user;    /**< a kernel of the program's: only this … */
    meta_kernel_cpu *cpu;       /**< … and what follows count */
    const openmp_exact *exact;  /**< NULL: it has no exact sums */
    struct access_paces *paces; /**< what its calls took, see access.h */
} openmp_kernel;

/** The function that combines partial results of @p type. */
meta_kernel_function *openmp_finish_of(uint32_t combine, uint32_t type);

static inline const openmp_kernel *openmp_kernel_of(const meta_call *call)
{
    return (const openmp_kernel *)(const void *)call->kernel;
}

/** Elements of a call's space. */
static inline meta_i64 openmp_cells_of(const meta_call *call)
{
    return call->space->rows * call->space->extent[0];
}

/* The kernels of each instruction set that the compiler supports. Functions are NULL if a kernel
 * does not support the type. */
openmp_kernel openmp_kernel_baseline(uint32_t kernel, uint32_t type);
openmp_kernel openmp_kernel_avx2(uint32_t kernel, uint32_t type);
openmp_kernel openmp_kernel_avx512(uint32_t kernel, uint32_t type);
openmp_kernel openmp_kernel_sve256(uint32_t kernel, uint32_t type);
openmp_kernel openmp_kernel_sve512(uint32_t kernel, uint32_t type);
extern const openmp_exact openmp_exact_baseline, openmp_exact_avx2, openmp_exact_avx512,
    openmp_exact_sve256, openmp_exact_sve512;

/** Select the instruction set; call before any kernel is created. */
meta_err openmp_variant_choose(void);
const char *openmp_variant_name(void);
meta_err openmp_kernel_create(meta_plugin_device *device, const meta_kernel_source *source,
                              meta_plugin_kernel **kernel);
void openmp_kernel_destroy(meta_plugin_device *device, meta_plugin_kernel *kernel);

/* memory.c: entries of the plugin's operation table */
meta_err openmp_alloc(meta_plugin_device *device, size_t bytes, meta_memory *memory);
void openmp_free(meta_plugin_device *device, const meta_memory *memory);
meta_err openmp_wrap(meta_plugin_device *device, void *native, size_t bytes, meta_native_kind kind,
                     meta_memory *memory);
void openmp_unwrap(meta_plugin_device *device, const meta_memory *memory);
meta_err openmp_copy(meta_plugin_queue *queue, const meta_copy *copy);

/** Share k of n of [0, length), the part that thread k first touches and computes. */
static inline void openmp_share(meta_i64 length, int k, int n, meta_i64 part[2])
{
    const meta_i64 each = length / n, over = length % n;
    part[0] = k * each + (k < over ? k : over);
    part[1] = part[0] + each + (k < over);
}

/** Nanoseconds of CLOCK_MONOTONIC, for time stamps: all work is synchronous. */
static inline uint64_t openmp_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

enum { OPENMP_MOST_THREADS = 1024 };
/** Threads for so much work, of which @p least makes another one pay off. */
int openmp_threads_for(meta_i64 work, meta_i64 least);
/** Combine the threads' partial results, @p each of them in @p width bytes, @p apart bytes from one
 *  thread's to the next one's, in the order of the threads. They are overwritten. */
void openmp_combine(meta_kernel_function *finish, char *results, size_t apart, size_t width,
                    int threads, int each, const meta_result *result);
/** A thread's view of a call of a kernel of teams: arguments of its CPU code, of which those of
 * arrays are set for each team; where each array's cell (0, …) lies, and its argument's number; its
 * exact sums, and where its members' contributions to each lie. */
typedef struct openmp_team_share {
    const meta_call *call;
    const meta_kernel *kernel;
    meta_kernel_cpu *run;
    meta_kernel_cpu_argument *argument;
    char *const *home;
    const uint32_t *order;
    uint32_t arrays;
    const openmp_exact *exact; /**< NULL: there are none */
    void *const *sum;
    double *const *contribution;
    uint32_t sums;
    meta_i64 start[META_KERNEL_DIMS]; /**< of the box */
} openmp_team_share;
/** Compute share @p thread of @p threads of the teams. */
void openmp_teams_run(const openmp_team_share *share, int thread, int threads);
/** extremes.c: a thread's partial result of an extreme with its place, before any cell; combining
 *  those of result @p n, @p apart bytes from one thread's to the next one's. They are overwritten.
 */
void openmp_extreme_begin(void *partial);
void openmp_extreme_combine(const meta_call *call, uint32_t n, char *partials, size_t apart,
                            int threads);
/** Run a call of a kernel of the program's. */
meta_err openmp_user_run(const meta_call *call);
/** Run the calls; they are complete on return. */
meta_err openmp_launch(meta_plugin_queue *queue, const meta_launch *launch);

#endif
