/* SPDX-License-Identifier: BSD-3-Clause */
/** @file order.c
 *  The order of messages of one kind, peer and tag: a message begins when those posted before it
 *  have passed. The first of them is in a hash table by the three; the others are chained to it. */
#include "p2p/message.h"

enum { BUCKETS = 1024 };
static comm_message *bucket[BUCKETS];

/* The link that holds the message whose turn it is, or would. */
static comm_message **find(comm_kind kind, int peer, int tag)
{
    const unsigned mixed = (unsigned)tag * 2654435761u + (unsigned)peer * 40503u + (unsigned)kind;
    comm_message **at = &bucket[(mixed ^ mixed >> 16) % BUCKETS];
    while (*at && ((*at)->kind != kind || (*at)->peer != peer || (*at)->tag != tag))
        at = &(*at)->in_bucket;
    return at;
}

void comm_order_join(comm_message *m)
{
    comm_message **at = find(m->kind, m->peer, m->tag), *first = *at;
    m->turn = !first;
    m->successor = m->in_bucket = NULL;
    m->predecessor = first ? first->newest : NULL;
    if (first) first->newest->successor = m;
    else *at = m;
    (first ? first : m)->newest = m;
}

void comm_order_leave(comm_message *m)
{
    comm_message **at = find(m->kind, m->peer, m->tag), *next = m->successor;
    if (next) next->predecessor = m->predecessor;
    if (m->predecessor) {
        m->predecessor->successor = next;
        if (!next) (*at)->newest = m->predecessor;
    } else if (next) {
        next->turn = true;
        next->newest = m->newest;
        next->in_bucket = m->in_bucket;
        *at = next;
    } else {
        *at = m->in_bucket;
    }
    m->successor = m->predecessor = m->in_bucket = NULL;
}

comm_message *comm_order_first(comm_kind kind, int peer, int tag)
{
    return *find(kind, peer, tag);
}
