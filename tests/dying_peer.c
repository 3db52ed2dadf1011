/* SPDX-License-Identifier: BSD-3-Clause */
/** @file dying_peer.c
 *  A program of three ranks or more for test_comm_peers.sh: rank 1 is killed, exits, stops or
 *  sleeps for three times META_TIMEOUT in a given phase, or compiles a kernel with META_CC, and the
 *  ranks record the errors they get.
 *
 *  dying_peer PHASE kill|exit|stop|sleep|compile FOLDER: FOLDER/told.R then holds a line for each
 * failed call of rank R, starting with the name of the error code. Exit status 1 if there is one.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "line_blocks.h"
#include "meta_comm.h"
#include "meta_kernel.h"

enum { CELLS = LINE_CELLS, VICTIM = 1, TAG = 5 };

typedef struct life {
    int rank, size;
    int is_ring; /* or a line, along which halos go one way */
    MPI_Comm ring;
    meta_halo plan;
    void *u, *v;
    FILE *told;
    int failed;
} life;

/* ------------------------------------------------------------------ the end of a rank */

static void compile(void)
{
    meta_kernel *kernel;
    const char *text = "#define META_KERNEL_TYPES META_KERNEL_F64\n"
                       "#include <meta_kernel.h>\n"
                       "#define add_ARGS(A) A(INOUT, T, field)\n"
                       "META_CELLS(add) { AT1(field, 0) += 1; }\n"
                       "#include META_AGAIN\n";
    if (meta_kernel_compile(&kernel, "add", META_F64, "add.kernel.h", text) != META_OK)
        fprintf(stderr, "dying_peer: %s\n", meta_last_error());
}

static void end_as(const char *manner)
{
    fflush(NULL);
    if (strcmp(manner, "compile") == 0) {
        compile();
        return;
    }
    if (strcmp(manner, "kill") == 0) raise(SIGKILL);
    if (strcmp(manner, "stop") == 0) raise(SIGSTOP);
    if (strcmp(manner, "sleep") != 0) _Exit(0);
    sleep(3 * (unsigned)atoi(getenv("META_TIMEOUT")));
}

/* ------------------------------------------------------------------ phases */

static void told(life *l, const char *call, meta_err error)
{
    if (error == META_OK) return;
    l->failed = 1;
    fprintf(l->told, "%s: %s: %s\n", meta_strerror(error), call, meta_last_error());
    fflush(l->told);
}

static meta_err create(life *l)
{
    meta_halo_desc desc = META_HALO_DESC_INIT;
    desc.cart = l->ring;
    desc.box = (meta_box){1, {CELLS + 2}, {1}, {CELLS + 1}};
    desc.low[0] = 1;
    desc.high[0] = l->is_ring;
    return meta_halo_create(&l->plan, &desc);
}

static meta_err begin_exchange(life *l)
{
    return meta_halo_start(l->plan, &l->u);
}

static meta_err finish(life *l)
{
    return meta_halo_finish(l->plan, NULL);
}

static meta_err exchange(life *l)
{
    return meta_halo_exchange(l->plan, &l->u, NULL);
}

/* Nobody sends to rank 0, which waits until rank 1 takes what it got. */
static meta_err send_on(life *l)
{
    meta_err error = META_OK;
    for (int k = 0; k < 16 && error == META_OK; ++k) error = exchange(l);
    return error;
}

/* The error is the event's as well, which nobody asks here. */
static meta_err flush(life *l)
{
    meta_event done;
    meta_err error = meta_halo_start(l->plan, &l->u);
    if (error == META_OK) error = meta_halo_finish(l->plan, &done);
    return error == META_OK ? meta_flush() : error;
}

static meta_err free_plan(life *l)
{
    return meta_halo_free(&l->plan);
}

static meta_err receive(life *l)
{
    return meta_packed_recv(VICTIM, l->u, CELLS, META_F64, TAG, NULL);
}

