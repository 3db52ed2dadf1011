/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fuzz_grid.c
 *  MiniGhost's grid files with arbitrary bytes and length, also when they shrink after they were
 *  opened: rejected with one line, or written again as the same bytes. The first six bytes of an
 *  input are the grid's extents, its number of variables, and by how much the file shrinks; the
 *  rest is the file. */
/* TEST: np=1 labels=programs,fuzz */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "failure.h"
#include "fuzz.h"
#include "grid_io.h"

enum { HEAD = 6, MOST = 6 };

static char in[96], out[96];

static void end(void)
{
    MPI_Finalize();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    atexit(end);
    failure_program("fuzz_grid");
    const char *folder = fuzz_folder();
    snprintf(in, sizeof in, "%s/in", folder);
    snprintf(out, sizeof out, "%s/out", folder);
    return 0;
}

static int extent(uint8_t byte)
{
    return 1 + byte % MOST;
}

static size_t seed(int n, uint8_t *data, size_t room)
{
    const uint8_t heads[][HEAD] = {{0, 0, 0, 0, 0, 0}, {3, 2, 1, 0, 0, 0}, {1, 4, 0, 2, 0, 0}};
    size_t size = 8;
    memcpy(data, heads[n], HEAD);
    for (int k = 0; k < 4; ++k) size *= (size_t)extent(heads[n][k]);
    for (size_t k = 0; k < size && HEAD + k < room; ++k) data[HEAD + k] = (uint8_t)(k * 37 + k / 8);
    return HEAD + size;
}

const fuzz_target fuzz_here = {"grid", 3, seed, NULL, NULL};

static void make_problem(problem *p, const uint8_t *head)
{
    char text[4][8];
    options o;
    for (int k = 0; k < 4; ++k) snprintf(text[k], sizeof text[k], "%d", extent(head[k]));
    char *argv[] = {"fuzz",  "--scaling", "1",     "--nx",       text[0], "--ny",
                    text[1], "--nz",      text[2], "--num_vars", text[3], NULL};
    optind = 0;
    if (options_parse(&o, (int)(sizeof argv / sizeof *argv) - 1, argv, 1) != OPTIONS_RUN)
        fuzz_fail("the options are refused");
    problem_create(p, &o);
}

/* Every variable's array, one after another, to @p cells; whether all of it was there. */
static bool read_all(const problem *p, double *cells, const uint8_t *head, size_t size)
{
    grid_file g;
    grid_check_input(p, "--grid-in", in);
    if (failure_agree(p->cart)) return false;
    const size_t less = head[4] % 8 == 1 ? (size_t)head[5] + 1 : 0;
    if (less > 0 && truncate(in, (off_t)(less < size ? size - less : 0)) != 0)
        fuzz_fail("%s cannot be cut", in);
    if (!grid_open_input(&g, p, in)) return false;
    for (int v = 0; v < p->variables; ++v) grid_read(&g, v, cells + v * p->cells);
    const bool right = grid_close(&g);
    if (right && less > 0) fuzz_fail("a file that shrank was read to its end");
    return right;
}

static void write_all(const problem *p, double *cells, const uint8_t *file, size_t size)
{
    grid_file g;
    if (!grid_open_output(&g, p, out)) fuzz_fail("no file can be written");
    for (int v = 0; v < p->variables; ++v) grid_write(&g, v, cells + v * p->cells);
    if (!grid_close(&g)) fuzz_fail("the file cannot be completed");
    if (!fuzz_same(out, file, size)) fuzz_fail("what was read is written as other bytes");
}

static void check_said(bool right)
{
    const char *text = fuzz_said(), *end_of_line = strchr(text, '\n');
    if (right ? *text != '\0' : end_of_line == NULL || end_of_line[1] != '\0')
        fuzz_fail("%s, but what was said is not %s", right ? "accepted" : "refused",
                  right ? "nothing" : "one line");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    problem p;
    if (size < HEAD) return 0;
    fuzz_write(in, data + HEAD, size - HEAD);
    failure_lenient();
    make_problem(&p, data);
    double *cells = calloc((size_t)(p.cells * p.variables), sizeof *cells);
    const bool right = read_all(&p, cells, data, size - HEAD);
    if (right) write_all(&p, cells, data + HEAD, size - HEAD);
    free(cells);
    problem_free(&p);
    if (failure_forgive(MPI_COMM_SELF) == right) fuzz_fail("a failure is noted or not by mistake");
    check_said(right);
    if (right) fuzz_accept();
    return 0;
}
