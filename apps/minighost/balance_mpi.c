/* SPDX-License-Identifier: BSD-3-Clause */
/** @file balance_mpi.c
 *  --balance without libmeta: even blocks only. */
#include "config.h"

#include "balance.h"

#include "failure.h"

void balance_check(const problem *p)
{
    if (p->o.balance != BALANCE_OFF)
        failure_note("--balance %s: this version has even blocks only",
                     options_balance_name(p->o.balance));
}

void balance_cut(problem *p)
{
    (void)p;
}

void balance_begin(balancing *b, problem *p)
{
    *b = (balancing){.p = p};
}

void balance_end(balancing *b)
{
    (void)b;
}

void balance_before(balancing *b)
{
    (void)b;
}

bool balance_after(balancing *b, solver *s, int64_t left)
{
    (void)b;
    (void)s;
    (void)left;
    return false;
}
