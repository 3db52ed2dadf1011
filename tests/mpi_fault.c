/* SPDX-License-Identifier: BSD-3-Clause */
/** @file mpi_fault.c
 *  The MPI functions that count their calls and fail on request. */
#include "config.h"

#include "mpi_fault.h"

#include <mpi.h>
#include <stdatomic.h>
#include <time.h>

/* ------------------------------------------------------------------ the lists */

/* Those that make and free nothing: name, parameters, arguments. */
/* clang-format off */
#define PLAIN_FUNCTIONS(F) \
    F(Allgather, (const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, \
      MPI_Comm g), (a, b, c, d, e, f, g)) \
    F(Allreduce, (const void *a, void *b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f), (a, b, \
      c, d, e, f)) \
    F(Alltoall, (const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, \
      MPI_Comm g), (a, b, c, d, e, f, g)) \
    F(Barrier, (MPI_Comm a), (a)) \
    F(Bcast, (void *a, int b, MPI_Datatype c, int d, MPI_Comm e), (a, b, c, d, e)) \
    F(Cancel, (MPI_Request *a), (a)) \
    F(Cart_coords, (MPI_Comm a, int b, int c, int d[]), (a, b, c, d)) \
    F(Cart_get, (MPI_Comm a, int b, int c[], int d[], int e[]), (a, b, c, d, e)) \
    F(Cart_rank, (MPI_Comm a, const int b[], int *c), (a, b, c)) \
    F(Cart_shift, (MPI_Comm a, int b, int c, int *d, int *e), (a, b, c, d, e)) \
    F(Cartdim_get, (MPI_Comm a, int *b), (a, b)) \
    F(Comm_create_keyval, (MPI_Comm_copy_attr_function *a, MPI_Comm_delete_attr_function *b, \
      int *c, void *d), (a, b, c, d)) \
    F(Comm_delete_attr, (MPI_Comm a, int b), (a, b)) \
    F(Comm_create_errhandler, (MPI_Comm_errhandler_function *a, MPI_Errhandler *b), (a, b)) \
    F(Comm_get_errhandler, (MPI_Comm a, MPI_Errhandler *b), (a, b)) \
    F(Comm_get_attr, (MPI_Comm a, int b, void *c, int *d), (a, b, c, d)) \
    F(Comm_rank, (MPI_Comm a, int *b), (a, b)) \
    F(Comm_set_attr, (MPI_Comm a, int b, void *c), (a, b, c)) \
    F(Comm_set_errhandler, (MPI_Comm a, MPI_Errhandler b), (a, b)) \
    F(Comm_size, (MPI_Comm a, int *b), (a, b)) \
    F(Comm_test_inter, (MPI_Comm a, int *b), (a, b)) \
    F(Gather, (const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, int g, \
      MPI_Comm h), (a, b, c, d, e, f, g, h)) \
    F(Get_count, (const MPI_Status *a, MPI_Datatype b, int *c), (a, b, c)) \
    F(Group_translate_ranks, (MPI_Group a, int b, const int c[], MPI_Group d, int e[]), (a, b, \
      c, d, e)) \
    F(Improbe, (int a, int b, MPI_Comm c, int *d, MPI_Message *e, MPI_Status *f), (a, b, c, d, \
      e, f)) \
    F(Info_set, (MPI_Info a, const char *b, const char *c), (a, b, c)) \
    F(Iprobe, (int a, int b, MPI_Comm c, int *d, MPI_Status *e), (a, b, c, d, e)) \
    F(Mprobe, (int a, int b, MPI_Comm c, MPI_Message *d, MPI_Status *e), (a, b, c, d, e)) \
    F(Mrecv, (void *a, int b, MPI_Datatype c, MPI_Message *d, MPI_Status *e), (a, b, c, d, e)) \
    F(Probe, (int a, int b, MPI_Comm c, MPI_Status *d), (a, b, c, d)) \
    F(Recv, (void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Status *g), (a, b, c, \
      d, e, f, g)) \
    F(Reduce, (const void *a, void *b, int c, MPI_Datatype d, MPI_Op e, int f, MPI_Comm g), (a, \
      b, c, d, e, f, g)) \
    F(Request_get_status, (MPI_Request a, int *b, MPI_Status *c), (a, b, c)) \
    F(Send, (const void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f), (a, b, c, d, e, f)) \
    F(Sendrecv, (const void *a, int b, MPI_Datatype c, int d, int e, void *f, int g, \
      MPI_Datatype h, int i, int j, MPI_Comm k, MPI_Status *l), (a, b, c, d, e, f, g, h, i, j, \
      k, l)) \
    F(Start, (MPI_Request *a), (a)) \
    F(Startall, (int a, MPI_Request b[]), (a, b)) \
    F(Topo_test, (MPI_Comm a, int *b), (a, b)) \
    F(Type_commit, (MPI_Datatype *a), (a)) \
    F(Win_lock_all, (int a, MPI_Win b), (a, b)) \
    F(Win_set_errhandler, (MPI_Win a, MPI_Errhandler b), (a, b)) \
    F(Win_shared_query, (MPI_Win a, int b, MPI_Aint *c, int *d, void *e), (a, b, c, d, e)) \
    F(Win_sync, (MPI_Win a), (a))

