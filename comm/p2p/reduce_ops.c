/* SPDX-License-Identifier: BSD-3-Clause */
/** @file reduce_ops.c
 *  MPI's operations and types for meta_allreduce(), some of them our own. */
#include <math.h>

#include "p2p/message.h"

/* MPI's minimum and maximum leave NaN undefined; with these one wins, whichever side it is on. */
#define FLOATING_OPERATION(name, T, better)                                                        \
    static void name(void *in, void *inout, int *length, MPI_Datatype *type)                       \
    {                                                                                              \
        const T *a = in;                                                                           \
        T *b = inout;                                                                              \
        (void)type;                                                                                \
        for (int k = 0; k < *length; ++k)                                                          \
            if (a[k] != a[k] || a[k] better b[k]) b[k] = a[k];                                     \
    }
FLOATING_OPERATION(min_f64, double, <)
FLOATING_OPERATION(max_f64, double, >)
FLOATING_OPERATION(min_f32, float, <)
FLOATING_OPERATION(max_f32, float, >)

enum { OPERATIONS = 4 };
static MPI_Op operations[OPERATIONS];
static int created;

meta_err comm_operations_create(void)
{
    static MPI_User_function *const functions[OPERATIONS] = {min_f64, max_f64, min_f32, max_f32};
    for (created = 0; created < OPERATIONS; ++created)
        COMM_MPI(MPI_Op_create, (functions[created], 1, &operations[created]));
    return META_OK;
}

void comm_operations_free(void)
{
    while (created > 0) MPI_Op_free(&operations[--created]);
}

MPI_Op comm_reduce_operation(meta_op op, meta_type type)
{
    if (op == META_SUM) return MPI_SUM;
    if (type == META_F64) return operations[op == META_MAX];
    if (type == META_F32) return operations[2 + (op == META_MAX)];
    return op == META_MIN ? MPI_MIN : MPI_MAX;
}

MPI_Datatype comm_reduce_datatype(meta_op op, meta_type type)
{
    switch (type) {
    case META_F64:
        return MPI_DOUBLE;
    case META_F32:
        return MPI_FLOAT;
    /* Signed sums wrap: the same bits as unsigned ones, whose overflow C defines. */
    case META_I64:
        return op == META_SUM ? MPI_UINT64_T : MPI_INT64_T;
    case META_I32:
        return op == META_SUM ? MPI_UINT32_T : MPI_INT32_T;
    case META_U64:
        return MPI_UINT64_T;
    default:
        return MPI_UINT32_T;
    }
}

#define CANONICAL(T, x, count)                                                                     \
    for (int64_t k = 0; k < (count); ++k) {                                                        \
        T *element = (T *)(x) + k;                                                                 \
        if (*element == 0) *element = 0;                                                           \
        if (*element != *element) *element = (T)NAN;                                               \
    }

void comm_reduce_canonical(void *x, int64_t count, meta_type type)
{
    if (type == META_F64) CANONICAL(double, x, count)
    if (type == META_F32) CANONICAL(float, x, count)
}
