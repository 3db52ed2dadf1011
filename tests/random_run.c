/* SPDX-License-Identifier: BSD-3-Clause */
/** @file random_run.c
 *  Runs the kernels of a shared object that random_kernels wrote, on the device of META_MODE, and
 *  compares every array, whole, and every result with what the kernel's oracle makes of the same
 * data.
 *
 *      random_run FILE.so SEED [SHAPES [FILES]]
 *
 *  SEED is of the data; SHAPES is how many boxes each kernel runs on; FILES: of so many kernel
 * files only, the first ones. With META_REPRODUCIBLE=on what the oracle's cells contribute to
 * floating-point sums is added exactly here. With META_CHECK=on kernels that can be told to leave
 * an array are run that way too: the call must name kernel and array. */
#include "config.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exact_sums.h"
#include "meta_kernel.h"
#include "random_table.h"
#include "test.h"

enum { MOST = META_KERNEL_PARAMETERS, CELLS = 1 << 12, MANY_CELLS = 1 << 15 };
enum { WORDS = sizeof(meta_extreme_f64) / sizeof(uint64_t) }; /* of the largest result */

static const char *program;
static uint64_t seed;
static int wrong, reproducible, found_out;
static bool is_checked;
static int64_t *strays; /* the oracle's count of accesses that would leave their array */

/* An argument on both sides. Of an array that starts behind the start of its buffer, `from` says
 * how many bytes. */
typedef struct argument {
    size_t bytes, from;
    char *before, *expected, *found; /* of the whole buffer, on the host */
    char *device;
    uint64_t result[2][WORDS]; /* expected and found, of a result on the host */
    bool is_on_device;
} argument;

static argument arguments[MOST];

/* ------------------------------------------------------------------ random data */

/* splitmix64 */
static uint64_t state;

static uint64_t bits(void)
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static int64_t between(int64_t low, int64_t high)
{
    return low + (int64_t)(bits() % ((uint64_t)(high - low) + 1));
}

static double wild(bool is_single)
{
    static const double rare[] = {0.0,       -0.0,      INFINITY, -INFINITY, NAN,
                                  0x1p-1074, -0x1p-149, 1.0,      -1.0,      0x1p-126};
    const int64_t which = between(0, 40);
    const int exponent = is_single ? (int)between(-140, 120) : (int)between(-1060, 1000);
    const double x = (double)(int64_t)bits() * 0x1p-63;
    if (which < 10) return rare[which];
    return which < 25 ? x * 10 : ldexp(x, exponent);
}

static double real_of(const random_operand *o)
{
    switch (o->fill) {
    case RANDOM_QUARTERS:
        return (double)between(4 * o->low, 4 * o->high) / 4;
    case RANDOM_UNIT:
        return (double)(int64_t)bits() * 0x1p-63;
    default:
        return wild(o->type == META_F32);
    }
}

static size_t size_of(int type)
{
    return type == META_F64 || type == META_I64 || type == META_U64 ? 8 : 4;
}

static void fill(char *to, size_t bytes, const random_operand *o)
{
    const size_t size = size_of(o->type);
    for (size_t k = 0; k + size <= bytes; k += size) {
        const bool is_whole = o->fill == RANDOM_WHOLE;
        const int64_t n = is_whole ? between(o->low, o->high) : (int64_t)bits();
        const double f64 = o->type <= META_F32 ? is_whole ? (double)n : real_of(o) : 0;
        const float f32 = (float)f64;
        if (o->type == META_F64) memcpy(to + k, &f64, size);
        else if (o->type == META_F32) memcpy(to + k, &f32, size);
        else memcpy(to + k, &n, size); /* the low bytes, of either sign */
    }
}

/* ------------------------------------------------------------------ a box */

static void choose_box(const random_kernel *k, bool is_large, random_box *b, meta_box *box)
{
    const int ndim = between(0, 2) ? k->least_ndim : (int)between(k->least_ndim, k->most_ndim);
    const int64_t most = is_large ? MANY_CELLS : CELLS;
    do {
        int64_t size = 1;
        memset(b, 0, sizeof *b);
        b->ndim = ndim;
        b->cells = 1;
        for (int d = 0; d < ndim; ++d) {
            const int64_t low = d < 4 ? k->low[d] : 0, high = d < 4 ? k->high[d] : 0;
            const int64_t cells = ndim == 1 ? between(1, most)
                                  : d == 0  ? between(1, is_large ? 600 : 70)
                                            : between(1, is_large && ndim < 4 ? 60 : 12);
            b->start[d] = low + (between(0, 2) ? 0 : between(0, 5));
            b->end[d] = b->start[d] + cells;
            b->size[d] = b->end[d] + high + (between(0, 2) ? 0 : between(0, 5));
            b->stride[d] = size;
            size *= b->size[d];
            b->cells *= cells;
        }
        box->ndim = ndim;
        for (int d = 0; d < ndim; ++d)
            box->size[d] = b->size[d], box->start[d] = b->start[d], box->end[d] = b->end[d];
    } while (b->cells > most || (is_large && b->cells < most / 4));
}

