/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_learned.c
 *  What is learned of kernels, as the text of a file and back: the same bits, or an error. */
/* TEST: labels=core smoke=yes */
#include "auto/learned.h"
#include "cache/cache.h"
#include "test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 3, KERNELS = 5 };
static const char machine[] =
    "libmeta 0.1.0, 3 devices\ndevice 0 sim\ndevice 1 sim\ndevice 2 sim\n";
static char reason[512];

static meta_time_runs random_runs(int device, int octave, int count)
{
    meta_time_runs r = {.device = device, .octave = octave, .count = count};
    const int64_t low = INT64_C(1) << octave;
    for (int k = 0; k < count; ++k) {
        r.run[k].cells = (double)test_random_in(low, 2 * low - 1);
        r.run[k].seconds = test_random_real() * 1e-3 + 1e-9;
    }
    return r;
}

static bool parse(meta_learned *table, const char *text, size_t bytes)
{
    *table = (meta_learned){.turn = 0};
    return meta_learned_parse(table, text, bytes, machine, DEVICES, reason, sizeof reason);
}

static void fill(meta_learned *t, int lines)
{
    *t = (meta_learned){.turn = 1};
    for (int k = 0; k < lines; ++k) {
        char name[32];
        snprintf(name, sizeof name, "kernel_%d", (int)test_random_in(0, lines));
        const meta_time_runs r = random_runs((int)test_random_in(0, DEVICES - 1),
                                             (int)test_random_in(0, META_OCTAVES - 1),
                                             (int)test_random_in(1, META_TIMES_WINDOW));
        ++t->turn;
        meta_learned_add(t, name, (uint32_t)test_random_in(0, META_TYPE_COUNT - 1), test_random(),
                         &r, META_TIMES_WINDOW);
    }
    for (int d = 0; d < DEVICES; ++d) {
        for (int o = 0; o < META_OCTAVES; o += 3)
            meta_learned_add_pace(
                t, d,
                &(meta_pace_run){(double)test_random_in(INT64_C(1) << o, INT64_C(2) << o),
                                 test_random_real()});
        for (int from = 0; from < DEVICES; ++from)
            if (from != d) t->link[from][d] = (meta_learned_link){test_random_real(), from};
    }
}

/* ------------------------------------------------------------------ the text */

static void what_is_written_is_read_bit_by_bit(void)
{
    for (int n = 0; n < 50; ++n) {
        meta_learned t, again;
        size_t bytes;
        fill(&t, 40);
        char *text = meta_learned_text(&t, machine, &bytes);
        if (!CHECK(text != NULL)) return;
        test_case("%s", text);
        if (!CHECK(parse(&again, text, bytes))) return;
        CHECK_U64(again.turn, t.turn);
        CHECK_U64(again.count, t.count);
        CHECK(memcmp(again.pace, t.pace, sizeof t.pace) == 0);
        CHECK(memcmp(again.link, t.link, sizeof t.link) == 0);
        for (size_t k = 0; k < t.count && k < again.count; ++k)
            CHECK(memcmp(&again.line[k], &t.line[k], sizeof *t.line) == 0);
        meta_learned_clear(&t);
        meta_learned_clear(&again);
        free(text);
    }
}

static void an_empty_table_has_a_text(void)
{
    meta_learned t = {.turn = 7}, again;
    size_t bytes;
    char *text = meta_learned_text(&t, machine, &bytes);
    if (CHECK(text != NULL) && CHECK(parse(&again, text, bytes))) CHECK_U64(again.turn, 7);
    free(text);
}

static void a_changed_byte_is_noticed(void)
{
    meta_learned t, again;
    size_t bytes;
    fill(&t, 5);
    char *text = meta_learned_text(&t, machine, &bytes);
    for (size_t at = 0; at < bytes; ++at) {
        const char before = text[at];
        for (int bit = 0; bit < 8; ++bit) {
            text[at] = (char)(before ^ 1 << bit);
            test_case("byte %zu, bit %d", at, bit);
            CHECK(!parse(&again, text, bytes));
            CHECK(*reason && again.count == 0);
        }
        text[at] = before;
    }
    CHECK(parse(&again, text, bytes));
    meta_learned_clear(&again);
    meta_learned_clear(&t);
    free(text);
}

