/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_devices.c
 *  Choosing devices: META_MODE, META_RANK_MAP, threads, the table of variables, initialization and
 *  finalization. The back ends plain and late of tests/plugins are available too. */
/* TEST: backends=any labels=core smoke=yes */
#include "test.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"

/* ------------------------------------------------------------------ one life with an environment
 */

/* With plug-ins loaded and closed so often LeakSanitizer of gcc 12 ends when it follows the calls
 * that give threads their variables. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "intercept_tls_get_addr=0";
}

static const char *const read_variables[] = {
    "META_MODE",       "METAMORPH_MODE",    "META_RANK_MAP", "META_THREADS",
    "OMP_NUM_THREADS", "META_LOG",          "META_POLICY",   "META_AUTO_DEVICES",
    "META_CPU",        "META_STREAM_BYTES", "META_GPU_POOL"};

static void clear_environment(void)
{
    for (size_t k = 0; k < sizeof read_variables / sizeof *read_variables; ++k)
        unsetenv(read_variables[k]);
    test_find_own_plugins();
}

/* Start the library with these variables set, NAME, VALUE, …, NULL, and no others. */
static meta_err life_with(const char *name, ...)
{
    va_list arguments;
    clear_environment();
    va_start(arguments, name);
    for (const char *n = name; n; n = va_arg(arguments, const char *))
        setenv(n, va_arg(arguments, const char *), 1);
    va_end(arguments);
    test_case("%s=%s", name ? name : "nothing", name ? getenv(name) : "");
    return meta_init();
}

static void end_life(void)
{
    CHECK_OK(meta_finalize());
    clear_environment();
}

static meta_mode mode_of(const char *name)
{
    meta_mode mode = -1;
    CHECK_OK(meta_mode_find(name, &mode));
    return mode;
}

/* The device of @p rank of 8 on one node. */
static void check_rank(int rank, const char *backend, int index)
{
    meta_mode mode = -1;
    int found = -1;
    if (!CHECK_OK(meta_rank_device(rank, 8, rank, 8, &mode, &found, NULL))) return;
    if (mode != mode_of(backend))
        FAIL("rank %d has mode %d, expected that of %s, %d", rank, mode, backend, mode_of(backend));
    CHECK_INT(found, index);
}

/* ------------------------------------------------------------------ META_MODE */

static void meta_mode_names_the_back_end_of_every_rank(void)
{
    static const char *const values[][2] = {{"openmp", "openmp"},
                                            {"openmp:0", "openmp"},
                                            {"plain", "plain"},
                                            {"plain:0", "plain"},
                                            {"late", "late"}};
    for (size_t k = 0; k < sizeof values / sizeof *values; ++k) {
        meta_mode mode = -1;
        if (!CHECK_OK(life_with("META_MODE", values[k][0], NULL))) continue;
        check_rank(0, values[k][1], 0);
        check_rank(7, values[k][1], 0);
        CHECK_OK(meta_get_acc(NULL, &mode));
        CHECK_INT(mode, mode_of(values[k][1]));
        end_life();
    }
}

static void metamorph_mode_is_read_where_meta_mode_is_not_set(void)
{
    CHECK_OK(life_with("METAMORPH_MODE", "plain", NULL));
    check_rank(0, "plain", 0);
    end_life();
    CHECK_OK(life_with("METAMORPH_MODE", "plain", "META_MODE", "late", NULL));
    check_rank(0, "late", 0);
    end_life();
}