static int64_t array_elements(const random_box *b, const random_operand *o)
{
    int64_t elements = 1;
    for (int d = 0; d < b->ndim; ++d)
        if (!(o->dropped >> d & 1)) elements *= b->size[d] + (d < 3 ? o->grown[d] : 0);
    return elements;
}

/* ------------------------------------------------------------------ arguments */

static bool is_place(const random_operand *o)
{
    return o->kind == META_PARAMETER_MIN_AT || o->kind == META_PARAMETER_MAX_AT;
}

static bool make_argument(const random_operand *o, argument *a, const random_box *b)
{
    const size_t size = is_place(o) ? sizeof(uint64_t) : size_of(o->type);
    *a = (argument){0};
    if (o->kind == META_PARAMETER_VALUE) return true;
    a->is_on_device = o->kind < META_PARAMETER_VALUE || between(0, 1);
    if (!a->is_on_device) {
        for (int n = 0; n < WORDS; ++n) a->result[0][n] = a->result[1][n] = bits();
        return true;
    }
    const int64_t cells = is_place(o)                      ? WORDS
                          : o->kind > META_PARAMETER_VALUE ? 1
                          : o->length                      ? o->length
                                                           : array_elements(b, o);
    a->from = (size_t)between(0, 9) * size;
    a->bytes = a->from + ((size_t)cells + (size_t)between(0, 5)) * size;
    a->before = malloc(a->bytes);
    a->expected = malloc(a->bytes);
    a->found = malloc(a->bytes);
    if (!a->before || !a->expected || !a->found) return FAIL("no memory");
    fill(a->before, a->bytes, o);
    memcpy(a->expected, a->before, a->bytes);
    return CHECK_OK(meta_alloc((void **)&a->device, a->bytes)) &&
           CHECK_OK(meta_copy_h2d(a->device, a->before, a->bytes, NULL));
}

static void drop_argument(argument *a)
{
    if (a->device) CHECK_OK(meta_free(a->device));
    free(a->before);
    free(a->expected);
    free(a->found);
}

/* ------------------------------------------------------------------ what is said of a difference
 */

static void print_kernel(const random_kernel *k)
{
    meta_kernel *found = NULL;
    char first[32], last[32];
    snprintf(first, sizeof first, "/* %s */", k->name);
    snprintf(last, sizeof last, "/* end of %s */", k->name);
    if (meta_kernel_find(k->name, (meta_type)k->type, &found) != META_OK) return;
    const char *from = strstr(found->text, first), *to = from ? strstr(from, last) : NULL;
    if (to) printf("%.*s\n", (int)(to - from), from);
}

static void print_element(const char *what, const char *at, int type)
{
    double f64;
    float f32;
    uint64_t word = 0;
    memcpy(&word, at, size_of(type));
    memcpy(&f64, &word, sizeof f64);
    memcpy(&f32, &word, sizeof f32);
    if (type == META_F64) printf(" %s %.17g (%016" PRIx64 ")", what, f64, word);
    else if (type == META_F32) printf(" %s %.9g (%08" PRIx64 ")", what, (double)f32, word);
    else if (type == META_I32) printf(" %s %" PRId32, what, (int32_t)word);
    else if (type == META_I64) printf(" %s %" PRId64, what, (int64_t)word);
    else printf(" %s %" PRIu64, what, word);
}

/* Of a NaN, neither sign nor payload is promised. */
static bool differs(const char *found, const char *expected, int type)
{
    if (memcmp(found, expected, size_of(type)) == 0) return false;
    if (type == META_F64) {
        double f, e;
        memcpy(&f, found, sizeof f);
        memcpy(&e, expected, sizeof e);
        return !(isnan(f) && isnan(e));
    }
    if (type == META_F32) {
        float f, e;
        memcpy(&f, found, sizeof f);
        memcpy(&e, expected, sizeof e);
        return !(isnan(f) && isnan(e));
    }
    return true;
}

