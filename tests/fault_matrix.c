/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fault_matrix.c
 *  One run of test_comm_fault_matrix.sh: a job whose ranks call everything that waits for others,
 *  phase by phase, and one of which fails in a given phase before the k-th call of MPI in it, or
 *  with k = 0 before it.
 *
 *  fault_matrix FOLDER RANKS FAULT PHASE K VICTIM: each rank is a process that watches another one,
 *  which is the rank: so the launcher, which may end a job when a rank ends, sees none end before
 *  all others have. Written to the folder, of each rank R:
 *    calls.R  "begin PHASE CALL", then "end PHASE SECONDS CODE TEXT" of each call of libmeta, and
 *             "fault" where the rank fails
 *    end.R    "exit STATUS", "signal NUMBER", "hang", or "killed 0" of one that is meant not to end
 *    err.R    its standard error stream
 *  fault_matrix FOLDER RANKS none: nobody fails; calls.R holds lines "count PHASE CALLS", too. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "line_blocks.h"
#include "meta_comm.h"
#include "mpi_fault.h"

enum { CELLS = LINE_CELLS, LARGE = 200000, TAG = 5 };

static const char *folder, *fault, *fault_phase = "";
static int ranks, victim = -1;
static long fault_at;
static double timeout;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void nap(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
    while (nanosleep(&t, &t) != 0 && errno == EINTR) continue;
}

static void file_name(char *name, size_t room, const char *what, int rank)
{
    snprintf(name, room, "%s/%s.%d", folder, what, rank);
}

/* ------------------------------------------------------------------ the fault */

static FILE *calls;
static bool failed_once;

static void fail_now(void)
{
    failed_once = true;
    fprintf(calls, "fault\n");
    fflush(calls);
    if (strcmp(fault, "kill") == 0) raise(SIGKILL);
    if (strcmp(fault, "stop") == 0) kill(getpid(), SIGSTOP);
    if (strcmp(fault, "exit") == 0) _Exit(0);
    if (strcmp(fault, "abort") == 0) abort();
    if (strcmp(fault, "sleep") == 0) nap(3 * timeout);
}

/* ------------------------------------------------------------------ phases */

typedef struct life {
    int rank, size;
    MPI_Comm ring;
    meta_halo plan;
    void *u, *v, *large, *larger;
    const char *phase;
    double began;
    bool failed;
} life;

static void begin_call(life *l, const char *call)
{
    fprintf(calls, "begin %s %s\n", l->phase, call);
    fflush(calls);
    l->began = now();
}

static meta_err end_call(life *l, meta_err error)
{
    /* Without the start of MPI, which on a busy machine takes its time. */
    const double seconds = now() - fmax(l->began, mpi_started());
    l->failed |= error != META_OK;
    fprintf(calls, "end %s %.3f %s %s\n", l->phase, seconds, meta_strerror(error),
            error == META_OK ? "" : meta_last_error());
    fflush(calls);
    return error;
}

#define CALL(l, call) (begin_call(l, #call), end_call(l, call))

static void init(life *l)
{
    if (CALL(l, meta_comm_init(NULL, NULL)) != META_OK) return;
    meta_comm_rank(&l->rank, &l->size);
    meta_alloc(&l->u, (CELLS + 2) * sizeof(double));
    meta_alloc(&l->v, (CELLS + 2) * sizeof(double));
    meta_alloc(&l->large, LARGE * sizeof(double));
    meta_alloc(&l->larger, LARGE * sizeof(double));
}

static void decompose(life *l)
{
    CALL(l, line_decompose(l->ring));
}

static void create(life *l)
{
    meta_halo_desc desc = META_HALO_DESC_INIT;
    desc.cart = l->ring;
    desc.box = (meta_box){1, {CELLS + 2}, {1}, {CELLS + 1}};
    desc.low[0] = desc.high[0] = 1;
    CALL(l, meta_halo_create(&l->plan, &desc));
}

