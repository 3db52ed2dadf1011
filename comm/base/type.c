/* SPDX-License-Identifier: BSD-3-Clause */
/** @file type.c
 *  The names of element types, for messages. */
#include "base/comm_base.h"

const char *comm_type_name(uint32_t type)
{
#define NAME2(NAME, name)            [META_##NAME] = #name,
#define NAME4(NAME, name, wide, sum) [META_##NAME] = #name,
    static const char *const names[META_TYPE_COUNT] = {META_ARITHMETIC_TYPES(NAME4)
                                                           META_SMALL_TYPES(NAME2)};
    return type < META_TYPE_COUNT ? names[type] : "an unknown type";
}
