/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_ptx_run.c
 *  PTX on the CPU: memory, branches, barriers, warps and calls, and what is wrong with a kernel or
 * with its text is found and named with its line. A kernel without declarations has its first own
 * instruction in line 8. */
/* TEST: labels=core */
#include "test.h"

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_try.h"

/* A kernel whose %m is the address of memory, %i the thread's number and %at its 8 bytes of memory.
 */
#define HEAD                                                                                       \
    ".visible .entry k(.param .u64 memory) {\n"                                                    \
    ".reg .b64 %m, %at, %i64, %w<9>; .reg .b32 %i, %t<9>; .reg .b16 %h<9>; .reg .pred %p<9>;\n"    \
    ".reg .f32 %f<9>; .reg .f64 %d<9>;\n"                                                          \
    "ld.param.u64 %m, [memory]; mov.u32 %i, %tid.x; mul.wide.u32 %i64, %i, 8; add.u64 %at, %m, "   \
    "%i64;\n"
#define END                        "\nret;\n}\n"
#define KERNEL(declarations, body) declarations HEAD body END

/* ------------------------------------------------------------------ memory */

static void loads_extend_and_stores_cut(void)
{
    static const struct {
        const char *body;
        uint64_t before, after;
    } cases[] = {
        {"ld.global.u8 %t0, [%at]; st.global.u64 [%at], 0; st.global.u32 [%at], %t0;", 0x81, 0x81},
        {"ld.global.s8 %t0, [%at]; st.global.u64 [%at], 0; st.global.u32 [%at], %t0;", 0x81,
         0xffffff81},
        {"ld.global.s8 %h0, [%at]; st.global.u64 [%at], 0; st.global.u16 [%at], %h0;", 0x81,
         0xff81},
        {"ld.global.s16 %w0, [%at+2]; st.global.u64 [%at], %w0;", 0x80010000, 0xffffffffffff8001},
        {"ld.global.u16 %w0, [%at+2]; st.global.u64 [%at], %w0;", 0x80010000, 0x8001},
        {"ld.global.s32 %w0, [%at]; st.global.u64 [%at], %w0;", 0x80000000, 0xffffffff80000000},
        {"ld.global.b32 %w0, [%at+4]; st.global.u64 [%at], %w0;", 0x80000000, 0},
        {"mov.u32 %t0, 0x12345678; st.global.u8 [%at+1], %t0;", 0, 0x7800},
        {"mov.u32 %t0, 0x12345678; st.global.u16 [%at+6], %t0;", 0, 0x5678000000000000},
        {"ld.global.v2.u32 {%t0, %t1}, [%at]; st.global.v2.u32 [%at], {%t1, %t0};",
         0x1122334455667788, 0x5566778811223344},
        {"ld.global.v4.u16 {%h0, %h1, %h2, %h3}, [%at]; st.global.v4.u16 [%at], {%h3, %h2, %h1, "
         "%h0};",
         0x1111222233334444, 0x4444333322221111},
        {"ld.global.v2.u32 {_, %t0}, [%at]; st.global.v2.u32 [%at], {%t0, 7};", 0x1122334455667788,
         0x711223344},
        {"ld.volatile.global.u64 %w0, [%at]; st.volatile.global.u64 [%at], 1; add.u64 %w0, %w0, 1; "
         "st.global.u64 [%at], %w0;",
         5, 6},
        {"ld.global.nc.f64 %d0, [%at]; st.relaxed.gpu.global.f64 [%at], %d0; membar.gl; "
         "fence.acq_rel.gpu;",
         5, 5},
        {"ld.u64 %w0, [%at]; add.u64 %w0, %w0, 1; st.u64 [%at], %w0; prefetch.global.L2 [%at];", 5,
         6}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        char text[2000];
        uint64_t memory[70];
        for (int t = 0; t < 70; ++t) memory[t] = cases[k].before;
        snprintf(text, sizeof text, "%s%s%s", HEAD, cases[k].body, END);
        test_case("%s", cases[k].body);
        try_text(text, 1, 70, memory, sizeof memory);
        for (int t = 0; t < 70; ++t) CHECK_U64(memory[t], cases[k].after);
    }
}

/* What a kernel faults with, of 8 bytes of memory for each of its threads. */
static bool faults(const char *text, unsigned threads, bool races, ptx_fault *fault)
{
    uint64_t address;
    try_allocate(8 * threads, &address);
    ptx_module *module = try_load(text);
    ptx_kernel *kernel = try_kernel(module);
    const ptx_launch launch = {.grid = {2, 1, 1},
                               .block = {threads, 1, 1},
                               .arguments = (const char *)&address,
                               .threads = 1,
                               .find_races = races};
    const bool ran = kernel && ptx_run(kernel, &try_memory, &launch, fault);
    ptx_free(module);
    try_free_all();
    return CHECK(kernel != NULL) && !ran;
}

static void check_fault(const char *text, int status, const char *part)
{
    ptx_fault fault = {0};
    test_case("%s", text);
    if (!CHECK(faults(text, 64, false, &fault))) return;
    CHECK_INT(fault.status, status);
    CHECK_CONTAINS(fault.text, part);
    CHECK_CONTAINS(fault.text, "kernel k, block 0 0 0, thread ");
}

static void an_access_outside_an_allocation_is_a_fault(void)
{
    ptx_fault fault = {0};
    check_fault(KERNEL("", "ld.global.u8 %t0, [%m+512];"), PTX_ILLEGAL_ADDRESS,
                "reads 1 bytes at the illegal address 0x");
    check_fault(KERNEL("", "ld.global.u8 %t0, [%m+-1];"), PTX_ILLEGAL_ADDRESS,
                "thread 0 0 0, PTX line 8 (ld.global.u8 %t0, [%m+-1];)");
    check_fault(KERNEL("", "st.global.u64 [%at+8], %w0;"), PTX_ILLEGAL_ADDRESS,
                "thread 63 0 0, PTX line 8");
    check_fault(KERNEL("", "st.global.v2.u32 [%at+8], {%t0, %t0};"), PTX_ILLEGAL_ADDRESS,
                "writes 8 bytes at the illegal address 0x");
    check_fault(KERNEL("", "mov.u64 %w0, 0; ld.global.u32 %t0, [%w0];"), PTX_ILLEGAL_ADDRESS,
                "illegal address 0x0");
    check_fault(KERNEL("", "mov.u64 %w0, 0; ld.u32 %t0, [%w0+4];"), PTX_ILLEGAL_ADDRESS,
                "illegal address 0x4");
    check_fault(KERNEL("", "mov.u64 %w0, -8; ld.global.u64 %w1, [%w0];"), PTX_ILLEGAL_ADDRESS,
                "0xfffffffffffffff8");
    /* In the middle of a block, below and above, by all threads and by every second. */
    check_fault(KERNEL("",
                       "setp.eq.u32 %p0, %i, 30; selp.b64 %w0, -8, 0, %p0; add.u64 %w0, %w0, %m;\n"
                       "ld.global.u64 %w1, [%w0];"),
                PTX_ILLEGAL_ADDRESS, "thread 30 0 0, PTX line 9");
    check_fault(KERNEL("",
                       "setp.eq.u32 %p0, %i, 30; selp.b64 %w0, 512, 0, %p0; add.u64 %w0, %w0, %m;\n"
                       "ld.global.u64 %w1, [%w0];"),
                PTX_ILLEGAL_ADDRESS, "thread 30 0 0, PTX line 9");
    check_fault(
        KERNEL("", "setp.eq.u32 %p0, %i, 30; selp.b64 %w0, -8, 0, %p0; add.u64 %w0, %w0, %m;\n"
                   "and.b32 %t0, %i, 1; setp.eq.u32 %p1, %t0, 0; @%p1 ld.global.u64 %w1, [%w0];"),
        PTX_ILLEGAL_ADDRESS, "thread 30 0 0, PTX line 9");
    check_fault(
        KERNEL("", "setp.eq.u32 %p0, %i, 30; selp.b64 %w0, 512, 0, %p0; add.u64 %w0, %w0, %m;\n"
                   "and.b32 %t0, %i, 1; setp.eq.u32 %p1, %t0, 0; @%p1 st.global.u64 [%w0], %w1;"),
        PTX_ILLEGAL_ADDRESS, "thread 30 0 0, PTX line 9");
    check_fault(
        KERNEL("", "setp.eq.u32 %p0, %i, 30; selp.b64 %w0, 4, 0, %p0; add.u64 %w0, %w0, %m;\n"
                   "and.b32 %t0, %i, 1; setp.eq.u32 %p1, %t0, 0; @%p1 st.global.u64 [%w0], %w1;"),
        PTX_MISALIGNED, "thread 30 0 0, PTX line 9");
    check_fault(KERNEL("", "atom.global.add.u32 %t0, [%m+512], 1;"), PTX_ILLEGAL_ADDRESS,
                "updates 4 bytes");
    check_fault(KERNEL("", "setp.eq.u32 %p0, %i, 7; @%p0 ld.global.u8 %t0, [%m+512];"),
                PTX_ILLEGAL_ADDRESS, "thread 7 0 0");
    CHECK(!faults(KERNEL("", "setp.eq.u32 %p0, %i, 64; @%p0 ld.global.u8 %t0, [%m+512]; "
                             "ld.global.u8 %t0, [%m+511];"),
                  64, false, &fault));
}

