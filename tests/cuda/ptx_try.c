/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ptx_try.c
 *  Runs instructions and short kernels for tests. */
#include "ptx_try.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

/* ------------------------------------------------------------------ memory */

enum { MOST = 64 };
static ptx_range ranges[MOST];
static bool of_module[MOST];
static uint64_t next_address = 0x7f0000000000;

static int find(const ptx_memory *memory, uint64_t address, size_t bytes, ptx_range *found)
{
    (void)memory;
    for (int k = 0; k < MOST; ++k) {
        const ptx_range *r = &ranges[k];
        if (!r->bytes || address < r->begin || address >= r->end || r->end - address < bytes)
            continue;
        *found = *r;
        return 1;
    }
    return 0;
}

static int allocate(const ptx_memory *memory, size_t bytes, ptx_range *made)
{
    int k = 0;
    (void)memory;
    while (k < MOST && ranges[k].bytes) ++k;
    if (k == MOST) return 0;
    *made = (ptx_range){next_address, next_address + bytes, calloc(1, bytes)};
    next_address += (bytes + 511) / 256 * 256;
    if (!made->bytes) return 0;
    ranges[k] = *made;
    of_module[k] = true;
    return 1;
}

static void release(const ptx_memory *memory, const ptx_range *made)
{
    (void)memory;
    for (int k = 0; k < MOST; ++k) {
        if (ranges[k].bytes != made->bytes) continue;
        free(ranges[k].bytes);
        ranges[k].bytes = NULL;
    }
}

const ptx_memory try_memory = {find, allocate, release};

void *try_allocate(size_t bytes, uint64_t *address)
{
    ptx_range made;
    if (!allocate(&try_memory, bytes, &made)) abort();
    for (int k = 0; k < MOST; ++k)
        if (ranges[k].bytes == made.bytes) of_module[k] = false;
    *address = made.begin;
    return made.bytes;
}

int try_held(void)
{
    int held = 0;
    for (int k = 0; k < MOST; ++k) held += ranges[k].bytes && of_module[k];
    return held;
}

void try_free_all(void)
{
    for (int k = 0; k < MOST; ++k) {
        if (!ranges[k].bytes || of_module[k]) continue;
        free(ranges[k].bytes);
        ranges[k].bytes = NULL;
    }
}

/* ------------------------------------------------------------------ kernels */

ptx_module *try_load(const char *text)
{
    static const char head[] = ".version 9.0\n.target sm_90\n.address_size 64\n";
    char why[600];
    char *whole = malloc(sizeof head + strlen(text));
    if (!whole) abort();
    strcpy(whole, head);
    strcat(whole, text);
    ptx_module *module = ptx_load(whole, &try_memory, why, sizeof why);
    free(whole);
    if (!module) FAIL("the module is refused: %s", why);
    return module;
}

ptx_kernel *try_kernel(ptx_module *module)
{
    char why[600] = "";
    ptx_kernel *kernel = module ? ptx_find(module, "k", why, sizeof why) : NULL;
    if (module && !kernel) FAIL("the kernel is refused: %s", why);
    return kernel;
}

bool try_run(ptx_kernel *kernel, unsigned blocks, unsigned threads, const uint64_t *arguments,
             int count, ptx_fault *fault)
{
    char bytes[256] = {0};
    if (count) memcpy(bytes, arguments, (size_t)count * sizeof *arguments);
    const ptx_launch launch = {
        .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .arguments = bytes, .threads = 2};
    return ptx_run(kernel, &try_memory, &launch, fault);
}

bool try_text(const char *text, unsigned blocks, unsigned threads, void *memory, size_t bytes)
{
    uint64_t address;
    char *device = try_allocate(bytes, &address);
    memcpy(device, memory, bytes);
    ptx_fault fault = {0};
    ptx_module *module = try_load(text);
    ptx_kernel *kernel = try_kernel(module);
    const bool ran = kernel && try_run(kernel, blocks, threads, &address, 1, &fault);
    if (kernel && !ran) FAIL("%s", fault.text);
    memcpy(memory, device, bytes);
    ptx_free(module);
    try_free_all();
    return ran;
}

/* ------------------------------------------------------------------ instructions */

enum { THREADS = 80, WORDS = 8 };

static const char *bits_of(char type)
{
    return type == 'h' ? "b16" : type == 'd' ? "b64" : "b32";
}

/* One input: from memory, for each thread its own, or from a parameter, for all the same. */
static void write_input(FILE *w, char name, char type, int k, bool uniform)
{
    const char *from = uniform ? "param" : "global";
    const char *into = type == 'p' ? "%n" : "%";
    fprintf(w, "ld.%s.%s %s", from, bits_of(type), into);
    if (type != 'p') fprintf(w, "%c", name);
    if (uniform) fprintf(w, ", [in%d];\n", k);
    else fprintf(w, ", [%%at+%d];\n", 8 * k);
    if (type == 'p') fprintf(w, "setp.ne.u32 %%%c, %%n, 0;\n", name);
}

