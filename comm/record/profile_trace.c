/* SPDX-License-Identifier: BSD-3-Clause */
/** @file profile_trace.c
 *  One trace of all ranks: message numbers that match on both ends, the offsets of the ranks'
 *  clocks, and one file, which rank 0 writes. */
#include <stdlib.h>
#include <string.h>

#include "record/comm_record.h"

enum { ROUNDS = 10, TAG = 1, BUCKETS = 256 };

static const char phase[] = "while the trace of all ranks is written";

static meta_trace_clock mapping;

/* Messages to or from one peer with one tag. */
typedef struct counter {
    struct counter *next;
    int peer, tag;
    bool out;
    uint64_t count;
} counter;
static counter *counters[BUCKETS];

/* MPI keeps the order of messages of one sender, receiver and tag: so both ends count alike. */
uint64_t comm_trace_number(bool out, int peer, int tag)
{
    counter **at = &counters[((unsigned)peer * 31u + (unsigned)tag) % BUCKETS];
    while (*at && ((*at)->peer != peer || (*at)->tag != tag || (*at)->out != out))
        at = &(*at)->next;
    if (!*at) {
        counter *made = calloc(1, sizeof *made);
        if (!made) return 0;
        *made = (counter){.peer = peer, .tag = tag, .out = out};
        *at = made;
    }
    return ++(*at)->count;
}

/* ------------------------------------------------------------------ clocks */

static meta_err pass(bool send, void *data, size_t bytes, int peer)
{
    MPI_Request request;
    if (send)
        COMM_MPI(MPI_Isend,
                 (data, (int)bytes, MPI_BYTE, peer, TAG, comm_job.collectives, &request));
    else
        COMM_MPI(MPI_Irecv,
                 (data, (int)bytes, MPI_BYTE, peer, TAG, comm_job.collectives, &request));
    const meta_err error =
        comm_request_wait(&request, (comm_awaited){phase, comm_job.collectives, peer, TAG});
    if (error != META_OK) comm_request_give_up(&request, !send); /* the memory is the caller's */
    return error;
}

/* Nanoseconds to add to a rank's clock, and their uncertainty. */
typedef struct found_clock {
    double offset, within;
} found_clock;

/* Ask rank @p rank for its time, several times: the fastest round trip bounds its clock's offset
 * best. Ranks of one node share a clock, for which the bounds include 0. */
static meta_err ask(int rank, found_clock *found)
{
    int64_t low = 0, high = 0;
    for (int k = 0; k < ROUNDS; ++k) {
        uint64_t theirs = 0;
        const uint64_t before = core->profile_now();
        META_TRY(pass(true, &theirs, sizeof theirs, rank));
        META_TRY(pass(false, &theirs, sizeof theirs, rank));
        const int64_t least = (int64_t)(before - theirs),
                      most = (int64_t)(core->profile_now() - theirs);
        if (k == 0 || most - least < high - low) low = least, high = most;
    }
    found->offset = low <= 0 && high >= 0 ? 0 : (double)low + 0.5 * (double)(high - low);
    found->within = 0.5 * (double)(high - low);
    return pass(true, found, sizeof *found, rank);
}

static meta_err answer(found_clock *found)
{
    for (int k = 0; k < ROUNDS; ++k) {
        uint64_t time;
        META_TRY(pass(false, &time, sizeof time, 0));
        time = core->profile_now();
        META_TRY(pass(true, &time, sizeof time, 0));
    }
    return pass(false, found, sizeof *found, 0);
}

/* Compare all clocks with rank 0's, at the beginning (0) and the end (1). */
static meta_err compare_clocks(int when)
{
    found_clock found = {0, 0};
    double worst = 0;
    mapping.time[when] = core->profile_now();
    if (comm_job.rank != 0) META_TRY(answer(&found));
    for (int r = 1; r < comm_job.size && comm_job.rank == 0; ++r) {
        found_clock theirs;
        META_TRY(ask(r, &theirs));
        if (theirs.within > worst) worst = theirs.within;
    }
    mapping.offset[when] = found.offset;
    if (found.within > mapping.within) mapping.within = found.within;
    if (worst > 0)
        core->log(META_LOG_INFO, "at its %s, clocks of the job are synchronised within %.1f us",
                  when == 0 ? "beginning" : "end", 1e-3 * worst);
    return META_OK;
}

meta_err comm_trace_begin(void)
{
    memset(&mapping, 0, sizeof mapping);
    return comm_traced() ? compare_clocks(0) : META_OK;
}

/* The trace begins when the first rank's does. */
static meta_err agree_on_base(void)
{
    mapping.base = core->trace_began() + (uint64_t)(int64_t)mapping.offset[0];
    return comm_all_reduce(comm_job.collectives, &mapping.base, 1, MPI_UINT64_T, MPI_MIN, phase);
}

/* ------------------------------------------------------------------ the file */

/* The first failure of sending; nothing is sent after it. */
static meta_err sending;

/* A piece's length, then its text. */
static void send_piece(void *unused, const char *text, size_t bytes)
{
    uint64_t length = bytes;
    (void)unused;
    if (sending == META_OK) sending = pass(true, &length, sizeof length, 0);
    if (sending == META_OK && bytes > 0) sending = pass(true, (void *)(uintptr_t)text, bytes, 0);
}

/* Rank by rank, so that it takes memory for one piece only. */
static meta_err take_all(char *piece)
{
    const meta_err error = core->trace_text(&mapping, core->trace_put, NULL);
    for (int r = 1; r < comm_job.size; ++r)
        for (;;) {
            uint64_t length;
            meta_err theirs = pass(false, &length, sizeof length, r);
            if (theirs == META_OK && length == 0) break;
            if (theirs == META_OK) theirs = pass(false, piece, (size_t)length, r);
            if (theirs != META_OK) return error != META_OK ? error : theirs;
            core->trace_put(NULL, piece, (size_t)length);
        }
    return error;
}

static meta_err write_file(void)
{
    char *piece = comm_job.rank == 0 ? malloc(META_TRACE_PIECE) : NULL;
    int open = piece && core->trace_open();
    if (comm_job.rank == 0 && !piece)
        core->log(META_LOG_WARN, "there is no trace: the host has no memory to put it together");
    meta_err error = comm_all_from(comm_job.collectives, &open, 1, MPI_INT, 0, phase);
    /* The core has logged why it is not open. */
    if (open && comm_job.rank == 0) {
        error = take_all(piece);
    } else if (open) {
        sending = META_OK;
        error = core->trace_text(&mapping, send_piece, NULL);
        send_piece(NULL, NULL, 0);
        if (sending != META_OK) error = sending;
    }
    if (open && comm_job.rank == 0) core->trace_close();
    free(piece);
    return error;
}

meta_err comm_trace_end(void)
{
    meta_err error = META_OK;
    if (!comm_traced()) return META_OK;
    if (!comm_job.lost) {
        error = compare_clocks(1);
        if (error == META_OK) error = agree_on_base();
        if (error == META_OK) error = write_file();
    }
    for (int k = 0; k < BUCKETS; ++k)
        while (counters[k]) {
            counter *c = counters[k];
            counters[k] = c->next;
            free(c);
        }
    /* If a rank was lost, the core writes rank 0's part alone. */
    if (!comm_job.lost || comm_job.rank != 0) core->trace_done();
    return error;
}
