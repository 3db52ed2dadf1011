/* SPDX-License-Identifier: BSD-3-Clause */
/** @file init.c
 *  Entering and leaving a job: communicators, the rank's place on its node, its device. */
#include "comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

comm_job job = {.messages = MPI_COMM_NULL, .collectives = MPI_COMM_NULL};

static bool own_mpi; /* MPI_Init_thread() was ours, and MPI_Finalize() is */

/* ------------------------------------------------------------------ every call */

meta_err comm_enter(const char *call)
{
    COMM_TRY(core->enter(call));
    if (!job.attached)
        return core->fail(META_ERR_INIT,
                          "this process is not part of a job: call meta_comm_init() or "
                          "meta_comm_attach() first");
    COMM_TRY(comm_thread_allowed());
    comm_lock();
    return META_OK;
}

meta_err comm_leave(meta_err error)
{
    comm_unlock();
    return error;
}

/* ------------------------------------------------------------------ entering */

/* Name the public call for messages, before libmeta is started as well. That alone is no failure:
 * the thread's last message stays. */
static void name_call(const char *call)
{
    char before[COMM_TEXT];
    snprintf(before, sizeof before, "%s", meta_last_error());
    core->enter(call);
    core->fail_as(META_OK, before);
}

/* Two libraries of one build: libmeta_comm found another libmeta where the versions differ. */
static bool core_fits(void)
{
    return core->version == META_CORE_VERSION && core->size >= sizeof *core;
}

static meta_err check_thread(void)
{
    int level, is_main = 0;
    COMM_MPI(MPI_Query_thread, (&level));
    COMM_MPI(MPI_Is_thread_main, (&is_main));
    if (level < MPI_THREAD_SERIALIZED && !is_main)
        return core->fail(META_ERR_STATE,
                          "MPI was initialised with less than MPI_THREAD_SERIALIZED, and "
                          "this is not the thread that initialised it: call from that one");
    job.thread_level = level;
    job.thread = pthread_self();
    return META_OK;
}

/* Both before anything that one rank alone may fail in: it would leave the others waiting. */
static meta_err duplicate(MPI_Comm parent)
{
    COMM_MPI(MPI_Comm_dup, (parent, &job.messages));
    return comm_mpi(MPI_Comm_dup(job.messages, &job.collectives), "MPI_Comm_dup");
}

static meta_err know_ranks(void)
{
    COMM_MPI(MPI_Comm_set_errhandler, (job.messages, MPI_ERRORS_RETURN));
    COMM_MPI(MPI_Comm_set_errhandler, (job.collectives, MPI_ERRORS_RETURN));
    COMM_MPI(MPI_Comm_rank, (job.messages, &job.rank));
    return comm_mpi(MPI_Comm_size(job.messages, &job.size), "MPI_Comm_size");
}

static meta_err start_core(const char *call)
{
    if (!core->started()) {
        COMM_TRY(meta_init());
        job.own_core = true;
        name_call(call);
    }
    COMM_TRY(comm_settings_read());
    return comm_gpu_mpi_read();
}

/* This rank's device, chosen and opened. */
static meta_err choose_device(int threads)
{
    meta_mode mode;
    int index;
    COMM_TRY(meta_set_job(job.rank, job.size, job.node_rank, job.node_size));
    core->set_threads(threads);
    return meta_get_acc(&index, &mode);
}

static void report(int threads)
{
    meta_device_desc desc = META_DEVICE_DESC_INIT;
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    meta_device *device;
    int length;
    MPI_Get_processor_name(host, &length);
    if (core->current_device(&device) != META_OK || core->device_info(device, &desc) != META_OK)
        return;
    core->log(META_LOG_INFO,
              "rank %d of %d, %d of %d on %s: %s:%d, %s; its share of the cores is %d", job.rank,
              job.size, job.node_rank, job.node_size, host, desc.backend, desc.index, desc.name,
              threads);
}

/* The smallest chunk of all ranks: collective operations must be cut alike. */
static meta_err agree_on_chunk(void)
{
    uint64_t mine = job.chunk, least = mine;
    COMM_MPI(MPI_Allreduce, (&mine, &least, 1, MPI_UINT64_T, MPI_MIN, job.messages));
    job.chunk = (size_t)least;
    return META_OK;
}

/* @p error: of this rank, which the others do not know of. */
static meta_err join(const char *call, meta_err error)
{
    int threads = 1;
    if (error == META_OK) error = know_ranks();
    if (error == META_OK) error = start_core(call);
    COMM_TRY(comm_agree(job.messages, error));
    COMM_TRY(agree_on_chunk());
    COMM_TRY(comm_node_find(job.messages, &job.node_rank, &job.node_size, &threads));
    COMM_TRY(comm_agree(job.messages, choose_device(threads)));
    name_call(call);
    COMM_TRY(comm_agree(job.messages, comm_operations_create()));
    COMM_TRY(comm_profile_begin());
    report(threads);
    error = comm_gpu_mpi_settle();
    if (error == META_OK) error = comm_progress_thread_start();
    return comm_agree(job.messages, error);
}

