/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test.c
 *  The test harness: checks, random numbers, and running a list of promises. */
#include "config.h"

#include "test.h"

#include "progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 0, BROKEN = 1, USAGE = 2, SKIPPED = 77, MOST_PRINTED = 10 };

int test_rank = 0, test_size = 1;

static const uint64_t default_seed = 20151013;
static uint64_t seed, state;
static const char *promise;
static const test_setting *setting;
static char case_text[512];
/* Of the promise at hand. Tests check on several threads. */
static atomic_bool checked;
static long failures;

/* The loop over random cases at hand; `end` is 0 outside of one. */
static struct {
    int number;               /* of the loop in its promise */
    int64_t at, end, skipped; /* skipped: META_TEST_CASE runs one alone */
    uint64_t base;
    long failures; /* before the case at hand */
} cases;
static int64_t cases_done;
static const char *program;

/* ------------------------------------------------------------------ failures */

/* In one piece, so that the lines of several processes do not mix. */
bool test_fail(const char *file, int line, const char *format, ...)
{
    char text[4096], rank[64] = "", number[64] = "";
    va_list arguments;
    atomic_store_explicit(&checked, true, memory_order_relaxed);
    if (++failures > MOST_PRINTED) return false;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (test_size > 1) snprintf(rank, sizeof rank, ", rank %d of %d", test_rank, test_size);
    if (cases.end > 0) snprintf(number, sizeof number, ", META_TEST_CASE=%" PRId64, cases.at);
    printf("%s:%d: %s\n    in %s, META_TEST_SEED=%" PRIu64 "%s%s\n%s%s%s", file, line, text,
           promise ? promise : "no promise", seed, number, rank, *case_text ? "    case: " : "",
           case_text, *case_text ? "\n" : "");
    fflush(stdout);
    return false;
}

long test_failures(void)
{
    return failures;
}

void test_case(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(case_text, sizeof case_text, format, arguments);
    va_end(arguments);
}

bool test_check(bool holds, const char *file, int line, const char *text)
{
    atomic_store_explicit(&checked, true, memory_order_relaxed);
    return holds || test_fail(file, line, "%s does not hold", text);
}

bool test_check_int(int64_t found, int64_t expected, const char *file, int line, const char *text)
{
    atomic_store_explicit(&checked, true, memory_order_relaxed);
    return found == expected ||
           test_fail(file, line, "%s is %" PRId64 ", expected %" PRId64, text, found, expected);
}

bool test_check_u64(uint64_t found, uint64_t expected, const char *file, int line, const char *text)
{
    atomic_store_explicit(&checked, true, memory_order_relaxed);
    return found == expected ||
           test_fail(file, line, "%s is %" PRIu64 ", expected %" PRIu64, text, found, expected);
}

bool test_check_near(double found, double expected, double tolerance, const char *file, int line,
                     const char *text)
{
    const double scale = fabs(expected) > 0 ? fabs(expected) : 1;
    atomic_store_explicit(&checked, true, memory_order_relaxed);
    if (fabs(found - expected) <= tolerance * scale) return true;
    return test_fail(file, line, "%s is %.17g, expected %.17g within %g", text, found, expected,
                     tolerance);
}

bool test_check_string(const char *found, const char *expected, const char *file, int line,
                       const char *text)
{
    atomic_store_explicit(&checked, true, memory_order_relaxed);
    if (found && strcmp(found, expected) == 0) return true;
    return test_fail(file, line, "%s is \"%s\", expected \"%s\"", text, found ? found : "(NULL)",
                     expected);
}

bool test_check_contains(const char *found, const char *part, const char *file, int line,
                         const char *text)
{
    atomic_store_explicit(&checked, true, memory_order_relaxed);
    if (found && strstr(found, part)) return true;
    return test_fail(file, line, "%s is \"%s\", expected \"%s\" in it", text,
                     found ? found : "(NULL)", part);
}

bool test_check_err(meta_err found, meta_err expected, const char *file, int line, const char *text)
{
    atomic_store_explicit(&checked, true, memory_order_relaxed);
    if (found == expected) return true;
    return test_fail(file, line, "%s\n    is %s\n    expected %s\n    message: %s", text,
                     meta_strerror(found), meta_strerror(expected), meta_last_error());
}

bool test_check_err_names(meta_err found, meta_err expected, const char *part, const char *file,
                          int line, const char *text)
{
    return test_check_err(found, expected, file, line, text) &&
           test_check_contains(meta_last_error(), part, file, line, text);
}