static void metamorph_mode_may_be_spelled_as_metamorph_does(void)
{
    static const char *const values[][2] = {
        {"Plain", "plain"}, {"PLAIN:0", "plain"}, {"OpenMP", "openmp"}};
    for (size_t k = 0; k < sizeof values / sizeof *values; ++k) {
        if (!CHECK_OK(life_with("METAMORPH_MODE", values[k][0], NULL))) continue;
        check_rank(0, values[k][1], 0);
        end_life();
    }
    CHECK_OK(life_with("METAMORPH_MODE", "OpenCL_DEBUG:99", NULL));
    CHECK_ERR_NAMES(meta_rank_device(0, 1, 0, 1, NULL, NULL, NULL), META_ERR_NO_DEVICE,
                    "METAMORPH_MODE asks for opencl");
    end_life();
    CHECK_OK(life_with("META_MODE", "OpenMP", NULL));
    check_rank(0, "openmp", 0);
    end_life();
    CHECK_OK(life_with("META_MODE", "Plain", NULL));
    CHECK_ERR_NAMES(meta_rank_device(0, 1, 0, 1, NULL, NULL, NULL), META_ERR_NO_DEVICE,
                    "META_MODE asks for 'Plain'");
    end_life();
}

static void an_explicit_request_never_falls_back(void)
{
    static const char *const values[][2] = {
        {"cuda", "cuda"},          {"hip", "hip"},         {"cuda:3", "cuda"},
        {"nonsense", "nonsense"},  {"plain:1", "plain:1"}, {"openmp:2000", "openmp:2000"},
        {"no_device", "no device"}};
    for (size_t k = 0; k < sizeof values / sizeof *values; ++k) {
        void *p = &p;
        int devices = 0;
        if (!CHECK_OK(life_with("META_MODE", values[k][0], NULL))) continue;
        if (k < 3) CHECK_OK(meta_device_count(k == 1 ? META_HIP : META_CUDA, &devices));
        if (devices > (k == 2 ? 3 : 0)) { /* there is what was asked for */
            end_life();
            continue;
        }
        CHECK_ERR_NAMES(meta_alloc(&p, 8), META_ERR_NO_DEVICE, values[k][1]);
        CHECK_ERR_NAMES(meta_get_acc(NULL, &(meta_mode){0}), META_ERR_NO_DEVICE, "META_MODE");
        CHECK_ERR_NAMES(meta_rank_device(0, 1, 0, 1, NULL, NULL, NULL), META_ERR_NO_DEVICE,
                        "META_MODE");
        CHECK_ERR(meta_set_acc(0, META_SPREAD), META_ERR_NO_DEVICE);
        CHECK(p == &p);
        /* What the program itself asks for is another request. */
        CHECK_OK(meta_set_acc(0, META_OPENMP));
        CHECK_OK(meta_alloc(&p, 8));
        CHECK_OK(meta_free(p));
        end_life();
    }
}

/* ------------------------------------------------------------------ META_MODE=auto */

static void auto_chooses_among_the_devices_it_is_given(void)
{
    static const char *const values[] = {NULL, "openmp", "openmp:0", "openmp,plain", "late,openmp"};
    for (size_t k = 0; k < sizeof values / sizeof *values; ++k) {
        meta_device_desc desc = META_DEVICE_DESC_INIT;
        meta_mode mode = -1;
        int index = -1;
        test_case("META_AUTO_DEVICES=%s", values[k] ? values[k] : "(not set)");
        if (!CHECK_OK(values[k]
                          ? life_with("META_MODE", "auto", "META_AUTO_DEVICES", values[k], NULL)
                          : life_with("META_MODE", "auto", NULL)))
            continue;
        CHECK_OK(meta_get_acc(&index, &mode));
        CHECK_INT(mode, META_AUTO);
        CHECK_INT(index, 0);
        CHECK_OK(meta_device_info(0, META_AUTO, &desc));
        CHECK_STRING(desc.backend, "auto");
        CHECK_CONTAINS(desc.name, "openmp:0");
        end_life();
    }
    CHECK_OK(life_with("META_MODE", "openmp", NULL)); /* or where the program asks for it */
    CHECK_OK(meta_set_acc(0, META_AUTO));
    end_life();
}

