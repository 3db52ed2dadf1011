/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_sized.c
 *  Structures that begin with their size, of programs compiled with later headers, and the rule by
 *  which the library reads all of them; those of 0.2.0 are in tests/test_old_programs.sh. */
/* TEST: backends=openmp labels=core smoke=yes */
#define META_KERNELS_HERE
#include "user_sound.kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "caught.h"
#include "internal.h"
#include "longer.h"
#include "meta_library.h"

/* ------------------------------------------------------------------ the rule */

enum { LEAST = 24, NOW = 48 };

/* @p bytes bytes that end where memory cannot be accessed, and say that they are so many. */
static unsigned char *guarded(size_t bytes)
{
    static unsigned char *page;
    const size_t room = (size_t)sysconf(_SC_PAGESIZE);
    if (!page) {
        page = mmap(NULL, 2 * room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED || mprotect(page + room, room, PROT_NONE) != 0) exit(1);
    }
    memset(page, 0, room);
    for (size_t k = 8; k < bytes; ++k) page[room - bytes + k] = (unsigned char)k;
    return memcpy(page + room - bytes, &bytes, sizeof bytes) ? page + room - bytes : NULL;
}

static meta_err get(unsigned char *own, const void *given)
{
    memset(own, 0x77, NOW);
    return meta_core_table.sized_get(own, NOW, given, LEAST, "thing", "THING_INIT");
}

static void members_that_the_caller_lacks_are_zero_and_no_byte_more_is_read(void)
{
    unsigned char own[NOW];
    size_t size;
    for (size_t bytes = LEAST; bytes <= NOW; ++bytes) {
        if (!CHECK_OK(get(own, guarded(bytes)))) return;
        memcpy(&size, own, sizeof size);
        CHECK_INT(size, NOW);
        for (size_t k = 8; k < NOW; ++k)
            if (!CHECK_INT(own[k], k < bytes ? k : 0)) return;
    }
}

static void what_is_wrong_with_a_size_is_said(void)
{
    unsigned char own[NOW];
    char text[64];
    CHECK_ERR_NAMES(get(own, NULL), META_ERR_ARGUMENT, "argument 'thing' is NULL");
    for (size_t bytes = 8; bytes < LEAST; ++bytes) {
        snprintf(text, sizeof text, "size %zu, less than the %d", bytes, LEAST);
        CHECK_ERR_NAMES(get(own, guarded(bytes)), META_ERR_ARGUMENT, text);
    }
    for (size_t bytes = NOW + META_SIZED_MOST_MORE + 1; bytes < SIZE_MAX / 2; bytes *= 2) {
        unsigned char *given = guarded(16);
        memcpy(given, &bytes, sizeof bytes);
        snprintf(text, sizeof text, "size %zu, more than any version", bytes);
        CHECK_ERR_NAMES(get(own, given), META_ERR_ARGUMENT, text);
    }
}

static void bytes_of_a_newer_header_must_be_zero(void)
{
    unsigned char own[NOW];
    char text[64];
    for (size_t bytes = NOW + 1; bytes <= NOW + 40; ++bytes) {
        unsigned char *given = guarded(bytes);
        snprintf(text, sizeof text, "sets byte %d,", NOW);
        CHECK_ERR_NAMES(get(own, given), META_ERR_UNSUPPORTED, text);
        memset(given + NOW, 0, bytes - NOW);
        CHECK_OK(get(own, given));
        given[bytes - 1] = 1;
        snprintf(text, sizeof text, "sets byte %zu,", bytes - 1);
        CHECK_ERR_NAMES(get(own, given), META_ERR_UNSUPPORTED, text);
    }
}

static void an_output_is_written_as_far_as_the_caller_knows_it(void)
{
    unsigned char found[NOW];
    for (size_t k = 0; k < NOW; ++k) found[k] = (unsigned char)(100 + k);
    for (size_t bytes = LEAST; bytes <= NOW + 8; ++bytes) {
        unsigned char *given = guarded(bytes);
        CHECK_OK(meta_core_table.sized_need(given, LEAST, NOW, "thing", "THING_INIT"));
        meta_sized_put(given, found, NOW);
        CHECK(memcmp(given, &bytes, sizeof bytes) == 0);
        for (size_t k = 8; k < bytes; ++k)
            if (!CHECK_INT(given[k], k < NOW ? 100 + k : k)) return;
    }
}

/* ------------------------------------------------------------------ every structure of the library
 */

static void *numbers;
static meta_mode mode;

static meta_err device_info(void *structure)
{
    return meta_device_info(0, mode, structure);
}
static meta_err backend_info(void *structure)
{
    return meta_backend_info(0, structure);
}
static meta_err variable_info(void *structure)
{
    return meta_variable_info(0, structure);
}
static meta_err pointer_info(void *structure)
{
    return meta_pointer_info(numbers, structure);
}
static meta_err mem_info(void *structure)
{
    return meta_mem_info(0, mode, structure);
}
static meta_err pool_info(void *structure)
{
    return meta_pool_info(0, mode, structure);
}
static meta_err get_state(void *structure)
{
    return meta_get_state(0, mode, structure);
}
static meta_err set_state(void *structure)
{
    return meta_set_state(0, mode, structure);
}
static meta_err set_tool(void *structure)
{
    return meta_set_tool(structure);
}
static meta_err csr_check(void *structure)
{
    return meta_csr_check(structure);
}
static meta_err csr_multiply(void *structure)
{
    return meta_csr_multiply(numbers, NULL, structure, numbers, NULL, NULL);
}

