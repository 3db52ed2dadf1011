/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_plugins.c
 *  Back ends as plug-ins: a third-party one works, one that is not usable gives the reason, and a
 *  damaged file never crashes the process. Each case is a child process, since modules are never
 *  unloaded. */
/* TEST: backends=any labels=core smoke=yes */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"

static void start_with(const char *path, const char *mode)
{
    unsetenv("META_RANK_MAP");
    setenv("META_BACKEND_PATH", path, 1);
    setenv("META_MODE", mode, 1);
    CHECK_OK(meta_init());
}

/* ------------------------------------------------------------------ a back end of one's own */

static void compute_on_plain(void *unused)
{
    enum { N = 10, CELLS = N * N * N };
    const meta_box box = {3, {N, N, N}, {1, 1, 1}, {N - 1, N - 1, N - 1}};
    static double in[CELLS], out[CELLS];
    double sum = 0, *p, *q;
    meta_mode mode = -1;
    meta_device_desc desc = META_DEVICE_DESC_INIT;
    (void)unused;
    start_with(test_built("tests/plugins/.libs"), "plain");
    if (!CHECK_OK(meta_get_acc(NULL, &mode))) return;
    CHECK(mode >= META_FIRST_PLUGIN);
    CHECK_OK(meta_device_info(0, mode, &desc));
    CHECK_STRING(desc.backend, "plain");
    CHECK_INT(desc.mode, mode);
    for (int k = 0; k < CELLS; ++k) in[k] = k;
    CHECK_OK(meta_alloc((void **)&p, sizeof in));
    CHECK_OK(meta_alloc((void **)&q, sizeof in));
    CHECK_OK(meta_copy_h2d(p, in, sizeof in, NULL));
    CHECK_OK(meta_stencil(q, p, &box, META_3D7P, META_F64, &sum, NULL));
    CHECK_OK(meta_copy_d2h(out, q, sizeof out, NULL));
    /* The average of a linear function around a cell is its value there. */
    CHECK_NEAR(out[3 + N * 4 + N * N * 5], 543, 1e-14);
    CHECK_NEAR(sum, 8.0 * 8 * 8 * (CELLS - 1) / 2, 1e-14);
    CHECK_OK(meta_free(p));
    CHECK_OK(meta_free(q));
    CHECK_OK(meta_finalize());
}

static void an_external_back_end_is_selected_by_its_name(void)
{
    CHECK_CHILD(compute_on_plain, NULL);
}

/* ------------------------------------------------------------------ those that cannot be used */

static const struct {
    const char *name, *reason;
    bool accepted; /* as a module: its description is known; it has no device */
} unusable[] = {
    {"other_abi", "ABI 7", false},
    {"abi_1", "it was built for plugin ABI 1, this libmeta has ABI 2", false},
    {"wrong_magic", "not a libmeta plugin", false},
    {"no_symbol", "meta_plugin_v2", false},
    {"failing_init", "the fake driver is 12 years too old", true},
    {"no_device", "the fake driver knows no device", true},
    {"other_name", "somebody_else", false},
    {"small_table", "smaller", false},
    {"small_ops", "smaller", false},
    {"before_2_0", "smaller", false},
    {"no_init", "init", false},
    {"no_launch", "lacks the function launch", false},
    {"no_kernel_create", "lacks the function kernel_create", false},
    {"no_queue_wait", "lacks the function queue_wait", false},
    {"half_timed", "lacks the function stamp_release", false},
    {"cuda", "cuda.so", false},
};

