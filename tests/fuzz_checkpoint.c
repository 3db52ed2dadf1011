/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fuzz_checkpoint.c
 *  MiniGhost's checkpoints with arbitrary bytes and recomputed checksums: rejected with one
 *  line, or read and written again as the same bytes. */
/* TEST: np=1 timeout=300 labels=programs,fuzz */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checkpoint.h"
#include "failure.h"
#include "fuzz.h"
#include "scramble.h"

static char in[96], in_file[104], out[96];

static void end(void)
{
    MPI_Finalize();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    atexit(end);
    failure_program("fuzz_checkpoint");
    const char *folder = fuzz_folder();
    snprintf(in, sizeof in, "%s/in", folder);
    snprintf(in_file, sizeof in_file, "%s.0", in);
    snprintf(out, sizeof out, "%s/out", folder);
    return 0;
}

static void parse(options *o, int argc, char **argv)
{
    optind = 0;
    if (options_parse(o, argc, argv, 1) != OPTIONS_RUN) fuzz_fail("the options are refused");
}

/* ------------------------------------------------------------------ a grid in memory */

typedef struct grid {
    const problem *p;
    unsigned char *cells; /* every variable's array */
} grid;

static size_t array_bytes(const problem *p)
{
    return (size_t)p->cells * number_size(p->type);
}

static void put(void *context, int variable, const void *cells)
{
    const grid *g = context;
    memcpy(g->cells + (size_t)variable * array_bytes(g->p), cells, array_bytes(g->p));
}

static void get(void *context, int variable, void *cells)
{
    const grid *g = context;
    memcpy(cells, g->cells + (size_t)variable * array_bytes(g->p), array_bytes(g->p));
}

/* The bytes of the checkpoint written last are then in @p data; 0 if it cannot be written. */
static size_t write_one(const problem *p, const grid *g, int64_t which, int round, int64_t step,
                        int64_t before, const double *source, const double *flux, uint8_t *data,
                        size_t room)
{
    checkpoints w = {.p = p, .next = which};
    size_t size = 0;
    void *cells = calloc((size_t)p->cells, sizeof(double));
    checkpoints_write(&w, round, step, before, source, flux,
                      &(grid_source){cells, get, (void *)(uintptr_t)g});
    free(cells);
    FILE *from = w.last != NULL ? fopen(w.last, "rb") : NULL;
    if (from != NULL) {
        size = fread(data, 1, room, from);
        fclose(from);
        unlink(w.last);
    }
    checkpoints_end(&w);
    return size;
}

/* ------------------------------------------------------------------ seeds */

static size_t seed(int n, uint8_t *data, size_t room)
{
    static char *const types[] = {"f64", "f32", "f64", "f32"}, *const stencils[] = {"23", "24",
                                                                                    "20", "21"};
    static char *const nx[] = {"1", "5", "3", "2"}, *const variables[] = {"1", "2", "3", "5"};
    double source[] = {1, -0.0, 1e300, 5, 6}, flux[] = {1e-310, 3, 0, -1, 2};
    char *argv[] = {"fuzz",       "--scaling",
                    "1",          "--nx",
                    nx[n],        "--ny",
                    "3",          "--nz",
                    nx[3 - n],    "--num_vars",
                    variables[n], "--type",
                    types[n],     "--stencil",
                    stencils[n],  "--num_tsteps",
                    "9",          "--num_spikes",
                    "2",          "--checkpoint_file",
                    out,          "--checkpoint_interval",
                    "1",          NULL};
    options o;
    problem p;
    parse(&o, (int)(sizeof argv / sizeof *argv) - 1, argv);
    problem_create(&p, &o);
    grid g = {&p, calloc((size_t)p.variables, array_bytes(&p))};
    for (size_t k = 0; k < (size_t)p.variables * array_bytes(&p); ++k)
        g.cells[k] = (unsigned char)scramble(k);
    const size_t size = write_one(&p, &g, n, 1 + n % 2, 7, n % 2 * 5, source, flux, data, room);
    free(g.cells);
    problem_free(&p);
    return size;
}

/* ------------------------------------------------------------------ checksums, as the format says
 */

static uint64_t checksum(const uint8_t *at, size_t bytes)
{
    uint64_t sum = bytes;
    for (; bytes >= sizeof sum; at += sizeof sum, bytes -= sizeof sum) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        sum = scramble(sum ^ word);
    }
    return sum;
}

/* The bytes of the tables, if they can be in a file of @p size; else 0. */
static size_t table_size(const checkpoint_header *h, size_t size)
{
    const int64_t most = (int64_t)size;
    if (h->variables < 1 || h->variables > most || h->global[2] < 1 || h->global[2] > most)
        return 0;
    const int64_t bytes = h->variables * (WORD_PLANES + h->global[2]) * 8;
    return bytes + (int64_t)sizeof *h <= most ? (size_t)bytes : 0;
}