static void a_file_that_ends_early_is_noticed(void)
{
    meta_learned t, again;
    size_t bytes;
    fill(&t, 5);
    char *text = meta_learned_text(&t, machine, &bytes);
    for (size_t at = 0; at < bytes; ++at) {
        char *part = calloc(1, at + 1);
        memcpy(part, text, at);
        test_case("%zu of %zu bytes", at, bytes);
        CHECK(!parse(&again, part, at));
        CHECK(*reason && again.count == 0);
        free(part);
    }
    meta_learned_clear(&t);
    free(text);
}

/* With a checksum that is right. */
static bool parse_lines(const char *lines)
{
    char text[2048];
    meta_learned t;
    meta_cache_key key = META_CACHE_KEY_INIT;
    const int bytes =
        snprintf(text, sizeof text, "libmeta-learned 1\n%sturn 3\n%s", machine, lines);
    meta_cache_key_add(&key, text, (size_t)bytes);
    snprintf(text + bytes, sizeof text - (size_t)bytes, "checksum %016" PRIx64 "%016" PRIx64 "\n",
             key.part[0], key.part[1]);
    const bool read = parse(&t, text, strlen(text));
    if (!read) CHECK(t.count == 0 && t.turn == 0);
    meta_learned_clear(&t);
    return read;
}

static void lines_that_make_no_sense_are_refused(void)
{
    static const char *const bad[] = {
        "kernel axpy f64 0123456789abcdef 1 3 1024 1e-6\n", /* there is no such device */
        "kernel axpy f64 0123456789abcdef 1 -1 1024 1e-6\n",
        "kernel axpy f65 0123456789abcdef 1 0 1024 1e-6\n",
        "kernel axpy f64 0123456789abcdef 1 0\n",
        "kernel axpy f64 0123456789abcdef 1 0 1024\n",
        "kernel axpy f64 0123456789abcdef 1 0 1024 0\n",
        "kernel axpy f64 0123456789abcdef 1 0 1024 -1\n",
        "kernel axpy f64 0123456789abcdef 1 0 1024 nan\n",
        "kernel axpy f64 0123456789abcdef 1 0 1024 inf\n",
        "kernel axpy f64 0123456789abcdef 1 0 0 1e-6\n",
        "kernel axpy f64 0123456789abcdef 1 0 1e40 1e-6\n",
        "kernel axpy f64 0123456789abcdef 1 0 1024 1e-6 4096 1e-6\n", /* of two octaves */
        ("kernel axpy f64 0123456789abcdef 1 0 1024 1 1024 1 1024 1 1024 1 1024 1 1024 1 1024 1 "
         "1024 1\n"),
        "kernel axpy f64 0123456789abcdef 1 0 1024 1e-6 and more\n",
        "kernel\n",
        "pace 3 1e9 1\n",
        "pace 0 nan 1\n",
        "pace 0 1 -1\n",
        "pace 0 1e9\n",
        "pace 0 1e9 1 1\n",
        "link 0 3 1 1\n",
        "link 0 1 1\n",
        "line 0\n",
        "\n",
        "kernel axpy f64 0123456789abcdef 1 0 1024 1e-6"};
    CHECK(parse_lines(""));
    CHECK(parse_lines("kernel axpy f64 0123456789abcdef 1 0 1024 1e-6 1025 1e-6\npace 2 1e9 1\n"
                      "link 0 1 1 0\n"));
    for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
        test_case("%s", bad[k]);
        CHECK(!parse_lines(bad[k]));
        CHECK_CONTAINS(reason, "damaged");
    }
}

static void other_formats_and_machines_are_named(void)
{
    static const char other[] = "libmeta-learned 2\nanything\n";
    static const char here[] = "libmeta 0.1.0, 3 devices\ndevice 0 sim\ndevice 1 cuda\n";
    meta_learned t, again = {.turn = 0};
    size_t bytes;
    CHECK(!parse(&again, other, strlen(other)));
    CHECK_CONTAINS(reason, "version 2 of the format, and this libmeta reads 1");
    CHECK(!parse(&again, "#!/bin/sh\n", 10));
    CHECK_CONTAINS(reason, "libmeta has not written it");
    fill(&t, 5);
    char *text = meta_learned_text(&t, machine, &bytes);
    CHECK(!meta_learned_parse(&again, text, bytes, here, DEVICES, reason, sizeof reason));
    CHECK_CONTAINS(reason, "another machine: 'device 1 sim' there, 'device 1 cuda' here");
    meta_learned_clear(&t);
    free(text);
}