static void devices_that_auto_is_given_are_used_or_are_an_error(void)
{
    static const char *const values[] = {"no_device", "nonsense", "openmp:7", "openmp,no_device"};
    static const char *const named[] = {"no_device", "nonsense", "openmp:7", "no_device"};
    for (size_t k = 0; k < sizeof values / sizeof *values; ++k) {
        void *p = &p;
        if (!CHECK_OK(life_with("META_MODE", "auto", "META_AUTO_DEVICES", values[k], NULL)))
            continue;
        CHECK_ERR_NAMES(meta_alloc(&p, 8), META_ERR_NO_DEVICE, named[k]);
        CHECK_CONTAINS(meta_last_error(), "META_AUTO_DEVICES");
        CHECK_ERR(meta_set_acc(0, META_AUTO), META_ERR_NO_DEVICE);
        CHECK_OK(meta_set_acc(0, META_OPENMP));
        CHECK_OK(meta_alloc(&p, 8));
        CHECK_OK(meta_free(p));
        end_life();
    }
    void *p = &p;
    CHECK_OK(life_with("META_MODE", "auto", "META_AUTO_DEVICES", "openmp", "META_POLICY",
                       "device:1", NULL));
    CHECK_ERR_NAMES(meta_alloc(&p, 8), META_ERR_NO_DEVICE, "device:1");
    end_life();
}

static void an_invalid_list_or_policy_fails_initialization(void)
{
    static const char *const values[][2] = {
        {"META_AUTO_DEVICES", ":0"},       {"META_AUTO_DEVICES", "openmp:"},
        {"META_AUTO_DEVICES", "openmp,"},  {"META_AUTO_DEVICES", "auto"},
        {"META_AUTO_DEVICES", "spread"},   {"META_AUTO_DEVICES", "openmp,,late"},
        {"META_AUTO_DEVICES", "openmp:x"}, {"META_AUTO_DEVICES", "../late"},
        {"META_POLICY", "best"},           {"META_POLICY", "device"},
        {"META_POLICY", "device:"},        {"META_POLICY", "device:-1"},
        {"META_POLICY", "random:x"},       {"META_POLICY", "round_robin:1"}};
    for (size_t k = 0; k < sizeof values / sizeof *values; ++k) {
        CHECK_ERR_NAMES(life_with("META_MODE", "auto", values[k][0], values[k][1], NULL),
                        META_ERR_ENVIRONMENT, values[k][0]);
    }
    CHECK_OK(life_with(NULL));
    end_life();
}

static void an_invalid_mode_fails_initialization(void)
{
    static const char *const values[] = {":",
                                         ":0",
                                         "openmp:",
                                         "openmp:x",
                                         "openmp:-1",
                                         "openmp:1x",
                                         "spread:0",
                                         "auto:1",
                                         "../openmp",
                                         "openmp:99999999999999999999",
                                         "a_name_that_is_much_longer_than_any"};
    for (size_t k = 0; k < sizeof values / sizeof *values; ++k) {
        int count = -5;
        if (!CHECK_ERR_NAMES(life_with("META_MODE", values[k], NULL), META_ERR_ENVIRONMENT,
                             "META_MODE"))
            continue;
        CHECK_ERR(meta_device_count(META_OPENMP, &count), META_ERR_INIT);
        CHECK_ERR_NAMES(life_with("METAMORPH_MODE", values[k], NULL), META_ERR_ENVIRONMENT,
                        "METAMORPH_MODE");
    }
    CHECK_OK(life_with(NULL));
    end_life();
}

/* ------------------------------------------------------------------ spread */

/* The back end spread takes, and how many GPUs it deals. */
static int node_gpus(meta_mode *mode)
{
    static const meta_mode order[] = {META_CUDA, META_HIP, META_OPENCL};
    for (size_t k = 0; k < sizeof order / sizeof *order; ++k) {
        int devices = 0, gpus = 0;
        CHECK_OK(meta_device_count(order[k], &devices));
        for (int d = 0; d < devices; ++d) {
            meta_device_desc desc = META_DEVICE_DESC_INIT;
            CHECK_OK(meta_device_info(d, order[k], &desc));
            gpus += desc.is_gpu;
        }
        if (gpus > 0) return *mode = order[k], gpus;
    }
    return *mode = META_OPENMP, 0;
}

