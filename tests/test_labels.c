/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_labels.c
 *  Labels of buffers and the source locations of their allocation and deallocation: in errors,
 *  and in the report of buffers that were never freed. */
/* TEST: backends=all auto=yes labels=core smoke=yes */
#include "caught.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 512 };
static const double one = 1;
static const meta_box line = {1, {64}, {0}, {64}};

/* `test_labels.c:N`, as errors have it. */
static const char *place(int at)
{
    static char text[2][64];
    static int turn;
    turn = !turn;
    snprintf(text[turn], sizeof text[turn], "test_labels.c:%d", at);
    return text[turn];
}

static void *labelled(const char *label, int *at)
{
    void *p = NULL;
    CHECK_OK(meta_alloc(&p, BYTES)), *at = __LINE__;
    CHECK_OK(meta_label(p, label));
    return p;
}

static void says(const char *part)
{
    CHECK_CONTAINS(meta_last_error(), part);
}

/* ------------------------------------------------------------------ in errors */

static void errors_name_the_buffer_and_where_it_was_allocated(void)
{
    int at;
    char *p = labelled("density", &at);
    meta_face face = {.start = -32, .count = 1, .size = {2}, .stride = {1}};
    double sum;
    CHECK_ERR(meta_fill(p, 65, &one, META_F64, NULL), META_ERR_BOUNDS);
    says("(\"density\", allocated at ");
    says(place(at));
    CHECK_ERR_NAMES(meta_fill(p + 4, 1, &one, META_F64, NULL), META_ERR_ALIGNMENT, "\"density\"");
    CHECK_ERR_NAMES(meta_pack_face(p, p + 256, &face, META_F64, NULL), META_ERR_OVERLAP,
                    "'packed' (\"density\"");
    face.start = -33;
    CHECK_ERR_NAMES(meta_pack_face(p, p + 256, &face, META_F64, NULL), META_ERR_BOUNDS,
                    "\"density\"");
    CHECK_ERR_NAMES(meta_reduce(&sum, p + 8, &line, META_SUM, META_F64, NULL), META_ERR_BOUNDS,
                    "\"density\"");
    CHECK_ERR_NAMES(meta_copy_h2d(p, p + 8, 8, NULL), META_ERR_POINTER, "\"density\"");
    CHECK_ERR_NAMES(meta_free(p + 8), META_ERR_POINTER, "\"density\"");
    CHECK_ERR_NAMES(meta_unwrap(p), META_ERR_POINTER, "\"density\"");
    says(place(at));
    CHECK_OK(meta_free(p));
}

static void a_freed_buffer_is_remembered_with_both_its_places(void)
{
    int at, gone;
    char *p = labelled("pressure", &at);
    CHECK_OK(meta_free(p)), gone = __LINE__;
    CHECK_ERR(meta_fill(p + 8, 1, &one, META_F64, NULL), META_ERR_POINTER);
    says("was freed (\"pressure\", allocated at ");
    says(place(at));
    says(", freed at ");
    says(place(gone));
    CHECK_ERR_NAMES(meta_free(p), META_ERR_POINTER, place(gone));
    CHECK_ERR_NAMES(meta_label(p, "again"), META_ERR_POINTER, "\"pressure\"");
}

/* An address that was issued several times has the names of its last buffer. */
static void the_last_buffer_at_an_address_is_the_one_that_is_named(void)
{
    char name[32] = "", *first = NULL;
    int at, again = 0;
    for (int k = 0; k < 50; ++k) {
        char *p, wanted[40];
        snprintf(name, sizeof name, "round %d", k);
        p = labelled(name, &at);
        if (!first) first = p;
        CHECK_OK(meta_free(p));
        if (p != first) continue;
        test_case("%s, %d of them before", name, again++);
        snprintf(wanted, sizeof wanted, "\"%s\"", name);
        CHECK_ERR_NAMES(meta_free(p), META_ERR_POINTER, wanted);
    }
}

static void operands_on_two_devices_are_both_named(void)
{
    meta_mode mode, other;
    int index, at_here, at_there;
    char *here, *there;
    CHECK_OK(meta_get_acc(&index, &mode));
    other = mode == META_OPENMP ? META_OPENCL : META_OPENMP;
    if (meta_set_acc(0, other) != META_OK) return;
    there = labelled("there", &at_there);
    CHECK_OK(meta_set_acc(index, mode));
    here = labelled("here", &at_here);
    CHECK_ERR(meta_copy_d2d(here, there, 8, NULL), META_ERR_WRONG_DEVICE);
    says("'dst' (\"here\", allocated at ");
    says(place(at_here));
    says("'src' (\"there\", allocated at ");
    says(place(at_there));
    CHECK_OK(meta_free(here));
    CHECK_OK(meta_free(there));
}

