/* SPDX-License-Identifier: BSD-3-Clause */
/** @file gpu_type.h
 *  The arithmetic kernels for one type and those that combine its partial results. Undefines the
 *  type's macros for the next. */
#include "arithmetic.h"

STENCIL(META_T, META_W, META_A, 2d5p)
STENCIL(META_T, META_W, META_A, 2d9p)
STENCIL(META_T, META_W, META_A, 3d7p)
STENCIL(META_T, META_W, META_A, 3d27p)
PASSES(META_T, META_W, META_A, META_LOWEST, META_HIGHEST)
FINISH(META_T, META_A, META_LOWEST, META_HIGHEST)

#undef META_SUFFIX
#undef META_T
#undef META_W
#undef META_A
#undef META_LOWEST
#undef META_HIGHEST
