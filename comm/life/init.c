/* SPDX-License-Identifier: BSD-3-Clause */
/** @file init.c
 *  Entering and leaving a job: communicators, the rank's place on its node, its device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu_mpi.h"
#include "halo/halo.h"
#include "life/life.h"
#include "node/node.h"
#include "p2p/p2p.h"
#include "record/comm_record.h"

static bool own_mpi;  /* MPI_Init_thread() was ours, and MPI_Finalize() is */
static bool mpi_ends; /* MPI_Finalize() has been called, and calls us */
static bool own_rest; /* after that, meta_init() was ours, and its end still is */

/* The first of several failures, with its message. */
typedef struct first_error {
    meta_err error;
    char text[COMM_TEXT];
} first_error;

static void keep_first(first_error *first, meta_err error)
{
    if (first->error != META_OK || error == META_OK) return;
    first->error = error;
    snprintf(first->text, sizeof first->text, "%s", meta_last_error());
}

static meta_err report_first(const first_error *first)
{
    return first->error == META_OK ? META_OK : core->fail_as(first->error, first->text);
}

/* ------------------------------------------------------------------ entering */

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
    comm_job.thread_level = level;
    comm_job.thread = pthread_self();
    return META_OK;
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
              "rank %d of %d, %d of %d on %s: %s:%d, %s; its share of the cores is %d",
              comm_job.rank, comm_job.size, comm_job.node_rank, comm_job.node_size, host,
              desc.backend, desc.index, desc.name, threads);
}

static const char joining[] = "while all ranks join the job";

/* Find this rank in the job. */
static meta_err find_rank(void)
{
    COMM_MPI(MPI_Comm_set_errhandler, (comm_job.messages, MPI_ERRORS_RETURN));
    COMM_MPI(MPI_Comm_rank, (comm_job.messages, &comm_job.rank));
    COMM_MPI(MPI_Comm_size, (comm_job.messages, &comm_job.size));
    return META_OK;
}

/* Start the core, and read what the environment asks for. */
static meta_err start(void)
{
    COMM_MPI(MPI_Comm_set_errhandler, (comm_job.collectives, MPI_ERRORS_RETURN));
    if (!core->started()) {
        META_TRY(meta_init());
        comm_job.own_core = true;
    }
    return comm_gpu_mpi_read();
}

/* This rank's device, chosen and opened. */
static meta_err choose_device(int *threads)
{
    meta_mode mode;
    int index;
    META_TRY(comm_node_share(threads));
    META_TRY(meta_set_job(comm_job.rank, comm_job.size, comm_job.node_rank, comm_job.node_size));
    core->set_threads(*threads);
    return meta_get_acc(&index, &mode);
}

static void end_with_mpi(void);

/* With a communicator made. @p error: of this rank, which the others do not know of. First the
 * ranks of a node meet: from then on each can tell which one does not come. */
static meta_err join(meta_err error)
{
    int threads = 1;
    const meta_err found = find_rank();
    META_TRY(comm_node_find(error == META_OK ? found : error));
    META_TRY(comm_all_duplicate(comm_job.messages, &comm_job.collectives, joining));
    META_TRY(comm_agree(comm_job.messages, start()));
    /* The smallest chunk of all ranks: collective operations must be cut alike. Shared memory takes
     * both ends as well. */
    uint64_t least[] = {comm_job.chunk, comm_job.shared};
    META_TRY(comm_all_reduce(comm_job.messages, least, 2, MPI_UINT64_T, MPI_MIN, joining));
    comm_job.chunk = (size_t)least[0];
    comm_job.shared = least[1] != 0;
    META_TRY(comm_agree(comm_job.messages, choose_device(&threads)));
    comm_mates_seal();
    META_TRY(comm_agree(comm_job.messages, comm_operations_create()));
    META_TRY(comm_profile_begin());
    report(threads);
    error = comm_gpu_mpi_decide();
    if (error == META_OK) error = comm_mpi_end_watch(end_with_mpi);
    if (error == META_OK) error = comm_progress_thread_start();
    return comm_agree(comm_job.messages, error);
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
    comm_mpi_end_forget(mpi_ends);
    comm_lost_forget();
    comm_operations_free();
    comm_free(&comm_job.collectives);
    comm_free(&comm_job.messages);
    comm_node_forget();
    comm_mates_leave();
    comm_job.attached = comm_job.own_core = false;
}

/* Without the lock: it waits for calls of other threads, which may wait for the lock. */
static meta_err finalize_core(void)
{
    comm_unlock();
    const meta_err error = meta_finalize();
    comm_lock();
    return error;
}

