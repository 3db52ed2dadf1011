/* SPDX-License-Identifier: BSD-3-Clause */
/** @file options.c
 *  The command line of MiniGhost: its option names, codes and defaults. */
#include "config.h"

#include "options.h"

#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "checkpoint.h"
#include "failure.h"

#define AT(member) offsetof(options, member)
#define NOT_GIVEN  INT64_MIN

/* Options with an integer value: where it is stored, in how many consecutive members, its range. */
static const struct {
    const char *name, *meaning;
    size_t at;
    int repeat;
    int64_t least, most;
} numbers[] = {
    {"scaling", "1: nx, ny, nz are the global grid, 2: each rank's block (2)", AT(scaling), 1, 1, 2},
    {"nx", "cells along x (100)", AT(n[0]), 1, 1, INT_MAX},
    {"ny", "cells along y (100)", AT(n[1]), 1, 1, INT_MAX},
    {"nz", "cells along z (100)", AT(n[2]), 1, 1, INT_MAX},
    {"ndim", "cells along each of x, y and z", AT(n[0]), 3, 1, INT_MAX},
    {"npx", "ranks along x (all)", AT(np[0]), 1, 1, INT_MAX},
    {"npy", "ranks along y (1)", AT(np[1]), 1, 1, INT_MAX},
    {"npz", "ranks along z (1)", AT(np[2]), 1, 1, INT_MAX},
    {"npdim", "ranks along each of x, y and z", AT(np[0]), 3, 1, INT_MAX},
    {"num_vars", "variables (5)", AT(num_vars), 1, 1, MAX_VARIABLES},
    {"num_spikes", "heat sources, one per round of time steps (1; with --grid-in 0)",
     AT(num_spikes), 1, 0, INT_MAX},
    {"num_tsteps", "time steps per round (100)", AT(num_tsteps), 1, 1, INT_MAX},
    {"stencil", "20 none, 21 2D 5-point, 22 2D 9-point, 23 3D 7-point, 24 3D 27-point (21)",
     AT(stencil), 1, STENCIL_NONE, STENCIL_3D27P},
    {"comm_method", "10 BSPMA: one message for all variables, 11 SVAF: one per variable (10)",
     AT(comm_method), 1, METHOD_BSPMA, METHOD_SVAF},
    {"bc", "boundary condition: 31 Dirichlet (31)", AT(bc), 1, BC_DIRICHLET, BC_DIRICHLET},
    {"percent_sum", "percentage of the variables checked in each time step (100)", AT(percent_sum), 1, 0,
     100},
    {"report_diffusion", "report every N time steps, 0: only the last one (20)",
     AT(report_diffusion), 1, 0, INT_MAX},
    {"error_tol", "the relative error tolerance is 10^-N (8; f32: 4)", AT(error_tol), 1, 0,
     300},
    {"report_perf", "1: report times of each part, messages and GFLOPS, 2: also per rank (0)",
     AT(report_perf), 1, 0, 2},
    {"checkpoint_method", "I/O of checkpoints: 1, by libmeta_io (1)", AT(checkpoint_method), 1, 1,
     1},
    {"checkpoint_interval", "write one every N time steps of a round, 0: never (0)",
     AT(checkpoint_interval), 1, 0, INT_MAX},
    {"checkpoint_keep", "keep the N newest, 0: all (0)", AT(checkpoint_keep), 1, 0,
     INT_MAX},
    {"restart_cp_num",
     "restart from this checkpoint, -1: the last, -2: none (-2; with --restart_file -1)",
     AT(restart_cp_num), 1, -2, INT_MAX},
    {"every", "take snapshots every N time steps, 0: only at the end (0)", AT(every), 1, 0,
     INT_MAX},
    {"png-variable", "the variable that --png shows (1)", AT(png_variable), 1, 1, MAX_VARIABLES},
    {"png-plane", "the z plane that --png shows, from 0 (the middle)", AT(png_plane), 1, 0, INT_MAX},
    {"progress", "progress line, 0: no, 1: on a terminal, 2: yes (1)",
     AT(progress), 1, 0, 2},
    {"debug_grid", "1: the initial grid is zero except for the spikes (0)", AT(debug_grid), 1, 0, 1},
};