/* ------------------------------------------------------------------ adding */

static void a_window_keeps_the_last_runs(void)
{
    meta_learned t = {.turn = 1};
    meta_time_runs r = {.device = 1, .octave = 10, .count = 1};
    for (int k = 1; k <= 20; ++k) {
        r.run[0] = (meta_time_run){1024, k};
        meta_learned_add(&t, "axpy", 1, 1, &r, META_TIMES_WINDOW);
    }
    CHECK_U64(t.count, 1);
    CHECK_INT(t.line[0].runs.count, META_TIMES_WINDOW);
    for (int k = 0; k < META_TIMES_WINDOW; ++k)
        CHECK_NEAR(t.line[0].runs.run[k].seconds, 21 - META_TIMES_WINDOW + k, 0);
    meta_learned_clear(&t);
}

/* Two runs make a kernel known. */
static void a_share_of_the_runs_is_added(void)
{
    meta_learned t = {.turn = 1};
    const meta_time_runs r = random_runs(0, 10, 5);
    meta_learned_add(&t, "axpy", 1, 1, &r, 1);
    CHECK_INT(t.line[0].runs.count, 2);
    meta_learned_add(&t, "axpy", 1, 1, &r, 1);
    CHECK_INT(t.line[0].runs.count, 3);
    meta_learned_add(&t, "axpy", 1, 1, &r, 4);
    CHECK_INT(t.line[0].runs.count, META_TIMES_WINDOW);
    meta_learned_clear(&t);
}

/* Whatever differs, it is another line. */
static void kernels_devices_and_octaves_are_kept_apart(void)
{
    meta_learned t = {.turn = 1};
    const meta_time_runs a = random_runs(0, 10, 2), b = random_runs(1, 10, 2),
                         c = random_runs(0, 11, 2);
    for (int again = 0; again < 2; ++again) {
        meta_learned_add(&t, "axpy", 1, 1, &a, META_TIMES_WINDOW);
        meta_learned_add(&t, "axpy", 1, 1, &b, META_TIMES_WINDOW);
        meta_learned_add(&t, "axpy", 1, 1, &c, META_TIMES_WINDOW);
        meta_learned_add(&t, "axpy", 1, 2, &a, META_TIMES_WINDOW);
        meta_learned_add(&t, "axpy", 2, 1, &a, META_TIMES_WINDOW);
        meta_learned_add(&t, "dot", 1, 1, &a, META_TIMES_WINDOW);
    }
    CHECK_U64(t.count, 6);
    for (size_t k = 0; k < t.count; ++k) CHECK_INT(t.line[k].runs.count, 4);
    meta_learned_clear(&t);
}

static void names_that_the_text_cannot_hold_are_left_out(void)
{
    meta_learned t = {.turn = 1};
    char name[200];
    const meta_time_runs r = random_runs(0, 10, 2);
    snprintf(name, sizeof name, "%0150d", 0);
    meta_learned_add(&t, name, 1, 1, &r, META_TIMES_WINDOW);
    meta_learned_add(&t, "two words", 1, 1, &r, META_TIMES_WINDOW);
    name[META_LEARNED_NAME] = '\0';
    meta_learned_add(&t, name, 1, 1, &r, META_TIMES_WINDOW);
    CHECK_U64(t.count, 0);
    name[META_LEARNED_NAME - 1] = '\0';
    meta_learned_add(&t, name, 1, 1, &r, META_TIMES_WINDOW);
    size_t bytes;
    char *text = meta_learned_text(&t, machine, &bytes);
    meta_learned again;
    if (CHECK(parse(&again, text, bytes))) CHECK_STRING(again.line[0].name, name);
    meta_learned_clear(&again);
    meta_learned_clear(&t);
    free(text);
}

