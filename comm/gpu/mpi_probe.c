/* SPDX-License-Identifier: BSD-3-Clause */
/** @file mpi_probe.c
 *  meta-mpi-probe: tries in a separate process whether MPI takes the memory of the device in
 *  META_MODE, which may crash; with --describe it prints MPI's properties. Started by
 * the library and by meta-info, not by people. */
#include "config.h"

#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "gpu/gpu_query.h"
#include "gpu/helper.h"
#include "meta.h"

enum { LARGEST = 4 << 20, ASIDE = 256 };

static int fail(const char *what, const char *why)
{
    fprintf(stderr, HELPER_SAYS "%s: %s\n", what, why);
    fflush(stdout);
    _exit(1); /* MPI's own end may wait for what failed */
}

static void need(meta_err error, const char *what)
{
    if (error != META_OK) fail(what, meta_last_error());
}

static void need_mpi(int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (code == MPI_SUCCESS) return;
    MPI_Error_string(code, text, &length);
    text[strcspn(text, "\n")] = '\0';
    fail(what, text);
}

static void start_mpi(int *argc, char ***argv, int wanted, int *level)
{
    need_mpi(MPI_Init_thread(argc, argv, wanted, level), "MPI_Init_thread");
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

typedef struct trial {
    char *from, *to;                     /* device memory */
    unsigned char *sent, *got, *nothing; /* host memory */
} trial;

/* Not at the buffer's beginning, as most messages of a plan. */
static void try_size(const trial *t, int bytes)
{
    MPI_Request request[2];
    char what[64];
    snprintf(what, sizeof what, "a message of %d bytes of device memory", bytes);
    /* If the process crashes here, this line is the last. */
    fprintf(stderr, HELPER_SAYS "%s: under way\n", what);
    for (int k = 0; k < bytes; ++k) t->sent[k] = (unsigned char)((unsigned)(k * 131 + bytes) >> 3);
    need(meta_copy_h2d(t->from + ASIDE, t->sent, (size_t)bytes, NULL), what);
    need(meta_copy_h2d(t->to + ASIDE, t->nothing, (size_t)bytes, NULL), what);
    need_mpi(MPI_Irecv(t->to + ASIDE, bytes, MPI_BYTE, 0, 7, MPI_COMM_SELF, &request[0]),
             "MPI_Irecv");
    need_mpi(MPI_Isend(t->from + ASIDE, bytes, MPI_BYTE, 0, 7, MPI_COMM_SELF, &request[1]),
             "MPI_Isend");
    need_mpi(MPI_Waitall(2, request, MPI_STATUSES_IGNORE), "MPI_Waitall");
    need(meta_copy_d2h(t->got, t->to + ASIDE, (size_t)bytes, NULL), what);
    for (int k = 0; k < bytes; ++k)
        if (t->got[k] != t->sent[k]) {
            char why[96];
            snprintf(why, sizeof why, "byte %d arrived as %d instead of %d", k, t->got[k],
                     t->sent[k]);
            fail(what, why);
        }
}

/* In the order of a program that calls meta_comm_init(): MPI, then the device; and memory as plans
 * have it, of the back end's pool where it has one. */
static int try_device(int *argc, char ***argv)
{
    static const int sizes[] = {8, 1000, 4096, 65536, 1 << 20, LARGEST};
    trial t = {.sent = malloc(LARGEST), .got = malloc(LARGEST), .nothing = malloc(LARGEST)};
    void *from, *to;
    meta_mode mode;
    int index, level;
    if (!t.sent || !t.got || !t.nothing) return fail("memory", "the host has none");
    memset(t.nothing, 0x5a, LARGEST);
    start_mpi(argc, argv, MPI_THREAD_FUNNELED, &level);
    need(meta_init(), "libmeta");
    need(meta_get_acc(&index, &mode), "the device");
    need(meta_alloc(&from, LARGEST + ASIDE), "memory of the device");
    need(meta_alloc(&to, LARGEST + ASIDE), "memory of the device");
    t.from = from;
    t.to = to;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) try_size(&t, sizes[k]);
    need(meta_free(from), "meta_free");
    need(meta_free(to), "meta_free");
    MPI_Finalize();
    need(meta_finalize(), "meta_finalize");
    free(t.sent);
    free(t.got);
    free(t.nothing);
    fprintf(stderr, HELPER_SAYS "every byte arrived, in messages of %d to %d bytes\n", sizes[0],
            LARGEST);
    return 0;
}

static const char *level_name(int level)
{
    return level == MPI_THREAD_MULTIPLE     ? "MPI_THREAD_MULTIPLE"
           : level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
           : level == MPI_THREAD_FUNNELED   ? "MPI_THREAD_FUNNELED"
                                            : "MPI_THREAD_SINGLE";
}

static int describe(int *argc, char ***argv)
{
    static const char *const kinds[GPU_KINDS] = {[GPU_CUDA] = "cuda", [GPU_HIP] = "hip"};
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "", text[128];
    int level, length, major = 0, minor = 0;
    start_mpi(argc, argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Get_library_version(library, &length);
    library[strcspn(library, ",\n")] = '\0';
    for (char *c = library; *c; ++c)
        if (*c == '\t') *c = ' ';
    MPI_Get_version(&major, &minor);
    printf(HELPER_SAYS "library %s\n" HELPER_SAYS "standard %d.%d\n" HELPER_SAYS "threads %s\n",
           library, major, minor, level_name(level));
    for (int kind = 0; kind < GPU_KINDS; ++kind) {
        const bool yes = gpu_query((gpu_kind)kind, text, sizeof text);
        printf(HELPER_SAYS "%s %s, %s\n", kinds[kind], yes ? "yes" : "no", text);
    }
    MPI_Finalize();
    return 0;
}

static int help(FILE *to, int status)
{
    fprintf(to,
            "usage: meta-mpi-probe [--describe]\n\n"
            "Tries whether MPI takes the memory of the device that META_MODE names: exit status\n"
            "0 if so, and a line on the standard error stream. libmeta_comm runs it where\n"
            "META_GPU_MPI asks for that.\n\n"
            "  --describe  print what MPI is like instead; meta-info runs this\n"
            "  --help      print this\n"
            "  --version   print the version\n");
    return status;
}

int main(int argc, char **argv)
{
    /* A crash is a result and leaves no core file; end with the parent. */
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    setvbuf(stdout, NULL, _IOLBF, 0);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (argc > 2) return help(stderr, 2);
    if (argc == 1) return try_device(&argc, &argv);
    if (strcmp(argv[1], "--describe") == 0) return describe(&argc, &argv);
    if (strcmp(argv[1], "--help") == 0) return help(stdout, 0);
    if (strcmp(argv[1], "--version") != 0) return help(stderr, 2);
    printf("meta-mpi-probe %s\n", PACKAGE_VERSION);
    return 0;
}