static void spread_deals_the_nodes_gpus_or_gives_openmp(void)
{
    const char *const lives[][2] = {{NULL, NULL}, {"META_MODE", "spread"}, {"META_MODE", ""}};
    for (size_t k = 0; k < 3; ++k) {
        meta_mode expected, mode;
        int index;
        if (!CHECK_OK(life_with(lives[k][0], lives[k][1], NULL))) continue;
        const int gpus = node_gpus(&expected);
        for (int node_rank = 0; node_rank < 5; ++node_rank) {
            CHECK_OK(meta_rank_device(10 + node_rank, 20, node_rank, 5, &mode, &index, NULL));
            CHECK_INT(mode, expected);
            CHECK_INT(index, gpus ? node_rank % gpus : 0);
        }
        end_life();
    }
}

/* ------------------------------------------------------------------ META_RANK_MAP */

static void the_first_entry_that_names_a_rank_wins(void)
{
    CHECK_OK(life_with("META_RANK_MAP", "0:plain,1-3:openmp,2-5:late,*:plain:0", NULL));
    check_rank(0, "plain", 0);
    check_rank(1, "openmp", 0);
    check_rank(2, "openmp", 0);
    check_rank(3, "openmp", 0);
    check_rank(4, "late", 0);
    check_rank(5, "late", 0);
    check_rank(6, "plain", 0);
    check_rank(7, "plain", 0);
    end_life();
    CHECK_OK(life_with("META_RANK_MAP", "*:late,0:plain", NULL));
    check_rank(0, "late", 0);
    end_life();
}

static void the_map_beats_meta_mode_for_the_ranks_it_names(void)
{
    CHECK_OK(life_with("META_RANK_MAP", " 1:late , 3:OpenMP:0 ", "META_MODE", "plain", NULL));
    check_rank(0, "plain", 0);
    check_rank(1, "late", 0);
    check_rank(3, "openmp", 0);
    check_rank(2, "plain", 0);
    end_life();
    CHECK_OK(life_with("META_RANK_MAP", "2:cuda:900", "META_MODE", "plain", NULL));
    check_rank(0, "plain", 0);
    CHECK_ERR_NAMES(meta_rank_device(2, 8, 2, 8, NULL, NULL, NULL), META_ERR_NO_DEVICE,
                    "META_RANK_MAP");
    end_life();
}

static void an_invalid_entry_of_the_map_is_named(void)
{
    static const char *const wrong[] = {"x",         "1",          "1:",         ":openmp",
                                        "-1:openmp", "3-1:openmp", "1-:openmp",  "1-x:openmp",
                                        "**:openmp", "1:openmp:",  "1:openmp:x", "1:auto:1",
                                        "1 :openmp", "1:a/b"};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        char map[200], named[100];
        snprintf(named, sizeof named, "'%s'", wrong[k]);
        snprintf(map, sizeof map, "0:openmp,%s,*:openmp", wrong[k]);
        CHECK_ERR_NAMES(life_with("META_RANK_MAP", map, NULL), META_ERR_ENVIRONMENT, named);
        CHECK_ERR_NAMES(life_with("META_RANK_MAP", wrong[k], NULL), META_ERR_ENVIRONMENT, named);
    }
    CHECK_ERR_NAMES(life_with("META_RANK_MAP", "0:openmp,", NULL), META_ERR_ENVIRONMENT,
                    "META_RANK_MAP");
    CHECK_ERR_NAMES(life_with("META_RANK_MAP", ",", NULL), META_ERR_ENVIRONMENT, "META_RANK_MAP");
}

