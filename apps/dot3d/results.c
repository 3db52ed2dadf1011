/* SPDX-License-Identifier: BSD-3-Clause */
/** @file results.c
 *  The --json file with the results of a run of the 3D dot product. */
#include "config.h"

#include "results.h"

#include <stdlib.h>

#include "failure.h"
#include "json.h"
#include "output.h"
#include "ranks.h"

static void put_problem(json *j, const results *r)
{
    json_string(j, "program", failure_program_name());
    json_string(j, "version", PACKAGE_VERSION);
    json_open(j, "grid", '[');
    for (int d = 0; d < 3; ++d) json_number(j, NULL, r->o->n[d]);
    json_close(j, ']');
    json_string(j, "type", number_name(r->o->type));
    json_number(j, "iterations", r->o->iters);
    json_bool(j, "blas", r->o->blas);
}

/* Numbers of the block's type as text: not every reader keeps 64 bits of one. */
static void put_outcome(json *j, const results *r)
{
    char text[64];
    block_print(r->k, text, sizeof text, r->result);
    json_string(j, "result", text);
    block_print_exact(r->k, text, sizeof text, block_dot(r->k));
    json_string(j, "closed_form", text);
    json_exact(j, "error", r->error);
    json_exact(j, "ghost_error", r->ghost_error);
    json_exact(j, "seconds", r->seconds);
    json_exact(j, "seconds_of_an_iteration", r->seconds / (double)r->o->iters);
    json_bool(j, "pass", r->right);
}

static void write_file(const results *r, const rank_row *row, int ranks)
{
    char *text = NULL;
    size_t size = 0;
    json j = {.to = open_memstream(&text, &size)};
    if (j.to == NULL) {
        failure_note_memory(1024);
        return;
    }
    json_open(&j, NULL, '{');
    put_problem(&j, r);
    ranks_json(&j, row, ranks, r->blas != NULL);
    put_outcome(&j, r);
    json_close(&j, '}');
    const bool whole = !ferror(j.to);
    if (fclose(j.to) != 0 || !whole) failure_note_memory((double)size);
    else output_whole("--json", r->o->json, text, size);
    free(text);
}

void results_write(const results *r)
{
    int ranks;
    if (r->o->json == NULL) return;
    MPI_Comm_size(r->k->comm, &ranks);
    rank_row *row = ranks_gather(r->k->comm, r->blas);
    if (row != NULL) write_file(r, row, ranks);
    free(row);
}