static void repair_planes(const checkpoint_header *h, uint8_t *data, size_t size)
{
    const int64_t most = (int64_t)size, width = h->type == NUMBER_F64 ? 8 : 4;
    const size_t table = table_size(h, size);
    if (table == 0 || h->global[0] < 1 || h->global[0] > most || h->global[1] < 1 ||
        h->global[1] > most)
        return;
    const int64_t plane = h->global[0] * h->global[1], rows = WORD_PLANES + h->global[2];
    if (plane > most || plane * h->global[2] * h->variables > most) return;
    const uint8_t *cell = data + sizeof *h + table;
    if (plane * h->global[2] * h->variables * width > most - (cell - data)) return;
    for (int64_t v = 0; v < h->variables; ++v)
        for (int64_t z = 0; z < h->global[2]; ++z) {
            uint64_t sum = 0;
            for (int64_t i = 0; i < plane; ++i, cell += width) {
                uint64_t bits = 0;
                uint32_t narrow;
                memcpy(width == 8 ? (void *)&bits : (void *)&narrow, cell, (size_t)width);
                sum += checkpoint_cell(z * plane + i, width == 8 ? bits : narrow);
            }
            memcpy(data + sizeof *h + 8 * (v * rows + WORD_PLANES + z), &sum, sizeof sum);
        }
}

/* Of the planes, the tables, the size, the header: the later ones more often. */
static void repair(uint8_t *data, size_t size, uint64_t how)
{
    checkpoint_header h;
    if (size < sizeof h || how % 4 == 0) return;
    memcpy(&h, data, sizeof h);
    if (how >> 2 & 1) repair_planes(&h, data, size);
    const size_t table = table_size(&h, size);
    if (how >> 2 & 3 && table > 0) h.tables = checksum(data + sizeof h, table);
    if (how >> 4 & 1) h.bytes = (int64_t)size;
    h.checksum = checksum((const uint8_t *)&h, offsetof(checkpoint_header, checksum));
    memcpy(data, &h, sizeof h);
}

const fuzz_target fuzz_here = {"checkpoint", 4, seed, repair, NULL};

/* ------------------------------------------------------------------ the target */

static void rewrite(const checkpoint *c, const problem *p, const grid *g, const uint8_t *data,
                    size_t size)
{
    static uint8_t again[1 << 16];
    double *source = calloc((size_t)p->variables, sizeof *source);
    double *flux = calloc((size_t)p->variables, sizeof *flux);
    const checkpoint_word *words = c->words;
    for (int v = 0; v < p->variables; ++v, words += checkpoint_words(&c->h)) {
        source[v] = words[WORD_SOURCE].value;
        flux[v] = words[WORD_FLUX].value;
    }
    const size_t found = write_one(p, g, c->h.number, (int)c->h.round, c->h.step,
                                   checkpoint_before(&c->h), source, flux, again, sizeof again);
    free(source);
    free(flux);
    if (found != size || memcmp(again, data, size) != 0)
        fuzz_fail("what was read is written as other bytes");
}

static bool read_grid(const checkpoint *c, const problem *p, const uint8_t *data, size_t size)
{
    grid g = {p, calloc((size_t)p->variables, array_bytes(p))};
    void *cells = calloc((size_t)p->cells, sizeof(double));
    const bool right = checkpoint_read(c, p, cells, put, &g);
    if (right) rewrite(c, p, &g, data, size);
    free(cells);
    free(g.cells);
    return right;
}

static bool go_on(const checkpoint *c, options *o, const uint8_t *data, size_t size)
{
    problem p;
    bool right = false;
    checkpoint_options(c, o);
    if (failure_agree(MPI_COMM_SELF)) return false;
    problem_create(&p, o);
    if (!failure_agree(MPI_COMM_SELF)) {
        checkpoint_compare(c, &p);
        right = !failure_agree(MPI_COMM_SELF) && read_grid(c, &p, data, size);
    }
    problem_free(&p);
    return right;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *argv[] = {"fuzz", "--restart_file",
                    in,     "--restart_cp_num",
                    "0",    "--checkpoint_file",
                    out,    "--checkpoint_interval",
                    "1",    NULL};
    options o;
    checkpoint c;
    fuzz_write(in_file, data, size);
    parse(&o, (int)(sizeof argv / sizeof *argv) - 1, argv);
    failure_lenient();
    bool right = checkpoint_load(&c, &o);
    if (right) {
        right = go_on(&c, &o, data, size);
        checkpoint_free(&c);
    }
    if (failure_forgive(MPI_COMM_SELF) == right) fuzz_fail("a failure is noted or not by mistake");
    const char *text = fuzz_said(), *end_of_line = strchr(text, '\n');
    if (right ? *text != '\0' : end_of_line == NULL || end_of_line[1] != '\0')
        fuzz_fail("%s, but what was said is not %s", right ? "accepted" : "refused",
                  right ? "nothing" : "one line");
    if (right) fuzz_accept();
    return 0;
}