static void of_too_many_lines_the_oldest_go(void)
{
    enum { MORE = META_LEARNED_LINES + 500 };
    meta_learned t = {.turn = 0}, again;
    char name[META_LEARNED_NAME];
    size_t bytes;
    for (int k = 0; k < MORE; ++k) {
        snprintf(name, sizeof name, "kernel_%080d", k);
        const meta_time_runs r = random_runs(0, 40, META_TIMES_WINDOW);
        t.turn = (uint64_t)(MORE - k); /* the last ones are the oldest */
        meta_learned_add(&t, name, 1, test_random(), &r, META_TIMES_WINDOW);
    }
    char *text = meta_learned_text(&t, machine, &bytes);
    CHECK(bytes < META_LEARNED_BYTES);
    if (CHECK(parse(&again, text, bytes)) && CHECK_U64(again.count, META_LEARNED_LINES))
        for (size_t k = 0; k < again.count; ++k)
            CHECK(strtol(again.line[k].name + strlen("kernel_"), NULL, 10) < META_LEARNED_LINES);
    meta_learned_clear(&again);
    meta_learned_clear(&t);
    free(text);
}

/* In bytes per second, whatever each has moved; of one octave. */
static void of_two_paces_the_faster_is_kept(void)
{
    meta_learned t = {.turn = 0};
    const meta_pace_run *kept = &t.pace[1][meta_octave(1024)];
    meta_learned_add_pace(&t, 1, &(meta_pace_run){1024, 1e-6});
    meta_learned_add_pace(&t, 1, &(meta_pace_run){1500, 2e-6});
    CHECK_NEAR(kept->bytes, 1024, 0);
    CHECK_NEAR(kept->seconds, 1e-6, 0);
    meta_learned_add_pace(&t, 1, &(meta_pace_run){1030, 5e-7});
    CHECK_NEAR(kept->bytes, 1030, 0);
    CHECK_NEAR(kept->seconds, 5e-7, 0);
}

static void a_link_follows_what_is_measured(void)
{
    meta_learned t = {.turn = 0};
    meta_learned_add_link(&t, 0, 1, &(meta_learned_link){.latency = 8});
    CHECK_NEAR(t.link[0][1].latency, 8, 0);
    CHECK_NEAR(t.link[0][1].bandwidth, 0, 0);
    meta_learned_add_link(&t, 0, 1, &(meta_learned_link){.latency = 4, .bandwidth = 3});
    CHECK_NEAR(t.link[0][1].latency, 6, 0);
    CHECK_NEAR(t.link[0][1].bandwidth, 3, 0);
    CHECK_NEAR(t.link[1][0].latency, 0, 0);
}

/* ------------------------------------------------------------------ times that go and come back */

static meta_times *new_times(int *number)
{
    char name[32];
    meta_times *t = meta_times_new(DEVICES);
    for (int k = 0; t && k < KERNELS; ++k) {
        snprintf(name, sizeof name, "kernel_%d", k);
        number[k] = meta_times_kernel(t, name, 1, (uint64_t)k);
    }
    CHECK(t != NULL);
    return t;
}

static void add_random_runs(meta_times *t, const int *number)
{
    for (int n = 0; n < 400; ++n) {
        const int64_t low = INT64_C(1) << test_random_in(0, 30);
        const uint64_t cells = (uint64_t)test_random_in(low, 2 * low - 1);
        meta_times_add(t, number[test_random_in(0, KERNELS - 1)],
                       (int)test_random_in(0, DEVICES - 1), cells, 8 * cells,
                       1e-6 + 1e-9 * (double)cells * (0.5 + test_random_real()));
    }
}

/* As a process hands on what it has learned. */
static void export_all(const meta_times *t, meta_learned *table, int share)
{
    for (int k = 0; k < meta_times_kernels(t); ++k)
        for (int d = 0; d < DEVICES; ++d)
            for (int o = 0; o < META_OCTAVES; ++o) {
                meta_time_runs runs;
                const char *name;
                uint32_t type;
                uint64_t identity;
                if (!meta_times_export(t, k, d, o, &runs)) continue;
                meta_times_identify(t, k, &name, &type, &identity);
                meta_learned_add(table, name, type, identity, &runs, share);
            }
    for (int d = 0; d < DEVICES; ++d)
        for (int o = 0; o < META_OCTAVES; ++o)
            meta_learned_add_pace(table, d, &meta_times_pace(t, d)->best[o]);
}

static void import_all(meta_times *t, const meta_learned *table)
{
    for (size_t k = 0; k < table->count; ++k) {
        const meta_learned_line *l = &table->line[k];
        meta_times_import(t, meta_times_kernel(t, l->name, l->type, l->identity), &l->runs);
    }
    for (int d = 0; d < DEVICES; ++d)
        for (int o = 0; o < META_OCTAVES; ++o) meta_times_raise_pace(t, d, &table->pace[d][o]);
}

