/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ptx.h
 *  Runs PTX, the text that nvcc and NVRTC compile kernels to, on the CPU: modules, their kernels,
 * and launches. Nothing here knows CUDA's runtime; device memory is asked for through ptx_memory.
 */
#ifndef META_TEST_PTX_H
#define META_TEST_PTX_H

#include <stddef.h>
#include <stdint.h>

/** An allocation of device memory, as a kernel sees it. */
typedef struct ptx_range {
    uint64_t begin, end; /**< addresses of its first byte and one past its last */
    char *bytes;         /**< where the first byte is for the host */
} ptx_range;

/** The memory of one device. The functions may be called by several threads at once. */
typedef struct ptx_memory {
    /** Find the allocation that contains [address, address + bytes) and that kernels of this device
     *  may access now. @return 1, or 0: there is none */
    int (*find)(const struct ptx_memory *memory, uint64_t address, size_t bytes, ptx_range *found);
    /** Allocate memory for a module's global variables, and free it. @return 1, or 0: none is left
     */
    int (*allocate)(const struct ptx_memory *memory, size_t bytes, ptx_range *made);
    void (*release)(const struct ptx_memory *memory, const ptx_range *made);
} ptx_memory;

typedef struct ptx_module ptx_module;
typedef struct ptx_kernel ptx_kernel;

/** Parse a module and initialise its global variables in @p memory, which it uses until it is
 * freed. Kernels are translated on first use.
 *  @param why  of @p room bytes: on failure what is wrong, with the line of PTX
 *  @return NULL on failure */
ptx_module *ptx_load(const char *text, const ptx_memory *memory, char *why, size_t room);
/** Whether the calling thread's last ptx_load() failed because of what is not supported here; the
 * text may be valid. */
int ptx_load_lacked(void);
void ptx_free(ptx_module *module);

/** The kernel of a name, which lives as long as its module.
 *  @return NULL where there is none, and @p why is empty, or where it has what the executor lacks,
 *          and @p why names that with its line */
ptx_kernel *ptx_find(ptx_module *module, const char *name, char *why, size_t room);

/** A kernel's parameter, in the block of arguments that ptx_run() takes. */
typedef struct ptx_parameter {
    size_t offset, bytes;
} ptx_parameter;

/** What a launch must know of a kernel. */
typedef struct ptx_facts {
    const char *name;
    int parameters;
    const ptx_parameter *parameter;
    size_t argument_bytes;
    size_t shared_bytes;  /**< static shared memory */
    unsigned max_threads; /**< .maxntid, or 1024 */
    unsigned required[3]; /**< .reqntid: the shape that blocks must have; 0: any */
} ptx_facts;
const ptx_facts *ptx_facts_of(const ptx_kernel *kernel);

typedef struct ptx_launch {
    unsigned grid[3], block[3];
    size_t dynamic_shared;
    const char *arguments; /**< of argument_bytes */
    int threads;           /**< host threads that run blocks, at most */
    int find_races;        /**< also report races on shared memory */
} ptx_launch;

/** CUDA's numbers of what a kernel can do wrong. */
enum { PTX_ILLEGAL_ADDRESS = 700, PTX_MISALIGNED = 716, PTX_LAUNCH_FAILURE = 719 };

typedef struct ptx_fault {
    int status;     /**< 0, or one of CUDA's */
    char text[512]; /**< kernel, block, thread, line of PTX and what happened */
} ptx_fault;

/** Run all blocks of a kernel, to the end. @return whether none did anything wrong */
int ptx_run(ptx_kernel *kernel, const ptx_memory *memory, const ptx_launch *launch,
            ptx_fault *fault);

/** Instructions that threads have executed so far, in this process. */
uint64_t ptx_executed(void);

#endif
