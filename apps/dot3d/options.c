/* SPDX-License-Identifier: BSD-3-Clause */
/** @file options.c
 *  The command line of the 3D dot product. */
#include "config.h"

#include "options.h"

#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "failure.h"

enum { NX, NY, NZ, ITERS, NUMBERS, TYPE = NUMBERS, BLAS, JSON, HELP, VERSION };

static const struct option list[] = {
    [NX] = {"nx", required_argument, NULL, NX},
    [NY] = {"ny", required_argument, NULL, NY},
    [NZ] = {"nz", required_argument, NULL, NZ},
    [ITERS] = {"iters", required_argument, NULL, ITERS},
    [TYPE] = {"type", required_argument, NULL, TYPE},
    [BLAS] = {"blas", no_argument, NULL, BLAS},
    [JSON] = {"json", required_argument, NULL, JSON},
    [HELP] = {"help", no_argument, NULL, HELP},
    [VERSION] = {"version", no_argument, NULL, VERSION},
    {NULL, 0, NULL, 0},
};

static bool set_number(int64_t *value, const char *name, const char *text)
{
    int64_t parsed;
    if (!number_parse(text, &parsed)) {
        failure_note("--%s %s: not a whole number that can be counted with", name, text);
        return false;
    }
    if (parsed < 1 || parsed > INT_MAX) {
        failure_note("--%s %s: must be from 1 to %d", name, text, INT_MAX);
        return false;
    }
    *value = parsed;
    return true;
}

static bool set_json(options *o, const char *path)
{
    o->json = path;
    if (*path == '\0') failure_note("--json: the file's name is empty");
    return *path != '\0';
}

static bool set_type(number *type, const char *name)
{
    if (number_find(name, NUMBER_COUNT, type)) return true;
    failure_note("--type %s: must be f64, f32, i64, u64, i32 or u32", name);
    return false;
}

/* getopt_long() takes unique beginnings of a name for the name; a misspelling is not one. */
static bool is_abbreviated(const char *argument, const char *name)
{
    return strncmp(argument, "--", 2) == 0 && strcspn(argument + 2, "=") != strlen(name);
}

static bool is_possible(const options *o)
{
    if (!o->blas || o->type == NUMBER_F64 || o->type == NUMBER_F32) return true;
    failure_note("--blas with --type %s: BLAS multiplies f64 and f32 only; leave out --blas, or "
                 "give one of these types",
                 number_name(o->type));
    return false;
}

options_result options_parse(options *o, int argc, char **argv)
{
    *o = (options){.n = {100, 100, 100}, .iters = 100, .type = NUMBER_F64};
    int64_t *const values[NUMBERS] = {&o->n[0], &o->n[1], &o->n[2], &o->iters};
    opterr = 0;
    for (;;) {
        const int first = optind;
        const int code = getopt_long(argc, argv, "+:", list, NULL);
        if (code == -1) break;
        if (code == ':') {
            failure_note("%s: its value is missing", argv[first]);
            return OPTIONS_WRONG;
        }
        if (code == '?' || is_abbreviated(argv[first], list[code].name)) {
            failure_note("unknown option or needless value: %s (--help lists the options)",
                         argv[first]);
            return OPTIONS_WRONG;
        }
        if (code == HELP) return OPTIONS_HELP;
        if (code == VERSION) return OPTIONS_VERSION;
        if (code == BLAS) {
            o->blas = true;
            continue;
        }
        if (code == JSON   ? !set_json(o, optarg)
            : code == TYPE ? !set_type(&o->type, optarg)
                           : !set_number(values[code], list[code].name, optarg))
            return OPTIONS_WRONG;
    }
    if (optind == argc) return is_possible(o) ? OPTIONS_RUN : OPTIONS_WRONG;
    failure_note("%s is not an option (--help lists the options)", argv[optind]);
    return OPTIONS_WRONG;
}

void options_help(void)
{
    printf(
        "usage: %s [option value] ...\n\n"
        "3D dot product on a grid decomposed along x into a ring of ranks: in every iteration\n"
        "each rank receives a ghost plane from its left neighbour, computes the dot product of\n"
        "its block, and all ranks reduce the sum. It is checked against its closed form.\n\n"
        "  --nx N       cells of the global grid along x (100)\n"
        "  --ny N       along y (100)\n"
        "  --nz N       along z (100)\n"
        "  --iters N    iterations (100)\n"
        "  --type TYPE  f64, f32, i64, u64, i32 or u32 (f64)\n"
        "  --blas       compute with the BLAS library of each rank's device (OpenBLAS, CLBlast,\n"
        "               cuBLAS or hipBLAS) on the memory that meta_native() returns; libmeta\n"
        "               still does the exchange. BLAS has no boxes, so planes of constant x are\n"
        "               stored one after the other, and a block's owned cells are contiguous.\n"
        "               f64 and f32 only; not in the plain MPI version\n"
        "  --json FILE  write the report to this file as JSON\n"
        "  --help       print this help\n"
        "  --version    print the version\n\n"
        "Tolerances: integer types exact (they wrap), f64 1e-12, f32 1e-5, f32 with --blas\n"
        "1e-4, because BLAS accumulates floats in float.\n"
        "Exit status: 0 correct, 1 wrong result, 2 invalid usage or environment.\n",
        failure_program_name());
}
