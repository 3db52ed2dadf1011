/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_gpu_mpi.c
 *  META_GPU_MPI: device memory is passed to MPI only if that was requested or MPI reports
 *  support, a trial succeeded, and all ranks agree; ghost cells are then correct as well.
 *  Without META_MODE the device is the fake one of tests/plugins/card.c, whose memory MPI can
 *  use or not, as configured; with it, a real one. */
/* TEST: np=1,2,3 labels=comm smoke=yes */
/* TEST: backends=all np=1,2 mixed=yes labels=comm */
#include "test_mpi.h"

#include <stdio.h>
#include <unistd.h>

#include "halo_cases.h"

/* What the card's MPI says of itself; found before MPI's own function, where it has one. */
int MPIX_Query_hip_support(void);
static int says_yes;

__attribute__((visibility("default"))) int MPIX_Query_hip_support(void)
{
    return says_yes;
}

static bool card; /* the device is the tests' own */

static void start(int *argc, char ***argv)
{
    const char *mode = getenv("META_MODE"), *map = getenv("META_RANK_MAP");
    card = (!mode || !*mode) && (!map || !*map);
    if (card) {
        setenv("META_MODE", "hip", 1);
        setenv("META_BACKEND_PATH", test_built("tests/plugins/card/.libs"), 1);
        setenv("META_TEST_REQUIRE_BACKENDS", "hip", 1);
    }
    /* The trial's crash is no error of ours that a sanitizer should report. */
    const char *options = getenv("ASAN_OPTIONS");
    char more[1024];
    snprintf(more, sizeof more, "%s:handle_segv=0", options ? options : "");
    setenv("ASAN_OPTIONS", more, 1);
    test_mpi_start(argc, argv);
}

/* ------------------------------------------------------------------ joining */

/* What this process writes to its standard error stream while it joins goes to @p said. */
static meta_err join_listening(char *said, size_t room)
{
    char path[] = "/tmp/libmeta-test-XXXXXX";
    const int file = mkstemp(path), before = dup(STDERR_FILENO);
    if (!CHECK(file >= 0) || !CHECK(before >= 0)) return META_ERR_STATE;
    unlink(path);
    fflush(stderr);
    dup2(file, STDERR_FILENO);
    setenv("META_LOG", "info", 1);
    const meta_err error = meta_comm_init(NULL, NULL);
    unsetenv("META_LOG");
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    lseek(file, 0, SEEK_SET);
    const ssize_t got = read(file, said, room - 1);
    said[got > 0 ? got : 0] = '\0';
    close(file);
    return error;
}

static void wish(const char *setting, const char *manner)
{
    setenv("META_GPU_MPI", setting, 1);
    setenv("META_TEST_CARD", manner, 1);
    test_case("META_GPU_MPI=%s, META_TEST_CARD=%s, MPI says %d", setting, manner, says_yes);
}

static void forget(void)
{
    unsetenv("META_GPU_MPI");
    unsetenv("META_TEST_CARD");
    says_yes = 0;
    test_case(" ");
}

/* ------------------------------------------------------------------ exchanges */

/* So many, however brief the run is, that there are messages among them. */
static void exchange_some(void)
{
    const int64_t cases = test_long() ? 500 : 20;
    for (int64_t k = 0; k < cases && !halo_broken_anywhere(); ++k) {
        halo_wish wanted = halo_wish_random();
        halo_case c;
        meta_halo plan;
        if (halo_case_make(&c, &wanted, "case", k) && CHECK_OK(meta_halo_create(&plan, &c.desc))) {
            for (int step = 0; step < 3; ++step) {
                halo_case_initial(&c, step);
                halo_case_expected(&c, step);
                halo_case_upload(&c);
                CHECK_OK(meta_halo_exchange(plan, c.fields, step == 1 ? META_ASYNC : NULL));
                halo_case_check(&c);
            }
            CHECK_OK(meta_halo_free(&plan));
        }
        halo_case_free(&c);
    }
}

/* One exchange with every neighbour that has something to send: 1 D, periodic. */
static void exchange_one(meta_traffic *traffic)
{
    enum { CELLS = 1000, GHOSTS = 300 };
    const int periodic = 1;
    static double cell[CELLS + 2 * GHOSTS];
    meta_halo_desc desc = META_HALO_DESC_INIT;
    meta_halo plan;
    void *u;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periodic, 0, &desc.cart);
    desc.box = (meta_box){1, {CELLS + 2 * GHOSTS}, {GHOSTS}, {CELLS + GHOSTS}};
    desc.low[0] = desc.high[0] = GHOSTS;
    for (int k = 0; k < CELLS; ++k) cell[GHOSTS + k] = test_rank * CELLS + k;
    *traffic = (meta_traffic)META_TRAFFIC_INIT;
    CHECK_OK(meta_alloc(&u, sizeof cell));
    CHECK_OK(meta_copy_h2d(u, cell, sizeof cell, NULL));
    CHECK_OK(meta_halo_create(&plan, &desc));
    CHECK_OK(meta_halo_exchange(plan, &u, NULL));
    CHECK_OK(meta_copy_d2h(cell, u, sizeof cell, NULL));
    const int all = test_size * CELLS;
    for (int k = 0; k < CELLS + 2 * GHOSTS; ++k) {
        const double expected = (test_rank * CELLS + k - GHOSTS + all) % all;
        if (cell[k] != expected) {
            FAIL("cell %d is %g instead of %g", k, cell[k], expected);
            break;
        }
    }
    CHECK_OK(meta_comm_traffic(traffic));
    CHECK_OK(meta_halo_free(&plan));
    CHECK_OK(meta_free(u));
    MPI_Comm_free(&desc.cart);
}