/* Options with a file name. */
static const struct {
    const char *name, *meaning;
    size_t at;
} files[] = {
    {"grid-in", "start from this file", AT(grid_in)},
    {"grid-out", "write the final grid to this file", AT(grid_out)},
    {"expect", "compare the final grid with this file", AT(expect)},
    {"checkpoint_file", "write checkpoints as FILE.0, FILE.1 ...", AT(checkpoint_file)},
    {"restart_file", "restart from checkpoint FILE.0, FILE.1 ...", AT(restart_file)},
    {"vti", "take snapshots for ParaView and VTK: FILE_STEP.pvti", AT(vti)},
    {"png", "take snapshots as images: FILE_STEP.png", AT(png)},
    {"json", "write the report to this file as JSON", AT(json)},
};

enum { GIVEN_TYPE = 63 }; /* in the set of those given; the others are numbers' */
enum { NUMBERS = sizeof numbers / sizeof *numbers, FILES = sizeof files / sizeof *files };
enum {
    FIRST_NUMBER = 1000,
    FIRST_FILE = 2000,
    TYPE = 3000,
    KERNEL,
    BALANCE,
    OVERLAP,
    HELP,
    VERSION
};

static void set_defaults(options *o, int ranks)
{
    *o = (options){
        .scaling = SCALING_WEAK,
        .n = {100, 100, 100},
        .np = {ranks, 1, 1},
        .num_vars = 5,
        .num_spikes = NOT_GIVEN,
        .num_tsteps = 100,
        .stencil = STENCIL_2D5P,
        .comm_method = METHOD_BSPMA,
        .bc = BC_DIRICHLET,
        .percent_sum = 100,
        .report_diffusion = 20,
        .error_tol = NOT_GIVEN,
        .checkpoint_method = 1,
        .png_variable = 1,
        .progress = 1,
        .restart_cp_num = NOT_GIVEN,
        .type = NUMBER_F64,
    };
}

static void list_options(struct option *list)
{
    for (int i = 0; i < NUMBERS; ++i)
        *list++ = (struct option){numbers[i].name, required_argument, NULL, FIRST_NUMBER + i};
    for (int i = 0; i < FILES; ++i)
        *list++ = (struct option){files[i].name, required_argument, NULL, FIRST_FILE + i};
    *list++ = (struct option){"type", required_argument, NULL, TYPE};
    *list++ = (struct option){"kernel", required_argument, NULL, KERNEL};
    *list++ = (struct option){"balance", required_argument, NULL, BALANCE};
    *list++ = (struct option){"overlap", required_argument, NULL, OVERLAP};
    *list++ = (struct option){"help", no_argument, NULL, HELP};
    *list++ = (struct option){"version", no_argument, NULL, VERSION};
    *list = (struct option){NULL, 0, NULL, 0};
}

static bool set_number(options *o, int i, const char *text)
{
    int64_t value;
    if (!number_parse(text, &value)) {
        failure_note("--%s %s: not a whole number that can be counted with", numbers[i].name, text);
        return false;
    }
    if (value < numbers[i].least || value > numbers[i].most) {
        if (numbers[i].least == numbers[i].most)
            failure_note("--%s %s: must be %" PRId64, numbers[i].name, text, numbers[i].least);
        else
            failure_note("--%s %s: must be from %" PRId64 " to %" PRId64, numbers[i].name, text,
                         numbers[i].least, numbers[i].most);
        return false;
    }
    o->given |= UINT64_C(1) << i;
    for (int k = 0; k < numbers[i].repeat; ++k)
        memcpy((char *)o + numbers[i].at + (size_t)k * sizeof value, &value, sizeof value);
    return true;
}

static bool set_file(options *o, int i, const char *path)
{
    if (*path == '\0') failure_note("--%s: the file's name is empty", files[i].name);
    memcpy((char *)o + files[i].at, &path, sizeof path);
    return *path != '\0';
}

