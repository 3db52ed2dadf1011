/* SPDX-License-Identifier: BSD-3-Clause */
/** @file arithmetic_type.h
 *  The arithmetic kernels for one type. Undefines the type's macros for the next. */
#include "arithmetic.h"
#undef META_SUFFIX
#undef META_T
#undef META_W
#undef META_A
#undef META_LOWEST
#undef META_HIGHEST