/* ------------------------------------------------------------------ arrays */

static size_t size_of(meta_type type)
{
    static const unsigned char bytes[META_TYPE_COUNT] = {
        [META_F64] = 8, [META_F32] = 4, [META_I64] = 8, [META_U64] = 8, [META_I32] = 4,
        [META_U32] = 4, [META_I16] = 2, [META_U16] = 2, [META_I8] = 1,  [META_U8] = 1};
    return bytes[type];
}

static void print_element(char *text, size_t room, const void *element, meta_type type)
{
    uint64_t bits = 0;
    double f64;
    float f32;
    memcpy(&bits, element, size_of(type)); /* little-endian, as every platform of ours */
    memcpy(&f64, element, type == META_F64 ? sizeof f64 : 0);
    memcpy(&f32, element, type == META_F32 ? sizeof f32 : 0);
    if (type == META_F64) snprintf(text, room, "%.17g (0x%016" PRIx64 ")", f64, bits);
    else if (type == META_F32) snprintf(text, room, "%.9g (0x%08" PRIx64 ")", (double)f32, bits);
    else snprintf(text, room, "%" PRIu64 " (0x%" PRIx64 ")", bits, bits);
}

bool test_check_array(const void *found, const void *expected, size_t count, meta_type type,
                      const char *file, int line, const char *text)
{
    const size_t bytes = size_of(type);
    const unsigned char *f = found, *e = expected;
    size_t wrong = 0, first = 0;
    char found_text[64], expected_text[64];
    atomic_store_explicit(&checked, true, memory_order_relaxed);
    if (count == 0 || memcmp(f, e, count * bytes) == 0) return true;
    for (size_t k = count; k-- > 0;)
        if (memcmp(f + k * bytes, e + k * bytes, bytes) != 0) ++wrong, first = k;
    print_element(found_text, sizeof found_text, f + first * bytes, type);
    print_element(expected_text, sizeof expected_text, e + first * bytes, type);
    return test_fail(file, line,
                     "%s: %zu of %zu elements are wrong, the first is [%zu] = %s, expected %s",
                     text, wrong, count, first, found_text, expected_text);
}

/* ------------------------------------------------------------------ random cases */

/* splitmix64: every seed is a good one, and the whole state is one number. */
static const uint64_t random_step = UINT64_C(0x9e3779b97f4a7c15);

