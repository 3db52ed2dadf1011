/* SPDX-License-Identifier: BSD-3-Clause */
/** @file p2p.h
 *  What other rooms may use of messages and reductions. */
#ifndef META_COMM_P2P_H
#define META_COMM_P2P_H

#include "progress/progress.h"

typedef enum comm_kind { COMM_SEND, COMM_RECV, COMM_REDUCE } comm_kind;

/** Messages and reductions, for the progress engine. */
extern const comm_source comm_message_source;

/** How many messages of @p kind are under way; completed sends to this rank itself do not count. */
size_t comm_messages_count(comm_kind kind);
/** End all messages of @p kind with META_ERR_STATE. */
void comm_messages_abandon(comm_kind kind);
/** Free the memory of messages that ended. */
void comm_messages_forget(void);

/* reduce_ops.c: MPI operations of our own */
meta_err comm_operations_create(void);
void comm_operations_free(void);

/* chunk.c */
/** The best size of the pieces in which a message of @p bytes passes between this device and MPI;
 *  0: whole. */
size_t comm_chunk_for(meta_device *device, size_t bytes);
/** The payload of one MPI message where pieces of @p wish bytes are wanted (0: whole): what
 *  META_TEST_CHUNK allows, and not so little that there are thousands. */
size_t comm_chunk_fit(size_t bytes, size_t wish);
/** Forget what was measured: the devices are about to be closed. */
void comm_speeds_forget(void);

#endif
