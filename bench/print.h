/* SPDX-License-Identifier: BSD-3-Clause */
/** @file print.h
 *  A measured row as a line of a table or as a JSON object. */
#ifndef BENCH_PRINT_H
#define BENCH_PRINT_H

#include "group.h"

/** On rank 0, as all here: what is measured on. Nothing in JSON. */
void print_place(const options *o, const place *p);
/** The table's columns for a group. */
void print_columns(const options *o, const group *g);
/** A row that was timed. */
void print_row(const options *o, const place *p, const row *r);

#endif