static void print_box(int ndim, const int64_t *start, const int64_t *end, const int64_t *size)
{
    printf("    box");
    for (int d = 0; d < ndim; ++d)
        printf(" [%" PRId64 ", %" PRId64 ") of %" PRId64, start[d], end[d], size[d]);
}

static void print_again(const random_kernel *k)
{
    printf("\n    again: sh tests/test_random_%s.sh --only %s, with META_TEST_SEED=%" PRIu64 "\n",
           reproducible ? "sums" : "kernels", k->name, seed);
}

static void report(const random_kernel *k, const random_operand *o, const random_box *b,
                   int64_t element, const char *found, const char *expected)
{
    static const char *const suffix[] = {"f64", "f32", "i64", "u64", "i32", "u32"};
    ++wrong;
    if (wrong <= 3) print_kernel(k);
    FAIL("kernel %s_%s, %s of type %s is wrong", k->name, suffix[k->type], o->name,
         suffix[o->type]);
    print_box(b->ndim, b->start, b->end, b->size);
    if (o->kind < META_PARAMETER_VALUE) {
        printf("; element");
        for (int d = 0; d < b->ndim; ++d) printf(" %" PRId64, element / b->stride[d] % b->size[d]);
    }
    print_element("is", found, o->type);
    print_element(", expected", expected, o->type);
    print_again(k);
}

/* The bytes between value and index are of neither. */
static void compare_place(const random_kernel *k, const random_operand *o, const random_box *b,
                          const char *found, const char *expected)
{
    random_operand index = *o;
    index.type = META_I64;
    if (differs(found, expected, o->type)) {
        report(k, o, b, 0, found, expected);
        return;
    }
    for (size_t n = 8; n < WORDS * sizeof(uint64_t); n += 8)
        if (differs(found + n, expected + n, META_I64)) {
            test_case("%s, index %d", k->name, (int)n / 8 - 1);
            report(k, &index, b, 0, found + n, expected + n);
            return;
        }
}

static void compare_argument(const random_kernel *k, const random_operand *o, argument *a,
                             const random_box *b)
{
    const size_t size = size_of(o->type);
    if (o->kind == META_PARAMETER_VALUE) return;
    if (!a->is_on_device && is_place(o)) {
        compare_place(k, o, b, (char *)a->result[1], (char *)a->result[0]);
        return;
    }
    if (!a->is_on_device) {
        if (differs((char *)a->result[1], (char *)a->result[0], o->type))
            report(k, o, b, 0, (char *)a->result[1], (char *)a->result[0]);
        return;
    }
    if (!CHECK_OK(meta_copy_d2h(a->found, a->device, a->bytes, NULL))) return;
    if (is_place(o)) {
        const size_t end = a->from + WORDS * sizeof(uint64_t);
        compare_place(k, o, b, a->found + a->from, a->expected + a->from);
        CHECK(memcmp(a->found, a->before, a->from) == 0);
        CHECK(memcmp(a->found + end, a->before + end, a->bytes - end) == 0);
        return;
    }
    for (size_t n = 0; n < a->bytes; n += size)
        if (differs(a->found + n, a->expected + n, o->type)) {
            report(k, o, b, ((int64_t)n - (int64_t)a->from) / (int64_t)size, a->found + n,
                   a->expected + n);
            return;
        }
}

/* ------------------------------------------------------------------ reproducible sums */

static exact sums[MOST];

static void take(int operand, double cell)
{
    exact_add(&sums[operand], cell);
}

static bool is_real_sum(const random_operand *o)
{
    return o->kind == META_PARAMETER_SUM && o->type <= META_F32;
}

static void run_oracle(const random_kernel *k, const random_box *b, void *const *host)
{
    for (int n = 0; n < k->operands; ++n)
        if (reproducible && is_real_sum(&k->operand[n])) memset(&sums[n], 0, sizeof sums[n]);
    k->oracle(b, host);
    for (int n = 0; n < k->operands; ++n) {
        const random_operand *o = &k->operand[n];
        if (!reproducible || !is_real_sum(o)) continue;
        const uint64_t rounded = exact_round(&sums[n], (meta_type)o->type);
        memcpy(host[n], &rounded, size_of(o->type));
    }
}

/* ------------------------------------------------------------------ kernels */