/* Those that make an object, which their parameter `made` receives. */
#define MAKING_FUNCTIONS(F) \
    F(Cart_create, COMM, (MPI_Comm a, int b, const int c[], const int d[], int e, \
      MPI_Comm *made), (a, b, c, d, e, made)) \
    F(Comm_create, COMM, (MPI_Comm a, MPI_Group b, MPI_Comm *made), (a, b, made)) \
    F(Comm_create_group, COMM, (MPI_Comm a, MPI_Group b, int c, MPI_Comm *made), (a, b, c, made)) \
    F(Comm_dup, COMM, (MPI_Comm a, MPI_Comm *made), (a, made)) \
    F(Comm_split, COMM, (MPI_Comm a, int b, int c, MPI_Comm *made), (a, b, c, made)) \
    F(Comm_split_type, COMM, (MPI_Comm a, int b, int c, MPI_Info d, MPI_Comm *made), (a, b, c, \
      d, made)) \
    F(Comm_group, GROUP, (MPI_Comm a, MPI_Group *made), (a, made)) \
    F(Group_incl, GROUP, (MPI_Group a, int b, const int c[], MPI_Group *made), (a, b, c, made)) \
    F(Ialltoall, REQUEST, (const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, \
      MPI_Comm g, MPI_Request *made), (a, b, c, d, e, f, g, made)) \
    F(Iallgather, REQUEST, (const void *a, int b, MPI_Datatype c, void *d, int e, \
      MPI_Datatype f, MPI_Comm g, MPI_Request *made), (a, b, c, d, e, f, g, made)) \
    F(Iallreduce, REQUEST, (const void *a, void *b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f, \
      MPI_Request *made), (a, b, c, d, e, f, made)) \
    F(Ibarrier, REQUEST, (MPI_Comm a, MPI_Request *made), (a, made)) \
    F(Ibcast, REQUEST, (void *a, int b, MPI_Datatype c, int d, MPI_Comm e, MPI_Request *made), \
      (a, b, c, d, e, made)) \
    F(Imrecv, REQUEST, (void *a, int b, MPI_Datatype c, MPI_Message *d, MPI_Request *made), (a, \
      b, c, d, made)) \
    F(Irecv, REQUEST, (void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, \
      MPI_Request *made), (a, b, c, d, e, f, made)) \
    F(Isend, REQUEST, (const void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, \
      MPI_Request *made), (a, b, c, d, e, f, made)) \
    F(Issend, REQUEST, (const void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, \
      MPI_Request *made), (a, b, c, d, e, f, made)) \
    F(Recv_init, REQUEST, (void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, \
      MPI_Request *made), (a, b, c, d, e, f, made)) \
    F(Send_init, REQUEST, (const void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, \
      MPI_Request *made), (a, b, c, d, e, f, made)) \
    F(Info_create, INFO, (MPI_Info *made), (made)) \
    F(Op_create, OP, (MPI_User_function *a, int b, MPI_Op *made), (a, b, made)) \
    F(Type_contiguous, DATATYPE, (int a, MPI_Datatype b, MPI_Datatype *made), (a, b, made)) \
    F(Type_create_subarray, DATATYPE, (int a, const int b[], const int c[], const int d[], \
      int e, MPI_Datatype f, MPI_Datatype *made), (a, b, c, d, e, f, made)) \
    F(Type_vector, DATATYPE, (int a, int b, int c, MPI_Datatype d, MPI_Datatype *made), (a, b, \
      c, d, made)) \
    F(Win_allocate, WIN, (MPI_Aint a, int b, MPI_Info c, MPI_Comm d, void *e, MPI_Win *made), \
      (a, b, c, d, e, made)) \
    F(Win_allocate_shared, WIN, (MPI_Aint a, int b, MPI_Info c, MPI_Comm d, void *e, \
      MPI_Win *made), (a, b, c, d, e, made)) \
    F(Win_create, WIN, (void *a, MPI_Aint b, int c, MPI_Info d, MPI_Comm e, MPI_Win *made), (a, \
      b, c, d, e, made))

/* Those that make a communicator by a request. */
#define BEGINNING_FUNCTIONS(F) \
    F(Comm_idup, (MPI_Comm a, MPI_Comm *b, MPI_Request *made), (a, b, made))