static void look_at_all(void *unused)
{
    int count = 0, seen = 0;
    (void)unused;
    start_with(test_built("tests/plugins/.libs"), "plain");
    CHECK_OK(meta_backend_count(&count));
    for (int k = 0; k < count; ++k) {
        meta_backend_desc desc = META_BACKEND_DESC_INIT;
        int devices = -1;
        CHECK_OK(meta_backend_info(k, &desc));
        test_case("%s: %s", desc.name, desc.reason);
        CHECK(desc.usable == (desc.devices > 0) && desc.usable == (*desc.reason == '\0'));
        CHECK(!strchr(desc.reason, '\n'));
        for (size_t u = 0; u < sizeof unusable / sizeof *unusable; ++u) {
            if (strcmp(desc.name, unusable[u].name) != 0 || desc.usable) continue;
            /* Built, but without a device. */
            if (strcmp(desc.name, "cuda") == 0 && *desc.path) continue;
            ++seen;
            CHECK_CONTAINS(desc.reason, unusable[u].reason);
            CHECK_INT(*desc.description != '\0', unusable[u].accepted);
            CHECK_OK(meta_device_count(desc.mode, &devices));
            CHECK_INT(devices, 0);
        }
    }
    test_case("all");
    CHECK(seen >= (int)(sizeof unusable / sizeof *unusable) - 1); /* cuda may be there */
    CHECK_OK(meta_finalize());
}

static void every_back_end_found_has_a_reason_or_a_device(void)
{
    CHECK_CHILD(look_at_all, NULL);
}

/* The library's own that were built, on a machine without their drivers, too. */
static void look_at_own(void *unused)
{
    int count = 0, found = 0;
    (void)unused;
    unsetenv("META_BACKEND_PATH");
    unsetenv("META_MODE");
    CHECK_OK(meta_init());
    CHECK_OK(meta_backend_count(&count));
    for (int k = 0; k < count; ++k) {
        meta_backend_desc desc = META_BACKEND_DESC_INIT;
        CHECK_OK(meta_backend_info(k, &desc));
        test_case("%s: %s", desc.name, desc.reason);
        if (*desc.path) CHECK(*desc.description != '\0');
        found += *desc.path != '\0';
    }
    CHECK(found > 0);
    CHECK_OK(meta_finalize());
}

static void every_back_end_that_was_built_loads(void)
{
    CHECK_CHILD(look_at_own, NULL);
}

static void ask_for(void *number)
{
    const size_t u = *(size_t *)number;
    const meta_err error = unusable[u].accepted ? META_ERR_NO_DEVICE : META_ERR_PLUGIN;
    meta_mode mode;
    void *p;
    start_with(test_built("tests/plugins/.libs"), unusable[u].name);
    for (int life = 0; life < 2; ++life) {
        CHECK_ERR_NAMES(meta_get_acc(NULL, &mode), error, unusable[u].reason);
        CHECK_ERR_NAMES(meta_alloc(&p, 8), error, unusable[u].reason);
        CHECK_OK(meta_mode_find(unusable[u].name, &mode));
        CHECK_ERR_NAMES(meta_set_acc(0, mode), error, unusable[u].reason);
        CHECK_OK(meta_finalize());
        if (life == 0) CHECK_OK(meta_init());
    }
}

static void asking_for_one_that_cannot_be_used_gives_the_reason(void)
{
    for (size_t u = 0; u + 1 < sizeof unusable / sizeof *unusable; ++u) {
        test_case("%s", unusable[u].name);
        CHECK_CHILD(ask_for, &u);
    }
}

/* ------------------------------------------------------------------ damaged files */

static char folder[256], file[300], *whole;
static size_t whole_bytes;

static void remove_folder(void)
{
    unlink(file);
    rmdir(file);
    rmdir(folder);
}

/* A folder for a plain.so that is not what it should be, and the bytes of the good one. */
static bool prepare(void)
{
    struct stat status;
    const char *good = test_built("tests/plugins/.libs/plain.so");
    FILE *in = fopen(good, "rb");
    if (!CHECK(in && stat(good, &status) == 0)) return false;
    whole_bytes = (size_t)status.st_size;
    whole = malloc(whole_bytes);
    CHECK(whole && fread(whole, 1, whole_bytes, in) == whole_bytes);
    fclose(in);
    snprintf(folder, sizeof folder, "%s", test_built("tests/damaged-XXXXXX"));
    if (!CHECK(mkdtemp(folder) != NULL)) return false;
    snprintf(file, sizeof file, "%s/plain.so", folder);
    return true;
}