static void a_process_takes_the_device_of_its_rank(void)
{
    meta_mode mode = -1;
    CHECK_OK(life_with("META_RANK_MAP", "0:plain,1:late", NULL));
    CHECK_OK(meta_set_job(1, 2, 1, 2));
    CHECK_OK(meta_get_acc(NULL, &mode));
    CHECK_INT(mode, mode_of("late"));
    CHECK_ERR(meta_set_job(0, 2, 0, 2), META_ERR_STATE);
    end_life();
    CHECK_OK(life_with("META_RANK_MAP", "0:plain,1:late", NULL)); /* again rank 0 of 1 */
    CHECK_OK(meta_get_acc(NULL, &mode));
    CHECK_INT(mode, mode_of("plain"));
    end_life();
}

/* ------------------------------------------------------------------ threads */

static int threads_on_node_of(int ranks)
{
    int threads = -1;
    CHECK_OK(meta_rank_device(0, ranks, 0, ranks, NULL, NULL, &threads));
    return threads;
}

static void ranks_of_a_node_share_its_cores(void)
{
    CHECK_OK(life_with("META_MODE", "openmp", NULL));
    const int cores = threads_on_node_of(1);
    meta_device_desc desc = META_DEVICE_DESC_INIT;
    CHECK(cores >= 1);
    for (int ranks = 1; ranks <= 3 * cores; ++ranks)
        CHECK_INT(threads_on_node_of(ranks), ranks < cores ? cores / ranks : 1);
    CHECK_INT(threads_on_node_of(1000000), 1);
    CHECK_OK(meta_set_job(0, 2 * cores, 0, 2 * cores));
    CHECK_OK(meta_device_info(0, META_OPENMP, &desc));
    CHECK_INT(desc.compute_units, 1);
    end_life();
}

static void meta_threads_beats_omp_num_threads_beats_the_share(void)
{
    CHECK_OK(life_with("META_MODE", "openmp", "META_THREADS", "3", "OMP_NUM_THREADS", "5", NULL));
    CHECK_INT(threads_on_node_of(1), 3);
    CHECK_INT(threads_on_node_of(100), 3);
    end_life();
    CHECK_OK(life_with("META_MODE", "openmp", "OMP_NUM_THREADS", "5", NULL));
    CHECK_INT(threads_on_node_of(1), 5);
    end_life();
    static const char *const four[] = {"4,2", " 4", "4 ", "4 , 2", "+4", "\t4\n"};
    for (size_t k = 0; k < sizeof four / sizeof *four; ++k) {
        CHECK_OK(life_with("META_MODE", "openmp", "OMP_NUM_THREADS", four[k], NULL));
        CHECK_INT(threads_on_node_of(1), 4);
        end_life();
    }
}

static void start_with_omp_num_threads(void *value)
{
    CHECK_OK(life_with("META_MODE", "openmp", NULL));
    const int usual = threads_on_node_of(1);
    end_life();
    CHECK_OK(life_with("META_MODE", "openmp", "OMP_NUM_THREADS", value, NULL));
    CHECK_INT(threads_on_node_of(1), usual);
    end_life();
}

static void an_invalid_omp_num_threads_is_left_out_with_a_warning(void)
{
    static const char *const wrong[] = {"0", "-1", "x", "2x", "1.5", "4 2", ",4", "4097"};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        char text[4096] = "", said[64];
        snprintf(said, sizeof said, "OMP_NUM_THREADS=%s does not begin with", wrong[k]);
        CHECK_CHILD_SAYS(start_with_omp_num_threads, (void *)(uintptr_t)wrong[k], text);
        CHECK_CONTAINS(text, said);
    }
}

static void an_invalid_number_of_threads_fails_initialization(void)
{
    static const char *const wrong[] = {"0",   "-1",   "x",    "2x", "1.5", "99999999999999999999",
                                        "3,2", "4097", "60000"};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k)
        CHECK_ERR_NAMES(life_with("META_THREADS", wrong[k], NULL), META_ERR_ENVIRONMENT,
                        "META_THREADS");
    clear_environment();
}

/* ------------------------------------------------------------------ the table of variables */

