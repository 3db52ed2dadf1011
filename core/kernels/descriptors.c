/* SPDX-License-Identifier: BSD-3-Clause */
/** @file descriptors.c
 *  The built-in kernels' descriptors, expanded from the table in kernels/meta_kernels.h. */
#include "kernels/kernels.h"

enum {
    ALL = (1 << META_TYPE_COUNT) - 1,
    ARITHMETIC = (1 << META_I16) - 1,
    FLOATING = 1 << META_F64 | 1 << META_F32,
};
#define TYPES_MOVE      ALL
#define TYPES_MAP       ARITHMETIC
#define TYPES_REDUCTION ARITHMETIC
#define TYPES_EXACT     FLOATING

#define REACH_POINT                                                                                \
    META_REACH_POINT, {0},                                                                         \
    {                                                                                              \
        0                                                                                          \
    }
#define REACH_STAR2                                                                                \
    META_REACH_STAR, {1, 1},                                                                       \
    {                                                                                              \
        1, 1                                                                                       \
    }
#define REACH_BOX2                                                                                 \
    META_REACH_BOX, {1, 1},                                                                        \
    {                                                                                              \
        1, 1                                                                                       \
    }
#define REACH_STAR3                                                                                \
    META_REACH_STAR, {1, 1, 1},                                                                    \
    {                                                                                              \
        1, 1, 1                                                                                    \
    }
#define REACH_BOX3                                                                                 \
    META_REACH_BOX, {1, 1, 1},                                                                     \
    {                                                                                              \
        1, 1, 1                                                                                    \
    }

/* Only read-only operands have neighbours in their reach. */
#define OPERAND(ACCESS, REACH) OPERAND_##ACCESS(REACH_##REACH)
#define OPERAND_NONE(...)                                                                          \
    {                                                                                              \
        META_ACCESS_NONE, META_REACH_POINT, {0}, {0}, 0                                            \
    }
#define OPERAND_OUT(...)                                                                           \
    {                                                                                              \
        META_ACCESS_OUT, META_REACH_POINT, {0}, {0}, 0                                             \
    }
#define OPERAND_INOUT(...)                                                                         \
    {                                                                                              \
        META_ACCESS_INOUT, META_REACH_POINT, {0}, {0}, 0                                           \
    }
#define OPERAND_IN(...)                                                                            \
    {                                                                                              \
        META_ACCESS_IN, __VA_ARGS__, 0                                                             \
    }

/* Memory passes per operand. */
enum { PASSES_NONE = 0, PASSES_IN = 1, PASSES_OUT = 1, PASSES_INOUT = 2 };

#define OPERANDS(number, NAME, name, FAMILY, ACCESS0, ACCESS1, REACH, value_count, result)         \
    [number] = {OPERAND(ACCESS0, REACH), OPERAND(ACCESS1, REACH)},
static const meta_operand_desc operands[META_KERNEL_COUNT][META_SPACE_OPERANDS] = {
    META_KERNELS(OPERANDS)};

#define GRID_POINT 0
#define GRID_STAR2 2
#define GRID_BOX2  2
#define GRID_STAR3 3
#define GRID_BOX3  3

#define DESCRIPTOR(id, NAME, text, FAMILY, ACCESS0, ACCESS1, REACH, value_count, result)           \
    [id] = {.size = sizeof(meta_kernel_desc),                                                      \
            .number = (id),                                                                        \
            .name = #text,                                                                         \
            .family = META_FAMILY_##FAMILY,                                                        \
            .types = TYPES_##FAMILY,                                                               \
            .values = (value_count),                                                               \
            .combine = META_COMBINE_##result,                                                      \
            .grid = GRID_##REACH,                                                                  \
            .passes = PASSES_##ACCESS0 + PASSES_##ACCESS1,                                         \
            .operands = 1 + (META_ACCESS_##ACCESS1 != META_ACCESS_NONE),                           \
            .operand = operands[id]},
const meta_kernel_desc meta_kernel_table[META_KERNEL_COUNT] = {META_KERNELS(DESCRIPTOR)};

/* Kernel numbers are consecutive in table order, so that back ends may index tables by them. */
#define IN_ORDER(number, NAME, ...) META_PLACE_##NAME,
enum { META_KERNELS(IN_ORDER) META_PLACES };
#define IS_IN_ORDER(number, NAME, ...)                                                             \
    _Static_assert((number) == META_PLACE_##NAME, #NAME " has a number that is not its place");
META_KERNELS(IS_IN_ORDER)
