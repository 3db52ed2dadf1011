/* SPDX-License-Identifier: BSD-3-Clause */
/** @file node.h
 *  What ranks of one node have without MPI: memory that they share, and whether the others live. */
#ifndef META_COMM_NODE_H
#define META_COMM_NODE_H

#include "base/comm_base.h"

/* memory.c: shared memory without a name in the file system, so that nothing is left behind. It is
 * private to the user, and gone with the last process that has it. */
typedef struct comm_memory {
    char *at; /**< zeroed by its maker; NULL: none */
    size_t bytes;
    int file; /**< -1: closed; where the maker's is, nobody can open it any more */
} comm_memory;
#define COMM_NO_MEMORY ((comm_memory){.file = -1})

/** How other processes find it: sent to them. All zero: none. */
typedef struct comm_memory_name {
    uint64_t bytes, key;
    int64_t process;
    int32_t file, unused;
} comm_memory_name;

/** @p bytes bytes that no page is missing for. */
meta_err comm_memory_make(size_t bytes, comm_memory *made, comm_memory_name *name);
/** That of another process, which has not closed its file. */
meta_err comm_memory_open(const comm_memory_name *name, comm_memory *opened);
/** Every process has opened it that will. */
void comm_memory_close_file(comm_memory *memory);
void comm_memory_close(comm_memory *memory);

/* mates.c: the other ranks of this node with which memory can be shared. Each has a page with its
 * cores, in which it counts while it waits inside libmeta. */
/** Make this rank's page. */
meta_err comm_mates_begin(const meta_cores *cores, comm_memory_name *name);
/** Rank @p rank of the job is a mate; otherwise it cannot be looked at, which is no error. */
void comm_mate_add(int rank, const comm_memory_name *name);
/** All have been added, on every rank. */
void comm_mates_seal(void);
/** This rank leaves the job; the others can still be looked at, until comm_mates_end(). */
void comm_mates_leave(void);
void comm_mates_end(void);
bool comm_is_mate(int rank);
/** NULL: it is none. */
const meta_cores *comm_mate_cores(int rank);
/** This rank is inside a call, and waits. */
void comm_mate_beat(void);
/** This rank compiles: on any thread. */
void comm_mate_compiling(void);
/** Look at all of them, at most every few milliseconds, in a wait that began at @p began; @p now:
 *  comm_now, of which all times here are. */
void comm_mates_look(double began, double now);
/** Whether a rank has not ended, looked at now; true of one that is no mate. */
bool comm_mate_lives(int rank);
/** Whether a mate has ended, and that long ago that nothing of it can be on its way any more. */
bool comm_mate_has_ended(int rank);
/** The ranks of those, by @p k from 0 on; false: there are no more. */
bool comm_ended_mate(int k, int *rank);
/** When rank @p rank was last seen to compile. Of -1: the earliest such time of the mates that may
 *  keep others waiting, which are those that compiled in the last @p timeout seconds or have not
 *  been seen waiting for half of that. 0: never, there is no such mate, or some ranks of the job
 *  are no mates. */
double comm_mates_compiled(int rank, double timeout);
/** The ranks of the mates that have ended or have not been seen waiting for @p seconds, as
 *  comm_ended_mate(). */
bool comm_missing_mate(int k, double seconds, int *rank);
/** Append to @p text the mates that have ended or have not been seen waiting for @p seconds, as
 *  "; rank 3 has ended"; nothing where there are none. */
void comm_mates_describe(double seconds, char *text, size_t room);
/** The same of the mates that have not left the job, or can go no further. Looks by itself, and may
 * be called on any thread. */
void comm_mates_describe_missing(char *text, size_t room);

#endif