static void every_variable_is_described(void)
{
    int count = 0, found_mode = 0;
    clear_environment();
    setenv("META_MODE", "openmp", 1);
    CHECK_OK(meta_variable_count(&count));
    CHECK(count >= 6);
    for (int k = 0; k < count; ++k) {
        meta_variable_desc desc = META_VARIABLE_DESC_INIT;
        if (!CHECK_OK(meta_variable_info(k, &desc))) continue;
        test_case("variable %d, %s", k, desc.name);
        CHECK(strncmp(desc.name, "META_", 5) == 0 || strcmp(desc.name, "METAMORPH_MODE") == 0);
        CHECK(*desc.values && desc.initial && *desc.description);
        if (strcmp(desc.name, "META_MODE") != 0) continue;
        found_mode = 1;
        if (CHECK(desc.value != NULL)) CHECK_STRING(desc.value, "openmp");
    }
    CHECK_INT(found_mode, 1);
    clear_environment();
}

static void start_and_end_twice(void *log)
{
    clear_environment();
    setenv("META_MODEE", "openmp", 1);
    setenv("META_TEST_ANYTHING", "1", 1);
    setenv("METAMORPH", "1", 1);
    if (log) setenv("META_LOG", log, 1);
    for (int k = 0; k < 2; ++k) {
        CHECK_OK(meta_init());
        CHECK_OK(meta_finalize());
    }
}

static void an_unknown_variable_causes_one_warning_with_the_nearest_name(void)
{
    char text[4096] = "";
    const char *warning;
    CHECK_CHILD_SAYS(start_and_end_twice, NULL, text);
    CHECK_CONTAINS(text, "META_MODEE");
    CHECK_CONTAINS(text, "nearest is META_MODE ");
    CHECK(!strstr(text, "META_TEST_ANYTHING"));
    warning = strstr(text, "META_MODEE");
    CHECK(warning && !strstr(warning + 1, "META_MODEE"));
}

static void what_back_ends_read_is_checked_at_the_start(void)
{
    static const char *const wrong[][2] = {
        {"META_CPU", "avx9"},        {"META_CPU", "avx512 x"},      {"META_CPU", "|"},
        {"META_GPU_POOL", "x"},      {"META_STREAM_BYTES", "many"}, {"META_STREAM_BYTES", "-1"},
        {"META_STREAM_BYTES", "1q"}, {"META_STREAM_BYTES", "byte"}, {"META_STREAM_BYTES", "1e9"},
        {"META_STREAM_BYTES", "aut"}};
    static const char *const right[][2] = {{"META_CPU", "baseline"},
                                           {"META_STREAM_BYTES", "off"},
                                           {"META_STREAM_BYTES", "0"},
                                           {"META_STREAM_BYTES", "1048576"}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        char said[64];
        snprintf(said, sizeof said, "%s=%s: give ", wrong[k][0], wrong[k][1]);
        CHECK_ERR_NAMES(life_with(wrong[k][0], wrong[k][1], NULL), META_ERR_ENVIRONMENT, said);
    }
    for (size_t k = 0; k < sizeof right / sizeof *right; ++k) {
        CHECK_OK(life_with(right[k][0], right[k][1], NULL));
        end_life();
    }
}

static void the_log_can_be_switched_off(void)
{
    char text[4096] = "";
    CHECK_CHILD_SAYS(start_and_end_twice, (void *)(uintptr_t) "off", text);
    CHECK_STRING(text, "");
    CHECK_ERR_NAMES(life_with("META_LOG", "loud", NULL), META_ERR_ENVIRONMENT, "META_LOG");
    clear_environment();
}

/* ------------------------------------------------------------------ lives */

static void one_life(const char *mode)
{
    const double three = 3;
    double sum = 0;
    void *p = NULL;
    if (!CHECK_OK(life_with("META_MODE", mode, NULL))) return;
    CHECK_OK(meta_alloc(&p, 800));
    CHECK_OK(meta_fill(p, 100, &three, META_F64, META_ASYNC));
    CHECK_OK(meta_reduce(&sum, p, &(meta_box){1, {100}, {0}, {100}}, META_SUM, META_F64, NULL));
    CHECK_NEAR(sum, 300, 0);
    CHECK_OK(meta_free(p));
    end_life();
}

