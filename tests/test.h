/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test.h
 *  The harness of the tests. A test is a program: functions whose names state a promise, listed in
 *  TEST_MAIN. A promise is kept when none of its checks fails, and skipped when it ran none, which
 *  only a missing device may cause; tests/run.sh lists the skipped ones. Checks print what they
 *  expected and found and go on, so a function whose next step needs the last one says
 *  `if (!CHECK_OK(…)) return;`.
 *
 *  `PROGRAM` runs all promises, `PROGRAM NAME…` those named, `PROGRAM --list` prints them. Exit
 *  status 0: all kept or skipped, 1: some broken or none checked, 77: there is no such device, so
 *  nothing could be tested.
 *
 *  A comment line at the top of the file tells CTest how to run it; see tests/ctest.awk. */
#ifndef META_TEST_H
#define META_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "meta.h"

typedef struct test_promise {
    const char *name;
    void (*body)(void);
    bool is_long;
} test_promise;

#define PROMISE(function)      {#function, function, false}
/** One that takes too long for every run: only with ./check --long, or when named. */
#define PROMISE_LONG(function) {#function, function, true}
/** main() of a test: TEST_MAIN(PROMISE(a_holds), PROMISE(b_holds)). Nothing is started for it. */
#define TEST_MAIN(...) TEST_MAIN_WITH(NULL, __VA_ARGS__)
/** The same, with libmeta started and the device of META_MODE opened before the first promise, and
 *  finalised after the last. */
#define TEST_DEVICE_MAIN(...) TEST_MAIN_WITH(&test_device, __VA_ARGS__)

/** What surrounds the promises of a program; members may be NULL. */
typedef struct test_setting {
    void (*start)(int *argc, char ***argv);
    int (*worst)(int status); /**< of all processes, the same on each */
    int (*end)(int status);   /**< the program's exit status, the same on each process */
} test_setting;
extern const test_setting test_device;

#define TEST_MAIN_WITH(setting, ...)                                                           \
    int main(int argc, char **argv)                                                            \
    {                                                                                          \
        static const test_promise promises[] = {__VA_ARGS__};                                  \
        return test_run(argc, argv, setting, promises, sizeof promises / sizeof promises[0]); \
    }
int test_run(int argc, char **argv, const test_setting *setting, const test_promise *promises,
             size_t count);

/* ------------------------------------------------------------------ checks: true where they hold */

