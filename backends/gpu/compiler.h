/* SPDX-License-Identifier: BSD-3-Clause */
/** @file compiler.h
 *  The compilers of GPU code that run in the program: NVIDIA's NVRTC and AMD's hipRTC, whose
 * libraries are opened when a kernel is first compiled. They need no GPU. C, as program.h. */
#ifndef META_GPU_COMPILER_H
#define META_GPU_COMPILER_H

#include "meta_backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The core's services; set by the plug-in's init. */
extern const meta_host *gpu_host;

/** What a program is compiled for. */
typedef struct gpu_target {
    const char *amd; /**< an AMD GPU, as its runtime calls it, such as gfx90a:sramecc+; or NULL: */
    int capability;  /**< an NVIDIA GPU's compute capability, 90 for 9.0 */
    int driver;      /**< the major version of CUDA that its driver serves; 0: any */
} gpu_target;

/** A compiled program: machine code, or PTX for the driver to compile. */
typedef struct gpu_image {
    char *code; /**< to be freed */
    size_t bytes;
} gpu_image;

/** Which compiler gpu_compile() uses, with its options: what the code depends on beside the
 * program's text and the target. */
void gpu_compiler_facts(const gpu_target *target, char *text, size_t room);
/** Compile @p text, a program of @p title.
 *  @return META_ERR_UNSUPPORTED if there is no compiler for @p target, META_ERR_DEVICE with its
 * messages if it reports errors; all that it says goes to the log */
meta_err gpu_compile(const gpu_target *target, const char *title, const char *text,
                     gpu_image *image);
/** The error of a program that does not compile, with the whole @p text, which is logged as well.
 */
meta_err gpu_fail_of_program(const char *compiler, const char *title, const char *text);

#ifdef __cplusplus
}
#endif

#endif
