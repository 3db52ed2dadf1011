/* SPDX-License-Identifier: BSD-3-Clause */
/** @file queue.c
 *  A thread that writes to one file what waits in a list. */
#include "files/queue.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that wait to be written. */
typedef struct item {
    struct item *next;
    size_t bytes;
    int64_t at;
    unsigned char data[];
} item;

struct io_queue {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const char *path;
    int file;
    item *first, **last;
    size_t held, most; /* bytes of all items, that at hand among them */
    bool closed, done;
    meta_err error; /* the first one */
    char text[IO_TEXT];
};

/* With the lock. */
static void note(io_queue *q, meta_err error)
{
    if (error == META_OK || q->error != META_OK) return;
    q->error = error;
    snprintf(q->text, sizeof q->text, "%s", meta_last_error());
}

static void *work(void *with)
{
    io_queue *q = with;
    pthread_mutex_lock(&q->lock);
    for (;;) {
        while (!q->first && !q->closed) pthread_cond_wait(&q->changed, &q->lock);
        item *i = q->first;
        if (!i) break;
        q->first = i->next;
        if (!q->first) q->last = &q->first;
        const bool fails = q->error != META_OK;
        pthread_mutex_unlock(&q->lock);
        const meta_err error =
            fails ? META_OK : io_write_at(q->path, q->file, i->data, i->bytes, i->at);
        pthread_mutex_lock(&q->lock);
        note(q, error);
        q->held -= i->bytes;
        free(i);
        pthread_cond_broadcast(&q->changed);
    }
    const meta_err before = q->error;
    pthread_mutex_unlock(&q->lock);
    const meta_err error = io_file_close(q->path, &q->file, before);
    pthread_mutex_lock(&q->lock);
    note(q, error);
    q->done = true;
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

static bool start(io_queue *q)
{
    sigset_t all, before;
    sigfillset(&all); /* the program's handlers run on its own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(&q->thread, NULL, work, q) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

meta_err io_queue_begin(io_queue **queue, const char *path, int file, size_t most)
{
    io_queue *q = calloc(1, sizeof *q);
    if (!q) return io_no_memory(sizeof *q);
    q->path = path;
    q->file = file;
    q->most = most;
    q->last = &q->first;
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
    if (start(q)) {
        *queue = q;
        return META_OK;
    }
    free(q);
    return core->fail(META_ERR_NO_MEMORY, "a thread that writes files cannot be started");
}

meta_err io_queue_write(io_queue *q, const char *path, int file, const void *data, size_t bytes,
                        int64_t at)
{
    if (!q) return io_write_at(path, file, data, bytes, at);
    item *i = malloc(sizeof *i + bytes);
    if (!i) return io_no_memory(bytes);
    *i = (item){.bytes = bytes, .at = at};
    memcpy(i->data, data, bytes);
    pthread_mutex_lock(&q->lock);
    while (q->held > 0 && q->held + bytes > q->most) pthread_cond_wait(&q->changed, &q->lock);
    q->held += bytes;
    *q->last = i;
    q->last = &i->next;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    return META_OK;
}

void io_queue_close(io_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

bool io_queue_is_done(io_queue *q)
{
    pthread_mutex_lock(&q->lock);
    const bool done = q->done;
    pthread_mutex_unlock(&q->lock);
    return done;
}

meta_err io_queue_end(io_queue *q)
{
    io_queue_close(q);
    pthread_join(q->thread, NULL);
    const meta_err error = q->error;
    if (error != META_OK) core->fail(error, "%s", q->text);
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    free(q);
    return error;
}