#define CHECK(condition) test_check((condition), __FILE__, __LINE__, #condition)
/** Numbers: what was found, then what is expected. */
#define CHECK_INT(found, expected) \
    test_check_int((int64_t)(found), (int64_t)(expected), __FILE__, __LINE__, #found)
#define CHECK_U64(found, expected) \
    test_check_u64((uint64_t)(found), (uint64_t)(expected), __FILE__, __LINE__, #found)
/** |found − expected| ≤ tolerance·|expected|, or ≤ tolerance where 0 is expected. */
#define CHECK_NEAR(found, expected, tolerance) \
    test_check_near((found), (expected), (tolerance), __FILE__, __LINE__, #found)
#define CHECK_STRING(found, expected) \
    test_check_string((found), (expected), __FILE__, __LINE__, #found)
#define CHECK_CONTAINS(text, part) test_check_contains((text), (part), __FILE__, __LINE__, #text)
/** Two arrays of @p count elements of @p type hold the same bits. */
#define CHECK_ARRAY(found, expected, count, type) \
    test_check_array((found), (expected), (size_t)(count), (type), __FILE__, __LINE__, #found)
/** A call of libmeta returns META_OK, or the error it should; a wrong one is printed with its
 *  message. */
#define CHECK_OK(call) test_check_err((call), META_OK, __FILE__, __LINE__, #call)
#define CHECK_ERR(call, expected) test_check_err((call), (expected), __FILE__, __LINE__, #call)
/** The same, and the message names @p part: an argument, a value. */
#define CHECK_ERR_NAMES(call, expected, part) \
    test_check_err_names((call), (expected), (part), __FILE__, __LINE__, #call)
/** Fail with a sentence of one's own. */
#define FAIL(...) test_fail(__FILE__, __LINE__, __VA_ARGS__)

bool test_check(bool holds, const char *file, int line, const char *text);
bool test_check_int(int64_t found, int64_t expected, const char *file, int line, const char *text);
bool test_check_u64(uint64_t found, uint64_t expected, const char *file, int line,
                    const char *text);
bool test_check_near(double found, double expected, double tolerance, const char *file, int line,
                     const char *text);
bool test_check_string(const char *found, const char *expected, const char *file, int line,
                       const char *text);
bool test_check_contains(const char *found, const char *part, const char *file, int line,
                         const char *text);
bool test_check_array(const void *found, const void *expected, size_t count, meta_type type,
                      const char *file, int line, const char *text);
bool test_check_err(meta_err found, meta_err expected, const char *file, int line,
                    const char *text);
bool test_check_err_names(meta_err found, meta_err expected, const char *part, const char *file,
                          int line, const char *text);
bool test_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** How many checks of the promise at hand have failed. */
long test_failures(void);
/** Describe the case at hand; printed with every failure until the next call or promise. */
void test_case(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ------------------------------------------------------------------ random cases */

/* Every promise starts from the seed (META_TEST_SEED or a fixed one) and its own name, on every rank
 * the same, so that a promise run alone sees the cases it saw in the whole run. */
uint64_t test_random(void);
/** From low to high, both included. */
int64_t test_random_in(int64_t low, int64_t high);
/** In [0, 1). */
double test_random_real(void);
/** Between @p low and @p high, from a thread's @p own state, which is not 0: the generator above is
 * the main thread's. */
int64_t test_random_of(uint64_t *own, int64_t low, int64_t high);
/** Random cases, few or many as test_count() says: for (int64_t k = …; …; ++k). Each has a seed of its
 *  own, so that a long run that was stopped goes on where it was (progress.h), META_TEST_CASE=K runs
 *  number K alone, and META_TEST_CASES=N at most N of each promise. How many there were is printed at
 *  the program's end. */
#define TEST_CASES(k, few, many) \
    for (int64_t k = test_first_case((few), (many)); test_has_case(k); ++(k))
int64_t test_first_case(int64_t few, int64_t many);
bool test_has_case(int64_t number);
/** Fill @p count elements of @p type: any bits for integers, finite values for floats. */
void test_random_fill(void *array, size_t count, meta_type type);

/* ------------------------------------------------------------------ what a test may need */

/** Start libmeta and open the device of META_MODE, where TEST_DEVICE_MAIN has not. Returns only if
 *  there is one: the program ends with 77 where there is none, and with 1 where it cannot be opened
 *  for any other reason, or where META_TEST_REQUIRE_BACKENDS forbids its absence. */
void test_require_device(void);
/** The same after a call that did it in another way, as meta_comm_init(): judge its error. */
void test_require(meta_err err);
/** A buffer on a device of another kind than @p mode, OpenMP or OpenCL; NULL where there is none. The
 *  thread's device is META_MODE's afterwards. */
void *test_alloc_elsewhere(meta_mode mode, size_t bytes);
/** Let the back ends of tests/plugins be found. Those of META_MODE must be: their absence is a
 *  failure. Before the library is started. */
void test_find_own_plugins(void);
/** Whether ./check --long asked for everything. */
bool test_long(void);
/** How many random cases: few, or many in a long run, or a fiftieth of few (at least one) where each
 *  is very slow, under oclgrind. */
int64_t test_count(int64_t few, int64_t many);
/** Whether kernels run under oclgrind, one at a time and some hundred times slower. */
bool test_under_oclgrind(void);
/** The path of a file of the source tree, as "tests/golden/initial.f64"; a static buffer. */
const char *test_source(const char *name);
/** The path of a program or file of the build tree, as "meta-info"; another static buffer. */
const char *test_built(const char *name);

/** This process among those of the test; 0 of 1 without MPI. */
extern int test_rank, test_size;

#endif