static void the_library_can_be_reinitialized_repeatedly(void)
{
    int opencl = 0;
    for (int k = 0; k < 50; ++k) one_life(k % 3 == 0 ? "plain" : k % 3 == 1 ? "late" : "openmp");
    CHECK_OK(life_with(NULL));
    CHECK_OK(meta_device_count(META_OPENCL, &opencl));
    end_life();
    for (int k = 0; k < 4 && opencl > 0; ++k) one_life(k % 2 ? "opencl" : "openmp");
}

static void a_choice_does_not_outlive_the_library(void)
{
    meta_mode mode = -1;
    CHECK_OK(life_with("META_MODE", "openmp", NULL));
    CHECK_OK(meta_set_acc(0, mode_of("plain")));
    end_life();
    CHECK_OK(life_with("META_MODE", "late", NULL));
    CHECK_OK(meta_get_acc(NULL, &mode));
    CHECK_INT(mode, mode_of("late"));
    end_life();
}

static void leak(void *count)
{
    static double array[8];
    void *p = NULL;
    CHECK_OK(life_with("META_MODE", "openmp", NULL));
    for (int k = 0; k < *(int *)count; ++k) CHECK_OK(meta_alloc(&p, 12345));
    CHECK_OK(meta_host_alloc(&p, 54321));
    CHECK_OK(meta_wrap(&p, array, sizeof array, META_NATIVE_HOST));
    end_life();
}

static void what_was_never_freed_is_named_at_the_end(void)
{
    char text[8192] = "";
    int count = 1;
    CHECK_CHILD_SAYS(leak, &count, text);
    CHECK_CONTAINS(text, "12345 bytes");
    CHECK_CONTAINS(text, "meta_free()");
    CHECK_CONTAINS(text, "54321 bytes");
    CHECK_CONTAINS(text, "meta_host_free()");
    CHECK_CONTAINS(text, "64 bytes");
    CHECK_CONTAINS(text, "meta_unwrap()");
    count = 200;
    CHECK_CHILD_SAYS(leak, &count, text);
    CHECK_CONTAINS(text, "200 buffers of 2469000 bytes together");
    CHECK(strlen(text) < 4000);
}

/* ------------------------------------------------------------------ opened by whom */

/* The state of a device that is open cannot be set. */
static bool is_open(meta_mode mode)
{
    const meta_state state = META_STATE_INIT;
    const meta_err error = meta_set_state(0, mode, &state);
    if (error != META_OK) CHECK_INT(error, META_ERR_STATE);
    return error != META_OK;
}

static meta_err do_set_acc(meta_mode mode)
{
    return meta_set_acc(0, mode);
}
static meta_err do_get_acc(meta_mode mode)
{
    (void)mode;
    return meta_get_acc(NULL, &mode);
}
static meta_err do_get_state(meta_mode mode)
{
    meta_state state = META_STATE_INIT;
    return meta_get_state(0, mode, &state);
}
static meta_err do_mem_info(meta_mode mode)
{
    meta_mem_desc desc = META_MEM_DESC_INIT;
    const meta_err error = meta_mem_info(0, mode, &desc);
    CHECK(desc.total > 0);
    return error;
}
static meta_err do_pool_info(meta_mode mode)
{
    meta_pool_desc desc = META_POOL_DESC_INIT;
    return meta_pool_info(0, mode, &desc);
}
static meta_err do_device_info(meta_mode mode)
{
    meta_device_desc desc = META_DEVICE_DESC_INIT;
    return meta_device_info(0, mode, &desc);
}
static meta_err do_device_count(meta_mode mode)
{
    int count;
    return meta_device_count(mode, &count);
}
static meta_err do_rank_device(meta_mode mode)
{
    return meta_rank_device(0, 1, 0, 1, &mode, NULL, NULL);
}