/* Join, exchange, leave: everything to others goes this way, and nothing another. */
static void check_path(meta_path path)
{
    meta_traffic t;
    exchange_one(&t);
    for (int k = META_PATH_SELF + 1; k < META_PATH_COUNT; ++k) {
        const uint64_t messages = test_size > 1 && k == (int)path ? 2 : 0;
        if (!CHECK_INT(t.messages_sent[k], messages) ||
            !CHECK_INT(t.messages_received[k], messages))
            FAIL("by path %s, where %s is expected", meta_path_name((meta_path)k),
                 meta_path_name(path));
        CHECK_INT(t.bytes_sent[k], messages * 300 * sizeof(double));
    }
}

static void join_and_check(meta_path path, const char *reason)
{
    char said[8192];
    if (!CHECK_OK(join_listening(said, sizeof said))) return;
    CHECK_CONTAINS(said, reason);
    check_path(path);
    CHECK_OK(meta_comm_finalize());
}

/* ------------------------------------------------------------------ settings */

static void an_invalid_setting_is_an_error_on_all_ranks(void)
{
    setenv("META_GPU_MPI", test_rank == test_size - 1 ? "perhaps" : "off", 1);
    CHECK_ERR_NAMES(meta_comm_init(NULL, NULL), META_ERR_ENVIRONMENT, "META_GPU_MPI=perhaps");
    forget();
    test_require(meta_comm_init(NULL, NULL));
    CHECK_OK(meta_comm_finalize());
}

static void ranks_with_different_settings_get_an_error(void)
{
    if (test_size == 1) { /* a rank agrees with itself */
        setenv("META_GPU_MPI", "OFF", 1);
        test_require(meta_comm_init(NULL, NULL));
        CHECK_OK(meta_comm_finalize());
        forget();
        return;
    }
    setenv("META_GPU_MPI", test_rank == test_size - 1 ? "OFF" : "on", 1);
    CHECK_ERR_NAMES(meta_comm_init(NULL, NULL), META_ERR_MISMATCH, "META_GPU_MPI is off");
    forget();
}

/* ------------------------------------------------------------------ the card */

static void off_passes_no_device_memory_to_mpi(void)
{
    if (!card) return;
    says_yes = 1;
    wish("off", "crashes");
    join_and_check(META_PATH_STAGED, "META_GPU_MPI=off: not tried");
    forget();
}

static void auto_tries_nothing_where_mpi_says_no(void)
{
    if (!card) return;
    wish("auto", "takes");
    join_and_check(META_PATH_STAGED, "says no: not tried");
    forget();
}

static void auto_uses_gpu_mpi_if_mpi_reports_support_and_the_trial_succeeds(void)
{
    if (!card) return;
    says_yes = 1;
    wish("auto", "takes");
    join_and_check(META_PATH_DIRECT, "says yes, the trial succeeded");
    forget();
}

static void auto_stages_through_the_host_if_a_trial_fails(void)
{
    static const struct {
        const char *manner, *reason;
    } bad[] = {{"crashes", "it was ended by signal"}, {"loses", "arrived as"}};
    for (int k = 0; k < 2 && card; ++k) {
        says_yes = 1;
        wish("auto", bad[k].manner);
        join_and_check(META_PATH_STAGED, bad[k].reason);
        forget();
    }
}

/* The trial of one rank, whose memory is like that of the others otherwise. */
static void all_ranks_stage_through_the_host_if_one_must(void)
{
    if (!card) return;
    says_yes = 1;
    wish("auto", test_rank == test_size - 1 ? "loses" : "takes");
    join_and_check(META_PATH_STAGED, "it is staged on the host");
    forget();
}

static void on_does_not_ask_mpi(void)
{
    if (!card) return;
    wish("on", "takes");
    join_and_check(META_PATH_DIRECT, "META_GPU_MPI=on: the trial succeeded");
    forget();
}

static void on_is_an_error_on_all_where_one_trial_fails(void)
{
    static const char *const manners[] = {"crashes", "loses"};
    char who[32];
    snprintf(who, sizeof who, "rank %d: ", test_size - 1);
    for (int k = 0; k < 2 && card; ++k) {
        wish("on", test_rank == test_size - 1 ? manners[k] : "takes");
        const meta_err error = meta_comm_init(NULL, NULL);
        CHECK_INT(error, META_ERR_MPI);
        CHECK_CONTAINS(meta_last_error(), who);
        CHECK_CONTAINS(meta_last_error(), "META_GPU_MPI=on");
        CHECK_CONTAINS(meta_last_error(), k == 0 ? "signal 11" : "arrived as");
        forget();
        test_require(meta_comm_init(NULL, NULL));
        CHECK_OK(meta_comm_finalize());
    }
}