static bool set_type(options *o, const char *name)
{
    o->given |= UINT64_C(1) << GIVEN_TYPE;
    if (number_find(name, NUMBER_F32 + 1, &o->type)) return true;
    failure_note("--type %s: must be f64 or f32", name);
    return false;
}

static bool set_kernel(options *o, const char *name)
{
    o->reference = strcmp(name, "reference") == 0;
    if (o->reference || strcmp(name, "fast") == 0) return true;
    failure_note("--kernel %s: must be fast or reference", name);
    return false;
}

static const char *const balance_names[] = {"off", "measured", "dynamic"};
static const char *const overlap_names[] = {"auto", "on", "off"};

const char *options_balance_name(int balance)
{
    return balance_names[balance];
}

/* One of three words, as its number. */
static bool set_word(int *value, const char *option, const char *const names[3], const char *name)
{
    for (*value = 0; *value < 3; ++*value)
        if (strcmp(name, names[*value]) == 0) return true;
    failure_note("--%s %s: must be %s, %s or %s", option, name, names[0], names[1], names[2]);
    return false;
}

bool options_given(const options *o, const char *name)
{
    int i = 0;
    while (i < NUMBERS && strcmp(numbers[i].name, name) != 0) ++i;
    return o->given >> (i < NUMBERS ? i : GIVEN_TYPE) & 1;
}

static bool check_checkpoints(const options *o)
{
    if (o->checkpoint_interval > 0 && o->checkpoint_file == NULL)
        failure_note("--checkpoint_interval %" PRId64 ": give --checkpoint_file as well",
                     o->checkpoint_interval);
    if (o->restart_cp_num >= -1 && o->restart_file == NULL)
        failure_note("--restart_cp_num %" PRId64 ": give --restart_file as well",
                     o->restart_cp_num);
    if (o->restart_cp_num >= -1 && o->grid_in != NULL)
        failure_note("--grid-in and --restart_file both say where to start; give one of them");
    return !failure_seen();
}

static options_result complete(options *o)
{
    if (o->num_spikes == NOT_GIVEN) o->num_spikes = o->grid_in != NULL ? 0 : 1;
    if (o->error_tol == NOT_GIVEN) o->error_tol = o->type == NUMBER_F32 ? 4 : 8;
    if (o->restart_cp_num == NOT_GIVEN) o->restart_cp_num = o->restart_file != NULL ? -1 : -2;
    if (options_given(o, "every") && o->vti == NULL && o->png == NULL)
        failure_note("--every %" PRId64 ": give --vti or --png as well", o->every);
    if (!check_checkpoints(o)) return OPTIONS_WRONG;
    if (o->balance != BALANCE_OFF && o->stencil == STENCIL_NONE) {
        failure_note("--balance %s: with --stencil %d there is no work that could be timed",
                     balance_names[o->balance], STENCIL_NONE);
        return OPTIONS_WRONG;
    }
    if (o->overlap == OVERLAP_ON && (o->reference || o->stencil == STENCIL_NONE)) {
        failure_note("--overlap on: %s", o->reference ? "--kernel reference computes whole blocks"
                                                      : "--stencil 20 computes nothing");
        return OPTIONS_WRONG;
    }
    if (o->debug_grid) o->percent_sum = 100;
    if (o->debug_grid && o->grid_in != NULL) {
        failure_note("--debug_grid 1 starts from zero and --grid-in from a file; give one of them");
        return OPTIONS_WRONG;
    }
    return OPTIONS_RUN;
}

/* The program in plain MPI has no checkpoints. */
static bool is_there(const char *name)
{
    return checkpoint_is_there() ||
           (strncmp(name, "checkpoint_", 11) != 0 && strncmp(name, "restart_", 8) != 0);
}

/* getopt_long() takes unique beginnings of a name for the name; MiniGhost does not. */
static bool is_abbreviated(const char *argument, const char *name)
{
    return strncmp(argument, "--", 2) == 0 && strcspn(argument + 2, "=") != strlen(name);
}