static void expectations_come_back_bit_by_bit(void)
{
    for (int n = 0; n < 20; ++n) {
        int number[KERNELS], same[KERNELS];
        meta_times *t = new_times(number), *back = new_times(same);
        meta_learned table = {.turn = 1}, again;
        size_t bytes;
        add_random_runs(t, number);
        export_all(t, &table, 4);
        char *text = meta_learned_text(&table, machine, &bytes);
        if (!CHECK(parse(&again, text, bytes))) return;
        import_all(back, &again);
        for (int k = 0; k < KERNELS; ++k)
            for (int d = 0; d < DEVICES; ++d)
                for (uint64_t cells = 1; cells < UINT64_C(1) << 40; cells = 2 * cells + cells / 3) {
                    meta_time_basis basis, basis_back;
                    const double a = meta_times_expect(t, number[k], d, cells, 8 * cells, &basis);
                    const double b =
                        meta_times_expect(back, same[k], d, cells, 8 * cells, &basis_back);
                    test_case("kernel %d, device %d, %" PRIu64 " cells: %.17g, %.17g", k, d, cells,
                              a, b);
                    CHECK(memcmp(&a, &b, sizeof a) == 0);
                    CHECK_INT(basis_back, basis);
                }
        meta_learned_clear(&table);
        meta_learned_clear(&again);
        meta_times_free(t);
        meta_times_free(back);
        free(text);
    }
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(const meta_time_runs *r)
{
    double seconds[META_TIMES_WINDOW];
    for (int k = 0; k < r->count; ++k) seconds[k] = r->run[k].seconds;
    qsort(seconds, (size_t)r->count, sizeof *seconds, ascending);
    return seconds[(r->count - 1) / 2];
}

static void fewer_runs_have_the_same_median_and_order(void)
{
    for (int n = 0; n < 500; ++n) {
        const int count = (int)test_random_in(1, META_TIMES_WINDOW);
        const int most = (int)test_random_in(1, META_TIMES_WINDOW);
        meta_time_runs r = {.count = count};
        for (int k = 0; k < count; ++k) r.run[k] = (meta_time_run){1024, test_random_real() + 1e-9};
        meta_time_runs few = r;
        meta_times_thin(&few, most);
        test_case("%d of %d", most, count);
        CHECK_INT(few.count, most < count ? most : count);
        CHECK_NEAR(median_of(&few), median_of(&r), 0);
        int at = 0;
        for (int k = 0; k < count && at < few.count; ++k)
            at += few.run[at].seconds == r.run[k].seconds;
        CHECK_INT(at, few.count);
    }
}

static double seconds_of(const meta_times *t, int number, int device, uint64_t cells)
{
    meta_time_basis basis;
    return meta_times_expect(t, number, device, cells, 8 * cells, &basis);
}

static meta_time_runs alike(int device, double seconds)
{
    meta_time_runs r = {.device = device, .octave = 10, .count = META_TIMES_WINDOW};
    for (int k = 0; k < r.count; ++k) r.run[k] = (meta_time_run){1024, seconds};
    return r;
}

static void four_new_runs_outvote_what_was_known(void)
{
    int number[KERNELS];
    meta_times *t = new_times(number);
    const meta_time_runs known = alike(0, 1e-3);
    meta_times_import(t, number[0], &known);
    CHECK_U64(meta_times_samples(t, number[0], 0, 1024), 3); /* so the next runs are timed */
    meta_times_add(t, number[0], 0, 1024, 8192, 5); /* the process's first, which compiles */
    CHECK_NEAR(seconds_of(t, number[0], 0, 1024), 1e-3, 0);
    for (int k = 0; k < 4; ++k) {
        CHECK_NEAR(seconds_of(t, number[0], 0, 1024), 1e-3, 0);
        meta_times_add(t, number[0], 0, 1024, 8192, 4e-3);
    }
    CHECK_NEAR(seconds_of(t, number[0], 0, 1024), 4e-3, 0);
    meta_times_free(t);
}

static void only_own_runs_are_handed_on(void)
{
    int number[KERNELS];
    meta_times *t = new_times(number);
    meta_time_runs runs;
    const meta_time_runs known = alike(0, 1e-3);
    meta_times_import(t, number[0], &known);
    CHECK(!meta_times_export(t, number[0], 0, 10, &runs));
    meta_times_add(t, number[0], 0, 1024, 8192, 5);
    CHECK(!meta_times_export(t, number[0], 0, 10, &runs));
    for (int k = 1; k <= 20; ++k) {
        meta_times_add(t, number[0], 0, 1024, 8192, k);
        if (!CHECK(meta_times_export(t, number[0], 0, 10, &runs))) return;
        CHECK_INT(runs.count, k < META_TIMES_WINDOW ? k : META_TIMES_WINDOW);
        for (int n = 0; n < runs.count; ++n)
            CHECK_NEAR(runs.run[n].seconds, k - runs.count + 1 + n, 0);
    }
    for (int k = 0; k < 20; ++k) meta_times_add(t, number[1], 1, 1024, 0, META_TIME_NEVER);
    CHECK(!meta_times_export(t, number[1], 1, 10, &runs));
    meta_times_free(t);
}

static void what_is_fixed_is_not_tried(void)
{
    int number[KERNELS];
    meta_times *t = new_times(number);
    const meta_time_runs known = alike(0, 1e-3), slow = alike(1, 2e-3);
    meta_time_runs once = alike(2, 3e-3);
    once.count = 1;
    meta_times_raise_pace(t, 1, &(meta_pace_run){1e9, 1e-6});
    meta_times_import(t, number[0], &known);
    CHECK(seconds_of(t, number[0], 1, 1024) < 1e-9); /* to be tried */
    CHECK_U64(meta_times_samples(t, number[0], 0, 2048), 0);
    meta_times_fix(t);
    CHECK_NEAR(seconds_of(t, number[0], 1, 1024), 1e-3, 0);
    CHECK_U64(meta_times_samples(t, number[0], 1, 1024), 0);
    CHECK_U64(meta_times_samples(t, number[0], 0, 2048), 255); /* by the line */
    CHECK_U64(meta_times_samples(t, number[0], 0, UINT64_C(1) << 30), 0);
    CHECK(seconds_of(t, number[1], 1, 1024) < 1e-9); /* nobody knows it */
    meta_times_import(t, number[2], &slow);
    meta_times_import(t, number[2], &once);
    CHECK_U64(meta_times_samples(t, number[2], 2, 1024), 255);
    CHECK_NEAR(seconds_of(t, number[2], 0, 1024), 3e-3, 0); /* the slowest that is known */
    meta_times_free(t);
}

static void a_title_that_does_not_end_is_damage(void)
{
    char text[128] = "libmeta-learned 1";
    const size_t bytes = strlen(text);
    meta_cache_key key = META_CACHE_KEY_INIT;
    meta_learned t;
    meta_cache_key_add(&key, text, bytes);
    snprintf(text + bytes, sizeof text - bytes, "checksum %016" PRIx64 "%016" PRIx64 "\n",
             key.part[0], key.part[1]);
    t = (meta_learned){.turn = 0};
    CHECK(!meta_learned_parse(&t, text, strlen(text), NULL, DEVICES, reason, sizeof reason));
    CHECK_STRING(reason, "it is damaged");
    CHECK(!parse(&t, text, strlen(text)));
    CHECK_STRING(reason, "it is damaged");
}

TEST_MAIN(PROMISE(a_title_that_does_not_end_is_damage), PROMISE(what_is_written_is_read_bit_by_bit),
          PROMISE(an_empty_table_has_a_text), PROMISE(a_changed_byte_is_noticed),
          PROMISE(a_file_that_ends_early_is_noticed), PROMISE(lines_that_make_no_sense_are_refused),
          PROMISE(other_formats_and_machines_are_named), PROMISE(a_window_keeps_the_last_runs),
          PROMISE(a_share_of_the_runs_is_added),
          PROMISE(kernels_devices_and_octaves_are_kept_apart),
          PROMISE(names_that_the_text_cannot_hold_are_left_out),
          PROMISE(of_too_many_lines_the_oldest_go), PROMISE(of_two_paces_the_faster_is_kept),
          PROMISE(a_link_follows_what_is_measured), PROMISE(expectations_come_back_bit_by_bit),
          PROMISE(fewer_runs_have_the_same_median_and_order),
          PROMISE(four_new_runs_outvote_what_was_known), PROMISE(only_own_runs_are_handed_on),
          PROMISE(what_is_fixed_is_not_tried))