static void wraps_grids_and_host_memory_have_names_too(void)
{
    static double array[64];
    const int64_t cells = 62;
    const int ghosts = 1;
    int at, gone;
    meta_device_desc desc = META_DEVICE_DESC_INIT;
    meta_mode mode;
    int index;
    meta_box box;
    void *grid, *wrap, *host;
    CHECK_OK(meta_grid_alloc(&grid, &box, 1, &cells, &ghosts, &ghosts, META_F64)), at = __LINE__;
    CHECK_OK(meta_label(grid, "grid"));
    CHECK_ERR_NAMES(meta_fill(grid, 65, &one, META_F64, NULL), META_ERR_BOUNDS, place(at));
    CHECK_OK(meta_free(grid));
    CHECK_OK(meta_host_alloc(&host, 64)), at = __LINE__;
    CHECK_OK(meta_label((char *)host + 63, "host"));
    CHECK_ERR_NAMES(meta_free(host), META_ERR_POINTER, "(\"host\", allocated at ");
    says(place(at));
    CHECK_OK(meta_host_free(host));
    CHECK_OK(meta_get_acc(&index, &mode));
    CHECK_OK(meta_device_info(index, mode, &desc));
    if (!desc.is_host) return;
    CHECK_OK(meta_wrap(&wrap, array, sizeof array, META_NATIVE_HOST)), at = __LINE__;
    CHECK_OK(meta_label(wrap, "wrap"));
    CHECK_ERR_NAMES(meta_fill(wrap, 65, &one, META_F64, NULL), META_ERR_BOUNDS,
                    "(\"wrap\", wrapped at ");
    says(place(at));
    CHECK_OK(meta_unwrap(wrap)), gone = __LINE__;
    CHECK_ERR_NAMES(meta_unwrap(wrap), META_ERR_POINTER, ", unwrapped at ");
    says(place(gone));
}

/* C++ and Fortran call the functions themselves, as do pointers to them. */
static void without_a_line_the_calling_module_is_named(void)
{
    meta_err (*const alloc)(void **, size_t) = meta_alloc;
    meta_err (*const give_back)(void *) = meta_free;
    void *p, *q;
    CHECK_OK(meta_here("elsewhere.f90", 77));
    CHECK_OK(alloc(&p, BYTES));
    CHECK_OK(alloc(&q, BYTES));
    CHECK_ERR_NAMES(meta_fill(p, 65, &one, META_F64, NULL), META_ERR_BOUNDS,
                    "(allocated at elsewhere.f90:77)");
    CHECK_ERR_NAMES(meta_fill(q, 65, &one, META_F64, NULL), META_ERR_BOUNDS, "test_labels+0x");
    CHECK_OK(give_back(q));
    CHECK_ERR_NAMES(give_back(q), META_ERR_POINTER, "freed at ");
    CHECK_OK(give_back(p));
    /* What was said for a call that fails is not said for the next one. */
    CHECK_OK(meta_here("failed.f90", 78));
    CHECK_ERR(alloc(NULL, BYTES), META_ERR_ARGUMENT);
    CHECK_OK(alloc(&p, BYTES));
    CHECK_ERR(meta_fill(p, 65, &one, META_F64, NULL), META_ERR_BOUNDS);
    CHECK(!strstr(meta_last_error(), "failed.f90"));
    CHECK_OK(give_back(p));
}

/* ------------------------------------------------------------------ the text */

static void check_label(void *p, const char *label, const char *expected)
{
    meta_pointer_desc desc = META_POINTER_DESC_INIT;
    CHECK_OK(meta_label(p, label));
    CHECK_OK(meta_pointer_info((char *)p + 7, &desc));
    CHECK_STRING(desc.label, expected);
}

static void labels_are_copied_and_cut_between_characters(void)
{
    char longest[META_LABEL_BYTES], text[200] = "";
    meta_pointer_desc desc = META_POINTER_DESC_INIT;
    void *p;
    CHECK_OK(meta_alloc(&p, BYTES));
    CHECK_OK(meta_pointer_info(p, &desc));
    CHECK_STRING(desc.label, "");
    check_label(p, "line\nand\x7f", "line?and?");
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    check_label(p, longest, longest);
    memset(text, 'x', sizeof text - 1);
    check_label(p, text, longest);
    /* A character of two bytes that would be cut, and one of four. */
    snprintf(text, sizeof text, "%.62s\u00e4", longest);
    longest[62] = '\0';
    check_label(p, text, longest);
    snprintf(text, sizeof text, "%.60s\U0001F600", longest);
    longest[60] = '\0';
    check_label(p, text, longest);
    memset(text, 'y', 4);
    CHECK_OK(meta_pointer_info(p, &desc));
    CHECK_STRING(desc.label, longest);
    check_label(p, NULL, "");
    check_label(p, "back", "back");
    check_label(p, "", "");
    CHECK_OK(meta_free(p));
}