static void a_misaligned_access_is_a_fault(void)
{
    check_fault(KERNEL("", "ld.global.u16 %t0, [%m+1];"), PTX_MISALIGNED,
                "reads 2 bytes of global memory at the misaligned address 0x");
    check_fault(KERNEL("", "st.global.u32 [%m+2], %t0;"), PTX_MISALIGNED, "writes 4 bytes");
    check_fault(KERNEL("", "ld.global.u64 %w0, [%m+4];"), PTX_MISALIGNED, "reads 8 bytes");
    check_fault(KERNEL("", "ld.global.v2.u64 {%w0, %w1}, [%m+8];"), PTX_MISALIGNED,
                "reads 16 bytes");
    check_fault(KERNEL("", "ld.u32 %t0, [%m+1];"), PTX_MISALIGNED, "misaligned");
    check_fault(
        KERNEL(".shared .align 8 .b8 s[64];\n", "mov.u32 %t0, s; ld.shared.u32 %t1, [%t0+2];"),
        PTX_MISALIGNED, "of shared memory");
    check_fault(KERNEL("", ".local .align 8 .b8 l[64]; mov.u64 %w0, l; st.local.u16 [%w0+1], 5;"),
                PTX_MISALIGNED, "of local memory");
    check_fault(KERNEL("", "setp.eq.u32 %p0, %i, 9; selp.b64 %w0, 4, 0, %p0; add.u64 %w0, %w0, %m; "
                           "ld.global.u64 %w1, [%w0];"),
                PTX_MISALIGNED, "thread 9 0 0");
}

static void shared_local_and_parameter_memory_have_their_ends(void)
{
    check_fault(
        KERNEL(".shared .align 8 .b8 s[64];\n", "mov.u32 %t0, s; ld.shared.u8 %t1, [%t0+64];"),
        PTX_ILLEGAL_ADDRESS, "reads 1 bytes of shared memory at 0x40, of which there are 64 bytes");
    check_fault(
        KERNEL(".shared .align 8 .b8 s[64];\n", "mov.u32 %t0, s; st.shared.u64 [%t0+-8], %w0;"),
        PTX_ILLEGAL_ADDRESS, "shared memory");
    check_fault(
        KERNEL("", ".local .align 8 .b8 l[16]; mov.u64 %w0, l; ld.local.u64 %w1, [%w0+16];"),
        PTX_ILLEGAL_ADDRESS, "local memory at 0x10");
    check_fault(KERNEL("", "mov.b64 %w0, memory; ld.param.u64 %w1, [%w0+8];"), PTX_ILLEGAL_ADDRESS,
                "parameter memory at 0x8");
    check_fault(KERNEL("", "mov.b64 %w0, memory; cvta.param.u64 %w1, %w0; st.u32 [%w1], 1;"),
                PTX_ILLEGAL_ADDRESS, "writes 4 bytes of parameter memory");
    check_fault(KERNEL(".shared .align 8 .b8 s[64];\n",
                       "mov.u64 %w0, s; cvta.shared.u64 %w1, %w0; ld.u64 %w2, [%w1+64];"),
                PTX_ILLEGAL_ADDRESS, "shared memory");
}

static void what_is_only_read_is_not_written(void)
{
    static const char *const variables =
        ".global .align 8 .u64 before;\n.const .align 8 .u64 c = 1;\n.global .align 8 .u64 g;\n"
        ".const .align 8 .u64 e[2];\n";
    char text[2000];
    snprintf(text, sizeof text, "%s%s%s%s", variables, HEAD,
             "mov.u64 %w0, c; ld.u64 %w1, [%w0]; st.u64 [%w0], %w1;", END);
    check_fault(text, PTX_ILLEGAL_ADDRESS, "writes 8 bytes at the illegal address 0x");
    snprintf(text, sizeof text, "%s%s%s%s", variables, HEAD,
             "mov.u64 %w0, e; red.add.u64 [%w0+8], 1;", END);
    check_fault(text, PTX_ILLEGAL_ADDRESS, "updates 8 bytes at the illegal address 0x");
    uint64_t memory[1] = {0};
    snprintf(text, sizeof text, "%s%s%s%s", variables, HEAD,
             "mov.u64 %w0, g; st.u64 [%w0], 5; mov.u64 %w1, before; red.add.u64 [%w1], 6; "
             "ld.global.u64 %w2, [g]; ld.global.u64 %w3, [before]; ld.const.u64 %w4, [c];\n"
             "mad.lo.u64 %w2, %w2, 10, %w3; mad.lo.u64 %w2, %w2, 10, %w4; st.u64 [%m], %w2;",
             END);
    try_text(text, 1, 1, memory, sizeof memory);
    CHECK_U64(memory[0], 561);
    check_fault(KERNEL("", ".local .align 8 .b8 l[16]; mov.u64 %w0, l; cvta.local.u64 %w0, %w0;\n"
                           "atom.add.u64 %w1, [%w0], 1;"),
                PTX_ILLEGAL_ADDRESS, "updates 8 bytes of local memory");
}

static void generic_addresses_reach_every_space(void)
{
    uint64_t memory[40];
    memset(memory, 0, sizeof memory);
    try_text(
        KERNEL(
            ".shared .align 8 .b8 s[512];\n.global .align 8 .u64 g[2] = {0x10, 0x20};\n.const "
            ".align 8 .u64 c = 0x400;\n",
            ".local .align 8 .b8 l[16];\n"
            "mov.u64 %w0, s; cvta.shared.u64 %w0, %w0; add.u64 %w0, %w0, %i64; st.u64 [%w0], 1; \n"
            "mov.u64 %w1, l; cvta.local.u64 %w1, %w1; st.u64 [%w1+8], %i64;\n"
            "mov.u64 %w2, g; cvta.global.u64 %w2, %w2; ld.u64 %w3, [%w2+8];\n"
            "mov.u64 %w2, c; cvta.const.u64 %w2, %w2; ld.u64 %w4, [%w2]; ld.const.u64 %w5, [c]; "
            "add.u64 %w4, %w4, %w5;\n"
            "cvta.to.shared.u64 %w0, %w0; ld.shared.u64 %w5, [%w0]; cvta.to.local.u64 %w1, %w1; "
            "ld.local.u64 %w6, [%w1+8];\n"
            "add.u64 %w3, %w3, %w4; add.u64 %w3, %w3, %w5; ld.global.u64 %w7, [g]; add.u64 %w3, "
            "%w3, %w7;\n"
            "mov.u64 %w2, memory; cvta.param.u64 %w2, %w2; ld.u64 %w2, [%w2]; cvta.to.global.u64 "
            "%w2, %w2; add.u64 %w2, %w2, %i64;\n"
            "shl.b64 %w6, %w6, 32; add.u64 %w3, %w3, %w6; st.global.u64 [%w2], %w3;\n"),
        1, 40, memory, sizeof memory);
    for (uint64_t t = 0; t < 40; ++t) CHECK_U64(memory[t], (8 * t << 32) + 0x831);
}

static void threads_of_one_access_may_reach_several_allocations(void)
{
    uint64_t memory[70];
    for (uint64_t t = 0; t < 70; ++t) memory[t] = 1000 + t;
    try_text(KERNEL(".global .align 8 .u64 g[70];\n.shared .align 8 .b8 s[560];\n",
                    "mov.u64 %w0, g; add.u64 %w0, %w0, %i64; st.global.u64 [%w0], %i64;\n"
                    "mov.u64 %w1, s; add.u64 %w1, %w1, %i64; st.shared.u64 [%w1], 5; "
                    "cvta.shared.u64 %w1, %w1;\n"
                    "and.b32 %t0, %i, 1; setp.eq.u32 %p0, %t0, 1; selp.b64 %w2, %w0, %at, %p0; "
                    "ld.global.u64 %w3, [%w2];\n"
                    "setp.gt.u32 %p1, %i, 20; selp.b64 %w2, %w1, %w2, %p1; ld.u64 %w4, [%w2];\n"
                    "shl.b64 %w4, %w4, 32; add.u64 %w3, %w3, %w4; st.global.u64 [%at], %w3;"),
             1, 70, memory, sizeof memory);
    for (uint64_t t = 0; t < 70; ++t) {
        const uint64_t global = t % 2 ? 8 * t : 1000 + t;
        CHECK_U64(memory[t], global + ((t > 20 ? 5 : global) << 32));
    }
}

static void vectors_of_parameters_reach_all_threads(void)
{
    uint64_t memory[70], arguments[3] = {0, 0x700000003, 0x123456789abcdef0};
    uint64_t *device = try_allocate(sizeof memory, &arguments[0]);
    ptx_fault fault;
    ptx_module *module =
        try_load(".entry k(.param .u64 memory, .param .align 8 .b8 v[16]) { .reg .b64 %w<9>; .reg "
                 ".b32 %t<9>; .reg .b16 %h<9>;\n"
                 "ld.param.u64 %w0, [memory]; mov.u32 %t0, %tid.x; mul.wide.u32 %w1, %t0, 8; "
                 "add.u64 %w0, %w0, %w1;\n"
                 "ld.param.v2.u32 {%t1, %t2}, [v]; ld.param.v4.u16 {%h0, %h1, %h2, %h3}, [v+8]; "
                 "ld.param.s8 %h4, [v+9];\n"
                 "ld.param.u8 %w3, [v+8]; cvt.s32.s16 %t7, %h4; cvt.u64.u32 %w4, %t7;\n"
                 "mad.lo.u32 %t3, %t1, 100, %t2; cvt.u32.u16 %t4, %h3; cvt.u32.u16 %t5, %h1; "
                 "add.u32 %t4, %t4, %t5; xor.b32 %t3, %t3, %t0;\n"
                 "mov.b64 %w2, {%t3, %t4}; add.u64 %w2, %w2, %w3; add.u64 %w2, %w2, %w4; "
                 "st.global.u64 [%w0], %w2; ret; }");
    ptx_kernel *kernel = try_kernel(module);
    if (kernel && CHECK(try_run(kernel, 1, 70, arguments, 3, &fault)))
        for (uint64_t t = 0; t < 70; ++t)
            CHECK_U64(device[t], (307 ^ t) + ((0x1234ull + 0x9abc) << 32) + 0xf0 + 0xffffffde);
    ptx_free(module);
    try_free_all();
}

