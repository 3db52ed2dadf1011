/* SPDX-License-Identifier: BSD-3-Clause */
/** @file exchange.h
 *  Halo exchange peers: the same exchange of host arrays in plain MPI, in the ways programs usually
 *  implement it. */
#ifndef BENCH_EXCHANGE_H
#define BENCH_EXCHANGE_H

#include <mpi.h>

#include "cube.h"
#include "numbers.h"
#include "options.h"

enum { MOST_NEIGHBOURS = 26 };

typedef struct neighbour {
    int rank, send_tag, receive_tag;
    region border, ghost;
    MPI_Datatype derived_border, derived_ghost; /**< of all fields, from the first one on */
    void *out, *in;                             /**< packed, in the exchange's buffer */
    int bytes;
} neighbour;

typedef struct exchange {
    MPI_Comm comm;
    cube c;
    size_t element;
    int fields;
    void *field[MOST_FIELDS];
    void *buffer;
    int neighbours;
    neighbour to[MOST_NEIGHBOURS];
    double bytes; /**< sent in one exchange */
} exchange;

/** How much host memory it takes. */
double exchange_need(const cube *c, int fields, number type);
/** Over the neighbours on @p cart, of faces or, if @p all, edges and corners too. Notes a failure.
 */
void exchange_create(exchange *e, MPI_Comm cart, const cube *c, int fields, number type, bool all);
void exchange_free(exchange *e);

/* A contender's runs, collective: an exchange. */
void exchange_derived(void *with, int64_t times);
void exchange_mpi_pack(void *with, int64_t times);
void exchange_manual(void *with, int64_t times);
void exchange_send_only(void *with, int64_t times);

#endif