/* The call of a kernel with an access beyond its array: it is an error that says which. */
static void run_astray(const random_kernel *k, const meta_box *box, void *const *device)
{
    static const char *const suffix[] = {"f64", "f32", "i64", "u64", "i32", "u32"};
    char name[64];
    snprintf(name, sizeof name, "META_CHECK: kernel %s %s, ", k->name, suffix[k->type]);
    const meta_err error = (meta_err)k->call(box, device, NULL);
    ++found_out;
    if (CHECK_INT(error, META_ERR_BOUNDS) && CHECK_CONTAINS(meta_last_error(), name) &&
        CHECK_CONTAINS(meta_last_error(), k->access))
        return;
    ++wrong;
    if (wrong <= 3) print_kernel(k);
    print_box(box->ndim, box->start, box->end, box->size);
    print_again(k);
}

/* @p is_astray: with the value that makes an access leave its array. */
static void run_on(const random_kernel *k, bool is_large, bool is_astray)
{
    void *device[MOST], *host[MOST];
    random_box b;
    meta_box box = {0};
    bool is_ready = true;
    choose_box(k, is_large, &b, &box);
    for (int n = 0; n < k->operands; ++n) {
        const random_operand *o = &k->operand[n];
        argument *a = &arguments[n];
        is_ready = make_argument(o, a, &b) && is_ready;
        if (o->kind == META_PARAMETER_VALUE) {
            const void *value = is_astray && n == k->stray ? &k->stray_value : o->value;
            device[n] = host[n] = (void *)(uintptr_t)value;
        } else if (a->is_on_device) {
            device[n] = a->device + a->from;
            host[n] = a->expected + a->from;
        } else {
            device[n] = a->result[1];
            host[n] = a->result[0];
        }
    }
    if (is_ready) {
        const bool waits = between(0, 1);
        *strays = 0;
        run_oracle(k, &b, host);
        if (*strays > 0) run_astray(k, &box, device);
        else if (CHECK_OK((meta_err)k->call(&box, device, waits ? NULL : META_ASYNC)) &&
                 (waits || CHECK_OK(meta_flush())))
            for (int n = 0; n < k->operands; ++n)
                compare_argument(k, &k->operand[n], &arguments[n], &b);
        else print_kernel(k);
    }
    for (int n = 0; n < k->operands; ++n) drop_argument(&arguments[n]);
}

static uint64_t hash(const char *name, int type)
{
    uint64_t all = seed + (uint64_t)type;
    for (; *name; ++name) all = (all ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return all;
}

static int shapes = 3, files = INT_MAX;

static void every_kernel_has_the_bits_of_its_oracle(void)
{
    void *object = dlopen(program, RTLD_NOW | RTLD_LOCAL);
    int count = 0;
    if (!object) {
        FAIL("%s", dlerror());
        return;
    }
    const random_kernel *const *tables = dlsym(object, "random_tables");
    void (**taken)(int, double) = dlsym(object, "random_take");
    strays = dlsym(object, "random_strays");
    CHECK_OK(meta_get_reproducible(&reproducible));
    if (!CHECK(taken != NULL) || !CHECK(strays != NULL)) return;
    *taken = reproducible ? take : NULL;
    for (; CHECK(tables != NULL) && *tables && files > 0; ++tables, --files)
        for (const random_kernel *k = *tables; k->name; ++k, ++count) {
            state = hash(k->name, k->type);
            test_case("%s", k->name);
            if (is_checked && k->stray >= 0) run_on(k, false, true);
            for (int n = 0; n < shapes; ++n) run_on(k, n == shapes - 1 && !is_checked, false);
        }
    if (is_checked) printf("%d accesses beyond their arrays, ", found_out);
    if (is_checked && count > 24) CHECK(found_out > 0);
    printf("%d kernels, %d wrong\n", count, wrong);
    dlclose(object);
}

static void start(int *argc, char ***argv)
{
    if (*argc < 3) {
        fprintf(stderr, "usage: random_run FILE.so SEED [SHAPES [FILES]]\n");
        exit(2);
    }
    const char *check = getenv("META_CHECK");
    is_checked = check && (strcmp(check, "1") == 0 || strcmp(check, "on") == 0);
    program = (*argv)[1];
    seed = strtoull((*argv)[2], NULL, 0);
    if (*argc > 3) shapes = atoi((*argv)[3]);
    if (*argc > 4) files = atoi((*argv)[4]);
    test_device.start(argc, argv);
}

int main(int argc, char **argv)
{
    static const test_promise promises[] = {PROMISE(every_kernel_has_the_bits_of_its_oracle)};
    const test_setting setting = {.end = test_device.end};
    start(&argc, &argv);
    return test_run(1, argv, &setting, promises, 1);
}