static void the_space_of_a_generic_address_is_known(void)
{
    uint64_t memory[40];
    try_text(KERNEL(".shared .align 8 .b8 s[512];\n",
                    "mov.u64 %w0, s; cvta.shared.u64 %w0, %w0; isspacep.shared %p0, %w0; "
                    "isspacep.global %p1, %w0;\n"
                    "isspacep.global %p2, %m; isspacep.local %p3, %m; selp.b32 %t0, 1, 0, %p0; "
                    "selp.b32 %t1, 2, 0, %p1;\n"
                    "selp.b32 %t2, 4, 0, %p2; selp.b32 %t3, 8, 0, %p3; or.b32 %t0, %t0, %t1; "
                    "or.b32 %t0, %t0, %t2;\n"
                    "or.b32 %t0, %t0, %t3; cvt.u64.u32 %w1, %t0; st.global.u64 [%at], %w1;"),
             1, 40, memory, sizeof memory);
    for (int t = 0; t < 40; ++t) CHECK_U64(memory[t], 5);
}

static void a_module_s_variables_have_their_values_and_are_released(void)
{
    uint64_t address;
    uint64_t *memory = try_allocate(64, &address);
    ptx_fault fault;
    ptx_module *module = try_load(
        KERNEL(".global .align 4 .b8 bytes[8] = {1, 2, 255, 0x10};\n.global .f64 d = "
               "0d4010000000000000;\n.global .align 8 .u32 pairs[2][2] = {{1, 2}, {3, -4}};\n"
               ".global .u64 count;\n",
               "ld.global.u64 %w0, [bytes]; st.global.u64 [%m], %w0; ld.global.u64 %w0, [d]; "
               "st.global.u64 [%m+8], %w0;\n"
               "ld.global.v2.u32 {%t0, %t1}, [pairs+8]; st.global.v2.u32 [%m+16], {%t0, %t1};\n"
               "ld.global.u64 %w0, [count]; add.u64 %w0, %w0, 1; st.global.u64 [count], %w0; "
               "st.global.u64 [%m+24], %w0;"));
    ptx_kernel *kernel = try_kernel(module);
    CHECK_INT(try_held(), 4);
    for (uint64_t run = 1; kernel && run < 4; ++run) {
        CHECK(try_run(kernel, 1, 1, &address, 1, &fault));
        CHECK_U64(memory[0], 0x10ff0201);
        CHECK_U64(memory[1], 0x4010000000000000);
        CHECK_U64(memory[2], 0xfffffffc00000003);
        CHECK_U64(memory[3], run);
    }
    ptx_free(module);
    CHECK_INT(try_held(), 0);
    try_free_all();
}

static void arguments_are_aligned_and_described(void)
{
    ptx_module *module = try_load(".entry k(.param .u8 a, .param .align 8 .b8 b[12], .param .u64 "
                                  ".ptr .global .align 8 c, .param .f32 d)\n"
                                  ".maxntid 32, 2, 1 .minnctapersm 2 { .shared .b8 s[100]; ret; }");
    const ptx_kernel *kernel = try_kernel(module);
    if (!kernel) return;
    static const ptx_parameter expected[] = {{0, 1}, {8, 12}, {24, 8}, {32, 4}};
    const ptx_facts *facts = ptx_facts_of(kernel);
    CHECK_STRING(facts->name, "k");
    if (CHECK_INT(facts->parameters, 4))
        for (int k = 0; k < 4; ++k) {
            CHECK_U64(facts->parameter[k].offset, expected[k].offset);
            CHECK_U64(facts->parameter[k].bytes, expected[k].bytes);
        }
    CHECK_U64(facts->argument_bytes, 36);
    CHECK_U64(facts->shared_bytes, 100);
    CHECK_INT(facts->max_threads, 64);
    CHECK_INT(facts->required[0], 0);
    ptx_free(module);
}

static void a_required_shape_is_described(void)
{
    static const struct {
        const char *text;
        unsigned shape[3];
    } cases[] = {{".entry k() .reqntid 32 { ret; }", {32, 1, 1}},
                 {".entry k() .reqntid 32, 2 .minnctapersm 2 { ret; }", {32, 2, 1}},
                 {".entry k() .reqntid 8, 4, 2 { ret; }", {8, 4, 2}},
                 {".entry k() { ret; }", {0, 0, 0}}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        test_case("%s", cases[k].text);
        ptx_module *module = try_load(cases[k].text);
        const ptx_kernel *kernel = try_kernel(module);
        const unsigned *shape = cases[k].shape;
        if (!kernel) return;
        const ptx_facts *facts = ptx_facts_of(kernel);
        for (int d = 0; d < 3; ++d) CHECK_INT(facts->required[d], shape[d]);
        CHECK_INT(facts->max_threads, *shape ? shape[0] * shape[1] * shape[2] : 1024);
        ptx_free(module);
    }
}

static void local_memory_has_no_values_of_earlier_blocks(void)
{
    uint64_t memory[64];
    try_text(KERNEL("",
                    ".local .align 8 .b8 l[16];\n"
                    "ld.local.u64 %w0, [l+8]; st.local.u64 [l+8], 5; st.global.u64 [%at], %w0;"),
             3, 64, memory, sizeof memory);
    for (int t = 0; t < 64; ++t) CHECK_U64(memory[t], 0xdbdbdbdbdbdbdbdb);
}

static void dynamic_shared_memory_begins_behind_the_static(void)
{
    uint64_t address;
    uint64_t *memory = try_allocate(16, &address);
    ptx_module *module = try_load(
        KERNEL(".extern .shared .align 16 .b8 dynamic[];\n.shared .align 4 .b8 first[20];\n",
               ".shared .align 4 .b8 second[8]; mov.u32 %t0, first; mov.u32 %t1, second; mov.u32 "
               "%t2, dynamic;\n"
               "st.shared.u32 [%t2+4], 7; ld.shared.u32 %t3, [dynamic+4]; add.u32 %t2, %t2, %t3; "
               "cvt.u64.u32 %w0, %t2;\n"
               "st.global.u64 [%m], %w0; mov.u32 %t0, %dynamic_smem_size; cvt.u64.u32 %w0, %t0; "
               "st.global.u64 [%m+8], %w0;"));
    ptx_kernel *kernel = try_kernel(module);
    ptx_fault fault;
    const ptx_launch launch = {.grid = {1, 1, 1},
                               .block = {1, 1, 1},
                               .dynamic_shared = 8,
                               .arguments = (const char *)&address,
                               .threads = 1};
    if (kernel && CHECK(ptx_run(kernel, &try_memory, &launch, &fault))) {
        CHECK_U64(ptx_facts_of(kernel)->shared_bytes, 28);
        CHECK_U64(memory[0], 32 + 7);
        CHECK_U64(memory[1], 8);
    }
    ptx_free(module);
    try_free_all();
}

static void atomic_operations_return_what_was_there(void)
{
    static const struct {
        const char *operation;
        uint64_t before, after;
    } cases[] = {
        {"add.u32 %t0, [%at], 5", 0xffffffff, 4},
        {"add.u64 %w0, [%at], 5", 7, 12},
        {"add.s32 %t0, [%at], -1", 7, 6},
        {"exch.b32 %t0, [%at], 5", 7, 5},
        {"exch.b64 %w0, [%at], 5", 7, 5},
        {"cas.b32 %t0, [%at], 7, 9", 7, 9},
        {"cas.b32 %t0, [%at], 8, 9", 7, 7},
        {"cas.b64 %w0, [%at], 7, 9", 7, 9},
        {"and.b32 %t0, [%at], 6", 3, 2},
        {"or.b32 %t0, [%at], 6", 3, 7},
        {"xor.b64 %w0, [%at], 6", 3, 5},
        {"min.u32 %t0, [%at], -1", 3, 3},
        {"min.s32 %t0, [%at], -1", 3, 0xffffffff},
        {"max.s32 %t0, [%at], -1", 3, 3},
        {"max.u64 %w0, [%at], -1", 3, 0xffffffffffffffff},
        {"max.s64 %w0, [%at], -1", 3, 3},
        {"min.s64 %w0, [%at], -1", 3, 0xffffffffffffffff},
        {"min.u64 %w0, [%at], 2", 3, 2},
        {"max.u32 %t0, [%at], -1", 3, 0xffffffff},
        {"max.u32 %t0, [%at], 3", 5, 5},
        {"max.s32 %t0, [%at], 3", 5, 5},
        {"min.u32 %t0, [%at], 3", 5, 3},
        {"min.s32 %t0, [%at], 3", 5, 3},
        {"min.s32 %t0, [%at], 7", 5, 5},
        {"min.s64 %w0, [%at], 7", 5, 5},
        {"min.u64 %w0, [%at], 7", 5, 5},
        {"dec.u32 %t0, [%at], 5", 5, 4},
        {"max.u64 %w0, [%at], 3", 5, 5},
        {"max.s64 %w0, [%at], 3", 5, 5},
        {"inc.u32 %t0, [%at], 5", 4, 5},
        {"inc.u32 %t0, [%at], 5", 5, 0},
        {"dec.u32 %t0, [%at], 5", 0, 5},
        {"dec.u32 %t0, [%at], 5", 6, 5},
        {"dec.u32 %t0, [%at], 5", 3, 2},
        {"add.f32 %t0, [%at], 0f3f800000", 0x3f800000, 0x40000000},
        {"add.f32 %t0, [%at], 0f00000001", 0x00000001, 0},
        {"add.f64 %w0, [%at], 0d3ff0000000000000", 0x3ff0000000000000, 0x4000000000000000}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        char text[2000];
        uint64_t memory[128] = {0};
        const bool wide = strchr(cases[k].operation, 'w') != NULL;
        for (int t = 0; t < 64; ++t) memory[t] = cases[k].before;
        snprintf(
            text, sizeof text,
            "%smov.u64 %%w0, 0; mov.u32 %%t0, 0; atom.global.%s;\nst.global.%s [%%at+512], %s;%s",
            HEAD, cases[k].operation, wide ? "u64" : "u32", wide ? "%w0" : "%t0", END);
        test_case("%s", cases[k].operation);
        try_text(text, 1, 64, memory, sizeof memory);
        for (int t = 0; t < 64; ++t) {
            CHECK_U64(memory[t], cases[k].after);
            CHECK_U64(memory[64 + t], cases[k].before);
        }
    }
}

