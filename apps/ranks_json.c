/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ranks_json.c
 *  The table of ranks in JSON result files. */
#include "json.h"
#include "ranks.h"

void ranks_json(json *j, const rank_row *all, int size, bool with_blas)
{
    json_open(j, "ranks", '[');
    for (int k = 0; k < size; ++k) {
        json_open(j, NULL, '{');
        json_number(j, "rank", k);
        json_string(j, "host", all[k].host);
        json_string(j, "backend", all[k].here.backend);
        json_number(j, "threads", all[k].here.threads);
        json_string(j, "device", all[k].here.device);
        if (with_blas) json_string(j, "blas", all[k].blas);
        if (all[k].cells > 0) {
            json_number(j, "cells", all[k].cells);
            json_exact(j, "share", all[k].share);
        }
        json_close(j, '}');
    }
    json_close(j, ']');
}
