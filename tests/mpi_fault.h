/* SPDX-License-Identifier: BSD-3-Clause */
/** @file mpi_fault.h
 *  Fault injection for MPI through the profiling interface (PMPI): counts the calls of each
 *  function and the live objects, and makes a chosen call fail. Link a program with mpi_fault.c
 *  to use it; it intercepts the calls of both libmeta_comm and the test. */
#ifndef META_TEST_MPI_FAULT_H
#define META_TEST_MPI_FAULT_H

#include <stdbool.h>
#include <stdint.h>

/** What must be given back. */
typedef enum mpi_object {
    MPI_OBJECT_COMM,
    MPI_OBJECT_REQUEST,
    MPI_OBJECT_GROUP,
    MPI_OBJECT_WIN,
    MPI_OBJECT_DATATYPE,
    MPI_OBJECT_OP,
    MPI_OBJECT_INFO,
    MPI_OBJECT_COUNT
} mpi_object;

/** How many were made and not freed. A request counts until MPI or its owner sets it to null. */
int64_t mpi_objects(mpi_object kind);
const char *mpi_object_name(mpi_object kind);

/** The functions that are watched, by number; MPI_Init, MPI_Finalize and those that cannot fail or
 *  whose failure nobody could tell are not. */
int mpi_functions(void);
const char *mpi_function_name(int function);
/** How often it was called since mpi_calls_forget(). */
int64_t mpi_calls(int function);
void mpi_calls_forget(void);

/** Let the @p n th call (1: the next) of @p function from now on fail with MPI_ERR_OTHER, and no
 * other. It then does nothing and writes nothing; one that frees or ends something does so all the
 * same.
 */
void mpi_fault_arm(int function, int64_t n);
/** Let nothing fail; whether the call that was to fail has come. */
bool mpi_fault_disarm(void);

/** Count the calls of these functions, MPI_Init_thread() and MPI_Finalize() from now on, but those
 * that only ask whether something is complete or has come, whose number is a matter of time; and
 * before the @p n th (1: the next), if any, call @p act. */
void mpi_watch(void (*act)(void), int64_t n);
/** When MPI_Init_thread() returned, by CLOCK_MONOTONIC in seconds; 0: it has not. */
double mpi_started(void);
/** Count no more. @return how many there were */
int64_t mpi_unwatch(void);

#endif
