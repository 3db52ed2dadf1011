/* SPDX-License-Identifier: BSD-3-Clause */
/** @file regret.h
 *  Workloads as lists of calls, machines as numbers, and the best plan for one on the other, from
 *  which test_regret.c computes what META_MODE=auto loses. Times are in microseconds. */
#ifndef META_TEST_REGRET_H
#define META_TEST_REGRET_H

#include <stdbool.h>
#include <stdint.h>

enum { REGRET_DEVICES = 9, REGRET_FACTORS = 4, REGRET_BUFFERS = 36, REGRET_CALLS = 96 };

/** A kernel that takes so many times as long. */
typedef struct regret_factor {
    const char *kernel;
    double factor;
} regret_factor;

typedef struct regret_device {
    const char *name;
    bool is_host; /**< its memory is the host's, and the host waits for its work */
    double launch;
    double rate;      /**< gigabytes that kernels move per second */
    double latency;   /**< of copies from and to the host */
    double bandwidth; /**< gigabytes per second */
    double peer;      /**< the same from and to other devices that have it; 0: by the host */
    regret_factor factor[REGRET_FACTORS];
} regret_device;

typedef struct regret_machine {
    const char *name;
    int devices;
    regret_device device[REGRET_DEVICES];
} regret_machine;

typedef enum regret_operation {
    REGRET_AXPY,    /**< buffer 0 += buffer 1 / 2 */
    REGRET_AXPBY,   /**< the same with both scaled */
    REGRET_STENCIL, /**< buffer 0 from buffer 1 */
    REGRET_SUM,
    REGRET_DOT,
    REGRET_PACK,   /**< buffer 0 from a side of buffer 1 */
    REGRET_UNPACK, /**< buffer 1 into the ghosts of buffer 0 */
    REGRET_HALVE,  /**< buffer 0 from buffer 1 */
    REGRET_INSERT, /**< buffer 0 from buffers 1 and 2 */
    REGRET_DIVIDE, /**< buffer 0 from buffer 1 */
    REGRET_FEED,   /**< the right-hand side of system 0 from buffer 1 */
    REGRET_OPERATIONS
} regret_operation;

typedef struct regret_call {
    regret_operation operation;
    int buffer[3];
    int side; /**< of PACK and UNPACK: 0 low, 1 high */
} regret_call;

/** Grids of cells³ with one ghost cell on each side, or 1D arrays of cells elements. */
typedef struct regret_buffer {
    int ndim; /**< 1 or 3 */
    int64_t cells;
    bool is_system; /**< cells equations of four numbers each */
} regret_buffer;

typedef struct regret_workload {
    char name[64];
    int buffers, calls;
    regret_buffer buffer[REGRET_BUFFERS];
    regret_call call[REGRET_CALLS]; /**< a step */
    int steps;                      /**< of the first half, and of the second one */
} regret_workload;

/** What a call costs: the kernel's name, and the bytes that it moves by the simulated devices'
 * rule. */
typedef struct regret_cost {
    const char *kernel;
    double bytes;
    bool is_awaited; /**< the host waits for its result */
    int accesses;
    struct {
        int buffer;
        double bytes; /**< from the first to the last that is touched */
        bool reads, writes;
    } access[3];
} regret_cost;
regret_cost regret_cost_of(const regret_workload *w, const regret_call *call);
int64_t regret_elements(const regret_buffer *b);

/** A plan's time. */
typedef struct regret_plan {
    double step;       /**< of a step, after those in which the data has found its place */
    bool is_exhausted; /**< no plan was left out for lack of room */
    char where[REGRET_CALLS + 1]; /**< of the last step, the device of each call */
} regret_plan;

/** The best plan for a loop over the workload's step in which calls run on devices of set @p among.
 *  Arrays move as a whole. */
regret_plan regret_best_plan(const regret_workload *w, const regret_machine *m, uint32_t among);

/** The time of a step in which each call runs on the device that @p where says, as in regret_plan.
 */
double regret_plan_time(const regret_workload *w, const regret_machine *m, const char *where);

/** Run the workload with META_POLICY=@p policy on the machine of the environment. @return the time
 * of a step in the second half */
double regret_step_time(const regret_workload *w, const char *policy);

/* workloads */
regret_workload regret_axpy(int64_t cells);
regret_workload regret_cyclic_reduction(int levels);
regret_workload regret_conjugate_gradients(int64_t cells);
regret_workload regret_miniapp(int variables, int64_t cells);
regret_workload regret_mixed(int64_t cells);

#endif