typedef enum run_of { ALL_THREADS, EVERY_SECOND, UNIFORM } run_of;

static char *kernel_text(const try_case *c, run_of which)
{
    static const char names[] = "xabce";
    char *text = NULL;
    size_t size;
    FILE *w = open_memstream(&text, &size);
    if (!w) abort();
    fprintf(w, ".visible .entry k(.param .u64 memory, .param .u64 in0, .param .u64 in1,\n"
               ".param .u64 in2, .param .u64 in3) {\n.reg .b64 %%at, %%i, %%w<9>;\n.reg .b32 %%n, "
               "%%t<9>;\n"
               ".reg .b16 %%q<9>;\n.reg .pred %%p<9>, %%odd;\n");
    for (int k = 0; c->types[k]; ++k)
        fprintf(w, ".reg .%s %%%c;\n", c->types[k] == 'p' ? "pred" : bits_of(c->types[k]),
                names[k]);
    fprintf(w,
            "mov.u32 %%n, %%tid.x;\nmul.wide.u32 %%i, %%n, %d;\nld.param.u64 %%at, [memory];\n"
            "add.u64 %%at, %%at, %%i;\n",
            8 * WORDS);
    if (which == EVERY_SECOND)
        fprintf(w, "and.b32 %%n, %%n, 1;\nsetp.eq.u32 %%odd, %%n, 1;\n@%%odd bra END;\n");
    for (int k = 1; c->types[k]; ++k)
        write_input(w, names[k], c->types[k], k - 1, which == UNIFORM);
    fprintf(w, "%s\n", c->text);
    if (*c->types == 'p') fprintf(w, "selp.b32 %%n, 1, 0, %%x;\n");
    fprintf(w, "st.global.%s [%%at+32], %s;\nEND:\nret;\n}\n", bits_of(*c->types),
            *c->types == 'p' ? "%n" : "%x");
    fclose(w);
    return text;
}

static void check(const try_case *c, uint64_t found, int thread, run_of which)
{
    static const char *const runs[] = {"each thread its own", "every second thread",
                                       "the same for all"};
    const int bits = *c->types == 'h' ? 16 : *c->types == 'd' ? 64 : 32;
    const uint64_t mask = bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
    if ((found & mask) == (c->out & mask)) return;
    FAIL("%s of 0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64
         " (%s): thread %d has 0x%" PRIx64 ", not 0x%" PRIx64,
         c->text, c->in[0], c->in[1], c->in[2], c->in[3], runs[which], thread, found & mask,
         c->out & mask);
}

static void run_cases(const try_case *cases, int count, run_of which)
{
    static const uint64_t untouched = 0x5a5a5a5a5a5a5a5a;
    uint64_t arguments[5];
    uint64_t *memory = try_allocate(THREADS * WORDS * sizeof *memory, &arguments[0]);
    char *text = kernel_text(cases, which);
    ptx_module *module = try_load(text);
    ptx_kernel *kernel = try_kernel(module);
    const int runs = which == UNIFORM ? count : (count + THREADS / 2 - 1) / (THREADS / 2);
    for (int r = 0; kernel && r < runs; ++r) {
        ptx_fault fault;
        const try_case *of[THREADS];
        for (int t = 0; t < THREADS; ++t) {
            const int group = which == EVERY_SECOND ? t / 2 : t;
            of[t] = &cases[which == UNIFORM ? r : (r * THREADS / 2 + group) % count];
            for (int k = 0; k < 4; ++k) memory[t * WORDS + k] = of[t]->in[k];
            memory[t * WORDS + 4] = untouched;
        }
        memcpy(arguments + 1, cases[which == UNIFORM ? r : 0].in, sizeof cases->in);
        if (!try_run(kernel, 1, THREADS, arguments, 5, &fault)) FAIL("%s", fault.text);
        for (int t = 0; t < THREADS; ++t) {
            const bool takes_part = which != EVERY_SECOND || t % 2 == 0;
            if (takes_part) check(of[t], memory[t * WORDS + 4], t, which);
            else CHECK_U64(memory[t * WORDS + 4], untouched);
        }
    }
    CHECK(kernel != NULL);
    ptx_free(module);
    free(text);
    try_free_all();
}

void try_cases(const try_case *cases, int count)
{
    for (int from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && strcmp(cases[to].text, cases[from].text) == 0; ++to) {
        }
        test_case("%s", cases[from].text);
        for (run_of which = ALL_THREADS; which <= UNIFORM; ++which)
            run_cases(cases + from, to - from, which);
    }
}
