/* SPDX-License-Identifier: BSD-3-Clause */
/** @file settings.h
 *  The variables FAKE_CUDA_… of the environment, read when the library is loaded. A wrong value or
 *  an unknown name ends the program.
 *
 *  FAKE_CUDA_DEVICES=N      how many devices there are, 0 to 16 (META_TEST_GPUS, or 1)
 *  FAKE_CUDA_DRIVER=N       the driver's version (the toolkit's); 0: there is no driver
 *  FAKE_CUDA_CAPABILITY=N   of the devices, as 75 for sm_75 (90)
 *  FAKE_CUDA_UNITS=N        multiprocessors of a device (4)
 *  FAKE_CUDA_MEMORY=BYTES   of a device (16 GiB)
 *  FAKE_CUDA_POOLS=0        the devices have no memory pools
 *  FAKE_CUDA_THREADS=N      host threads that run a kernel's blocks (the host's processors)
 *  FAKE_CUDA_LAZY=1         work does not start until the host or other work waits for it
 *  FAKE_CUDA_DELAY=N        a random delay below N microseconds before each piece of work
 *  FAKE_CUDA_SEED=N         of those delays (1)
 *  FAKE_CUDA_RACES=1        races on shared memory are errors of the kernel
 *  FAKE_CUDA_OPEN=1         the host may access device memory, as a GPU-aware MPI does
 *  FAKE_CUDA_FAIL_AT=N      the N-th call fails,
 *  FAKE_CUDA_FAIL_STATUS=N  with this status (999),
 *  FAKE_CUDA_FAIL_STICKY=1  and so do all calls after it
 *  FAKE_CUDA_FAIL_CALL=NAME[:STATUS]  each call of this function fails; one of NVRTC too
 *  FAKE_CUDA_REPORT=FILE    append what ran and what is left over to FILE (-: print it)
 *  FAKE_CUDA_QUIET=1        do not print misuse when it happens */
#ifndef META_TEST_CUDA_SETTINGS_H
#define META_TEST_CUDA_SETTINGS_H

#include <stdlib.h>
#include <string.h>

enum { FAKE_DEVICES = 16 };

typedef struct fake_settings {
    long devices, driver, capability, units, memory, pools, threads;
    long lazy, delay, seed, races, open;
    long fail_at, fail_status, fail_sticky, quiet;
    const char *fail_call, *report;
} fake_settings;

extern fake_settings settings;

/** Read the environment; before anything else of the library. */
void settings_read(void);

/** The status that a call of @p name fails with by FAKE_CUDA_FAIL_CALL, whose value is @p value;
 *  @p otherwise if it has no status; 0: the call does not fail. */
static inline int settings_fail_status(const char *value, const char *name, int otherwise)
{
    const size_t length = strlen(name);
    if (!value || strncmp(value, name, length) != 0) return 0;
    if (value[length] == '\0') return otherwise;
    return value[length] == ':' ? atoi(value + length + 1) : 0;
}

#endif
