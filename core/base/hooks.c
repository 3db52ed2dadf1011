/* SPDX-License-Identifier: BSD-3-Clause */
/** @file hooks.c
 *  What libmeta_comm installed. */
#include "base/base.h"

static meta_hooks hooks;
static _Atomic bool installed;
static void (*_Atomic compiling)(void);

void meta_hooks_set(const meta_hooks *with)
{
    installed = false;
    if (!with) return;
    hooks = *with;
    installed = true;
}

const meta_hooks *meta_hooks_get(void)
{
    return installed ? &hooks : NULL;
}

void meta_compiling_set(void (*beat)(void))
{
    compiling = beat;
}

void meta_compiling(void)
{
    void (*const beat)(void) = compiling;
    if (beat) beat();
}