static void atomic_sums_of_all_blocks_lose_nothing(void)
{
    uint64_t memory[4] = {0};
    try_text(KERNEL(".shared .u32 s;\n", "st.shared.u32 [s], 0; bar.sync 0; atom.shared.add.u32 "
                                         "%t0, [s], 1; bar.sync 0; setp.eq.u32 %p0, %i, 0;\n"
                                         "ld.shared.u32 %t1, [s]; cvt.u64.u32 %w0, %t1; @%p0 "
                                         "red.global.add.u64 [%m], %w0; red.add.u64 [%m+8], %i64;\n"
                                         "atom.global.inc.u32 %t2, [%m+16], 0xffffffff;"),
             50, 100, memory, sizeof memory);
    CHECK_U64(memory[0], 5000);
    CHECK_U64(memory[1], 50ull * 8 * (99 * 100 / 2));
    CHECK_U64(memory[2], 5000);
}

/* ------------------------------------------------------------------ which thread */

static void each_thread_knows_its_place(void)
{
    enum { THREADS = 4 * 3 * 5, BLOCKS = 3 * 2 * 2 };
    static const char *const text =
        ".entry k(.param .u64 memory) { .reg .b32 %t<20>; .reg .b64 %w<4>;\n"
        "mov.u32 %t0, %tid.x; mov.u32 %t1, %tid.y; mov.u32 %t2, %tid.z; mov.u32 %t3, %ctaid.x; "
        "mov.u32 %t4, %ctaid.y; mov.u32 %t5, %ctaid.z;\n"
        "mov.u32 %t6, %ntid.x; mov.u32 %t7, %ntid.y; mov.u32 %t8, %nctaid.x; mov.u32 %t9, "
        "%nctaid.y;\n"
        "mad.lo.u32 %t10, %t5, %t9, %t4; mad.lo.u32 %t10, %t10, %t8, %t3; mad.lo.u32 %t11, %t2, "
        "%t7, %t1; mad.lo.u32 %t11, %t11, %t6, %t0;\n"
        "mov.u32 %t12, %ntid.z; mul.lo.u32 %t12, %t12, %t6; mul.lo.u32 %t12, %t12, %t7; mad.lo.u32 "
        "%t13, %t10, %t12, %t11;\n"
        "ld.param.u64 %w0, [memory]; mul.wide.u32 %w1, %t13, 16; add.u64 %w0, %w0, %w1; mov.u32 "
        "%t14, %laneid; mov.u32 %t15, %warpid;\n"
        "st.global.v4.u32 [%w0], {%t13, %t14, %t15, %nctaid.z}; ret; }";
    uint64_t address;
    uint32_t *memory = try_allocate(16 * THREADS * BLOCKS, &address);
    ptx_module *module = try_load(text);
    ptx_kernel *kernel = try_kernel(module);
    ptx_fault fault = {0};
    const ptx_launch launch = {
        .grid = {3, 2, 2}, .block = {4, 3, 5}, .arguments = (const char *)&address, .threads = 2};
    if (kernel && !ptx_run(kernel, &try_memory, &launch, &fault)) FAIL("%s", fault.text);
    for (uint32_t n = 0; n < THREADS * BLOCKS; ++n) {
        CHECK_INT(memory[4 * n], n);
        CHECK_INT(memory[4 * n + 1], n % THREADS % 32);
        CHECK_INT(memory[4 * n + 2], n % THREADS / 32);
        CHECK_INT(memory[4 * n + 3], 2);
    }
    ptx_free(module);
    try_free_all();
}

static void lane_masks_are_of_the_lanes(void)
{
    uint64_t memory[70];
    try_text(KERNEL("",
                    "mov.u32 %t0, %lanemask_lt; mov.u32 %t1, %lanemask_eq; mov.u32 %t2, "
                    "%lanemask_ge; mov.u32 %t3, %lanemask_le; mov.u32 %t4, %lanemask_gt;\n"
                    "or.b32 %t5, %t0, %t1; sub.u32 %t5, %t5, %t3; not.b32 %t6, %t4; sub.u32 %t6, "
                    "%t6, %t3; or.b32 %t5, %t5, %t6; not.b32 %t6, %t2; sub.u32 %t6, %t6, %t0;\n"
                    "or.b32 %t5, %t5, %t6; mov.b64 %w0, {%t1, %t5}; st.global.u64 [%at], %w0;"),
             1, 70, memory, sizeof memory);
    for (int t = 0; t < 70; ++t) CHECK_U64(memory[t], 1u << t % 32);
}

/* ------------------------------------------------------------------ branches */

/* Steps of Collatz's sequence: each thread leaves the loop at another time. */
static void threads_that_part_meet_again(void)
{
    uint64_t memory[200];
    try_text(KERNEL("",
                    "add.u32 %t0, %i, 1; mov.u32 %t1, 0; mov.u32 %t5, 7;\n"
                    "LOOP: setp.eq.u32 %p0, %t0, 1; @%p0 bra DONE;\n"
                    "and.b32 %t2, %t0, 1; setp.eq.u32 %p1, %t2, 0; @%p1 bra EVEN;\n"
                    "mad.lo.u32 %t0, %t0, 3, 1; bra NEXT;\n"
                    "EVEN: shr.u32 %t0, %t0, 1;\n"
                    "NEXT: add.u32 %t1, %t1, 1; bra.uni LOOP;\n"
                    "DONE: activemask.b32 %t3; mov.b64 %w0, {%t1, %t3}; st.global.u64 [%at], %w0;"),
             1, 200, memory, sizeof memory);
    for (uint64_t t = 0; t < 200; ++t) {
        uint64_t steps = 0;
        for (uint64_t x = t + 1; x != 1; ++steps) x = x % 2 ? 3 * x + 1 : x / 2;
        CHECK_U64(memory[t], steps | (t < 192 ? 0xffffffffull : 0xffull) << 32);
    }
}

static void an_indexed_branch_goes_to_its_target(void)
{
    static const uint64_t expected[] = {10, 20, 30, 20};
    uint64_t memory[40];
    const char *text = KERNEL(
        "", "and.b32 %t0, %i, 3; brx.idx %t0, targets;\ntargets: .branchtargets A, B, C, B;\n"
            "A: mov.u64 %w0, 10; bra END;\nB: mov.u64 %w0, 20; bra END;\nC: mov.u64 %w0, 30;\nEND: "
            "st.global.u64 [%at], %w0;");
    try_text(text, 1, 40, memory, sizeof memory);
    for (int t = 0; t < 40; ++t) CHECK_U64(memory[t], expected[t % 4]);
    check_fault(KERNEL("", "brx.idx %i, targets;\ntargets: .branchtargets A, A, A;\nA: ret;"),
                PTX_LAUNCH_FAILURE, "its index 3 is not below 3");
}

static void predicates_guard_single_instructions(void)
{
    uint64_t memory[70];
    memset(memory, 0, sizeof memory);
    try_text(KERNEL("", "setp.lt.u32 %p0, %i, 10; mov.u64 %w0, 1; @%p0 mov.u64 %w0, 2; @!%p0 "
                        "add.u64 %w0, %w0, 4; @%p0 st.global.u64 [%at], %w0;\n"
                        "setp.eq.u32 %p1, %i, 60; @%p1 st.global.u64 [%at], %w0; setp.gt.u32 %p2, "
                        "%i, 65; @%p2 exit; setp.eq.u32 %p3, %i, 64; @%p3 st.global.u64 [%at], 9;\n"
                        "@%p2 st.global.u64 [%at], 8;"),
             1, 70, memory, sizeof memory);
    for (int t = 0; t < 70; ++t) CHECK_U64(memory[t], t < 10 ? 2 : t == 60 ? 5 : t == 64 ? 9 : 0);
}

/* Registers that are the same for all threads when they are set, in branches that not all take. */
static void values_of_one_branch_do_not_reach_the_other(void)
{
    uint64_t memory[70];
    try_text(KERNEL("", "mov.u32 %t0, %ntid.x; setp.lt.u32 %p0, %i, 30; @%p0 bra LOW;\n"
                        "add.u32 %t1, %t0, 1; mov.u32 %t3, 100; mov.u32 %t4, 0; bra JOIN;\n"
                        "LOW: add.u32 %t2, %t0, 2; mov.u32 %t3, 200; mov.u32 %t4, %t2;\n"
                        "JOIN: @!%p0 mov.u32 %t4, %t1; add.u32 %t5, %t3, %t4; cvt.u64.u32 %w0, "
                        "%t5; st.global.u64 [%at], %w0;"),
             1, 70, memory, sizeof memory);
    for (int t = 0; t < 70; ++t) CHECK_U64(memory[t], t < 30 ? 200 + 72 : 100 + 71);
}