options_result options_parse(options *o, int argc, char **argv, int ranks)
{
    struct option list[NUMBERS + FILES + 7];
    list_options(list);
    set_defaults(o, ranks);
    opterr = 0;
    for (;;) {
        int which = 0;
        const int first = optind;
        const int code = getopt_long(argc, argv, "+:", list, &which);
        if (code == -1) break;
        if (code == '?' ||
            (code >= FIRST_NUMBER && is_abbreviated(argv[first], list[which].name))) {
            failure_note("unknown option or needless value: %s (--help lists the options)",
                         argv[first]);
            return OPTIONS_WRONG;
        }
        if (code >= FIRST_NUMBER && !is_there(list[which].name)) {
            failure_note("--%s: this version has no checkpoints; use meta-minighost",
                         list[which].name);
            return OPTIONS_WRONG;
        }
        if (code == ':') {
            failure_note("%s: its value is missing", argv[first]);
            return OPTIONS_WRONG;
        }
        if (code == HELP) return OPTIONS_HELP;
        if (code == VERSION) return OPTIONS_VERSION;
        const bool right =
            code == TYPE         ? set_type(o, optarg)
            : code == KERNEL     ? set_kernel(o, optarg)
            : code == BALANCE    ? set_word(&o->balance, "balance", balance_names, optarg)
            : code == OVERLAP    ? set_word(&o->overlap, "overlap", overlap_names, optarg)
            : code >= FIRST_FILE ? set_file(o, code - FIRST_FILE, optarg)
                                 : set_number(o, code - FIRST_NUMBER, optarg);
        if (!right) return OPTIONS_WRONG;
    }
    if (optind < argc) {
        failure_note("%s is not an option (--help lists the options)", argv[optind]);
        return OPTIONS_WRONG;
    }
    return complete(o);
}

void options_help(void)
{
    printf("usage: %s [option value] ...\n\n"
           "MiniGhost: finite difference stencils on a block-decomposed grid, with a check that\n"
           "the sum over the grid plus the flux out through its boundary is conserved.\n\n",
           failure_program_name());
    for (int i = 0; i < NUMBERS; ++i)
        if (is_there(numbers[i].name))
            printf("  --%-19s N     %s\n", numbers[i].name, numbers[i].meaning);
    for (int i = 0; i < FILES; ++i)
        if (is_there(files[i].name))
            printf("  --%-19s FILE  %s\n", files[i].name, files[i].meaning);
    printf("  --%-19s TYPE  %s\n", "type", "f64 or f32: the element type of the grid (f64)");
    printf("  --%-19s NAME  %s\n", "kernel",
           "fast: libmeta's stencil with its sum; reference: MiniGhost 1.0's (fast)");
    printf("  --%-19s NAME  %s\n", "balance",
           "blocks: off even; measured by trial; dynamic also during the run (off)");
    printf("  --%-19s NAME  %s\n", "overlap",
           "on: compute the interior during the halo exchange; off; auto: on GPUs (auto)");
    printf("  --%-19s       %s\n", "help", "print this help");
    printf("  --%-19s       %s\n\n", "version", "print the version");
    printf("Files hold the global grid, without ghost cells, as raw little-endian float64,\n"
           "x fastest, one variable after another.\n");
    if (checkpoint_is_there())
        printf("A restart takes the options that the checkpoint holds from it. A checkpoint that\n"
               "cannot be written causes a warning, and the run continues; older ones are not\n"
               "affected.\n");
    printf("A snapshot that cannot be written causes a warning, and the run continues. Under a\n"
           "launcher, standard error is a pipe: use --progress 2 to get the progress line.\n"
           "--report_perf 1 or 2 also writes results.txt and results.yaml in the current folder.\n"
           "--kernel reference is the published algorithm, for comparison: stencil into another\n"
           "array, copy back, sum, each a pass over memory, on CPUs in plain OpenMP loops. Its\n"
           "cells are bitwise the same.\n"
           "--balance measured times steps with even blocks, and with others that should be\n"
           "faster, before the first step; the fastest blocks are used, even ones where no others\n"
           "are faster. dynamic also times the steps of the run, and tries other blocks where the\n"
           "remaining steps should gain more than the moves cost. For these times the program\n"
           "waits for the device after each part of some steps.\n"
           "Exit status: 0 correct, 1 wrong result, 2 invalid usage or environment.\n");
}
