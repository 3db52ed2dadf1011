/* SPDX-License-Identifier: BSD-3-Clause */
/** @file gpu_mpi.c
 *  Whether MPI is given GPU memory itself (META_GPU_MPI), which all ranks decide together.
 *
 *  What MPI reports is not enough: an MPI built for GPUs may stage silently or end the process,
 *  depending on its modules and on how the memory was allocated. So each rank with a GPU tries it,
 *  in a separate process that may crash, with memory as libmeta allocates it. */
#include "gpu/gpu_mpi.h"
#include "gpu/gpu_query.h"
#include "gpu/helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum wish { NEVER, AUTO, ALWAYS, WISHES } wish;
static const char *const wish_names[WISHES] = {"off", "auto", "on"};

/** A rank's result; the lowest of all ranks decides. */
typedef enum verdict { REFUSED, TAKEN, ABSTAINED } verdict;

static wish asked;
static meta_device_desc tried; /* the device that the trial was for */

meta_err comm_gpu_mpi_read(void)
{
    const char *text = core->variable("META_GPU_MPI");
    asked = AUTO;
    if (!text) return META_OK;
    for (int k = 0; k < WISHES; ++k)
        if (strcmp(text, wish_names[k]) == 0) return asked = (wish)k, META_OK;
    return core->fail(META_ERR_ENVIRONMENT, "META_GPU_MPI=%s: give auto, on or off", text);
}

static bool can_be_tried(const meta_device_desc *desc)
{
    return !desc->is_host && gpu_kind_of(desc->backend) != GPU_KINDS;
}

/* @p text becomes a description of the result. */
static verdict try_it(char *text, size_t room)
{
    char mode[64], line[COMM_TEXT / 2];
    helper_end *end = malloc(sizeof *end);
    verdict found = REFUSED;
    if (!end) {
        snprintf(text, room, "the host has no memory for the trial");
        return REFUSED;
    }
    snprintf(mode, sizeof mode, "%s:%d", tried.backend, tried.index);
    helper_run(NULL, mode, end);
    helper_last_line(end, line, sizeof line);
    if (end->success) found = TAKEN;
    snprintf(text, room, "the trial %s: %s%s%s", end->success ? "succeeded" : "failed", end->how,
             *end->how && *line ? "; " : "", line);
    free(end);
    return found;
}

/* Whether it must be tried; where not, @p found is the verdict. @p text: the reason. */
static bool must_try(verdict *found, char *text, size_t room)
{
    meta_device *device;
    tried = (meta_device_desc)META_DEVICE_DESC_INIT;
    *text = '\0';
    if (core->current_device(&device) != META_OK || core->device_info(device, &tried) != META_OK ||
        !can_be_tried(&tried)) {
        snprintf(text, room, "its device %s:%d has no memory that MPI could take by address",
                 tried.backend, tried.index);
        *found = ABSTAINED;
        return false;
    }
    if (asked == ALWAYS) return true;
    char said[128];
    const bool takes = gpu_query(gpu_kind_of(tried.backend), said, sizeof said);
    snprintf(text, room, "%s%s", said, takes ? ", " : ": not tried");
    *found = REFUSED;
    return takes;
}

/* The least and the greatest of all ranks' @p mine, which is at most @p most. */
static meta_err compare(int mine, int most, int *least, int *greatest)
{
    int values[] = {mine, most - mine};
    META_TRY(comm_all_reduce(comm_job.messages, values, 2, MPI_INT, MPI_MIN,
                             "while ranks try whether MPI takes GPU memory"));
    *least = values[0];
    *greatest = most - values[1];
    return META_OK;
}

/* The same of verdicts. A rank may take as long as its trial may. */
static meta_err compare_verdicts(verdict mine, bool some_try, int *worst, int *best)
{
    const double peer_timeout = comm_job.peer_timeout;
    if (peer_timeout > 0 && some_try) comm_job.peer_timeout += HELPER_SECONDS;
    const meta_err error = compare((int)mine, ABSTAINED, worst, best);
    comm_job.peer_timeout = peer_timeout;
    return error;
}

static void report(verdict mine, verdict all, const char *text)
{
    const char *outcome = all == ABSTAINED                ? "no rank has such memory"
                          : all == TAKEN && mine == TAKEN ? "it is given to MPI"
                          : all == TAKEN                  ? "other ranks give theirs to MPI"
                          : mine == REFUSED || asked == ALWAYS
                              ? "it is staged on the host"
                              : "it is staged on the host, as another "
                                "rank must";
    core->log(META_LOG_INFO, "GPU memory and MPI on rank %d, META_GPU_MPI=%s: %s; %s",
              comm_job.rank, wish_names[asked], text, outcome);
}

static meta_err decide(void)
{
    char text[COMM_TEXT - 64];
    int worst, best, none, some_try;
    verdict mine = ABSTAINED;
    const bool to_try = must_try(&mine, text, sizeof text);
    META_TRY(compare(to_try, 1, &none, &some_try));
    const size_t used = strlen(text);
    if (to_try) mine = try_it(text + used, sizeof text - used);
    META_TRY(compare_verdicts(mine, some_try, &worst, &best));
    comm_job.direct = worst == TAKEN;
    report(mine, (verdict)worst, text);
    /* An explicit request never falls back. */
    if (asked != ALWAYS || worst != REFUSED || mine != REFUSED) return META_OK;
    return core->fail(META_ERR_MPI, "META_GPU_MPI=on: MPI does not take the memory of %s:%d: %s",
                      tried.backend, tried.index, text);
}

meta_err comm_gpu_mpi_decide(void)
{
    int lowest, highest;
    comm_job.direct = false;
    META_TRY(compare((int)asked, ALWAYS, &lowest, &highest));
    if (lowest != highest)
        return core->fail(META_ERR_MISMATCH,
                          "META_GPU_MPI is %s on one rank and %s on another: set it alike on all",
                          wish_names[lowest], wish_names[highest]);
    if (asked != NEVER) return decide();
    core->log(META_LOG_INFO, "GPU memory and MPI on rank %d, META_GPU_MPI=off: not tried",
              comm_job.rank);
    return META_OK;
}

bool comm_gpu_mpi_takes(const meta_device *device)
{
    meta_device_desc desc = META_DEVICE_DESC_INIT;
    return comm_job.direct && core->device_info(device, &desc) == META_OK && can_be_tried(&desc) &&
           strcmp(desc.backend, tried.backend) == 0 && desc.index == tried.index;
}