static void a_loop_of_uniform_steps_counts_for_each_thread(void)
{
    uint64_t memory[70];
    try_text(KERNEL("", "mov.u32 %t0, 0; mov.u32 %t1, 0;\nLOOP: add.u32 %t2, %t0, 5; add.u32 %t1, "
                        "%t1, %t2; add.u32 %t0, %t0, 1;\n"
                        "setp.le.u32 %p0, %t0, %i; @%p0 bra LOOP; cvt.u64.u32 %w0, %t1; "
                        "st.global.u64 [%at], %w0;"),
             1, 70, memory, sizeof memory);
    for (uint64_t t = 0; t < 70; ++t) CHECK_U64(memory[t], 5 * (t + 1) + t * (t + 1) / 2);
}

/* Branches on a predicate that is the same for all threads, because of where it comes from. */
static void uniform_branches_go_one_way(void)
{
    uint64_t memory[70];
    try_text(
        KERNEL(
            "",
            "mov.u32 %t0, %ntid.x; setp.eq.u32 %p0, %t0, 70; setp.ne.u32 %p1, %t0, 70;\n"
            "mov.u64 %w0, 0; @%p0 bra A; mov.u64 %w0, 100;\nA: @%p1 bra B; add.u64 %w0, %w0, 1;\n"
            "B: @!%p1 bra C; add.u64 %w0, %w0, 200;\nC: @!%p0 bra D; add.u64 %w0, %w0, 2;\n"
            "D: @%p1 trap; setp.lt.u32 %p2, %i, 5; @%p2 bra E; @%p1 bra F; add.u64 %w0, %w0, 4;\n"
            "E: @%p0 add.u64 %w0, %w0, 8; @%p1 add.u64 %w0, %w0, 16; st.global.u64 [%at], "
            "%w0;\n@%p0 exit;\n"
            "F: st.global.u64 [%at], 0;"),
        1, 70, memory, sizeof memory);
    for (int t = 0; t < 70; ++t) CHECK_U64(memory[t], t < 5 ? 11 : 15);
}

static void comments_and_directives_of_tools_are_passed(void)
{
    uint64_t memory[3] = {0};
    const char *text =
        ".file 1 \"a file.cu\"\n.section .debug_str { .b8 1, 2 { 3 } }\n.visible .func named();\n"
        ".entry k(.param .u64 memory)\n.pragma \"before\";\n.maxnreg 32 .noreturn\n{ // a comment "
        "}\n"
        "/* another\n } */ .reg .b64 %w<2>; .loc 1 5 3\n.pragma \"nounroll\";\n"
        "ld.param.u64 %w0, [memory]; ; .loc 1 6 4, function_name $L_1, inlined_at 1 2 3\n"
        "{ .reg .b32 %w0; mov.u32 %w0, %ntid.x; mov.b64 %w1, {%w0, 0}; } st.global.u64 [%w0], "
        "%w1;\n"
        "{ .reg .b32 %w0; mov.u32 %w0, %total_smem_size; mov.b64 %w1, {%w0, 0}; }\n"
        "st.global.u64 [%w0+8], %w1; st.global.u64 [%w0+16], 0b101; }";
    try_text(text, 1, 70, memory, sizeof memory);
    CHECK_U64(memory[0], 70);
    CHECK_U64(memory[1], 0);
    CHECK_U64(memory[2], 5);
}

static void a_trap_is_a_fault(void)
{
    check_fault(KERNEL("", "setp.eq.u32 %p0, %i, 5;\n@%p0 trap;"), PTX_LAUNCH_FAILURE,
                "thread 5 0 0, PTX line 9 (@%p0 trap;): a trap");
}

/* ------------------------------------------------------------------ barriers and races */

#define SHARED_ARRAY ".shared .align 8 .b8 s[512];\n"
#define MINE                                                                                       \
    "mov.u32 %t0, s; shl.b32 %t1, %i, 2; add.u32 %t2, %t0, %t1; xor.b32 %t3, %i, 63; shl.b32 "     \
    "%t3, %t3, 2; add.u32 %t3, %t0, %t3;\n"

static void a_barrier_shows_what_others_wrote(void)
{
    uint64_t memory[64];
    try_text(KERNEL(SHARED_ARRAY, MINE "st.shared.u32 [%t2], %i; bar.sync 0; ld.shared.u32 %t4, "
                                       "[%t3]; cvt.u64.u32 %w0, %t4; st.global.u64 [%at], %w0;"),
             2, 64, memory, sizeof memory);
    for (uint64_t t = 0; t < 64; ++t) CHECK_U64(memory[t], 63 - t);
}

static void threads_that_have_left_are_not_waited_for(void)
{
    uint64_t memory[64];
    memset(memory, 0, sizeof memory);
    try_text(
        KERNEL(
            "",
            "setp.gt.u32 %p0, %i, 9; @%p0 exit; barrier.sync.aligned 0; st.global.u64 [%at], 1;"),
        2, 64, memory, sizeof memory);
    for (int t = 0; t < 64; ++t) CHECK_U64(memory[t], t < 10);
}

static void different_barriers_are_a_fault(void)
{
    check_fault(KERNEL("", "setp.lt.u32 %p0, %i, 32; @%p0 bra LOW;\nbar.sync 0; bra "
                           "END;\nLOW:\nbar.sync 0;\nEND:"),
                PTX_LAUNCH_FAILURE, "other threads of the block wait at the one of PTX line");
}

static void check_race(const char *text, const char *part)
{
    ptx_fault fault = {0};
    test_case("%s", text);
    const bool found = faults(text, 64, true, &fault);
    if (!part) {
        CHECK_STRING(fault.text, "");
        return;
    }
    if (!CHECK(found)) return;
    CHECK_INT(fault.status, PTX_LAUNCH_FAILURE);
    CHECK_CONTAINS(fault.text, part);
    CHECK(!faults(text, 64, false, &fault));
}

static void races_on_shared_memory_are_found(void)
{
    check_race(KERNEL(SHARED_ARRAY, MINE "st.shared.u32 [%t2], %i;\nld.shared.u32 %t4, [%t3];"),
               "kernel k, block 0 0 0, thread 0 0 0, PTX line 11 (ld.shared.u32 %t4, [%t3];): a "
               "race on shared memory: reads byte 252, which thread 63 wrote at PTX line 10");
    check_race(KERNEL(SHARED_ARRAY, MINE "ld.shared.u32 %t4, [%t3];\nst.shared.u32 [%t2], %i;"),
               "writes byte 0, which thread 63 read at PTX line 10");
    check_race(KERNEL(SHARED_ARRAY, "st.shared.u32 [s], %i;"),
               "writes byte 0, which thread 0 wrote");
    check_race(
        KERNEL(SHARED_ARRAY,
               "ld.shared.u32 %t0, [s]; setp.eq.u32 %p0, %i, 0;\n@%p0 st.shared.u8 [s+3], 1;"),
        "thread 63 (and others) read");
    check_race(KERNEL(SHARED_ARRAY, "atom.shared.add.u32 %t0, [s], 1; setp.eq.u32 %p0, %i, "
                                    "0;\n@%p0 ld.shared.u32 %t1, [s];"),
               "reads byte 0, which thread 63 (and others) wrote");
    check_race(KERNEL(SHARED_ARRAY, "mov.u64 %w0, s; cvta.shared.u64 %w0, %w0; st.u32 [%w0], %i;"),
               "a race");
    check_race(KERNEL(SHARED_ARRAY, "setp.eq.u32 %p0, %i, 0; @%p0 st.shared.u32 [s], 0;\n"
                                    "atom.shared.add.u32 %t0, [s], 1;"),
               "thread 1 0 0, PTX line 10 (atom.shared.add.u32 %t0, [s], 1;): a race");
}

static void what_is_ordered_is_no_race(void)
{
    check_race(KERNEL(SHARED_ARRAY, MINE "st.shared.u32 [%t2], %i; bar.sync 0; ld.shared.u32 %t4, "
                                         "[%t3]; bar.sync 0; st.shared.u32 [%t3], %t4;"),
               NULL);
    check_race(
        KERNEL(SHARED_ARRAY,
               MINE "st.shared.u32 [%t2], %i; ld.shared.u32 %t4, [%t2]; st.shared.u32 [%t2], %t4;"),
        NULL);
    check_race(KERNEL(SHARED_ARRAY, "ld.shared.u32 %t4, [s]; ld.shared.u32 %t4, [s];"), NULL);
    check_race(KERNEL(SHARED_ARRAY, "atom.shared.add.u32 %t0, [s], 1; atom.shared.add.u32 %t0, "
                                    "[s], 1; bar.sync 0; ld.shared.u32 %t0, [s];"),
               NULL);
    check_race(KERNEL(SHARED_ARRAY, "setp.eq.u32 %p0, %i, 0; @%p0 st.shared.u32 [s], 0; bar.sync "
                                    "0; atom.shared.add.u32 %t0, [s], 1;"),
               NULL);
    check_race(KERNEL(SHARED_ARRAY,
                      "setp.gt.u32 %p1, %i, 31; @%p1 exit; setp.eq.u32 %p0, %i, 0; @%p0 "
                      "st.shared.u32 [s], 0; bar.warp.sync 0xffffffff; atom.shared.add.u32 %t0, "
                      "[s], 1;"),
               NULL);
    check_race(KERNEL(SHARED_ARRAY, MINE "st.shared.u8 [%t2], %i; st.shared.u8 [%t2+3], %i; "
                                         "xor.b32 %t4, %t2, 4; ld.shared.u8 %t5, [%t4+1];"),
               NULL);
    check_race(KERNEL(SHARED_ARRAY, "setp.eq.u32 %p0, %i, 0; @%p0 st.shared.u32 [s], %i; bar.sync "
                                    "0; setp.eq.u32 %p0, %i, 33; @%p0 st.shared.u32 [s], %i;"),
               NULL);
}

