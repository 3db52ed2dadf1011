/* SPDX-License-Identifier: BSD-3-Clause */
/** @file node.c
 *  The ranks of one node: every rank says where it is, and those that are where this one is share
 *  the cores, and memory where they may open each other's. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "life/life.h"
#include "node/node.h"

/** What each rank tells all others: little, since there may be many. */
typedef struct place {
    uint64_t machine[2]; /**< of the number that its kernel took at its start, or of its name */
    int64_t part;        /**< META_TEST_NODE: as if the machine were several */
    uint64_t processes;  /**< the namespace of process ids */
    comm_memory_name page;
} place;

static int count_of(const meta_cores *cores)
{
    int count = 0;
    for (int k = 0; k < META_MAX_CPUS / 64; ++k) count += __builtin_popcountll(cores->bits[k]);
    return count;
}

/* Ranks that were given cores of their own use those; others share what they have together. */
static int share_of(const meta_cores *mine, const meta_cores *all, int ranks)
{
    meta_cores all_cores = {{0}};
    bool disjoint = true;
    for (int r = 0; r < ranks; ++r)
        for (int k = 0; k < META_MAX_CPUS / 64; ++k) {
            if (all_cores.bits[k] & all[r].bits[k]) disjoint = false;
            all_cores.bits[k] |= all[r].bits[k];
        }
    comm_job.crowded = count_of(&all_cores) < ranks;
    const int share = disjoint ? count_of(mine) : count_of(&all_cores) / ranks;
    return share > 0 ? share : 1;
}

/* ------------------------------------------------------------------ where a rank is */

/* FNV-1a (Fowler, Noll and Vo, 1991), twice. */
static void find_machine(uint64_t number[2])
{
    char text[256] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    const bool found = file && fgets(text, sizeof text, file);
    if (file) fclose(file);
    if (!found && gethostname(text, sizeof text - 1) != 0) text[0] = '\0';
    for (int k = 0; k < 2; ++k) {
        number[k] = UINT64_C(0xcbf29ce484222325) + (uint64_t)k;
        for (const char *c = text; *c; ++c)
            number[k] = (number[k] ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    }
}

static meta_err read_part(int64_t *part)
{
    const char *text = core->variable("META_TEST_NODE");
    char *end;
    errno = 0;
    *part = text ? strtoll(text, &end, 10) : 0;
    if (!text || (!errno && end != text && !*end)) return META_OK;
    return core->fail(META_ERR_ENVIRONMENT, "META_TEST_NODE=%s: give a number", text);
}

static meta_err find_place(place *mine, meta_cores *cores)
{
    struct stat processes;
    memset(mine, 0, sizeof *mine);
    META_TRY(read_part(&mine->part));
    find_machine(mine->machine);
    if (stat("/proc/self/ns/pid", &processes) == 0) mine->processes = processes.st_ino;
    core->cores(cores);
    /* Without it messages go through MPI, and nothing tells whether this rank lives. */
    if (comm_mates_begin(cores, &mine->page) != META_OK)
        core->log(META_LOG_INFO, "no memory can be shared with ranks of this node: %s",
                  meta_last_error());
    return META_OK;
}

static bool on_one_node(const place *a, const place *b)
{
    return memcmp(a->machine, b->machine, sizeof a->machine) == 0 && a->part == b->part;
}

/* ------------------------------------------------------------------ who is where this one is */

static meta_cores *node_cores; /* of the ranks of this node, until they are shared out */

/* Those of @p all that are on this rank's node. A rank that says nothing of its cores is taken to
 * have the same ones. */
static void meet(const place *all, const meta_cores *mine)
{
    const place *here = &all[comm_job.rank];
    comm_job.node_size = 0;
    for (int r = 0; r < comm_job.size; ++r) {
        if (!on_one_node(here, &all[r])) continue;
        if (r == comm_job.rank) comm_job.node_rank = comm_job.node_size;
        else if (all[r].processes == here->processes) comm_mate_add(r, &all[r].page);
        const meta_cores *other = comm_mate_cores(r);
        node_cores[comm_job.node_size++] = other ? *other : *mine;
    }
}

meta_err comm_node_find(meta_err error)
{
    const size_t ranks = (size_t)comm_job.size;
    meta_cores cores;
    place mine, *all = malloc(ranks * sizeof *all);
    node_cores = malloc(ranks * sizeof *node_cores);
    if (error == META_OK && !(all && node_cores))
        error = core->fail(META_ERR_NO_MEMORY, "no memory to compare where %d ranks are",
                           comm_job.size);
    if (error == META_OK) error = find_place(&mine, &cores);
    error = comm_agree(comm_job.messages, error);
    if (error == META_OK)
        error = comm_all_gather(comm_job.messages, &mine, sizeof mine, all,
                                "while ranks tell each other where they are");
    if (error == META_OK) meet(all, &cores);
    free(all);
    return error;
}

meta_err comm_node_share(int *threads)
{
    META_TRY(core->set_node_cores(node_cores, comm_job.node_size));
    *threads = share_of(&node_cores[comm_job.node_rank], node_cores, comm_job.node_size);
    comm_node_forget();
    return META_OK;
}

void comm_node_forget(void)
{
    free(node_cores);
    node_cores = NULL;
}
