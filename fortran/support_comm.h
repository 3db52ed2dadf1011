/* SPDX-License-Identifier: BSD-3-Clause */
/** @file support_comm.h
 *  The functions of meta_comm.h that take an MPI_Comm, with Fortran's integer handle instead and
 *  descriptors as arguments. Bound in meta_c_comm.f90. */
#ifndef META_FORTRAN_SUPPORT_COMM_H
#define META_FORTRAN_SUPPORT_COMM_H

#include "meta_comm.h"

meta_err metaf_comm_attach(int comm);
meta_err metaf_halo_create(meta_halo *plan, int cart, const meta_box *box, const int *low,
                           const int *high, meta_halo_kind kind, int fields, meta_type type,
                           meta_halo_op op, const meta_halo_field *field, uint32_t batch);
meta_err metaf_cuts_block(const meta_cuts *cuts, int cart, int rank, int64_t *first,
                          int64_t *cells);
meta_err metaf_measure_speed(int comm, meta_speed_work *work, void *with, int64_t cells, int times,
                             double *speed);
meta_err metaf_decompose(const meta_cuts *cuts, int cart, const int64_t *cells,
                         const int64_t *least, double speed, int64_t most, double *seconds);
meta_err metaf_rebalance(const meta_cuts *next, const meta_cuts *now, int cart,
                         const int64_t *cells, const int64_t *least, int64_t most, double seconds,
                         double *before, double *after);
meta_err metaf_balance(const meta_cuts *next, const meta_cuts *now, int cart, const int64_t *cells,
                       const int64_t *least, int64_t most, double computing, double step,
                       double *gain);
meta_err metaf_redistribute(int cart, const meta_cuts *before, const meta_cuts *after, int fields,
                            const meta_redistribute_field *field);
/** Tell all ranks of this thread's next collective call, which will fail here, metaf_message() and
 *  @p code; META_OK takes it back. */
void metaf_refuse(int code);
/** How many ranks there are along each of the @p dims dimensions of @p cart.
 *  @return META_ERR_ARGUMENT if it is not Cartesian, or has more than @p most of them */
meta_err metaf_cart_parts(int cart, int most, int *dims, int *parts);

#endif
