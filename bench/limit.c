/* SPDX-License-Identifier: BSD-3-Clause */
/** @file limit.c
 *  The hardware limits that kernels are measured against. */
#include "config.h"

#include "limit.h"

#include <string.h>

enum { ONE_THREAD = 1 << 17 };

static meta_peer_memory native_of(const buffer *b, int k)
{
    return b != NULL ? buffer_native(b + k, 0) : (meta_peer_memory){NULL, 0};
}

void plain_work_run(void *with, int64_t times)
{
    const plain_work *w = with;
    const place *p = w->here;
    double result = 0;
    for (int64_t t = 0; t < times; ++t)
        for (int k = 0; k < w->arrays; ++k)
            if (p->table->memory(p->peer, w->work, w->count, native_of(w->out, k),
                                 native_of(w->a, k), native_of(w->b, k), &result) != 0) {
                note("%s", p->table->reason(p->peer));
                return;
            }
}

static void run_memcpy(void *with, int64_t times)
{
    const plain_work *w = with;
    for (int64_t t = 0; t < times; ++t)
        for (int k = 0; k < w->arrays; ++k) {
            memcpy(w->out[k].at, w->a[k].at, (size_t)w->count * 8);
            /* Keeps the compiler from eliding copies as dead stores. */
            __asm__ volatile("" ::"r"(w->out[k].at) : "memory");
        }
}

static void run_meta_copy(void *with, int64_t times)
{
    const plain_work *w = with;
    for (int64_t t = 0; t < times; ++t)
        for (int k = 0; k < w->arrays; ++k)
            if (!note_meta(meta_copy_d2d(w->out[k].at, w->a[k].at, (size_t)w->count * 8, NULL)))
                return;
}

static int64_t doubles(double bytes)
{
    return bytes < 8 ? 1 : (int64_t)(bytes / 8);
}

void copies_limit_add(row *r, copy_limit *limit, const place *here, const buffer *to,
                      const buffer *from, int arrays, double bytes)
{
    const int64_t count = doubles(bytes);
    const double moved = 16.0 * (double)count * arrays;
    limit->copy = limit->one = (plain_work){here, META_PEER_COPY, count, to, from, NULL, arrays};
    limit->copy_nt = (plain_work){here, META_PEER_COPY_NT, count, to, from, NULL, arrays};
    if (here->has_peer) {
        row_add(r, "copy", LIMIT, plain_work_run, &limit->copy, moved);
        row_add(r, "copy_nt", LIMIT, plain_work_run, &limit->copy_nt, moved);
    } else {
        row_add(r, "meta_copy", LIMIT, run_meta_copy, &limit->copy, moved);
    }
    /* So little work that waking a second thread takes longer. */
    if (here->all_host && count < ONE_THREAD)
        row_add(r, "memcpy", LIMIT, run_memcpy, &limit->one, moved);
}

void copy_limit_add(row *r, copy_limit *limit, const place *here, const buffer *to,
                    const buffer *from, double bytes)
{
    copies_limit_add(r, limit, here, to, from, 1, bytes);
}

void read_limit_add(row *r, plain_work *work, const place *here, const buffer *from, double bytes)
{
    const int64_t count = doubles(bytes);
    *work = (plain_work){here, META_PEER_READ, count, NULL, from, NULL, 1};
    if (here->has_peer) row_add(r, "read", LIMIT, plain_work_run, work, 8.0 * (double)count);
}