static meta_err attach(MPI_Comm parent)
{
    static const comm_source *const sources[] = {&comm_exchange_source, &comm_message_source, NULL};
    first_error first = {0};
    memset(&comm_job, 0, sizeof comm_job);
    comm_job.messages = comm_job.collectives = MPI_COMM_NULL;
    comm_sources_set(sources);
    core->set_compiling(comm_mate_compiling);
    meta_err error = check_thread();
    if (error == META_ERR_STATE) return error; /* MPI must not be called from here */
    if (error == META_OK) error = comm_launcher_check();
    if (error == META_OK) error = comm_settings_read(); /* now it is known how long to wait */
    keep_first(&first, error);
    /* Before anything that one rank alone may fail in: it would leave the others waiting. */
    error = comm_all_duplicate(parent, &comm_job.messages, joining);
    if (error == META_OK) {
        report_first(&first);
        error = join(first.error);
    }
    if (error == META_OK) {
        comm_hooks_set();
        comm_job.attached = true;
        return META_OK;
    }
    first.error = META_OK;
    keep_first(&first, error);
    stop_thread();
    if (comm_job.own_core) finalize_core();
    leave();
    comm_mates_end();
    return report_first(&first);
}

/* What the core is asked for here is a part of the public function. */
static meta_err end_call(meta_err error)
{
    if (core_fits()) core->hold_call(NULL);
    comm_unlock();
    return error;
}

/* Whether this process may join a job now. */
static meta_err check_outside(const char *call)
{
    int finalized = 0;
    if (!core_fits()) return META_ERR_UNSUPPORTED;
    core->hold_call(call);
    if (comm_job.attached || comm_job.messages != MPI_COMM_NULL)
        return core->fail(META_ERR_STATE, "this process is part of a job already: call "
                                          "meta_comm_finalize() first");
    META_TRY(comm_two_mpis_check());
    COMM_MPI(MPI_Finalized, (&finalized));
    if (finalized)
        return core->fail(META_ERR_MPI,
                          "MPI has been finalised, and cannot be started twice in a process");
    return META_OK;
}

static meta_err init(int *argc, char ***argv, const char *call)
{
    int initialized = 0, level;
    META_TRY(check_outside(call));
    COMM_MPI(MPI_Initialized, (&initialized));
    if (!initialized) {
        if (core->is_secure())
            return core->fail(META_ERR_STATE,
                              "this process has more rights than the user who started it, and the "
                              "environment says which code MPI loads: start it without them");
        comm_watchdog_begin("MPI_Init_thread()");
        const int code = MPI_Init_thread(argc, argv, comm_thread_level_wanted(), &level);
        comm_watchdog_end();
        META_TRY(comm_mpi(code, "MPI_Init_thread"));
        own_mpi = true;
    }
    return attach(MPI_COMM_WORLD);
}

meta_err meta_comm_init(int *argc, char ***argv)
{
    comm_lock();
    return end_call(init(argc, argv, __func__));
}

static meta_err attach_checked(MPI_Comm parent, const char *call)
{
    int initialized = 0, inter = 0;
    META_TRY(check_outside(call));
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
    return attach(parent);
}

meta_err meta_comm_attach(MPI_Comm comm)
{
    comm_lock();
    return end_call(attach_checked(comm, __func__));
}

/* Without the lock, so that callbacks of any kind may ask. */
meta_err meta_comm_rank(int *rank, int *size)
{
    META_TRY(core->ready(__func__));
    META_TRY(comm_check_attached());
    if (!rank && !size)
        return core->fail(META_ERR_ARGUMENT, "arguments 'rank' and 'size' are both NULL");
    if (rank) *rank = comm_job.rank;
    if (size) *size = comm_job.size;
    return META_OK;
}

/* ------------------------------------------------------------------ leaving */

static bool still_receiving(const void *unused)
{
    (void)unused;
    return comm_messages_count(COMM_RECV) + comm_messages_count(COMM_REDUCE) > 0 ||
           comm_exchanges_busy();
}

/* Receive and drop a message that nobody will receive; true if there was one. */
static bool discard(int *discarded)
{
    MPI_Status status;
    bool found;
    if (comm_take_in(comm_job.messages, MPI_ANY_SOURCE, MPI_ANY_TAG, &found, &status) != META_OK ||
        !found)
        return false;
    if (++*discarded == 1)
        core->log(META_LOG_WARN,
                  "meta_comm_finalize: a message from rank %d, tag %d, was never received",
                  status.MPI_SOURCE, status.MPI_TAG);
    return true;
}

/* Until every rank's sends are complete, each receives what is sent to it: so none waits for ever
 * for a receive that was never posted. */
static meta_err drain(void)
{
    const comm_awaited others =
        comm_all_of(comm_job.messages, "meta_comm_finalize: while all ranks meet");
    meta_wait_clock wait = {0};
    MPI_Request barrier = MPI_REQUEST_NULL;
    int all = 0, discarded = 0;
    unsigned idle = 0;
    bool entered = false;
    meta_err error = META_OK;
    while (!all && error == META_OK) {
        error = comm_watch_rounds(&wait, &others);
        bool moved = comm_advance();
        moved |= discard(&discarded);
        if (error == META_OK && entered) {
            error = comm_request_test(&barrier, &all);
        } else if (error == META_OK && comm_messages_count(COMM_SEND) == 0) {
            error = comm_mpi(MPI_Ibarrier(comm_job.messages, &barrier), "MPI_Ibarrier");
            entered = true;
        }
        if (!moved && !all) comm_back_off(idle++);
    }
    if (discarded > 1)
        core->log(META_LOG_WARN, "meta_comm_finalize: %d messages to this rank were never received",
                  discarded);
    return error;
}

