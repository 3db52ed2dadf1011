/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_profile_json.c
 *  The summary as JSON: it is valid whatever buffers are called, it has what was counted, and with
 *  META_MODE=auto where kernels ran, what was copied between devices and why, and what each device
 *  alone would have taken. On simulated devices, whose time is exact. */
/* TEST: labels=core,tools */
#include "config.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "test.h"

enum { CELLS = 12000, BYTES = CELLS * sizeof(double) };

static double host[CELLS];
static const char label[] = "a \"density\" \\ of \xc3\xa9";
static char path[64];
static const char *policy = "round_robin";

static void prepare(const char *mode)
{
    char profile[96];
    snprintf(profile, sizeof profile, "json:%s", path);
    setenv("META_MODE", mode, 1);
    setenv("META_AUTO_DEVICES", "sim", 1);
    setenv("META_POLICY", policy, 1);
    setenv("META_THREADS", "1", 1);
    setenv("META_TEST_SIM",
           "cpu sync host rate=20G launch=1us; gpu rate=500G launch=8us latency=10us bandwidth=12G",
           1);
    setenv("META_TEST_SIM_EAGER", "1", 1);
    setenv("META_LEARN", "off", 1);
    setenv("META_PROFILE", profile, 1);
    setenv("META_BACKEND_PATH", test_built("tests/plugins/.libs"), 1);
    unsetenv("META_RANK_MAP");
    unsetenv("META_CHECK");
}

/* In turn: h2d on device 0, fill 1, sum 0, sum 1, fill 0, d2h 1. */
static void run(void *mode)
{
    const double half = 0.5;
    const meta_box all = {.ndim = 1, .size = {CELLS}, .end = {CELLS}};
    double sum;
    void *a;
    prepare(mode);
    CHECK_OK(meta_init());
    CHECK_OK(meta_alloc(&a, BYTES));
    CHECK_OK(meta_label(a, label));
    CHECK_OK(meta_copy_h2d(a, host, BYTES, NULL));
    CHECK_OK(meta_fill(a, CELLS, &half, META_F64, NULL));
    for (int k = 0; k < 2; ++k) CHECK_OK(meta_reduce(&sum, a, &all, META_SUM, META_F64, NULL));
    CHECK_OK(meta_fill(a, CELLS, &half, META_F64, NULL));
    CHECK_OK(meta_copy_d2h(host, a, BYTES, NULL));
    CHECK_OK(meta_free(a));
    CHECK_OK(meta_finalize());
}

static json_t *summary_of(char *mode)
{
    json_error_t error = {.text = ""};
    snprintf(path, sizeof path, "/tmp/test_profile_json.XXXXXX");
    const int file = mkstemp(path);
    if (!CHECK(file >= 0)) return NULL;
    close(file);
    CHECK_CHILD(run, mode);
    json_t *all = json_load_file(path, 0, &error);
    CHECK_STRING(error.text, "");
    unlink(path);
    return all;
}

/* The first object of a list of which members have these values, of @p names and @p values
 * separated by |. */
static const json_t *find(const json_t *list, const char *names, const char *values)
{
    size_t k;
    json_t *one;
    json_array_foreach(list, k, one)
    {
        char name[128], value[128], *at_name, *at_value;
        snprintf(name, sizeof name, "%s", names);
        snprintf(value, sizeof value, "%s", values);
        const char *n = strtok_r(name, "|", &at_name), *v = strtok_r(value, "|", &at_value);
        bool is_it = true;
        for (; n && v; n = strtok_r(NULL, "|", &at_name), v = strtok_r(NULL, "|", &at_value)) {
            const char *found = json_string_value(json_object_get(one, n));
            is_it = is_it && found && strcmp(found, v) == 0;
        }
        if (is_it) return one;
    }
    FAIL("there is no %s with %s", values, names);
    return NULL;
}

static int64_t number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    CHECK(json_is_integer(value));
    return json_integer_value(value);
}

static void check_seconds(const json_t *object, const char *key, double us)
{
    const json_t *value = json_object_get(object, key);
    test_case("%s", key);
    CHECK(json_is_real(value));
    CHECK_NEAR(1e6 * json_real_value(value), us, 1e-4);
}

static void check_amounts(const json_t *object, int64_t calls, int64_t bytes)
{
    CHECK_INT(number(object, "calls"), calls);
    CHECK_INT(number(object, "bytes"), bytes);
    CHECK_INT(number(object, "timed_calls"), calls);
}

