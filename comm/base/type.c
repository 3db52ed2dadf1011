/* SPDX-License-Identifier: BSD-3-Clause */
/** @file type.c
 *  Names of element types, for error messages. */
#include "base/comm_base.h"

const char *comm_type_name(uint32_t type)
{
    return meta_element_name(type);
}
