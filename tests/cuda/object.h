/* SPDX-License-Identifier: BSD-3-Clause */
/** @file object.h
 *  Objects that a program has handles of. */
#ifndef META_TEST_CUDA_OBJECT_H
#define META_TEST_CUDA_OBJECT_H

#include <stdbool.h>
#include <stdio.h>

#include "../plugins/gpu_fault.h"

/** Functions of modules are a kind too, but not counted. */
enum { OBJECT_FUNCTION = GPU_FAULT_KINDS, OBJECT_KINDS };

void object_add(int kind, const void *object);
bool object_is(int kind, const void *object);
void object_remove(int kind, const void *object);
/** Memory is found by its address, so it is only counted. */
void object_count(gpu_fault_kind kind, long by);
/** Print how many objects of each kind were not released. */
void object_print_left(FILE *report);

#endif