static void write_file(const void *bytes, size_t count)
{
    FILE *out = fopen(file, "wb");
    CHECK(out && fwrite(bytes, 1, count, out) == count && fclose(out) == 0);
}

static void fail_with_a_reason(void *reason)
{
    meta_mode mode;
    start_with(folder, "plain");
    CHECK_ERR_NAMES(meta_get_acc(NULL, &mode), META_ERR_PLUGIN, (const char *)reason);
    CHECK_CONTAINS(meta_last_error(), "plain, which is not usable: ");
    CHECK(strlen(meta_last_error()) >
          strlen("meta_get_acc: META_MODE asks for plain, which is not usable: "));
    CHECK_OK(meta_set_acc(0, META_OPENMP));
    CHECK_OK(meta_finalize());
}

/* Damage that the loader does not mind leaves a back end that works. */
static void work_or_fail_with_a_reason(void *unused)
{
    meta_mode mode;
    void *p;
    (void)unused;
    start_with(folder, "plain");
    if (meta_get_acc(NULL, &mode) == META_OK) {
        CHECK_OK(meta_alloc(&p, 100));
        CHECK_OK(meta_free(p));
    } else {
        CHECK_CONTAINS(meta_last_error(), "plain, which is not usable: ");
    }
    CHECK_OK(meta_finalize());
}

static void what_is_no_module_is_refused(void)
{
    static char text[] = "this is a text, and not a module\n", zeros[100000];
    if (!prepare()) return;
    test_case("an empty file");
    write_file("", 0);
    CHECK_CHILD(fail_with_a_reason, (void *)(uintptr_t) "not a 64-bit shared object");
    test_case("a text");
    write_file(text, sizeof text - 1);
    CHECK_CHILD(fail_with_a_reason, (void *)(uintptr_t) "not a 64-bit shared object");
    test_case("zeros");
    write_file(zeros, sizeof zeros);
    CHECK_CHILD(fail_with_a_reason, (void *)(uintptr_t) "not a 64-bit shared object");
    test_case("a folder");
    unlink(file);
    CHECK(mkdir(file, 0777) == 0);
    CHECK_CHILD(fail_with_a_reason, (void *)(uintptr_t) "");
    test_case("a pipe");
    rmdir(file);
    CHECK(mkfifo(file, 0666) == 0);
    CHECK_CHILD(fail_with_a_reason, (void *)(uintptr_t) "not a 64-bit shared object");
    test_case("the whole file");
    unlink(file);
    write_file(whole, whole_bytes);
    CHECK_CHILD(work_or_fail_with_a_reason, NULL);
    remove_folder();
    free(whole);
}

static void a_truncated_module_is_refused_at_any_length(void)
{
    static const size_t corners[] = {1,  3,  4,   5,   15,  16,   17,   63,
                                     64, 65, 119, 120, 176, 4095, 4096, 4097};
    if (!prepare()) return;
    for (size_t k = 0; k < sizeof corners / sizeof *corners; ++k) {
        test_case("%zu of %zu bytes", corners[k], whole_bytes);
        write_file(whole, corners[k]);
        CHECK_CHILD(fail_with_a_reason, (void *)(uintptr_t) "");
    }
    for (int64_t k = 1; k <= test_count(64, 1000); ++k) {
        const size_t length = k <= 16   ? whole_bytes / 16 * (size_t)k - (k == 16)
                              : k <= 24 ? whole_bytes - (size_t)(k - 16)
                                        : (size_t)test_random_in(0, (int64_t)whole_bytes - 1);
        test_case("%zu of %zu bytes", length, whole_bytes);
        write_file(whole, length);
        CHECK_CHILD(fail_with_a_reason, (void *)(uintptr_t) "");
    }
    remove_folder();
    free(whole);
}