/* The thread may be about to take the lock. */
static void stop_thread(void)
{
    comm_unlock();
    comm_progress_thread_stop();
    comm_lock();
}

static void leave(void)
{
    comm_operations_free();
    if (job.collectives != MPI_COMM_NULL) MPI_Comm_free(&job.collectives);
    if (job.messages != MPI_COMM_NULL) MPI_Comm_free(&job.messages);
    job.attached = job.own_core = false;
}

static meta_err attach(MPI_Comm parent, const char *call)
{
    meta_err error;
    char text[COMM_TEXT];
    memset(&job, 0, sizeof job);
    job.messages = job.collectives = MPI_COMM_NULL;
    error = check_thread();
    if (error == META_ERR_STATE) return error; /* MPI must not be called from here */
    if (error == META_OK) error = comm_launcher_check();
    snprintf(text, sizeof text, "%s", meta_last_error());
    const meta_err duplicated = duplicate(parent);
    if (error != META_OK) core->fail_as(error, text);
    error = duplicated == META_OK ? join(call, error) : duplicated;
    if (error == META_OK) {
        comm_hooks_set();
        job.attached = true;
        return META_OK;
    }
    snprintf(text, sizeof text, "%s", meta_last_error());
    stop_thread();
    if (job.own_core) meta_finalize();
    leave();
    name_call(call);
    return core->fail_as(error, text);
}

/* Whether this process may join a job now. */
static meta_err check_outside(const char *call)
{
    int finalized = 0;
    if (!core_fits()) return META_ERR_UNSUPPORTED;
    name_call(call);
    if (job.attached || job.messages != MPI_COMM_NULL)
        return core->fail(META_ERR_STATE, "this process is part of a job already: call "
                                          "meta_comm_finalize() first");
    COMM_MPI(MPI_Finalized, (&finalized));
    if (finalized)
        return core->fail(META_ERR_MPI,
                          "MPI has been finalised, and cannot be started twice in a process");
    return META_OK;
}

static meta_err init(int *argc, char ***argv, const char *call)
{
    int initialized = 0, level;
    COMM_TRY(check_outside(call));
    COMM_MPI(MPI_Initialized, (&initialized));
    if (!initialized) {
        COMM_MPI(MPI_Init_thread, (argc, argv, comm_thread_level_wanted(), &level));
        own_mpi = true;
    }
    return attach(MPI_COMM_WORLD, call);
}

meta_err meta_comm_init(int *argc, char ***argv)
{
    comm_lock();
    return comm_leave(init(argc, argv, __func__));
}

static meta_err attach_checked(MPI_Comm parent, const char *call)
{
    int initialized = 0, inter = 0;
    COMM_TRY(check_outside(call));
    COMM_MPI(MPI_Initialized, (&initialized));
    if (!initialized)
        return core->fail(META_ERR_MPI, "MPI is not initialised: call MPI_Init_thread() or "
                                        "meta_comm_init() first");
    if (parent == MPI_COMM_NULL)
        return core->fail(META_ERR_ARGUMENT, "argument 'comm' is MPI_COMM_NULL");
    COMM_MPI(MPI_Comm_test_inter, (parent, &inter));
    if (inter)
        return core->fail(META_ERR_ARGUMENT,
                          "argument 'comm' is an intercommunicator: merge it first");
    return attach(parent, call);
}

meta_err meta_comm_attach(MPI_Comm comm)
{
    comm_lock();
    return comm_leave(attach_checked(comm, __func__));
}

meta_err meta_comm_rank(int *rank, int *size)
{
    COMM_TRY(core->enter(__func__));
    if (!job.attached)
        return core->fail(META_ERR_INIT,
                          "this process is not part of a job: call meta_comm_init() or "
                          "meta_comm_attach() first");
    if (!rank && !size)
        return core->fail(META_ERR_ARGUMENT, "arguments 'rank' and 'size' are both NULL");
    if (rank) *rank = job.rank;
    if (size) *size = job.size;
    return META_OK;
}

/* ------------------------------------------------------------------ leaving */

static bool still_receiving(const void *unused)
{
    (void)unused;
    return comm_messages_count(COMM_RECV) + comm_messages_count(COMM_REDUCE) > 0 ||
           comm_plans_busy();
}

