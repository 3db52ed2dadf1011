/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fuzz.h
 *  Fuzzing without libFuzzer: a target is a file with the function of that name and a description,
 * and fuzz.c calls it with changed copies of valid inputs for as long as META_TEST_FUZZ_SECONDS
 * says: a second, or half an hour with META_TEST_LONG=1, which goes on where it was stopped. Inputs
 * that reach new edges of the reader are changed further (fuzz_edges.h). What crashes, hangs,
 * leaks, asks for a huge piece of memory or breaks the target's own promise ends the program with
 * the input in a file; `PROGRAM FILE…` runs such files again.
 *
 *  Where clang has libFuzzer, a target can be linked with it by hand instead of with fuzz.c's
 * main(), as here in a build folder configured with CC=clang:
 *
 *      clang -g -fsanitize=fuzzer,address -DFUZZ_LIBFUZZER -I. -I../core -I../kernels -I../tests \
 *          ../tests/fuzz.c ../tests/fuzz_rank_map.c -L.libs -Wl,-rpath,$PWD/.libs -lmeta
 *
 *  and those of MiniGhost's files with its sources (see tests/tests.am), `mpicc -cc=clang` and
 *  -I../apps -I../apps/minighost -I../tools. */
#ifndef META_TEST_FUZZ_H
#define META_TEST_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/** As libFuzzer has them: before anything else, and for each input. Return 0. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct fuzz_target {
    const char *name;
    int seeds; /**< valid inputs; each must be accepted as it is */
    size_t (*seed)(int n, uint8_t *data, size_t room);
    /** Make checksums right again as far as @p how says, so that what stands behind them is
     * reached; NULL if there are none. */
    void (*repair)(uint8_t *data, size_t size, uint64_t how);
    const char *const *words; /**< that texts are made of, NULL at the end; or NULL */
} fuzz_target;
extern const fuzz_target fuzz_here;

/** Say that this input was accepted, and what it stands for agreed with it. */
void fuzz_accept(void);
/** End the program: a promise is broken. */
void fuzz_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/** What was printed on the error stream since this input began; a static buffer. */
const char *fuzz_said(void);
/** A new folder, in memory where the system has such a place; removed, with what is in it, at the
 *  program's end. */
const char *fuzz_folder(void);
/** The path of a file of the build tree; a static buffer. */
const char *fuzz_built(const char *name);
/** For targets whose allocations are not watched, for each input: the heap must not grow. */
void fuzz_check_heap(void);
/** Write @p size bytes to @p path; and compare a file with them. */
void fuzz_write(const char *path, const void *data, size_t size);
int fuzz_same(const char *path, const void *data, size_t size);

#endif