static void exchange(life *l)
{
    CALL(l, meta_halo_start(l->plan, &l->u));
    CALL(l, meta_halo_finish(l->plan, NULL));
}

static meta_err work(const meta_box *box, void *with)
{
    (void)box;
    (void)with;
    return META_OK;
}

static void overlap(life *l)
{
    CALL(l, meta_halo_overlap(l->plan, &l->u, work, work, NULL, NULL));
}

static void message(life *l)
{
    const int right = (l->rank + 1) % l->size, left = (l->rank + l->size - 1) % l->size;
    CALL(l, meta_packed_send(right, l->u, CELLS, META_F64, TAG, META_ASYNC));
    CALL(l, meta_packed_recv(left, l->v, CELLS, META_F64, TAG, NULL));
}

static void large(life *l)
{
    const int right = (l->rank + 1) % l->size, left = (l->rank + l->size - 1) % l->size;
    meta_event sent = META_EVENT_NULL;
    CALL(l, meta_packed_send(right, l->large, LARGE, META_F64, TAG, &sent));
    CALL(l, meta_packed_recv(left, l->larger, LARGE, META_F64, TAG, NULL));
    CALL(l, meta_event_wait(sent));
}

static void reduce(life *l)
{
    double sum = 0, mine = l->rank;
    CALL(l, meta_allreduce(&sum, &mine, 1, META_SUM, META_F64, NULL));
}

static void rebalance(life *l)
{
    int64_t even[LINE_MOST_RANKS + 1], other[LINE_MOST_RANKS + 1];
    const meta_cuts now_at = {{even}}, next = {{other}};
    const meta_decompose_desc desc = line_desc(l->ring);
    double before, after;
    line_even_cuts(l->ring, even);
    CALL(l, meta_rebalance(&next, &now_at, &desc, 1.0 + l->rank, &before, &after));
}

static void balance(life *l)
{
    int64_t even[LINE_MOST_RANKS + 1], other[LINE_MOST_RANKS + 1];
    const meta_cuts now_at = {{even}}, next = {{other}};
    const meta_decompose_desc desc = line_desc(l->ring);
    double gain;
    line_even_cuts(l->ring, even);
    CALL(l, meta_balance(&next, &now_at, &desc, 1.0 + l->rank, 1.0 + l->size, &gain));
}

static void redistribute(life *l)
{
    CALL(l, line_redistribute(l->ring, l->u, l->v));
}

static void flush(life *l)
{
    CALL(l, meta_halo_start(l->plan, &l->u));
    CALL(l, meta_halo_finish(l->plan, META_ASYNC));
    CALL(l, meta_flush());
}

static void free_plan(life *l)
{
    CALL(l, meta_halo_free(&l->plan));
}

static void finalize(life *l)
{
    CALL(l, meta_comm_finalize());
}

typedef struct phase {
    const char *name;
    void (*act)(life *l);
    bool needs_ring;
} phase;

static const phase phases[] = {
    {"init", init, false},
    {"decompose", decompose, true},
    {"create", create, true},
    {"exchange", exchange, true},
    {"overlap", overlap, true},
    {"message", message, false},
    {"large", large, false},
    {"allreduce", reduce, false},
    {"rebalance", rebalance, true},
    {"balance", balance, true},
    {"redistribute", redistribute, true},
    {"flush", flush, true},
    {"free", free_plan, true},
    {"finalize", finalize, false},
};

static void live_phase(life *l, const phase *p)
{
    const bool here = l->rank == victim && strcmp(p->name, fault_phase) == 0;
    l->phase = p->name;
    if (here && fault_at == 0) fail_now();
    mpi_watch(here && fault_at > 0 ? fail_now : NULL, fault_at);
    p->act(l);
    const long long count = mpi_unwatch();
    if (here && !failed_once) fail_now(); /* there were fewer calls this time */
    if (strcmp(fault, "none") == 0) fprintf(calls, "count %s %lld\n", p->name, count);
}