/* The 64 bytes of the file's header, and the 56 of each segment's behind it. */
static void a_bit_flipped_in_a_header_never_ends_the_process(void)
{
    enum { HEADER = 64 * 8, SEGMENTS = 56 };
    const int step = (int)test_count(7, 1);
    if (!prepare()) return;
    const int all = HEADER + whole[SEGMENTS] * 56 * 8;
    for (int bit = 0; bit < all; bit += bit < HEADER ? 1 : step) {
        test_case("bit %d of byte %d", bit % 8, bit / 8);
        whole[bit / 8] = (char)(whole[bit / 8] ^ 1 << bit % 8);
        write_file(whole, whole_bytes);
        CHECK_CHILD(work_or_fail_with_a_reason, NULL);
        whole[bit / 8] = (char)(whole[bit / 8] ^ 1 << bit % 8);
    }
    remove_folder();
    free(whole);
}

/* Set where the file's header says that sections are, and how many. */
static void set_sections(uint64_t at, uint16_t count)
{
    enum { SECTIONS = 40, SECTION_COUNT = 60 };
    memcpy(whole + SECTIONS, &at, sizeof at);
    memcpy(whole + SECTION_COUNT, &count, sizeof count);
}

/* Without sections, which would disagree, the loader would take zeros for what is missing, and
 * other code for the program's. */
static void segments_that_are_not_what_the_file_has_are_refused(void)
{
    enum { FIRST_FILESZ = 64 + 32, SECOND_OFFSET = 64 + 56 + 8 };
    const uint64_t first_offset = 0;
    uint64_t filesz;
    if (!prepare()) return;
    set_sections(0, 0);
    test_case("no sections");
    write_file(whole, whole_bytes);
    CHECK_CHILD(work_or_fail_with_a_reason, NULL);
    memcpy(&filesz, whole + FIRST_FILESZ, sizeof filesz);
    filesz -= 256;
    memcpy(whole + FIRST_FILESZ, &filesz, sizeof filesz);
    test_case("a shorter first segment");
    write_file(whole, whole_bytes);
    CHECK_CHILD(fail_with_a_reason, (void *)(uintptr_t) "truncated or damaged");
    filesz += 256;
    memcpy(whole + FIRST_FILESZ, &filesz, sizeof filesz);
    memcpy(whole + SECOND_OFFSET, &first_offset, sizeof first_offset);
    test_case("two segments of the same part of the file");
    write_file(whole, whole_bytes);
    CHECK_CHILD(fail_with_a_reason, (void *)(uintptr_t) "truncated or damaged");
    free(whole);
    remove_folder();
    if (!prepare()) return;
    test_case("a section that is none");
    memset(whole + whole_bytes - 64, 0, 64);
    set_sections(whole_bytes - 64, 1);
    write_file(whole, whole_bytes);
    CHECK_CHILD(fail_with_a_reason, (void *)(uintptr_t) "truncated or damaged");
    remove_folder();
    free(whole);
}

/* Bits 0, 1 and 2 of a segment's flags let its memory be executed, written and read. */
static void sections_need_the_permissions_of_their_segments(void)
{
    enum { SEGMENT = 56, SEGMENTS = 56, HEAD = 64, LOADED = 1 };
    int taken = 0;
    if (!prepare()) return;
    for (int s = 0; s < whole[SEGMENTS]; ++s) {
        char *segment = whole + HEAD + s * SEGMENT, *flags = segment + 4;
        for (int bit = 0; *segment == LOADED && bit < 3; ++bit) {
            if (!(*flags >> bit & 1)) continue;
            test_case("segment %d without permission %d", s, bit);
            *flags = (char)(*flags ^ 1 << bit);
            write_file(whole, whole_bytes);
            CHECK_CHILD(fail_with_a_reason, (void *)(uintptr_t) "truncated or damaged");
            *flags = (char)(*flags ^ 1 << bit);
            ++taken;
        }
    }
    CHECK(taken >= 4); /* at least to read and execute code, and to read and write data */
    remove_folder();
    free(whole);
}

