/* SPDX-License-Identifier: BSD-3-Clause */
/** @file queue.h
 *  Writing beside computation: a thread that writes to one file what is given to it, from memory of
 * its own. It calls neither MPI nor a device. */
#ifndef META_IO_QUEUE_H
#define META_IO_QUEUE_H

#include "files/files.h"

typedef struct io_queue io_queue;

/** Begin to write to @p file, which is the queue's from now on. @p path, for messages, must stay.
 *  @p most: bytes that may wait to be written
 *  @return META_ERR_NO_MEMORY without memory or a thread */
meta_err io_queue_begin(io_queue **queue, const char *path, int file, size_t most);
/** Write at a place, from a copy of @p data; waits until it has room. Without a queue (NULL), it is
 *  written to @p file at once. Errors of a queue are those of io_queue_end(). */
meta_err io_queue_write(io_queue *queue, const char *path, int file, const void *data, size_t bytes,
                        int64_t at);
/** Nothing more will come: what waits is written, put on the disk, and the file closed. */
void io_queue_close(io_queue *queue);
/** Whether it has done so. */
bool io_queue_is_done(io_queue *queue);
/** Wait for that, and free the queue. @return the first error */
meta_err io_queue_end(io_queue *queue);

#endif