static void devices_are_opened_by_the_calls_that_say_so(void)
{
    static const struct {
        const char *name;
        meta_err (*call)(meta_mode mode);
        bool opens;
    } calls[] = {
        {"meta_set_acc", do_set_acc, true},
        {"meta_get_acc", do_get_acc, true},
        {"meta_get_state", do_get_state, true},
        {"meta_mem_info", do_mem_info, true},
        {"meta_pool_info", do_pool_info, true},
        {"meta_device_info", do_device_info, false},
        {"meta_device_count", do_device_count, false},
        {"meta_rank_device", do_rank_device, false},
    };
    for (size_t k = 0; k < sizeof calls / sizeof *calls; ++k) {
        if (!CHECK_OK(life_with("META_MODE", "late", NULL))) return;
        test_case("%s", calls[k].name);
        const meta_mode mode = mode_of("late");
        CHECK_OK(calls[k].call(mode));
        CHECK_INT(is_open(mode), calls[k].opens);
        end_life();
    }
}

/* The back end late says how often it was asked. A driver may take long to answer. */
static void an_open_devices_description_is_remembered(void)
{
    meta_device_desc first = META_DEVICE_DESC_INIT, desc = META_DEVICE_DESC_INIT;
    meta_mem_desc memory = META_MEM_DESC_INIT;
    if (!CHECK_OK(life_with("META_MODE", "late", NULL))) return;
    const meta_mode mode = mode_of("late");
    CHECK_OK(meta_set_acc(0, mode));
    CHECK_OK(meta_device_info(0, mode, &first));
    CHECK_CONTAINS(first.driver, "described ");
    for (int k = 0; k < 3; ++k) {
        CHECK_OK(meta_mem_info(0, mode, &memory));
        CHECK_U64(memory.total, first.memory);
        CHECK_OK(meta_device_info(0, mode, &desc));
        CHECK(memcmp(&desc, &first, sizeof desc) == 0);
    }
    end_life();
}

TEST_MAIN(PROMISE(an_unknown_variable_causes_one_warning_with_the_nearest_name),
          PROMISE(what_back_ends_read_is_checked_at_the_start),
          PROMISE(an_invalid_omp_num_threads_is_left_out_with_a_warning),
          PROMISE(the_log_can_be_switched_off), PROMISE(what_was_never_freed_is_named_at_the_end),
          PROMISE(meta_mode_names_the_back_end_of_every_rank),
          PROMISE(metamorph_mode_is_read_where_meta_mode_is_not_set),
          PROMISE(metamorph_mode_may_be_spelled_as_metamorph_does),
          PROMISE(an_explicit_request_never_falls_back),
          PROMISE(auto_chooses_among_the_devices_it_is_given),
          PROMISE(devices_that_auto_is_given_are_used_or_are_an_error),
          PROMISE(an_invalid_list_or_policy_fails_initialization),
          PROMISE(an_invalid_mode_fails_initialization),
          PROMISE(spread_deals_the_nodes_gpus_or_gives_openmp),
          PROMISE(the_first_entry_that_names_a_rank_wins),
          PROMISE(the_map_beats_meta_mode_for_the_ranks_it_names),
          PROMISE(an_invalid_entry_of_the_map_is_named),
          PROMISE(a_process_takes_the_device_of_its_rank), PROMISE(ranks_of_a_node_share_its_cores),
          PROMISE(meta_threads_beats_omp_num_threads_beats_the_share),
          PROMISE(an_invalid_number_of_threads_fails_initialization),
          PROMISE(every_variable_is_described),
          PROMISE(the_library_can_be_reinitialized_repeatedly),
          PROMISE(a_choice_does_not_outlive_the_library),
          PROMISE(devices_are_opened_by_the_calls_that_say_so),
          PROMISE(an_open_devices_description_is_remembered))