static void newer_structures_are_taken_where_they_say_nothing_new(void)
{
    const meta_device_desc about = META_DEVICE_DESC_INIT;
    const meta_backend_desc backend = META_BACKEND_DESC_INIT;
    const meta_variable_desc variable = META_VARIABLE_DESC_INIT;
    const meta_pointer_desc pointer = META_POINTER_DESC_INIT;
    const meta_mem_desc memory = META_MEM_DESC_INIT;
    const meta_pool_desc pool = META_POOL_DESC_INIT;
    const meta_state state = META_STATE_INIT;
    const meta_tool tool = META_TOOL_INIT;
    meta_csr matrix = META_CSR_INIT;
    matrix.start = &matrix; /* not on a device */
    int index;
    const longer_case all[] = {
        LONGER_OUT(meta_device_desc, &about, device_info, META_OK),
        LONGER_OUT(meta_backend_desc, &backend, backend_info, META_OK),
        LONGER_OUT(meta_variable_desc, &variable, variable_info, META_OK),
        LONGER_OUT(meta_pointer_desc, &pointer, pointer_info, META_OK),
        LONGER_OUT(meta_mem_desc, &memory, mem_info, META_OK),
        LONGER_OUT(meta_pool_desc, &pool, pool_info, META_OK),
        LONGER_OUT(meta_state, &state, get_state, META_OK),
        LONGER_IN(meta_state, &state, set_state, META_ERR_STATE),
        LONGER_IN(meta_tool, &tool, set_tool, META_OK),
        LONGER_IN(meta_csr, &matrix, csr_check, META_ERR_POINTER),
        LONGER_IN(meta_csr, &matrix, csr_multiply, META_ERR_POINTER),
    };
    CHECK_OK(meta_get_acc(&index, &mode));
    if (!CHECK_OK(meta_alloc(&numbers, 64))) return;
    check_longer(all, sizeof all / sizeof *all);
    CHECK_OK(meta_set_tool(NULL));
    CHECK_OK(meta_free(numbers));
}

/* ------------------------------------------------------------------ kernels */

/* One of later headers. */
static struct {
    meta_kernel kernel;
    uint64_t later[2];
} longer;

static void make_longer(uint64_t says)
{
    longer.kernel = sound_i32_kernel;
    longer.kernel.size = sizeof longer;
    longer.kernel.name = "longer";
    longer.kernel.state = NULL;
    longer.later[1] = says;
}

static void a_kernel_of_a_newer_header_runs_where_it_says_nothing_new(void)
{
    meta_kernel *found = NULL;
    make_longer(0);
    meta_kernel_register(&longer.kernel);
    CHECK_OK(meta_kernel_find("longer", META_I32, &found));
    CHECK(found == &longer.kernel);
    CHECK_OK(meta_kernel_prepare(&longer.kernel));
    meta_kernel_unregister(&longer.kernel);
    CHECK_ERR(meta_kernel_find("longer", META_I32, &found), META_ERR_ARGUMENT);
}

/* It is said in the log when it is loaded, and by each call that asks for it. */
static void refuse(meta_err error, const char *why)
{
    int before = 0, after = 0;
    char text[1024];
    meta_kernel *found = NULL;
    CHECK_OK(meta_kernel_count(&before));
    catch_errors();
    meta_kernel_register(&longer.kernel);
    take_caught(text, sizeof text);
    CHECK_CONTAINS(text, why);
    CHECK_CONTAINS(text, "it cannot be run");
    CHECK_ERR_NAMES(meta_kernel_find("longer", META_I32, &found), error, why);
    CHECK_ERR_NAMES(meta_kernel_prepare(&longer.kernel), error, why);
    CHECK_OK(meta_kernel_count(&after));
    CHECK_INT(after, before);
    CHECK(!found);
    meta_kernel_unregister(&longer.kernel);
    CHECK_ERR_NAMES(meta_kernel_find("longer", META_I32, &found), META_ERR_ARGUMENT,
                    "no such kernel");
}

static void a_kernel_that_cannot_run_is_named(void)
{
    make_longer(1);
    refuse(META_ERR_UNSUPPORTED, "kernel longer was compiled with the headers of a newer libmeta");
    make_longer(0);
    longer.kernel.size = offsetof(meta_kernel, team);
    refuse(META_ERR_ARGUMENT, "kernel longer has size 96, less than the 104 of 0.2.0");
    make_longer(0);
    longer.kernel.size = SIZE_MAX;
    refuse(META_ERR_ARGUMENT, "kernel longer has size 18446744073709551615, more than any version");
}

/* As of a program, whose kernels are registered before it starts the library. */
static void a_kernel_that_cannot_run_is_named_when_the_library_starts(void)
{
    char text[1024];
    make_longer(2);
    longer.kernel.name = "early";
    CHECK_OK(meta_finalize());
    catch_errors();
    meta_kernel_register(&longer.kernel);
    take_caught(text, sizeof text);
    CHECK_STRING(text, "");
    catch_errors();
    CHECK_OK(meta_init());
    take_caught(text, sizeof text);
    CHECK_CONTAINS(text, "warning: kernel early was compiled with the headers of a newer libmeta");
    meta_kernel_unregister(&longer.kernel);
}

TEST_DEVICE_MAIN(PROMISE(members_that_the_caller_lacks_are_zero_and_no_byte_more_is_read),
                 PROMISE(what_is_wrong_with_a_size_is_said),
                 PROMISE(bytes_of_a_newer_header_must_be_zero),
                 PROMISE(an_output_is_written_as_far_as_the_caller_knows_it),
                 PROMISE(newer_structures_are_taken_where_they_say_nothing_new),
                 PROMISE(a_kernel_of_a_newer_header_runs_where_it_says_nothing_new),
                 PROMISE(a_kernel_that_cannot_run_is_named),
                 PROMISE(a_kernel_that_cannot_run_is_named_when_the_library_starts))