/* Thousands of buffers come, go and are renamed; each has the name it was given last. */
static void each_of_many_buffers_keeps_its_own_label(void)
{
    enum { MOST = 300 };
    static struct {
        char *p, label[24];
    } live[MOST];
    const int64_t steps = test_count(20000, 200000);
    meta_pointer_desc desc = META_POINTER_DESC_INIT;
    for (int64_t k = 0; k < steps; ++k) {
        const int n = (int)test_random_in(0, MOST - 1);
        test_case("step %lld, buffer %d", (long long)k, n);
        if (live[n].p && test_random() % 2) {
            CHECK_OK(meta_pointer_info(live[n].p + test_random_in(0, 99), &desc));
            CHECK_STRING(desc.label, live[n].label);
            CHECK_OK(meta_free(live[n].p));
            live[n].p = NULL;
            continue;
        }
        if (!live[n].p) {
            if (!CHECK_OK(meta_alloc((void **)&live[n].p, 100))) return;
            live[n].label[0] = '\0';
        }
        if (test_random() % 4 == 0) continue;
        snprintf(live[n].label, sizeof live[n].label, "%llx", (unsigned long long)test_random());
        CHECK_OK(meta_label(live[n].p, live[n].label));
    }
    for (int n = 0; n < MOST; ++n)
        if (live[n].p) CHECK_OK(meta_free(live[n].p)), live[n].p = NULL;
}

/* ------------------------------------------------------------------ the report at the end */

/* What meta_finalize() writes to the error stream; the library is started again. */
static void end_and_read(char *text, size_t room)
{
    catch_errors();
    CHECK_OK(meta_finalize());
    take_caught(text, room);
    test_require_device();
}

static int lines_with(const char *text, const char *part)
{
    int count = 0;
    for (; (text = strstr(text, part)) != NULL; ++text) ++count;
    return count;
}

static void what_was_never_freed_is_named_at_the_end(void)
{
    static char text[1 << 16];
    char wanted[160];
    int at, at_host, at_many = 0;
    void *p, *freed;
    labelled("forgotten", &at);
    freed = labelled("remembered", &at);
    CHECK_OK(meta_host_alloc(&p, 100)), at_host = __LINE__;
    for (int k = 0; k < 40; ++k) CHECK_OK(meta_alloc(&p, (size_t)(1000 + k))), at_many = __LINE__;
    CHECK_OK(meta_free(freed));
    end_and_read(text, sizeof text);
    CHECK_INT(lines_with(text, "\n"), 3);
    snprintf(wanted, sizeof wanted, "%s) was never freed: give it to meta_free()", place(at));
    CHECK_CONTAINS(text, "(\"forgotten\", allocated at ");
    CHECK_CONTAINS(text, wanted);
    snprintf(wanted, sizeof wanted, "%s) was never freed: give it to meta_host_free()",
             place(at_host));
    CHECK_CONTAINS(text, wanted);
    snprintf(wanted, sizeof wanted, "%s) were never freed", place(at_many));
    CHECK_CONTAINS(text, wanted);
    CHECK_CONTAINS(text, "40 buffers of 40780 bytes together on ");
    CHECK(!strstr(text, "remembered"));
}

static void more_leaks_than_can_be_named_are_counted(void)
{
    static char text[1 << 16];
    char label[24];
    int at;
    for (int k = 0; k < 45; ++k) {
        snprintf(label, sizeof label, "leak %d", k);
        labelled(label, &at);
    }
    end_and_read(text, sizeof text);
    CHECK_INT(lines_with(text, "(\"leak "), 32);
    CHECK_CONTAINS(text, "13 more buffers of 6656 bytes together were never freed");
    end_and_read(text, sizeof text);
    CHECK_STRING(text, "");
}

TEST_DEVICE_MAIN(PROMISE(errors_name_the_buffer_and_where_it_was_allocated),
                 PROMISE(a_freed_buffer_is_remembered_with_both_its_places),
                 PROMISE(the_last_buffer_at_an_address_is_the_one_that_is_named),
                 PROMISE(operands_on_two_devices_are_both_named),
                 PROMISE(wraps_grids_and_host_memory_have_names_too),
                 PROMISE(without_a_line_the_calling_module_is_named),
                 PROMISE(labels_are_copied_and_cut_between_characters),
                 PROMISE(each_of_many_buffers_keeps_its_own_label),
                 PROMISE(what_was_never_freed_is_named_at_the_end),
                 PROMISE(more_leaks_than_can_be_named_are_counted))