/* All read, then some of one warp do again: its barrier does not order what the other warp read. */
static void a_read_is_not_forgotten_by_another(void)
{
    check_race(
        KERNEL(
            SHARED_ARRAY,
            "ld.shared.u32 %t0, [s]; setp.lt.u32 %p0, %i, 32; @%p0 exit; ld.shared.u32 %t0, [s];\n"
            "bar.warp.sync 0xffffffff; setp.eq.u32 %p1, %i, 40;\n@%p1 st.shared.u32 [s], 1;"),
        "thread 63 (and others) read at PTX line 9");
}

/* On global memory, a sum of f32 has no subnormal numbers. */
static void an_atomic_sum_keeps_subnormal_numbers_in_shared_memory(void)
{
    uint64_t memory[1] = {0};
    try_text(KERNEL(SHARED_ARRAY,
                    "st.shared.u32 [s], 1; atom.shared.add.f32 %f0, [s], 0f00000001; ld.shared.u32 "
                    "%t0, [s];\n"
                    "st.global.u32 [%m], %t0; red.global.add.f32 [%m+4], 0f80000001;"),
             1, 1, memory, sizeof memory);
    CHECK_U64(memory[0], 2);
    memory[0] = 0x100000000;
    try_text(KERNEL(SHARED_ARRAY,
                    "mov.u64 %w0, s; cvta.shared.u64 %w0, %w0; st.u32 [%w0], 1;\n"
                    "red.add.f32 [%w0], 0f00000001; ld.u32 %t0, [%w0]; st.global.u32 [%m], %t0;\n"
                    "red.add.f32 [%m+4], 0f00000001;"),
             1, 1, memory, sizeof memory);
    CHECK_U64(memory[0], 2);
}

/* A barrier of a warp orders its threads, and no others. */
static void a_warp_s_barrier_orders_its_threads_only(void)
{
    check_race(KERNEL(SHARED_ARRAY, MINE "xor.b32 %t4, %t2, 4; st.shared.u32 [%t2], %i; "
                                         "bar.warp.sync 0xffffffff; ld.shared.u32 %t5, [%t4];\n"
                                         "bar.warp.sync 0xffffffff; st.shared.u32 [%t4], 1;"),
               NULL);
    check_race(KERNEL(SHARED_ARRAY, "shr.u32 %t0, %i, 5; shl.b32 %t0, %t0, 2; mov.u32 %t1, s; "
                                    "add.u32 %t1, %t1, %t0; ld.shared.u32 %t2, [%t1];\n"
                                    "bar.warp.sync 0xffffffff; and.b32 %t3, %i, 31; setp.eq.u32 "
                                    "%p0, %t3, 0; @%p0 st.shared.u32 [%t1], 1;"),
               NULL);
    check_race(
        KERNEL(SHARED_ARRAY,
               MINE "st.shared.u32 [%t2], %i; bar.warp.sync 0xffffffff; ld.shared.u32 %t4, [%t3];"),
        "a race");
    check_race(KERNEL(SHARED_ARRAY,
                      MINE "and.b32 %t4, %i, 16; setp.eq.u32 %p0, %t4, 0; "
                           "selp.b32 %t5, 0xffff, 0xffff0000, %p0; xor.b32 %t4, %t2, 64;\n"
                           "st.shared.u32 [%t2], %i; bar.warp.sync %t5; ld.shared.u32 %t6, "
                           "[%t4];"),
               "a race");
    check_race(KERNEL(SHARED_ARRAY,
                      MINE "and.b32 %t4, %i, 16; setp.ne.u32 %p0, %t4, 0; @%p0 exit; xor.b32 %t4, "
                           "%t2, 4; st.shared.u32 [%t2], %i;\n"
                           "bar.warp.sync 0xffff; ld.shared.u32 %t5, [%t4];"),
               NULL);
}

/* ------------------------------------------------------------------ warps */

static void shuffles_read_other_lanes(void)
{
    static const struct {
        const char *shuffle;
        int source[4]; /* of lanes 0, 1, 17 and 31 */
        unsigned in_range;
    } cases[] = {{"up.b32 %t1|%p0, %i, 1, 0", {0, 0, 16, 30}, 0xe},
                 {"down.b32 %t1|%p0, %i, 1, 31", {1, 2, 18, 31}, 0x7},
                 {"bfly.b32 %t1|%p0, %i, 16, 31", {16, 17, 1, 15}, 0xf},
                 {"idx.b32 %t1|%p0, %i, 5, 31", {5, 5, 5, 5}, 0xf},
                 {"idx.b32 %t1|%p0, %i, 5, 0x181f", {5, 5, 21, 29}, 0xf},
                 {"down.b32 %t1|%p0, %i, 4, 0x1c1f", {0, 1, 17, 31}, 0},
                 {"down.b32 %t1|%p0, %i, 2, 0x1c1f", {2, 3, 19, 31}, 0x7}};
    static const int lanes[] = {0, 1, 17, 31};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        char text[2000];
        uint64_t memory[64];
        test_case("%s", cases[k].shuffle);
        snprintf(text, sizeof text,
                 "%sshfl.sync.%s, 0xffffffff; selp.b32 %%t2, 1, 0, %%p0; mov.b64 %%w0, {%%t1, "
                 "%%t2}; st.global.u64 [%%at], %%w0;%s",
                 HEAD, cases[k].shuffle, END);
        try_text(text, 1, 64, memory, sizeof memory);
        for (int n = 0; n < 8; ++n) {
            const uint64_t expected = (uint64_t)(cases[k].source[n % 4] + n / 4 * 32);
            CHECK_U64(memory[lanes[n % 4] + n / 4 * 32],
                      expected | (uint64_t)(cases[k].in_range >> n % 4 & 1) << 32);
        }
    }
}

static void votes_count_the_threads_of_the_mask(void)
{
    uint64_t memory[64];
    try_text(
        KERNEL("", "and.b32 %t0, %i, 1; setp.eq.u32 %p0, %t0, 1; vote.sync.ballot.b32 %t1, %p0, "
                   "0xffffffff; vote.sync.any.pred %p1, %p0, 0xffffffff;\n"
                   "vote.sync.all.pred %p2, %p0, 0xffffffff; vote.sync.uni.pred %p3, %p0, "
                   "0xffffffff; setp.lt.u32 %p4, %i, 99; vote.sync.uni.pred %p5, %p4, 0xffffffff;\n"
                   "selp.b32 %t2, 1, 0, %p1; selp.b32 %t3, 2, 0, %p2; selp.b32 %t4, 4, 0, %p3; "
                   "selp.b32 %t5, 8, 0, %p5; or.b32 %t2, %t2, %t3; or.b32 %t2, %t2, %t4;\n"
                   "or.b32 %t2, %t2, %t5; mov.b64 %w0, {%t1, %t2}; st.global.u64 [%at], %w0;"),
        1, 64, memory, sizeof memory);
    for (int t = 0; t < 64; ++t) CHECK_U64(memory[t], 0x9aaaaaaaa);
    try_text(KERNEL("", "and.b32 %t0, %i, 3; setp.eq.u32 %p0, %t0, 1; @%p0 mov.pred %p0, -1;\n"
                        "vote.sync.ballot.b32 %t1, %p0, 0xffffffff; cvt.u64.u32 %w0, %t1; "
                        "st.global.u64 [%at], %w0;"),
             1, 64, memory, sizeof memory);
    for (int t = 0; t < 64; ++t) CHECK_U64(memory[t], 0x22222222);
}

static void a_warp_s_instruction_needs_all_whom_it_names(void)
{
    ptx_fault fault = {0};
    check_fault(
        KERNEL(
            "",
            "setp.lt.u32 %p0, %i, 8; @%p0 bra LOW; ret;\nLOW: vote.sync.ballot.b32 %t0, %p0, 1;"),
        PTX_LAUNCH_FAILURE, "does not name the thread itself");
    check_fault(KERNEL("", "setp.lt.u32 %p0, %i, 8; @%p0 bra LOW;\nbar.sync 0; ret;\nLOW: "
                           "vote.sync.ballot.b32 %t0, %p0, 0xffff; bar.sync 0;"),
                PTX_LAUNCH_FAILURE, "its mask 0xffff names thread 8");
    check_fault(KERNEL("", "setp.eq.u32 %p0, %i, 40; selp.b32 %t1, 0x1ff, -1, %p0;\n"
                           "vote.sync.any.pred %p1, %p0, %t1;"),
                PTX_LAUNCH_FAILURE, "its mask 0xffffffff names thread 40, whose mask is 0x1ff");
    CHECK(!faults(KERNEL("", "setp.lt.u32 %p0, %i, 16; selp.b32 %t1, 0xffff, 0xffff0000, %p0;\n"
                             "bar.warp.sync %t1; shfl.sync.bfly.b32 %t0, %i, 1, 31, %t1;"),
                  32, false, &fault));
    check_fault(KERNEL("", "shfl.sync.idx.b32 %t0, %i, 9, 31, 0x1ff;"), PTX_LAUNCH_FAILURE,
                "reads the value of thread 9, which does not take part");
    check_fault(
        KERNEL("",
               "setp.gt.u32 %p0, %i, 7; @%p0 exit; shfl.sync.idx.b32 %t0, %i, 9, 31, 0xffffffff;"),
        PTX_LAUNCH_FAILURE, "reads the value of thread 9");
    CHECK(!faults(
        KERNEL("",
               "setp.gt.u32 %p0, %i, 7; @%p0 exit; shfl.sync.idx.b32 %t0, %i, 3, 31, 0xffffffff;"),
        64, false, &fault));
}