/* Those that end something, which they do even if they fail. */
#define ENDING_FUNCTIONS(F) \
    F(Win_unlock_all, (MPI_Win a), (a))

/* Those that free an object, and do so even if they fail. */
#define FREEING_FUNCTIONS(F) \
    F(Comm_free, COMM, MPI_Comm) \
    F(Group_free, GROUP, MPI_Group) \
    F(Info_free, INFO, MPI_Info) \
    F(Op_free, OP, MPI_Op) \
    F(Request_free, REQUEST, MPI_Request) \
    F(Type_free, DATATYPE, MPI_Datatype) \
    F(Win_free, WIN, MPI_Win)

/* Those that complete requests, `count` of them at `requests`. */
#define COMPLETING_FUNCTIONS(F) \
    F(Test, (MPI_Request *requests, int *a, MPI_Status *b), (requests, a, b), 1) \
    F(Testall, (int count, MPI_Request requests[], int *a, MPI_Status b[]), (count, requests, a, \
      b), count) \
    F(Testany, (int count, MPI_Request requests[], int *a, int *b, MPI_Status *c), (count, \
      requests, a, b, c), count) \
    F(Testsome, (int count, MPI_Request requests[], int *a, int b[], MPI_Status c[]), (count, \
      requests, a, b, c), count) \
    F(Wait, (MPI_Request *requests, MPI_Status *a), (requests, a), 1) \
    F(Waitall, (int count, MPI_Request requests[], MPI_Status a[]), (count, requests, a), count) \
    F(Waitany, (int count, MPI_Request requests[], int *a, MPI_Status *b), (count, requests, a, \
      b), count) \
    F(Waitsome, (int count, MPI_Request requests[], int *a, int b[], MPI_Status c[]), (count, \
      requests, a, b, c), count)
/* clang-format on */

#define NUMBER_3(name, parameters, arguments)        NUMBER_##name,
#define NUMBER_KIND(name, kind, ...)                 NUMBER_##name,
#define NUMBER_4(name, parameters, arguments, count) NUMBER_##name,
enum {
    PLAIN_FUNCTIONS(NUMBER_3) ENDING_FUNCTIONS(NUMBER_3) MAKING_FUNCTIONS(NUMBER_KIND)
        BEGINNING_FUNCTIONS(NUMBER_3) FREEING_FUNCTIONS(NUMBER_KIND) COMPLETING_FUNCTIONS(NUMBER_4)
            FUNCTIONS
};

#define NAME_3(name, parameters, arguments)        "MPI_" #name,
#define NAME_KIND(name, kind, ...)                 "MPI_" #name,
#define NAME_4(name, parameters, arguments, count) "MPI_" #name,
static const char *const names[] = {
    PLAIN_FUNCTIONS(NAME_3) ENDING_FUNCTIONS(NAME_3) MAKING_FUNCTIONS(NAME_KIND)
        BEGINNING_FUNCTIONS(NAME_3) FREEING_FUNCTIONS(NAME_KIND) COMPLETING_FUNCTIONS(NAME_4)};

/* ------------------------------------------------------------------ counting and failing */

static atomic_llong calls[FUNCTIONS], objects[MPI_OBJECT_COUNT];
static atomic_llong until; /* calls of `armed` before the one that fails, which is 1 */
static atomic_int armed = -1;
static atomic_bool fired;
static atomic_bool watching;
static struct timespec started;
static atomic_llong watched, acts_at;
static void (*_Atomic acts)(void);

/* Functions that are called until something has happened. */
static bool only_asks(int function)
{
    switch (function) {
    case NUMBER_Improbe:
    case NUMBER_Iprobe:
    case NUMBER_Request_get_status:
    case NUMBER_Test:
    case NUMBER_Testall:
    case NUMBER_Testany:
    case NUMBER_Testsome: return true;
    default: return false;
    }
}

static void watch(int function)
{
    if (!atomic_load(&watching) || only_asks(function)) return;
    if (atomic_fetch_add(&watched, 1) + 1 == atomic_load(&acts_at)) atomic_load(&acts)();
}

void mpi_watch(void (*act)(void), int64_t n)
{
    atomic_store(&acts, act);
    atomic_store(&acts_at, act ? n : 0);
    atomic_store(&watched, 0);
    atomic_store(&watching, true);
}

double mpi_started(void)
{
    return (double)started.tv_sec + 1e-9 * (double)started.tv_nsec;
}

int64_t mpi_unwatch(void)
{
    atomic_store(&watching, false);
    return atomic_load(&watched);
}

/* Whether this call of @p function is the one. */
static bool fails(int function)
{
    watch(function);
    atomic_fetch_add(&calls[function], 1);
    if (atomic_load(&armed) != function || atomic_fetch_sub(&until, 1) != 1) return false;
    atomic_store(&fired, true);
    return true;
}