static void ghosts_sent_from_device_memory_are_correct(void)
{
    meta_traffic t = META_TRAFFIC_INIT;
    if (!card) return;
    wish("on", "takes");
    test_require(meta_comm_init(NULL, NULL));
    exchange_some();
    CHECK_OK(meta_comm_traffic(&t));
    CHECK_INT(t.messages_sent[META_PATH_STAGED] + t.messages_sent[META_PATH_HOST], 0);
    if (test_size > 1) CHECK(t.messages_sent[META_PATH_DIRECT] > 0);
    CHECK_OK(meta_comm_finalize());
    forget();
}

static void a_rank_on_the_cpu_does_not_keep_others_from_gpu_mpi(void)
{
    meta_traffic t = META_TRAFFIC_INIT;
    if (!card) return;
    wish("on", "takes");
    unsetenv("META_MODE");
    setenv("META_RANK_MAP", "0:openmp,*:hip", 1);
    test_require(meta_comm_init(NULL, NULL));
    exchange_some();
    CHECK_OK(meta_comm_traffic(&t));
    CHECK_INT(t.messages_sent[META_PATH_STAGED], 0);
    CHECK_INT(t.messages_sent[META_PATH_DIRECT] > 0, test_rank > 0);
    CHECK_OK(meta_comm_finalize());
    unsetenv("META_RANK_MAP");
    setenv("META_MODE", "hip", 1);
    forget();
}

/* Takes a minute. */
static void a_trial_that_never_ends_is_ended(void)
{
    if (!card) return;
    wish("on", "hangs");
    CHECK_ERR_NAMES(meta_comm_init(NULL, NULL), META_ERR_MPI, "had not ended after");
    forget();
}

/* ------------------------------------------------------------------ real devices */

static bool is_hip_cpu(const meta_device_desc *d)
{
    return strcmp(d->backend, "hip") == 0 && strstr(d->driver, "HIP-CPU") != NULL;
}

static meta_device_desc own_device(void)
{
    meta_device_desc desc = META_DEVICE_DESC_INIT;
    meta_mode mode;
    int index;
    if (CHECK_OK(meta_get_acc(&index, &mode))) CHECK_OK(meta_device_info(index, mode, &desc));
    return desc;
}

/* What an OpenCL buffer's address is, MPI must never see; HIP-CPU's memory it can take. A GPU's it
 * can or cannot, and then the explicit request is an error that says so. */
static void on_gives_mpi_real_device_memory_where_it_has_an_address(void)
{
    char said[8192];
    meta_traffic t = META_TRAFFIC_INIT;
    if (card) return;
    wish("on", "takes");
    const meta_err error = join_listening(said, sizeof said);
    if (error == META_ERR_MPI && strstr(meta_last_error(), "META_GPU_MPI=on")) {
        CHECK(strstr(meta_last_error(), "HIP-CPU") == NULL);
        forget();
        return;
    }
    test_require(error);
    const meta_device_desc desc = own_device();
    const bool has_address = strcmp(desc.backend, "hip") == 0 || strcmp(desc.backend, "cuda") == 0;
    CHECK_CONTAINS(said, has_address ? "the trial succeeded" : "has no memory that MPI could take");
    exchange_some();
    CHECK_OK(meta_comm_traffic(&t));
    CHECK_INT(t.messages_sent[META_PATH_DIRECT] > 0, has_address && test_size > 1);
    if (is_hip_cpu(&desc)) CHECK_INT(t.messages_sent[META_PATH_STAGED], 0);
    CHECK_OK(meta_comm_finalize());
    forget();
}

static const test_setting setting = {start, test_mpi_worst, test_mpi_end};

TEST_MAIN_WITH(&setting, PROMISE(an_invalid_setting_is_an_error_on_all_ranks),
               PROMISE(ranks_with_different_settings_get_an_error),
               PROMISE(off_passes_no_device_memory_to_mpi),
               PROMISE(auto_tries_nothing_where_mpi_says_no),
               PROMISE(auto_uses_gpu_mpi_if_mpi_reports_support_and_the_trial_succeeds),
               PROMISE(auto_stages_through_the_host_if_a_trial_fails),
               PROMISE(all_ranks_stage_through_the_host_if_one_must), PROMISE(on_does_not_ask_mpi),
               PROMISE(on_is_an_error_on_all_where_one_trial_fails),
               PROMISE(ghosts_sent_from_device_memory_are_correct),
               PROMISE(a_rank_on_the_cpu_does_not_keep_others_from_gpu_mpi),
               PROMISE_LONG(a_trial_that_never_ends_is_ended),
               PROMISE(on_gives_mpi_real_device_memory_where_it_has_an_address))