static void rows_have_what_was_counted(void)
{
    char mode[] = "sim:0";
    json_t *all = summary_of(mode);
    const json_t *rows = json_object_get(all, "rows"), *ranks = json_object_get(all, "processes");
    CHECK_INT(json_array_size(ranks), 1);
    CHECK_INT(number(json_array_get(ranks, 0), "rank"), 0);
    CHECK(!json_object_get(all, "auto"));
    const json_t *sum = find(rows, "section|backend|name", "work|sim|reduce_sum f64");
    check_amounts(sum, 2, 2 * BYTES);
    check_seconds(sum, "seconds", 2 * (1 + BYTES / 20e3));
    CHECK_INT(number(sum, "ranks"), 1);
    check_seconds(json_object_get(sum, "most"), "seconds", 2 * (1 + BYTES / 20e3));
    char name[128];
    snprintf(name, sizeof name, "fill f64|%s", label);
    check_amounts(find(rows, "name|label", name), 2, 2 * BYTES);
    json_decref(all);
}

static void what_auto_knows_is_there(void)
{
    char mode[] = "auto";
    json_t *all = summary_of(mode);
    const json_t *of_auto = json_object_get(all, "auto");
    const json_t *kernels = json_object_get(of_auto, "kernels");
    const json_t *copies = json_object_get(of_auto, "copies");
    const json_t *times = json_object_get(of_auto, "times");
    CHECK_INT(json_array_size(kernels), 4);
    for (int k = 0; k < 2; ++k) {
        check_amounts(find(kernels, "kernel|device", k ? "fill f64|sim:1" : "fill f64|sim:0"), 1,
                      BYTES);
        check_amounts(
            find(kernels, "kernel|device", k ? "reduce_sum f64|sim:1" : "reduce_sum f64|sim:0"), 1,
            BYTES);
    }
    /* A fill needs nothing of what it writes; the first sum reads it elsewhere. */
    CHECK_INT(json_array_size(copies), 2);
    const json_t *copy = find(copies, "from|to|reason", "sim:1|sim:0|operand of a kernel");
    check_amounts(copy, 1, BYTES);
    check_seconds(copy, "seconds", 18);
    check_amounts(find(copies, "from|to|reason", "sim:0|sim:1|copy with the host"), 1, BYTES);
    CHECK_INT(number(json_object_get(of_auto, "without_record"), "calls"), 0);
    check_seconds(find(times, "on", "META_MODE=auto"), "between_devices", 2 * 18);
    const json_t *cpu = find(times, "on", "sim:0");
    check_seconds(cpu, "kernels", 4 * (1 + BYTES / 20e3));
    CHECK(json_is_real(json_object_get(cpu, "seconds")));
    json_decref(all);
}

static void what_never_ran_on_a_device_is_counted(void)
{
    char mode[] = "auto";
    policy = "device:1";
    json_t *all = summary_of(mode);
    const json_t *times = json_object_get(json_object_get(all, "auto"), "times");
    const json_t *cpu = find(times, "on", "sim:0"), *gpu = find(times, "on", "sim:1");
    CHECK_INT(number(cpu, "not_known"), 2);
    CHECK(!json_object_get(cpu, "seconds"));
    CHECK(!json_object_get(gpu, "not_known"));
    check_seconds(gpu, "kernels", 4 * (8 + BYTES / 500e3));
    json_decref(all);
    policy = "round_robin";
}

static void fail_to_write(void *unused)
{
    (void)unused;
    snprintf(path, sizeof path, "/dev/full");
    run((char[]){"sim:0"});
}

static void a_full_disk_is_worth_a_warning(void)
{
    static char text[4096];
    CHECK_CHILD_SAYS(fail_to_write, NULL, text);
    CHECK_CONTAINS(text, "the summary /dev/full could not be written: No space left on device");
}

static void write_to_a_pipe(void *name)
{
    snprintf(path, sizeof path, "%s", (const char *)name);
    run((char[]){"sim:0"});
}

static void a_pipe_that_nobody_reads_is_not_waited_for(void)
{
    static char text[4096];
    char name[64];
    snprintf(name, sizeof name, "tests/pipe.%ld", (long)getpid());
    CHECK_INT(mkfifo(name, 0600), 0);
    CHECK_CHILD_SAYS(write_to_a_pipe, name, text);
    CHECK_CONTAINS(text, "could not be written: No such device or address");
    remove(name);
}

static void ask_for_no_file(void *unused)
{
    (void)unused;
    prepare("sim:0");
    setenv("META_PROFILE", "summary,json:", 1);
    CHECK_ERR_NAMES(meta_init(), META_ERR_ENVIRONMENT,
                    "META_PROFILE=json:: give summary, json:FILE");
}

static void a_file_without_a_name_is_an_error(void)
{
    CHECK_CHILD(ask_for_no_file, NULL);
}

TEST_MAIN(PROMISE(rows_have_what_was_counted), PROMISE(what_auto_knows_is_there),
          PROMISE(what_never_ran_on_a_device_is_counted), PROMISE(a_full_disk_is_worth_a_warning),
          PROMISE(a_pipe_that_nobody_reads_is_not_waited_for),
          PROMISE(a_file_without_a_name_is_an_error))
