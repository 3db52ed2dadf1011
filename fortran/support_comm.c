/* SPDX-License-Identifier: BSD-3-Clause */
/** @file support_comm.c
 *  Converts integer handles of communicators to MPI_Comm; see support_comm.h. */
#include "support_comm.h"

#include "binding.h"
#include "comm_handle.h"
#include "support.h"

#include <string.h>

meta_err metaf_comm_attach(int comm)
{
    return meta_comm_attach(comm_of_handle(comm));
}

meta_err metaf_halo_create(meta_halo *plan, int cart, const meta_box *box, const int *low,
                           const int *high, meta_halo_kind kind, int fields, meta_type type,
                           meta_halo_op op, const meta_halo_field *field, uint32_t batch)
{
    meta_halo_desc desc = META_HALO_DESC_INIT;
    desc.cart = comm_of_handle(cart);
    desc.box = *box;
    memcpy(desc.low, low, sizeof desc.low);
    memcpy(desc.high, high, sizeof desc.high);
    desc.kind = kind;
    desc.fields = fields;
    desc.type = type;
    desc.op = op;
    desc.field = field;
    desc.batch = batch;
    return meta_halo_create(plan, &desc);
}

meta_err metaf_cuts_block(const meta_cuts *cuts, int cart, int rank, int64_t *first, int64_t *cells)
{
    return meta_cuts_block(cuts, comm_of_handle(cart), rank, first, cells);
}

meta_err metaf_measure_speed(int comm, meta_speed_work *work, void *with, int64_t cells, int times,
                             double *speed)
{
    return meta_measure_speed(comm_of_handle(comm), work, with, cells, times, speed);
}

static meta_decompose_desc described(int cart, const int64_t *cells, const int64_t *least,
                                     int64_t most)
{
    meta_decompose_desc desc = META_DECOMPOSE_DESC_INIT;
    desc.cart = comm_of_handle(cart);
    memcpy(desc.cells, cells, sizeof desc.cells);
    memcpy(desc.least, least, sizeof desc.least);
    desc.most = most;
    return desc;
}

meta_err metaf_decompose(const meta_cuts *cuts, int cart, const int64_t *cells,
                         const int64_t *least, double speed, int64_t most, double *seconds)
{
    meta_decompose_desc desc = described(cart, cells, least, most);
    desc.speed = speed;
    return meta_decompose(cuts, &desc, seconds);
}

meta_err metaf_rebalance(const meta_cuts *next, const meta_cuts *now, int cart,
                         const int64_t *cells, const int64_t *least, int64_t most, double seconds,
                         double *before, double *after)
{
    const meta_decompose_desc desc = described(cart, cells, least, most);
    return meta_rebalance(next, now, &desc, seconds, before, after);
}

meta_err metaf_balance(const meta_cuts *next, const meta_cuts *now, int cart, const int64_t *cells,
                       const int64_t *least, int64_t most, double computing, double step,
                       double *gain)
{
    const meta_decompose_desc desc = described(cart, cells, least, most);
    return meta_balance(next, now, &desc, computing, step, gain);
}

meta_err metaf_redistribute(int cart, const meta_cuts *before, const meta_cuts *after, int fields,
                            const meta_redistribute_field *field)
{
    return meta_redistribute(comm_of_handle(cart), before, after, fields, field);
}

void metaf_refuse(int code)
{
    static _Thread_local char text[1024];
    if (code != META_OK) metaf_in_c(text, sizeof text, metaf_message());
    meta_comm_refuse(code, text);
}

meta_err metaf_cart_parts(int cart, int most, int *dims, int *parts)
{
    int extents[META_MAX_DIM], periods[META_MAX_DIM], coords[META_MAX_DIM];
    int kind = MPI_UNDEFINED, count = 0, initialized = 0;
    const MPI_Comm comm = comm_of_handle(cart);
    MPI_Initialized(&initialized);
    if (initialized && comm != MPI_COMM_NULL) MPI_Topo_test(comm, &kind);
    if (kind != MPI_CART) return META_ERR_ARGUMENT;
    MPI_Cartdim_get(comm, &count);
    if (count < 1 || count > most) return META_ERR_ARGUMENT;
    MPI_Cart_get(comm, count, extents, periods, coords);
    memcpy(parts, extents, (size_t)count * sizeof *parts);
    *dims = count;
    return META_OK;
}