static void add_objects(mpi_object kind, int more)
{
    atomic_fetch_add(&objects[kind], more);
}

static int living(int n, const MPI_Request *requests)
{
    int found = 0;
    for (int k = 0; k < n; ++k) found += requests[k] != MPI_REQUEST_NULL;
    return found;
}

int64_t mpi_objects(mpi_object kind)
{
    return atomic_load(&objects[kind]);
}

const char *mpi_object_name(mpi_object kind)
{
    static const char *const kinds[] = {"communicators", "requests",   "groups", "windows",
                                        "datatypes",     "operations", "infos"};
    return kinds[kind];
}

int mpi_functions(void)
{
    return FUNCTIONS;
}

const char *mpi_function_name(int function)
{
    return names[function];
}

int64_t mpi_calls(int function)
{
    return atomic_load(&calls[function]);
}

void mpi_calls_forget(void)
{
    for (int k = 0; k < FUNCTIONS; ++k) atomic_store(&calls[k], 0);
}

void mpi_fault_arm(int function, int64_t n)
{
    atomic_store(&fired, false);
    atomic_store(&until, n);
    atomic_store(&armed, function);
}

bool mpi_fault_disarm(void)
{
    atomic_store(&armed, -1);
    return atomic_exchange(&fired, false);
}

/* ------------------------------------------------------------------ MPI */

/* Visible, so that libmeta_comm finds them here. */
#pragma GCC visibility push(default)

#define PLAIN(name, parameters, arguments)                                                         \
    int MPI_##name parameters                                                                      \
    {                                                                                              \
        return fails(NUMBER_##name) ? MPI_ERR_OTHER : PMPI_##name arguments;                       \
    }
PLAIN_FUNCTIONS(PLAIN)

#define ENDING(name, parameters, arguments)                                                        \
    int MPI_##name parameters                                                                      \
    {                                                                                              \
        const bool fail = fails(NUMBER_##name);                                                    \
        const int code = PMPI_##name arguments;                                                    \
        return fail ? MPI_ERR_OTHER : code;                                                        \
    }
ENDING_FUNCTIONS(ENDING)

#define MAKING(name, kind, parameters, arguments)                                                  \
    int MPI_##name parameters                                                                      \
    {                                                                                              \
        if (fails(NUMBER_##name)) return MPI_ERR_OTHER;                                            \
        const int code = PMPI_##name arguments;                                                    \
        if (code == MPI_SUCCESS && *made != MPI_##kind##_NULL) add_objects(MPI_OBJECT_##kind, 1);  \
        return code;                                                                               \
    }
MAKING_FUNCTIONS(MAKING)

#define BEGINNING(name, parameters, arguments)                                                     \
    int MPI_##name parameters                                                                      \
    {                                                                                              \
        if (fails(NUMBER_##name)) return MPI_ERR_OTHER;                                            \
        const int code = PMPI_##name arguments;                                                    \
        if (code == MPI_SUCCESS) add_objects(MPI_OBJECT_COMM, 1);                                  \
        if (code == MPI_SUCCESS) add_objects(MPI_OBJECT_REQUEST, *made != MPI_REQUEST_NULL);       \
        return code;                                                                               \
    }
BEGINNING_FUNCTIONS(BEGINNING)

#define FREEING(name, kind, type)                                                                  \
    int MPI_##name(type *freed)                                                                    \
    {                                                                                              \
        const bool fail = fails(NUMBER_##name);                                                    \
        const int code = PMPI_##name(freed);                                                       \
        if (code == MPI_SUCCESS) add_objects(MPI_OBJECT_##kind, -1);                               \
        return fail ? MPI_ERR_OTHER : code;                                                        \
    }
FREEING_FUNCTIONS(FREEING)

#define COMPLETING(name, parameters, arguments, number)                                            \
    int MPI_##name parameters                                                                      \
    {                                                                                              \
        if (fails(NUMBER_##name)) return MPI_ERR_OTHER;                                            \
        const int before = living(number, requests);                                               \
        const int code = PMPI_##name arguments;                                                    \
        add_objects(MPI_OBJECT_REQUEST, living(number, requests) - before);                        \
        return code;                                                                               \
    }
COMPLETING_FUNCTIONS(COMPLETING)

/* These can only be watched. */
int MPI_Init_thread(int *count, char ***arguments, int wanted, int *level)
{
    watch(FUNCTIONS);
    const int code = PMPI_Init_thread(count, arguments, wanted, level);
    clock_gettime(CLOCK_MONOTONIC, &started);
    return code;
}

int MPI_Finalize(void)
{
    watch(FUNCTIONS);
    return PMPI_Finalize();
}

#pragma GCC visibility pop