/* ------------------------------------------------------------------ calls */

#define FUNCTIONS                                                                                  \
    ".func (.param .b64 r) twice(.param .b64 x) { .reg .b64 %w<3>; ld.param.u64 %w0, [x]; "        \
    "setp_free: add.u64 %w1, %w0, %w0; st.param.b64 [r], %w1; ret; }\n"                            \
    ".func (.param .b64 r) odd(.param .b64 x, .param .align 8 .b8 y[16]) {\n.reg .b64 %w<5>; "     \
    ".reg .pred %p<2>;\n"                                                                          \
    "ld.param.b64 %w0, [x]; and.b64 %w1, %w0, 1; setp.eq.u64 %p0, %w1, 0; @%p0 bra EVEN;\n"        \
    "ld.param.b64 %w2, [y+8]; st.param.b64 [r], %w2; ret;\nEVEN: { .param .b64 a; st.param.b64 "   \
    "[a], %w0; .param .b64 b;\n"                                                                   \
    "call.uni (b), twice, (a); ld.param.b64 %w3, [b]; }\nst.param.b64 [r], %w3; ret; }\n"

static void functions_are_called_with_their_arguments(void)
{
    uint64_t memory[70];
    try_text(KERNEL(FUNCTIONS,
                    "{ .param .b64 a; .param .align 8 .b8 s[16]; .param .b64 r; st.param.b64 [a], "
                    "%i64; shr.u64 %w8, %i64, 3; st.param.b64 [a], %w8;\n"
                    "st.param.b64 [s], 1; st.param.b64 [s+8], 77; call (r), odd, (a, s); "
                    "ld.param.b64 %w0, [r]; }\n"
                    "{ .param .b64 a; .param .b64 r; st.param.b64 [a], %w0; call.uni (r), twice, "
                    "(a); ld.param.b64 %w0, [r+0]; } st.global.u64 [%at], %w0;"),
             1, 70, memory, sizeof memory);
    for (uint64_t t = 0; t < 70; ++t) CHECK_U64(memory[t], t % 2 ? 154 : 4 * t);
}

/* ------------------------------------------------------------------ what is refused */

static void check_refused(const char *text, const char *part)
{
    char why[600] = "", whole[3000];
    snprintf(whole, sizeof whole, ".version 9.0\n.target sm_90\n.address_size 64\n%s", text);
    test_case("%s", text);
    ptx_module *module = ptx_load(whole, &try_memory, why, sizeof why);
    if (module && !CHECK(!ptx_find(module, "k", why, sizeof why))) why[0] = '\0';
    CHECK_CONTAINS(why, part);
    CHECK_CONTAINS(why, "PTX line ");
    ptx_free(module);
    CHECK_INT(try_held(), 0);
}

static void text_that_is_no_ptx_is_refused_with_its_line(void)
{
    char why[600];
    CHECK(!ptx_load("\x7f"
                    "ELF",
                    &try_memory, why, sizeof why));
    CHECK_CONTAINS(why, "PTX line 1: this is no PTX");
    CHECK(!ptx_load("", &try_memory, why, sizeof why));
    CHECK_CONTAINS(why, "this is no PTX");
    CHECK(
        !ptx_load(".version 9.0\n.target sm_90\n.address_size 32\n", &try_memory, why, sizeof why));
    CHECK_CONTAINS(why, "PTX line 3: addresses of 64 bits are expected, at '32'");
    check_refused(".entry k() {\n ret;", "PTX line 4: it is not closed");
    check_refused("\n.entry k() ret;", "PTX line 5: a function's body is expected, at 'ret'");
    check_refused(".nonsense k;", "PTX line 4: this is not known in a module, at '.nonsense'");
    check_refused(".global .u32 g = k;",
                  "an initial value that is no number is not supported, at 'k'");
    check_refused(".global .u32 g[2] = {1, 2, 3};", "too many initial values");
    check_refused(".global .u32 g;\n.global .u32 g;",
                  "PTX line 5: this name is declared twice, at 'g'");
    check_refused(".global .texref t;", "not supported in a declaration, at '.texref'");
    check_refused(".global .u32 g[0x];", "this is no number here");
    check_refused(".global .align 1099511627776 .b8 g[8];\n", "bytes is not supported");
}

