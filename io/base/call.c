/* SPDX-License-Identifier: BSD-3-Clause */
/** @file call.c
 *  How a public function begins and ends, and the ranks of a file. */
#include <inttypes.h>

#include "base/io_base.h"

/* Three libraries of one build: others were found where the versions differ. */
static meta_err check_versions(void)
{
    if (core->version == META_CORE_VERSION && core->size >= sizeof *core &&
        job->version == META_COMM_TABLE_VERSION && job->size >= sizeof *job)
        return META_OK;
    return core->fail(META_ERR_STATE, "libmeta.so or libmeta_comm.so is of another build than "
                                      "libmeta_io.so: install all of one release");
}

meta_err io_enter(const char *call)
{
    META_TRY(job->enter(call));
    core->hold_call(call);
    const meta_err error = check_versions();
    return error == META_OK ? META_OK : io_leave(error);
}

meta_err io_leave(meta_err error)
{
    core->hold_call(NULL);
    job->leave();
    return error;
}

meta_err io_ranks_open(io_ranks *ranks, MPI_Comm comm, const char *name)
{
    META_TRY(job->duplicate(comm, name, &ranks->comm));
    MPI_Comm_rank(ranks->comm, &ranks->rank);
    MPI_Comm_size(ranks->comm, &ranks->size);
    return META_OK;
}

void io_ranks_close(io_ranks *ranks)
{
    job->free(&ranks->comm);
}

meta_err io_no_memory(uint64_t bytes)
{
    return core->fail(META_ERR_NO_MEMORY, "the host has no memory for %" PRIu64 " bytes", bytes);
}