uint64_t test_random(void)
{
    uint64_t z = state += random_step;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int64_t test_random_in(int64_t low, int64_t high)
{
    const uint64_t width = (uint64_t)high - (uint64_t)low + 1;
    return (int64_t)((uint64_t)low + (width ? test_random() % width : test_random()));
}

int64_t test_random_of(uint64_t *own, int64_t low, int64_t high)
{
    *own ^= *own << 13; /* xorshift: Marsaglia, J. Statistical Software 8 (14), 2003 */
    *own ^= *own >> 7;
    *own ^= *own << 17;
    return low + (int64_t)(*own % (uint64_t)(high - low + 1));
}

double test_random_real(void)
{
    return (double)(test_random() >> 11) * 0x1p-53;
}

/* An element takes a number or bits, of which both are drawn. */
static double drawn_number(void)
{
    const double number = test_random_real() * 200 - 100;
    state += random_step;
    return number;
}

static uint64_t drawn_bits(void)
{
    state += random_step;
    return test_random();
}

void test_random_fill(void *array, size_t count, meta_type type)
{
    const size_t bytes = size_of(type);
    unsigned char *element = array;
#define FILL(T, drawn)                                                                             \
    for (size_t k = 0; k < count; ++k, element += sizeof(T)) {                                     \
        const T value = (T)drawn;                                                                  \
        memcpy(element, &value, sizeof value);                                                     \
    }
    if (type == META_F64) FILL(double, drawn_number())
    else if (type == META_F32) FILL(float, drawn_number())
    else if (bytes == 8) FILL(uint64_t, drawn_bits())
    else if (bytes == 4) FILL(uint32_t, drawn_bits())
    else if (bytes == 2) FILL(uint16_t, drawn_bits())
    else FILL(uint8_t, drawn_bits())
#undef FILL
}

static void start_random(const char *name)
{
    state = seed;
    for (; *name; ++name) state = (state ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    cases.number = 0;
    cases.base = state;
}

int64_t test_first_case(int64_t few, int64_t many)
{
    const char *one = getenv("META_TEST_CASE"), *most = getenv("META_TEST_CASES");
    char name[512];
    cases.end = test_count(few, many);
    if (most && *most && atoll(most) < cases.end) cases.end = atoll(most);
    cases.base = (cases.base ^ (uint64_t)++cases.number) * UINT64_C(0x100000001b3);
    cases.failures = failures;
    snprintf(name, sizeof name, "%s.np%d.%s.%d", program, test_size, promise, cases.number);
    cases.skipped = 0;
    if (!one || !*one) return progress_begin(name, seed, cases.end, test_rank == 0);
    cases.skipped = atoll(one);
    cases.end = cases.skipped + 1;
    return cases.skipped;
}

/* A case that is wrong is the first of the next run. */
bool test_has_case(int64_t number)
{
    if (failures == cases.failures) progress_at(number);
    state = cases.base ^ (uint64_t)(number + 1) * UINT64_C(0xd1342543de82ef95);
    cases.at = number;
    if (number < cases.end) return true;
    cases_done += cases.end - cases.skipped;
    progress_end(failures == cases.failures ? cases.end : -1);
    cases.end = 0;
    return false;
}

/* In the middle, after a failure of this or another process. */
static void leave_cases(void)
{
    progress_end(failures == cases.failures && cases.at > 0 ? cases.at - 1 : -1);
    cases.end = 0;
}

/* ------------------------------------------------------------------ what a test may need */

/* The worst status of all processes. */
static int worst_of_all(int status)
{
    return setting && setting->worst ? setting->worst(status) : status;
}

/* The exit status of all processes from that of this one. */
static int ended(int status)
{
    status = worst_of_all(status);
    if (setting && setting->end) status = setting->end(status);
    fflush(stdout);
    return status;
}

/* Whether META_TEST_REQUIRE_BACKENDS lists the back end that is missing, whose name @p message has
 * last in "X asks for NAME": of several that META_RANK_MAP or META_AUTO_DEVICES name it may be
 * another one. */
static bool device_is_required(const char *message)
{
    static const char asks[] = " asks for ", between[] = ":, ";
    const char *list = getenv("META_TEST_REQUIRE_BACKENDS"), *missing = getenv("META_MODE");
    for (const char *at = message; (at = strstr(at, asks));) missing = at += sizeof asks - 1;
    const size_t length = missing ? strcspn(missing, between) : 0;
    while (list && *list) {
        const size_t word = strcspn(list, between);
        if (word > 0 && word == length && strncmp(list, missing, word) == 0) return true;
        list += word + (list[word] != '\0');
    }
    return false;
}

void test_require(meta_err err)
{
    if (err == META_OK) return;
    const bool is_missing = err == META_ERR_NO_DEVICE;
    const bool is_required = is_missing && device_is_required(meta_last_error());
    printf("%s: %s\n", is_missing ? "no device" : "the device cannot be opened", meta_last_error());
    if (is_required) printf("META_TEST_REQUIRE_BACKENDS lists it, so this is a failure\n");
    exit(ended(is_missing && !is_required ? SKIPPED : BROKEN));
}

void test_require_device(void)
{
    int index;
    meta_err err = meta_init();
    if (err == META_OK) err = meta_get_acc(&index, NULL);
    test_require(err);
}

static void start_device(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    test_require_device();
}

static int end_device(int status)
{
    if (status == SKIPPED) return status;
    return CHECK_OK(meta_finalize()) ? status : BROKEN;
}

const test_setting test_device = {.start = start_device, .end = end_device};

void *test_alloc_elsewhere(meta_mode mode, size_t bytes)
{
    const meta_mode other = mode == META_OPENMP ? META_OPENCL : META_OPENMP;
    void *ptr = NULL;
    int devices = 0;
    if (meta_device_count(other, &devices) != META_OK || devices == 0) return NULL;
    CHECK_OK(meta_set_acc(0, other));
    CHECK_OK(meta_alloc(&ptr, bytes));
    CHECK_OK(meta_set_acc(0, META_SPREAD));
    return ptr;
}

void test_find_own_plugins(void)
{
    static char folders[8192]; /* before those of the environment, such as the fake CUDA's */
    const char *mode = getenv("META_MODE"), *others = getenv("META_BACKEND_PATH");
    if (!*folders) {
        const int length =
            snprintf(folders, sizeof folders, "%s%s%s", test_built("tests/plugins/.libs"),
                     others ? ":" : "", others ? others : "");
        if (length < 0 || (size_t)length >= sizeof folders) abort();
    }
    setenv("META_BACKEND_PATH", folders, 1);
    if (mode && (strcmp(mode, "late") == 0 || strcmp(mode, "plain") == 0))
        setenv("META_TEST_REQUIRE_BACKENDS", mode, 1);
}

bool test_long(void)
{
    const char *value = getenv("META_TEST_LONG");
    return value && strcmp(value, "1") == 0;
}

int64_t test_count(int64_t few, int64_t many)
{
    const char *brief = getenv("META_TEST_BRIEF");
    if (brief && strcmp(brief, "1") == 0) return few < 50 ? 1 : few / 50;
    return test_long() ? many : few;
}

bool test_under_oclgrind(void)
{
    return getenv("OCLGRIND_DATA_RACES") != NULL;
}

const char *test_source(const char *name)
{
    static char path[4096];
    const char *folder = getenv("META_TEST_SRCDIR");
    snprintf(path, sizeof path, "%s/%s", folder ? folder : ".", name);
    return path;
}

const char *test_built(const char *name)
{
    static char path[4096];
    const char *folder = getenv("META_TEST_BUILDDIR");
    snprintf(path, sizeof path, "%s/%s", folder ? folder : ".", name);
    return path;
}

/* ------------------------------------------------------------------ the run */

static bool chosen(int argc, char **argv, const test_promise *p)
{
    for (int k = 1; k < argc; ++k)
        if (strcmp(argv[k], p->name) == 0) return true;
    return argc <= 1 && (!p->is_long || test_long());
}

static bool known(const test_promise *promises, size_t count, const char *name)
{
    for (size_t k = 0; k < count; ++k)
        if (strcmp(promises[k].name, name) == 0) return true;
    return false;
}

static int list(const test_promise *promises, size_t count)
{
    for (size_t k = 0; k < count; ++k) printf("%s\n", promises[k].name);
    return KEPT;
}

/* KEPT, BROKEN, or SKIPPED where no process ran a check. */
static int keep(const test_promise *p)
{
    int status;
    promise = p->name;
    *case_text = '\0';
    checked = false;
    failures = 0;
    start_random(p->name);
    p->body();
    if (cases.end > 0) leave_cases();
    if (failures > MOST_PRINTED) printf("    … and %ld more failures\n", failures - MOST_PRINTED);
    const bool checked_anywhere = worst_of_all(checked ? BROKEN : KEPT) != KEPT;
    status = worst_of_all(failures ? BROKEN : KEPT);
    if (!checked_anywhere) status = SKIPPED;
    if (test_rank == 0)
        printf("%s %s\n",
               status == KEPT     ? "kept  "
               : status == BROKEN ? "BROKEN"
                                  : "skipped",
               p->name);
    fflush(stdout);
    promise = NULL;
    return status;
}

int test_run(int argc, char **argv, const test_setting *around, const test_promise *promises,
             size_t count)
{
    const char *given = getenv("META_TEST_SEED");
    int status = KEPT;
    size_t verdicts = 0;
    setenv("META_BOARD", "off", 0); /* other tests run on this node at the same time */
    seed = given && *given ? strtoull(given, NULL, 0) : default_seed;
    setting = around;
    program = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
    if (argc == 2 && strcmp(argv[1], "--list") == 0) return list(promises, count);
    for (int k = 1; k < argc; ++k)
        if (!known(promises, count, argv[k])) {
            fprintf(stderr, "%s: no promise %s here; --list prints them\n", argv[0], argv[k]);
            return USAGE;
        }
    if (setting && setting->start) setting->start(&argc, &argv);
    for (size_t k = 0; k < count; ++k) {
        if (!chosen(argc, argv, &promises[k])) continue;
        const int verdict = keep(&promises[k]);
        if (verdict == BROKEN) status = BROKEN;
        verdicts += verdict != SKIPPED;
    }
    if (cases_done > 0 && test_rank == 0)
        printf("random cases: %" PRId64 " with META_TEST_SEED=%" PRIu64 ", %s wrong\n", cases_done,
               seed, status == BROKEN ? "some" : "none");
    if (verdicts == 0) {
        if (test_rank == 0) printf("no promise ran a check, so this is a failure\n");
        status = BROKEN;
    }
    return ended(status);
}