static void what_is_not_supported_is_not_called_invalid(void)
{
    static const struct {
        const char *text;
        int lacked;
    } cases[] = {{".entry k() { ret; }", 0},
                 {".global .u32 g = k;", 1},
                 {".global .u32 g[2] = {1, 2, 3};", 0},
                 {".global .texref t;", 1},
                 {".alias f, g;", 1},
                 {".global .align 1099511627776 .b8 g[8];", 1},
                 {".entry k() {", 0},
                 {".global .u32 g;\n.global .u32 g; .alias f, g;", 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        char why[600], whole[200];
        test_case("%s", cases[k].text);
        snprintf(whole, sizeof whole, ".version 9.0\n.target sm_90\n.address_size 64\n%s",
                 cases[k].text);
        ptx_free(ptx_load(whole, &try_memory, why, sizeof why));
        CHECK_INT(ptx_load_lacked(), cases[k].lacked);
    }
}

static void an_instruction_that_is_not_supported_is_named(void)
{
    check_refused(KERNEL("", "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%w0, {%f0, %f1}];"),
                  "not supported");
    check_refused(KERNEL("", "\n\nfma.rn.f16 %h0, %h1, %h2, %h3;"),
                  "PTX line 10: this instruction is not supported, at 'fma.rn.f16'");
    check_refused(KERNEL("", "add.banana.u32 %t0, %t1, %t2;"), "at 'add.banana.u32'");
    check_refused(KERNEL("", "ld.global.banana.u32 %t0, [%m];"),
                  "a part of this instruction is not supported, at 'ld.global.banana.u32'");
    check_refused(KERNEL("", "add.u32 %t0, %t1;"), "another number of operands");
    check_refused(KERNEL("", "add.u32 %t0, %t1, %w0, %t2;"), "another number of operands");
    check_refused(KERNEL("", "add.u64 %w0, %t1, %w0;"),
                  "a register of 4 bytes as an operand of 8, at '%t1'");
    check_refused(KERNEL("", "add.u32 %t0, %t99, 1;"),
                  "this register is not declared or not supported, at '%t99'");
    check_refused(KERNEL("", "mov.u32 %t0, %smid;"), "at '%smid'");
    check_refused(KERNEL("", "mov.u32 %t0, %nwarpid;"), "at '%nwarpid'");
    check_refused(KERNEL("", "add.f32 %f0, %f1, 1;"),
                  "a number of another type is not supported, at '1'");
    check_refused(KERNEL("", "mov.u32 %tid.x, 1;"), "a register for a result is expected");
    check_refused(KERNEL("", "bra NOWHERE;"),
                  "PTX line 8: this label is not declared, at 'NOWHERE'");
    check_refused(KERNEL("", "L: L: ret;"), "this name is declared twice, at 'L'");
    check_refused(KERNEL("", "bar.sync 0, 32;"), "this form of barrier is not supported");
    check_refused(KERNEL("", "bar.red.popc.u32 %t0, 0, %p0;"), "barrier");
    check_refused(KERNEL("", "call vprintf, (%w0);"),
                  "a call of a function that has no body is not supported, at 'vprintf'");
    check_refused(KERNEL("", "call (%w0), %w1, (%w2), prototype;"), "not supported");
    check_refused(KERNEL(".func f() { call f; ret; }\n", "call f;"),
                  "recursion, or calls deeper than 32");
    check_refused(KERNEL("", "cvt.s32.f32 %t0, %f0;"), "a rounding to integers is expected");
    check_refused(KERNEL("", "cvt.rn.f16.f32 %h0, %f0;"), "this conversion is not supported");
    check_refused(KERNEL("", "atom.global.add.f16 %h0, [%m], %h1;"),
                  "this atomic operation is not supported");
    check_refused(KERNEL("", ".local .b64 l; red.local.add.u64 [l], 1;"),
                  "this atomic operation is not supported");
    check_refused(KERNEL("", ".reg .f16x2 %x;"), "registers of this type are not supported");
    check_refused(KERNEL("", "{ add.u32 %t0, %t1, 1;"), "PTX line");
    check_refused(KERNEL("", "add.u32 %t0 %t1, 1;"), "a comma or semicolon is expected, at '%t1'");
    check_refused(KERNEL("", "add.f64 %d0, %d1, 0f3f800000;"), "a number of another type");
    check_refused(KERNEL("", "add.u32 %t0, %t1, 0d3ff0000000000000;"), "a number of another type");
    check_refused(KERNEL("", "and.pred %p0, !%t0, %p1;"), "no predicate to be negated");
    check_refused(KERNEL("", "mov.f32 %f0, -0f3f800000;"), "a minus before bits");
    check_refused(KERNEL(".func f(.param .b64 x) { ret; }\n", "call f;"), "too few arguments");
    check_refused(KERNEL(".func f() { ret; }\n", "{ .param .b64 x; call f, (x); }"),
                  "too many arguments");
    check_refused(KERNEL(".func f() { ret; }\n", "{ .param .b64 x; call (x), f; }"),
                  "too many arguments");
    check_refused(KERNEL(".func f(.param .b64 x) { ret; }\n", "{ .param .b32 x; call f, (x); }"),
                  "this argument is too small, at 'x'");
    check_refused(KERNEL(".func f(.param .b64 x) { ret; }\n", "call f, (%w0);"),
                  "only .param variables");
    check_refused(KERNEL("", "@%p0 call f;"), "a call under a predicate");
    check_refused(KERNEL("", "{ .param .b64 x; mov.b64 %w0, x; }"),
                  "the address of a function's parameter");
    check_refused(KERNEL("", "mov.u64 %w0, k;"), "a value is expected, at 'k'");
    check_refused(KERNEL("", "add.u64 %w0, !%w1, 1;"), "no predicate to be negated");
    check_refused(KERNEL("", "@%t0 add.u32 %t0, %t0, 1;"), "a predicate is expected");
    check_refused(KERNEL("", "add.u64 %t0, %w1, 1;"),
                  "a register of 4 bytes for a result of 8, at '%t0'");
    check_refused(KERNEL("", "setp.between.u32 %p0, %t1, %t2;"),
                  "this comparison is not supported");
    check_refused(KERNEL("", "set.lt.f64.f64 %d0, %d1, %d2;"), "this form of set is not supported");
    check_refused(KERNEL("", "add.cc.u16 %h0, %h1, %h2;"), "this form of carry is not supported");
    check_refused(KERNEL("", "mov.b64 {%t0, %t1, %t2}, %w0;"), "this form of mov is not supported");
    check_refused(KERNEL("", "cvta.banana.u64 %w0, %w1;"), "this form of cvta is not supported");
    check_refused(KERNEL("", "isspacep.const %p0, %w1;"), "this form of isspacep is not supported");
    check_refused(KERNEL("", "lop3.b32 %t0, %t1, %t2, %t3, %t4;"),
                  "this form of lop3 is not supported");
    check_refused(KERNEL("", "shfl.up.b32 %t0, %t1, %t2, %t3;"),
                  "this instruction is not supported, at 'shfl.up.b32'");
    check_refused(KERNEL("", "bra %t0;"), "a branch to what is no label");
    check_refused(KERNEL("", "brx.idx %t0, 5;"), "this form of branch is not supported");
    check_refused(KERNEL("", "L: brx.idx %t0, L;"), "this label is not declared, at 'L'");
    check_refused(KERNEL("", "ld.global.u32 %t0, %m;"), "an address in brackets is expected");
    check_refused(KERNEL("", "ld.global.u32 %t0, [%t1];"),
                  "an address of 4 bytes is not supported here");
    check_refused(KERNEL(SHARED_ARRAY, "ld.u32 %t0, [s];"), "a variable as a generic address");
    check_refused(KERNEL("", "st.const.u32 [%m], 1;"), "this form of access is not supported");
    check_refused(KERNEL("", "mul.u32 %t0, %t1, %t2;"),
                  "this instruction is not supported, at 'mul.u32'");
    check_refused(KERNEL("", "neg.u32 %t0, %t1;"),
                  "this instruction is not supported, at 'neg.u32'");
    check_refused(KERNEL("", "rcp.approx.f64 %d0, %d1;"),
                  "this instruction is not supported, at 'rcp.approx.f64'");
    check_refused(KERNEL("", "add.ftz.f64 %d0, %d1, %d2;"),
                  "this instruction is not supported, at 'add.ftz.f64'");
    check_refused(KERNEL("", "slct.ftz.f32.s32 %f0, %f1, %f2, %t0;"), "not supported");
    check_refused(KERNEL("", "ld.global.v2.u32 {%t0, %t1, %t2}, [%m];"),
                  "this form of access is not supported");
}

static void another_kernel_of_the_module_still_runs(void)
{
    char why[600];
    ptx_module *module =
        try_load(".entry bad() { tex.1d %r0; ret; }\n.entry k() { ret; }\n.func f() { ret; }\n");
    CHECK(!ptx_find(module, "bad", why, sizeof why));
    CHECK_CONTAINS(why, "PTX line 4");
    CHECK(!ptx_find(module, "absent", why, sizeof why));
    CHECK_STRING(why, "");
    CHECK(!ptx_find(module, "f", why, sizeof why));
    CHECK_STRING(why, "");
    ptx_kernel *kernel = try_kernel(module);
    CHECK(kernel != NULL && kernel == try_kernel(module));
    ptx_fault fault;
    const uint64_t executed = ptx_executed();
    CHECK(try_run(kernel, 3, 50, NULL, 0, &fault));
    CHECK_U64(ptx_executed() - executed, 150);
    CHECK(!try_run(kernel, 1, 1025, NULL, 0, &fault));
    CHECK_CONTAINS(fault.text, "more than 1024");
    CHECK(!try_run(kernel, 0, 1, NULL, 0, &fault));
    ptx_free(module);
}

/* ------------------------------------------------------------------ the host */

static void the_host_s_rounding_is_neither_used_nor_changed(void)
{
    uint32_t memory[2] = {0x3f800000, 0};
    fesetround(FE_UPWARD);
    const bool ran = try_text(KERNEL("", "ld.global.f32 %f0, [%m]; add.f32 %f1, %f0, 0f33000000;\n"
                                         "sub.rz.f32 %f2, %f0, 0f33000000; add.f32 %f1, %f1, "
                                         "0f33000000; st.global.f32 [%m+4], %f1;"),
                              1, 1, memory, sizeof memory);
    const int after = fegetround();
    fesetround(FE_TONEAREST);
    CHECK(ran);
    CHECK_INT(after, FE_UPWARD);
    CHECK_INT(memory[1], 0x3f800000);
}

static void any_number_of_host_threads_computes_the_same(void)
{
    enum { BLOCKS = 61, THREADS = 96 };
    ptx_module *module = try_load(
        KERNEL(SHARED_ARRAY, "mov.u32 %t0, s; and.b32 %t1, %i, 31; shl.b32 %t1, %t1, 3; add.u32 "
                             "%t0, %t0, %t1; mov.u32 %t2, %ctaid.x; mov.u32 %t3, %ntid.x;\n"
                             "mad.lo.u32 %t4, %t2, %t3, %i; setp.lt.u32 %p0, %i, 32; cvt.u64.u32 "
                             "%w0, %t4; @%p0 st.shared.u64 [%t0], %w0; bar.sync 0;\n"
                             "ld.shared.u64 %w1, [%t0]; mul.wide.u32 %w2, %t4, 8; add.u64 %w2, "
                             "%w2, %m; mad.lo.u64 %w3, %w1, 1000, %w0; st.global.u64 [%w2], %w3;"));
    ptx_kernel *kernel = try_kernel(module);
    uint64_t address;
    uint64_t *memory = try_allocate(8 * BLOCKS * THREADS, &address);
    for (int threads = 1; kernel && threads < 6; ++threads) {
        ptx_fault fault;
        const ptx_launch launch = {.grid = {BLOCKS, 1, 1},
                                   .block = {THREADS, 1, 1},
                                   .arguments = (const char *)&address,
                                   .threads = threads};
        memset(memory, 0, 8 * BLOCKS * THREADS);
        CHECK(ptx_run(kernel, &try_memory, &launch, &fault));
        for (uint64_t n = 0; n < BLOCKS * THREADS; ++n) {
            const uint64_t block = n / THREADS, thread = n % THREADS;
            CHECK_U64(memory[n], (block * THREADS + thread % 32) * 1000 + n);
        }
    }
    ptx_free(module);
    try_free_all();
}

TEST_MAIN(PROMISE(loads_extend_and_stores_cut), PROMISE(an_access_outside_an_allocation_is_a_fault),
          PROMISE(a_misaligned_access_is_a_fault),
          PROMISE(shared_local_and_parameter_memory_have_their_ends),
          PROMISE(what_is_only_read_is_not_written), PROMISE(generic_addresses_reach_every_space),
          PROMISE(threads_of_one_access_may_reach_several_allocations),
          PROMISE(vectors_of_parameters_reach_all_threads),
          PROMISE(the_space_of_a_generic_address_is_known),
          PROMISE(a_module_s_variables_have_their_values_and_are_released),
          PROMISE(arguments_are_aligned_and_described), PROMISE(a_required_shape_is_described),
          PROMISE(local_memory_has_no_values_of_earlier_blocks),
          PROMISE(dynamic_shared_memory_begins_behind_the_static),
          PROMISE(atomic_operations_return_what_was_there),
          PROMISE(atomic_sums_of_all_blocks_lose_nothing), PROMISE(each_thread_knows_its_place),
          PROMISE(lane_masks_are_of_the_lanes), PROMISE(threads_that_part_meet_again),
          PROMISE(an_indexed_branch_goes_to_its_target),
          PROMISE(predicates_guard_single_instructions),
          PROMISE(values_of_one_branch_do_not_reach_the_other),
          PROMISE(a_loop_of_uniform_steps_counts_for_each_thread),
          PROMISE(uniform_branches_go_one_way),
          PROMISE(comments_and_directives_of_tools_are_passed), PROMISE(a_trap_is_a_fault),
          PROMISE(a_barrier_shows_what_others_wrote),
          PROMISE(threads_that_have_left_are_not_waited_for),
          PROMISE(different_barriers_are_a_fault), PROMISE(races_on_shared_memory_are_found),
          PROMISE(what_is_ordered_is_no_race), PROMISE(a_read_is_not_forgotten_by_another),
          PROMISE(an_atomic_sum_keeps_subnormal_numbers_in_shared_memory),
          PROMISE(a_warp_s_barrier_orders_its_threads_only), PROMISE(shuffles_read_other_lanes),
          PROMISE(votes_count_the_threads_of_the_mask),
          PROMISE(a_warp_s_instruction_needs_all_whom_it_names),
          PROMISE(functions_are_called_with_their_arguments),
          PROMISE(text_that_is_no_ptx_is_refused_with_its_line),
          PROMISE(what_is_not_supported_is_not_called_invalid),
          PROMISE(an_instruction_that_is_not_supported_is_named),
          PROMISE(another_kernel_of_the_module_still_runs),
          PROMISE(the_host_s_rounding_is_neither_used_nor_changed),
          PROMISE(any_number_of_host_threads_computes_the_same))