/* Take in a message that nobody will receive; true if there was one. */
static bool discard(int *discarded)
{
    MPI_Status status;
    bool found;
    if (comm_take_in(job.messages, MPI_ANY_SOURCE, &found, &status) != META_OK || !found)
        return false;
    if (++*discarded == 1)
        core->log(META_LOG_WARN,
                  "meta_comm_finalize: a message from rank %d, tag %d, was never received",
                  status.MPI_SOURCE, status.MPI_TAG);
    return true;
}

/* Until every rank's sends are complete, each takes in what is sent to it: so none waits for ever
 * for a receive that was never posted. */
static meta_err drain(void)
{
    const double began = MPI_Wtime();
    MPI_Request barrier = MPI_REQUEST_NULL;
    int all = 0, discarded = 0;
    unsigned idle = 0;
    bool entered = false, warned = false;
    meta_err error = META_OK, failure = META_OK;
    char text[COMM_TEXT];
    while (!all && error == META_OK) {
        if (idle % 64 == 63)
            error = comm_watch_since(began, &warned, "meta_comm_finalize: while all ranks meet",
                                     MPI_ANY_SOURCE, 0);
        bool moved = comm_advance();
        moved |= discard(&discarded);
        if (error == META_OK && !entered && comm_messages_count(COMM_SEND) == 0) {
            failure = comm_barrier(job.messages, &barrier);
            snprintf(text, sizeof text, "%s", meta_last_error());
            entered = true;
        } else if (error == META_OK && entered) {
            error = comm_mpi(MPI_Test(&barrier, &all, MPI_STATUS_IGNORE), "MPI_Test");
        }
        if (!moved && !all) comm_back_off(idle++);
    }
    if (discarded > 1)
        core->log(META_LOG_WARN, "meta_comm_finalize: %d messages to this rank were never received",
                  discarded);
    return failure == META_OK ? error : core->fail_as(failure, text);
}

static meta_err first_of(meta_err error, meta_err second, const char *text)
{
    return error == META_OK ? second : core->fail_as(error, text);
}

/* End what is under way. A rank that was lost is not waited for again. */
static meta_err end_messages(void)
{
    meta_err error = META_OK;
    /* What nobody sends is an error of this rank's, no lost peer. */
    const double patience = job.patience;
    job.patience = 0;
    comm_wait_while(still_receiving, NULL, MPI_Wtime() + job.timeout);
    job.patience = patience;
    comm_messages_abandon(COMM_RECV);
    comm_messages_abandon(COMM_REDUCE);
    stop_thread();
    char text[COMM_TEXT];
    if (!job.lost) error = comm_meet(job.messages); /* plans are freed together */
    snprintf(text, sizeof text, "%s", meta_last_error());
    comm_plans_drop(!job.lost);
    if (!job.lost) error = first_of(error, drain(), text);
    snprintf(text, sizeof text, "%s", meta_last_error());
    error = first_of(error, comm_profile_end(), text);
    comm_messages_abandon(COMM_SEND);
    comm_messages_forget();
    halo_traffic_report();
    comm_speeds_forget();
    core->set_hooks(NULL);
    return error;
}

static meta_err finalize(void)
{
    char text[COMM_TEXT];
    meta_err error = job.attached ? end_messages() : META_OK;
    snprintf(text, sizeof text, "%s", meta_last_error());
    error = first_of(error, comm_background_take(), text);
    const bool own_core = job.own_core;
    if (job.messages != MPI_COMM_NULL) leave();
    job.attached = false;
    snprintf(text, sizeof text, "%s", meta_last_error());
    if (own_core && core->started()) error = first_of(error, meta_finalize(), text);
    return error;
}

static meta_err finalize_all(const char *call)
{
    meta_err error;
    int finalized = 0;
    if (!core_fits()) return META_ERR_UNSUPPORTED;
    name_call(call);
    COMM_MPI(MPI_Finalized, (&finalized));
    if (finalized || (job.messages == MPI_COMM_NULL && !own_mpi))
        return core->fail(META_ERR_INIT, "this process is not part of a job");
    if (job.attached) COMM_TRY(comm_thread_allowed());
    error = finalize();
    if (job.lost) {
        /* MPI_Finalize() would wait for the rank that does not answer. */
        if (error == META_OK)
            error = core->fail(META_ERR_PEER, "a rank was lost: MPI is left initialised, end this "
                                              "process with MPI_Abort()");
        own_mpi = false;
    }
    if (own_mpi) {
        own_mpi = false;
        const meta_err last = comm_mpi(MPI_Finalize(), "MPI_Finalize");
        if (error == META_OK) error = last;
    }
    return error;
}

meta_err meta_comm_finalize(void)
{
    comm_lock();
    return comm_leave(finalize_all(__func__));
}