/* libmeta_io ends what a program has left, without the lock. */
static void end_files(first_error *first)
{
    enum { MOST = sizeof comm_job.at_end / sizeof *comm_job.at_end };
    for (int k = 0; k < MOST && comm_job.at_end[k]; ++k) {
        comm_unlock();
        const meta_err error = comm_job.at_end[k]();
        comm_lock();
        keep_first(first, error);
    }
}

/* End what is under way. Ranks that were lost, or cannot be met, are not waited for again. */
static void end_messages(first_error *first)
{
    /* A receive without a sender is this rank's error, not a lost peer. */
    const double peer_timeout = comm_job.peer_timeout;
    comm_job.peer_timeout = 0;
    comm_wait_while(still_receiving, NULL, comm_job.finalize_timeout);
    comm_job.peer_timeout = peer_timeout;
    comm_messages_abandon(COMM_RECV);
    comm_messages_abandon(COMM_REDUCE);
    stop_thread();
    bool met = false; /* ranks free their plans together */
    if (!comm_job.lost) keep_first(first, comm_meet(comm_job.messages, &met));
    if (!met) comm_lose(-1, "not every rank has come to meta_comm_finalize()");
    keep_first(first, comm_plans_drop(met));
    if (met) keep_first(first, drain());
    keep_first(first, comm_profile_end());
    comm_messages_abandon(COMM_SEND);
    comm_messages_forget();
    halo_traffic_report();
    comm_speeds_forget();
    core->set_hooks(NULL);
}

static meta_err finalize_mpi(void)
{
    comm_watchdog_begin("MPI_Finalize()");
    const int code = MPI_Finalize();
    comm_watchdog_end();
    return comm_mpi(code, "MPI_Finalize");
}

/* All but MPI itself. */
static meta_err end_job(first_error *first)
{
    if (comm_job.attached) {
        META_TRY(comm_thread_allowed());
        end_files(first);
        end_messages(first);
    }
    keep_first(first, comm_background_take());
    const bool own_core = comm_job.own_core;
    if (comm_job.messages != MPI_COMM_NULL) leave();
    comm_job.attached = false;
    own_rest = own_core && mpi_ends;
    if (own_core && !mpi_ends && core->started()) keep_first(first, finalize_core());
    return META_OK;
}

/* All ranks are in MPI_Finalize(), or in meta_comm_finalize(), which does the same. The core goes
 * on: buffers are the program's. */
static void end_with_mpi(void)
{
    first_error first = {0};
    comm_lock();
    core->hold_call("MPI_Finalize");
    core->log(
        META_LOG_WARN,
        "MPI_Finalize() was called before meta_comm_finalize(), and ends the job in its place: "
        "call meta_comm_finalize() first");
    mpi_ends = true;
    if (core->in_call() || end_job(&first) != META_OK || first.error != META_OK)
        core->log(META_LOG_WARN, "the job has not ended well: %s",
                  core->in_call()
                      ? "MPI_Finalize() was called by a function that the library called"
                      : first.text);
    own_mpi = mpi_ends = comm_job.attached = false;
    end_call(META_OK);
}

static meta_err finalize(const char *call)
{
    first_error first = {0};
    int finalized = 0;
    if (!core_fits()) return META_ERR_UNSUPPORTED;
    core->hold_call(call);
    if (core->in_call())
        return core->fail(META_ERR_STATE, "a function that the library called cannot end it: call "
                                          "meta_comm_finalize() when the call has returned");
    COMM_MPI(MPI_Finalized, (&finalized));
    if (finalized) {
        if (own_rest && core->started()) keep_first(&first, finalize_core());
        own_rest = false;
        if (first.error != META_OK) return report_first(&first);
        return comm_check_attached();
    }
    if (comm_job.messages == MPI_COMM_NULL && !own_mpi)
        return core->fail(META_ERR_INIT, "this process is not part of a job");
    META_TRY(end_job(&first));
    /* MPI_Finalize() would wait for the rank that does not answer. */
    if (comm_job.lost)
        keep_first(&first,
                   core->fail(META_ERR_PEER, "a rank was lost: MPI is left initialised, end this "
                                             "process with MPI_Abort()"));
    else if (own_mpi) keep_first(&first, finalize_mpi());
    comm_mates_end();
    own_mpi = false;
    return report_first(&first);
}

meta_err meta_comm_finalize(void)
{
    comm_lock();
    return end_call(finalize(__func__));
}
