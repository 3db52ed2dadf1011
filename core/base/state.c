/* SPDX-License-Identifier: BSD-3-Clause */
/** @file state.c
 *  The switches that every room reads. */
#include "base/base.h"

bool meta_check_on;
_Atomic int meta_profile_flags;