/* A job that somebody does not join has no Cartesian communicator, whose making nothing ends. */
static int live(int rank)
{
    const int periodic = 1;
    const bool with_ring = strcmp(fault_phase, "init") != 0;
    life l = {.rank = rank, .size = ranks, .ring = MPI_COMM_NULL, .plan = META_HALO_NULL};
    for (size_t k = 0; k < sizeof phases / sizeof *phases; ++k) {
        if (phases[k].needs_ring && !with_ring) continue;
        live_phase(&l, &phases[k]);
        if (phases[k].act != init) continue;
        if (l.failed) break;
        if (with_ring) MPI_Cart_create(MPI_COMM_WORLD, 1, &l.size, &periodic, 0, &l.ring);
    }
    fclose(calls);
    return l.failed;
}

/* ------------------------------------------------------------------ who watches it */

static bool there(const char *what, int rank)
{
    char name[4096];
    file_name(name, sizeof name, what, rank);
    return access(name, F_OK) == 0;
}

static bool must_end(int rank)
{
    return rank != victim || strcmp(fault, "sleep") == 0;
}

static void write_end(int rank, const char *how, int number)
{
    char name[4096], made[4096];
    file_name(made, sizeof made, "new", rank);
    file_name(name, sizeof name, "end", rank);
    FILE *f = fopen(made, "w");
    if (!f) return;
    fprintf(f, "%s %d\n", how, number);
    fclose(f);
    rename(made, name);
}

/* Whether somebody who ought to is still at it. */
static bool running(void)
{
    for (int r = 0; r < ranks; ++r)
        if (must_end(r) && !there("end", r)) return true;
    return false;
}

static bool all_over(void)
{
    for (int r = 0; r < ranks; ++r)
        if (!there("end", r)) return false;
    return true;
}

/* No rank's watcher ends before all others are done. */
static int guard(pid_t child, int rank)
{
    const double limit = now() + 30 + 10 * timeout;
    bool ended = false;
    signal(SIGUSR1, SIG_IGN); /* with which MPICH's launcher tells the ranks that one has ended */
    while (now() < limit && !ended && (must_end(rank) || running())) {
        int status;
        nap(0.02);
        if (waitpid(child, &status, WNOHANG) != child) continue;
        ended = true;
        if (WIFSIGNALED(status)) write_end(rank, "signal", WTERMSIG(status));
        else write_end(rank, "exit", WEXITSTATUS(status));
    }
    if (!ended) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        write_end(rank, must_end(rank) ? "hang" : "killed", 0);
    }
    while (now() < limit + 5 && !all_over()) nap(0.02);
    return 0;
}

/* ------------------------------------------------------------------ the program */

static int own_rank(void)
{
    const char *text = getenv("OMPI_COMM_WORLD_RANK");
    if (!text) text = getenv("PMIX_RANK");
    if (!text) text = getenv("PMI_RANK");
    return text ? atoi(text) : 0;
}

static FILE *open_for(const char *what, int rank)
{
    char name[4096];
    file_name(name, sizeof name, what, rank);
    FILE *f = fopen(name, "we");
    if (!f) {
        perror(name);
        exit(2);
    }
    return f;
}

int main(int argc, char **argv)
{
    if (argc != 4 && argc != 7) {
        fprintf(stderr, "usage: fault_matrix FOLDER RANKS none | FOLDER RANKS "
                        "kill|stop|exit|abort|sleep PHASE K VICTIM\n");
        return 2;
    }
    folder = argv[1];
    ranks = atoi(argv[2]);
    fault = argv[3];
    if (argc == 7) {
        fault_phase = argv[4];
        fault_at = atol(argv[5]);
        victim = atoi(argv[6]);
    }
    const char *seconds = getenv("META_TIMEOUT");
    timeout = seconds ? atof(seconds) : 0;
    const int rank = own_rank();
    const pid_t child = fork();
    if (child < 0) return perror("fork"), 2;
    if (child > 0) return guard(child, rank);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    calls = open_for("calls", rank);
    FILE *errors = open_for("err", rank);
    dup2(fileno(errors), STDERR_FILENO);
    return live(rank);
}