/* ------------------------------------------------------------------ where they are looked for */

static void find_in_order(void *path)
{
    meta_backend_desc desc = META_BACKEND_DESC_INIT;
    int count = 0;
    start_with(path, "openmp");
    CHECK_OK(meta_backend_count(&count));
    for (int k = 0; k < count; ++k) {
        CHECK_OK(meta_backend_info(k, &desc));
        if (strcmp(desc.name, "plain") == 0) break;
    }
    CHECK_STRING(desc.name, "plain");
    CHECK_INT(desc.usable, strncmp(desc.path, folder, strlen(folder)) != 0);
    CHECK(strncmp(path, desc.path, strcspn(path, ":")) == 0 || *(char *)path == ':' ||
          strncmp(path, "/nowhere", 8) == 0);
    CHECK_OK(meta_finalize());
}

static void the_first_folder_that_has_a_module_wins(void)
{
    char good[4096], path[8192];
    if (!prepare()) return;
    snprintf(good, sizeof good, "%s", test_built("tests/plugins/.libs"));
    write_file("nothing", 7);
    snprintf(path, sizeof path, "%s:%s", folder, good);
    CHECK_CHILD(find_in_order, path);
    snprintf(path, sizeof path, "%s:%s", good, folder);
    CHECK_CHILD(find_in_order, path);
    snprintf(path, sizeof path, "/nowhere:%s::", good);
    CHECK_CHILD(find_in_order, path);
    snprintf(path, sizeof path, "::%s", good);
    CHECK_CHILD(find_in_order, path);
    remove_folder();
    free(whole);
}

static void count_all(void *unused)
{
    int count;
    (void)unused;
    start_with(folder, "openmp");
    CHECK_OK(meta_backend_count(&count));
    CHECK_INT(count, 32);
    CHECK_OK(meta_finalize());
}

/* Module @p k of a folder of too many, of which one has too long a name. */
static const char *one_of_many(int k)
{
    static char path[sizeof folder + 64];
    if (k == 0) snprintf(path, sizeof path, "%s/a_name_that_is_longer_than_any_can_be.so", folder);
    else snprintf(path, sizeof path, "%s/back_end_%d.so", folder, k);
    return path;
}

static void skipped_files_are_named(void)
{
    enum { MODULES = 40 };
    char text[4096] = "";
    if (!prepare()) return;
    for (int k = 0; k < MODULES; ++k) CHECK(symlink("/dev/null", one_of_many(k)) == 0);
    CHECK_CHILD_SAYS(count_all, NULL, text);
    CHECK_CONTAINS(text, "more than 32 back ends");
    CHECK_CONTAINS(text, "a_name_that_is_longer_than_any_can_be.so is left out");
    for (int k = 0; k < MODULES; ++k) unlink(one_of_many(k));
    remove_folder();
    free(whole);
}

TEST_MAIN(PROMISE(an_external_back_end_is_selected_by_its_name),
          PROMISE(every_back_end_found_has_a_reason_or_a_device),
          PROMISE(every_back_end_that_was_built_loads),
          PROMISE(asking_for_one_that_cannot_be_used_gives_the_reason),
          PROMISE(what_is_no_module_is_refused),
          PROMISE(a_truncated_module_is_refused_at_any_length),
          PROMISE(a_bit_flipped_in_a_header_never_ends_the_process),
          PROMISE(segments_that_are_not_what_the_file_has_are_refused),
          PROMISE(sections_need_the_permissions_of_their_segments),
          PROMISE(the_first_folder_that_has_a_module_wins), PROMISE(skipped_files_are_named))