static meta_err reduce(life *l)
{
    double sum = 0, mine = l->rank;
    return meta_allreduce(&sum, &mine, 1, META_SUM, META_F64, NULL);
}

static meta_err decompose(life *l)
{
    return line_decompose(l->ring);
}

static meta_err redistribute(life *l)
{
    return line_redistribute(l->ring, l->u, l->v);
}

static meta_err join(life *l)
{
    (void)l;
    return meta_comm_init(NULL, NULL);
}

static meta_err leave(life *l)
{
    (void)l;
    return META_OK; /* the end of every phase */
}

/* What everybody does before, and what rank 1 does not do. */
typedef struct phase {
    const char *name;
    meta_err (*before[3])(life *l);
    meta_err (*act)(life *l);
} phase;

static const phase phases[] = {
    {"create", {NULL}, create},
    {"exchange", {create, exchange, NULL}, exchange},
    {"finish", {create, begin_exchange, NULL}, finish},
    {"send", {create, exchange, NULL}, send_on},
    {"flush", {create, exchange, NULL}, flush},
    {"free", {create, exchange, NULL}, free_plan},
    {"message", {NULL}, receive},
    {"reduce", {reduce, NULL}, reduce},
    {"finalize", {create, exchange, free_plan}, leave},
    {"decompose", {decompose, NULL}, decompose},
    {"redistribute", {redistribute, NULL}, redistribute},
    {"join", {NULL}, join},
};

static void live(life *l, const phase *p, const char *manner)
{
    for (int k = 0; k < 3 && p->before[k]; ++k) told(l, "before", p->before[k](l));
    MPI_Barrier(MPI_COMM_WORLD);
    if (l->rank == VICTIM) end_as(manner);
    told(l, p->name, p->act(l));
    if (p->act != join || !l->failed) told(l, "the end", meta_comm_finalize());
}

/* ------------------------------------------------------------------ the program */

static int usage(void)
{
    fprintf(stderr, "usage: dying_peer PHASE kill|exit|stop|sleep|compile FOLDER\n");
    return 2;
}

/* Of a job that is not joined yet MPI alone is started. */
static meta_err start_life(life *l, const phase *p)
{
    int level;
    if (p->act == join) {
        MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
        MPI_Comm_rank(MPI_COMM_WORLD, &l->rank);
        MPI_Comm_size(MPI_COMM_WORLD, &l->size);
        return META_OK;
    }
    meta_err error = meta_comm_init(NULL, NULL);
    if (error == META_OK) error = meta_comm_rank(&l->rank, &l->size);
    if (error == META_OK) error = meta_alloc(&l->u, (CELLS + 2) * sizeof(double));
    if (error == META_OK) error = meta_alloc(&l->v, (CELLS + 2) * sizeof(double));
    return error;
}

static int open_life(life *l, const phase *p, const char *folder)
{
    char name[4096];
    const meta_err error = start_life(l, p);
    if (error != META_OK || l->size <= VICTIM || l->size > LINE_MOST_RANKS) {
        fprintf(stderr, "dying_peer: %s\n", meta_last_error());
        return 2;
    }
    snprintf(name, sizeof name, "%s/told.%d", folder, l->rank);
    l->told = fopen(name, "w");
    if (!l->told) {
        perror(name);
        return 2;
    }
    l->is_ring = p->act != send_on;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &l->size, &l->is_ring, 0, &l->ring);
    return 0;
}

int main(int argc, char **argv)
{
    life l = {.plan = META_HALO_NULL};
    const phase *p = NULL;
    for (size_t k = 0; argc == 4 && k < sizeof phases / sizeof *phases; ++k)
        if (strcmp(phases[k].name, argv[1]) == 0) p = &phases[k];
    if (!p) return usage();
    const int status = open_life(&l, p, argv[3]);
    if (status != 0) return status;
    live(&l, p, argv[2]);
    fclose(l.told);
    return l.failed;
}
