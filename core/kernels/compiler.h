/* SPDX-License-Identifier: BSD-3-Clause */
/** @file compiler.h
 *  The system's C compiler, which compiles kernels whose text is given at run time. */
#ifndef META_KERNELS_COMPILER_H
#define META_KERNELS_COMPILER_H

#include <limits.h>

#include "base/base.h"

/** A compiler, and with what it is called. */
typedef struct meta_compiler {
    char path[PATH_MAX];      /**< of its program; empty if there is none */
    char words[PATH_MAX];     /**< META_CC, split where `argument` points to */
    const char *argument[32]; /**< of META_CC, behind the first; ends with NULL */
    char build[512];          /**< which compiler it is: sizes and times of the programs named */
    int set;                  /**< the instruction set that it compiles for */
} meta_compiler;

/** Find META_CC, else cc, gcc or clang in PATH. Without one, the path is empty. It compiles for
 * this machine's processor. */
void meta_compiler_find(meta_compiler *compiler);
/** The best instruction set of this machine's processor, or META_CPU's: META_KERNEL_BASELINE …
 * AVX512, or SVE. */
int meta_compiler_set(void);
/** The compiler's options for an instruction set, as one text. */
const char *meta_compiler_options(int set);
/** The instruction set of that name: baseline, avx2, avx512, sve, or native for
 * meta_compiler_set(); -1 if processors of this machine's kind have none. */
int meta_compiler_set_named(const char *name);
/** Compile @p text, a kernel file of name @p file, to a shared object whose bytes are @p code, of
 *  malloc(). It has `META_COMPILED`.
 *  @return META_ERR_UNSUPPORTED if there is no compiler, META_ERR_ARGUMENT with its messages if it
 *          refuses the text, META_ERR_DEVICE if it hangs or breaks */
meta_err meta_compiler_run(const meta_compiler *compiler, const char *file, const char *text,
                           void **code, size_t *bytes);

/** Languages in which a text is checked without code being made of it. */
typedef enum meta_check_language {
    META_CHECK_C,      /**< C11, by META_CC or else as for meta_compiler_find() */
    META_CHECK_CXX,    /**< C++11, by c++, g++ or clang++ */
    META_CHECK_OPENCL, /**< OpenCL C 1.2, by clang */
    META_CHECK_GNU /**< mistakes alone, as C11 with what GNU's headers add: what a program may be
                      built as */
} meta_check_language;
/** Have a text of name @p file checked: a kernel file, or for OpenCL C a whole program.
 *  @param command  the compiler's path, empty if there is none; room for PATH_MAX
 *  @param said     of malloc(): what it says, also where it accepts the text; NULL if it did not
 * run
 *  @return META_ERR_UNSUPPORTED if there is no compiler, META_ERR_ARGUMENT if it refuses the text
 */
meta_err meta_compiler_check(meta_check_language language, const char *file, const char *text,
                             char *command, char **said);

/** Whose record says which loops over cells become vectors. */
typedef enum meta_record_kind {
    META_RECORD_GCC,  /**< its dump of the pass `vect`, with missed and optimized loops and lines */
    META_RECORD_CLANG /**< its optimization record of the pass `loop-vectorize`, as YAML */
} meta_record_kind;
/** Compile a kernel file for every instruction set that a program's kernels are compiled for, and
 * get what the compiler records of loops. The loop over the cells of kernel heat is in function
 * heat_rows_f64_1_12, of the element type, the set (META_KERNEL_BASELINE …) and the line of
 * META_CELLS.
 *  @param record  of malloc(), NULL with an error
 *  @return META_ERR_UNSUPPORTED if the compiler is neither gcc nor clang, or does not compile the
 * file */
meta_err meta_compiler_record(const char *file, const char *text, meta_record_kind *kind,
                              char **record);

/** Whether @p file can be the name of a kernel file; otherwise sets the error. */
meta_err meta_compiler_check_file(const char *file);
/** Whether the text includes itself again: without an include guard or #pragma once around that;
 *  otherwise sets the error, which names it. */
meta_err meta_compiler_check_guard(const char *file, const char *text);

/** Whether the file's parameter lists, and what goes with them, are as kernel files have them, as
 * far as text tells: otherwise sets the error, with the line. A compiler says of such mistakes what
 * nobody reads. */
meta_err meta_compiler_check_lists(const char *file, const char *text);
/** All of these. */
meta_err meta_compiler_check_text(const char *file, const char *text);

/** The symbol of a compiled object that has its kernels: a list, linked by their `state`. */
#define META_COMPILED "meta_compiled_kernels"
/** The symbols of pointers in it, which become meta_kernel_near() and meta_kernel_element() once it
 *  is loaded. */
#define META_COMPILED_NEAR    "meta_compiled_near_function"
#define META_COMPILED_ELEMENT "meta_compiled_element_function"
/** The text in which the kernel file is included: with it the object registers nothing by itself,
 *  so that it need not find libmeta's functions. %s is the file's name, twice. */
extern const char meta_compiler_unit[];

/** What a kernel file includes; generated by embed.sh. */
extern const unsigned char meta_language_meta_kernel_h[];
extern const unsigned char meta_language_meta_kernel_body_h[];
extern const unsigned char meta_language_meta_kernel_end_h[];
extern const unsigned char meta_language_meta_kernel_list_h[];
extern const unsigned char meta_language_meta_kernel_pass_h[];
extern const unsigned char meta_language_meta_kernel_team_h[];
extern const unsigned char meta_language_meta_kernel_team_body_h[];
extern const unsigned char meta_language_meta_kernel_extremes_h[];
extern const unsigned char meta_language_meta_extreme_h[];
extern const unsigned char meta_language_meta_types_h[];
extern const unsigned char meta_language_meta_h[];
/** The checks in the code of devices, see lang_check.h; no kernel file includes it. */
extern const unsigned char meta_language_lang_check_h[];
typedef struct meta_language_file {
    const char *name;
    const unsigned char *text;
} meta_language_file;
enum { META_LANGUAGE_FILES = 11 };
extern const meta_language_file meta_language[META_LANGUAGE_FILES];

#endif
