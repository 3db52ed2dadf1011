/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta-info.c
 *  meta-info: the back ends and devices of this machine, why others are not usable, and the device that
 *  each rank of a job would get; with --kernels, the kernels in shared objects; with
 *  --learned, what META_MODE=auto has learned; with --documents, where the documents are; with
 *  --launcher and the like, the programs of the MPI that libmeta was built with. */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "documents.h"
#include "gpu/helper.h"
#include "json.h"
#include "kernel_list.h"
#include "learned_list.h"
#include "meta.h"
#include "mpi_tools.h"
#include "node.h"
#include "standard_output.h"

enum { STATUS_LOOKED = 0, STATUS_UNUSABLE = 2 };

typedef struct request {
    bool documents, env, json, kernels, learned;
    mpi_tool tool;             /* to name; MPI_TOOLS: none */
    bool draw;
    const char *draw_file;     /* NULL: standard output */
    int ranks, ranks_per_node; /* 0 where not given */
    int first_file;            /* argument from which on they are files, with --kernels or --learned */
} request;

/* A rank's device, or the reason why it has none. */
typedef struct mapping {
    bool found;
    int rank, node_rank, index, threads;
    meta_device_desc device;
    char reason[512];
} mapping;

/** What MPI reports about itself. */
typedef struct mpi_desc {
    bool known;
    char library[256], standard[16], threads[32];
    char cuda[128], hip[128]; /* "yes" or "no", a comma and the source of the answer */
    uint64_t shared;          /* bytes free in /dev/shm, for the shared windows of halo plans */
    char reason[512];         /* why it is not known */
} mpi_desc;

/* ------------------------------------------------------------------ the command line */

static void print_help(void)
{
    printf("usage: meta-info [--ranks N] [--ranks-per-node N] [--env] [--json]\n"
           "       meta-info --draw[=FILE] [--ranks N] [--ranks-per-node N]\n"
           "       meta-info --kernels [--json] FILE.so...\n"
           "       meta-info --learned FILE...\n"
           "       meta-info --documents\n"
           "       meta-info --launcher | --compiler | --fortran-compiler\n\n"
           "Prints the back ends, with the reason for each one that is not usable, their devices, the\n"
           "MPI library of libmeta_comm and whether it reports support for GPU memory, and the device\n"
           "that each rank of a job would get under the current META_MODE and META_RANK_MAP.\n\n"
           "  --ranks N           ranks of the job (default: 1, or the launcher's number)\n"
           "  --ranks-per-node N  ranks on each node (default: all)\n"
           "  --draw[=FILE]       show the node: packages, NUMA nodes, cores, devices beside them, and\n"
           "                      the ranks on these; as text, or as a picture into FILE.svg\n"
           "  --env               print the META_* variables instead\n"
           "  --kernels           list the kernels that the shared objects hold instead: name, element\n"
           "                      type, file and parameters. The objects are loaded, which runs their\n"
           "                      initializers.\n"
           "  --learned           list the times of kernels in files that META_MODE=auto has written:\n"
           "                      learned-*.txt in the folder of META_CACHE_DIR, or what META_LEARN names\n"
           "  --documents         print where the guides, the manual pages, the examples and the HTML are\n"
           "  --launcher          print the path of the mpiexec of the MPI that libmeta was built with:\n"
           "                      $(meta-info --launcher) -n 2 ./program\n"
           "  --compiler          print the path of its mpicc\n"
           "  --fortran-compiler  print the path of its mpifort\n"
           "  --json              print everything as one JSON document\n"
           "  --help              print this help\n"
           "  --version           print the version\n\n"
           "Exit status: 0 if the query succeeded, whatever it found; 2 if not.\n");
}

static bool read_count(const char *text, int *count)
{
    char *end;
    if (text == NULL || *text < '0' || *text > '9') return false;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (errno != 0 || *end != '\0' || value < 1 || value > INT_MAX) return false;
    *count = (int)value;
    return true;
}

static bool wrong(const char *argument, const char *why)
{
    fprintf(stderr, "meta-info: %s: %s\n", argument, why);
    return false;
}

static bool has_end(const char *name, const char *end)
{
    const size_t length = strlen(name), most = strlen(end);
    return length > most && strcmp(name + length - most, end) == 0;
}

/* False: the program exits now, with @p status. */
static bool read_command_line(request *r, int argc, char **argv, int *status)
{
    static const struct option list[] = {
        {"ranks", required_argument, NULL, 'n'},
        {"ranks-per-node", required_argument, NULL, 'm'},
        {"documents", no_argument, NULL, 'd'},
        {"draw", optional_argument, NULL, 'D'},
        {"env", no_argument, NULL, 'e'},
        {"json", no_argument, NULL, 'j'},
        {"kernels", no_argument, NULL, 'k'},
        {"learned", no_argument, NULL, 'l'},
        {"launcher", no_argument, NULL, 'L'},
        {"compiler", no_argument, NULL, 'C'},
        {"fortran-compiler", no_argument, NULL, 'F'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},
        {NULL, 0, NULL, 0},
    };
    *r = (request){.tool = MPI_TOOLS};
    *status = STATUS_UNUSABLE;
    opterr = 0;
    for (;;) {
        const int first = optind;
        const int code = getopt_long(argc, argv, "+:", list, NULL);
        if (code == -1) break;
        switch (code) {
        case 'd':
            r->documents = true;
            break;
        case 'D':
            r->draw = true;
            r->draw_file = optarg;
            if (optarg != NULL && !has_end(optarg, ".svg") && !has_end(optarg, ".txt"))
                return wrong(argv[first], "the file's name must end with .svg or .txt");
            break;
        case 'e':
            r->env = true;
            break;
        case 'j':
            r->json = true;
            break;
        case 'k':
            r->kernels = true;
            break;
        case 'l':
            r->learned = true;
            break;
        case 'L':
        case 'C':
        case 'F':
            if (argc > 2)
                return wrong(argv[first], "cannot be combined with other options or arguments");
            r->tool = code == 'L' ? MPI_LAUNCHER : code == 'C' ? MPI_COMPILER : MPI_FORTRAN_COMPILER;
            break;
        case 'n':
        case 'm':
            if (!read_count(optarg, code == 'n' ? &r->ranks : &r->ranks_per_node))
                return wrong(argv[first], "its value must be a whole number from 1");
            break;
        case 'h':
            print_help();
            *status = STATUS_LOOKED;
            return false;
        case 'v':
            printf("meta-info %s\n", PACKAGE_VERSION);
            *status = STATUS_LOOKED;
            return false;
        case ':':
            return wrong(argv[first], "its value is missing");
        default:
            return wrong(argv[first], "unknown option (--help lists the options)");
        }
    }
    r->first_file = optind;
    if (r->documents && (r->kernels || r->learned || r->json || r->env))
        return wrong("--documents", "cannot be combined with other options; --json has them as well");
    if (r->draw && (r->documents || r->kernels || r->learned || r->json || r->env))
        return wrong("--draw", "cannot be combined with options other than --ranks and "
                               "--ranks-per-node");
    if (r->learned && (r->kernels || r->json || r->env))
        return wrong("--learned", "cannot be combined with --kernels, --env or --json");
    if (r->learned) return optind < argc || wrong("--learned", "names no file");
    if (r->kernels) return optind < argc || wrong("--kernels", "names no shared object");
    return optind == argc || wrong(argv[optind], "is not an option (--help lists the options)");
}

/* ------------------------------------------------------------------ the launcher */

static const char *first_set(const char *const *names)
{
    for (; *names != NULL; ++names)
        if (getenv(*names) != NULL) return getenv(*names);
    return NULL;
}

/* Under mpiexec or srun only one process prints. */
static bool is_first_process(void)
{
    static const char *const names[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", NULL};
    const char *rank = first_set(names);
    return rank == NULL || strcmp(rank, "0") == 0;
}

static void complete(request *r)
{
    static const char *const sizes[] = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS", NULL};
    static const char *const local[] = {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE",
                                        "SLURM_NTASKS_PER_NODE", NULL};
    const bool launched = r->ranks == 0 && read_count(first_set(sizes), &r->ranks);
    if (r->ranks == 0) r->ranks = 1;
    if (r->ranks_per_node == 0 && launched) read_count(first_set(local), &r->ranks_per_node);
    if (r->ranks_per_node == 0 || r->ranks_per_node > r->ranks) r->ranks_per_node = r->ranks;
}

/* ------------------------------------------------------------------ queries */

static bool get_backend(int i, meta_backend_desc *desc)
{
    *desc = (meta_backend_desc)META_BACKEND_DESC_INIT;
    return meta_backend_info(i, desc) == META_OK;
}

static bool get_device(int i, meta_mode mode, meta_device_desc *desc)
{
    *desc = (meta_device_desc)META_DEVICE_DESC_INIT;
    return meta_device_info(i, mode, desc) == META_OK;
}

static bool get_variable(int i, meta_variable_desc *desc)
{
    *desc = (meta_variable_desc)META_VARIABLE_DESC_INIT;
    return meta_variable_info(i, desc) == META_OK;
}

static void map_rank(const request *r, int rank, mapping *m)
{
    const int first = rank / r->ranks_per_node * r->ranks_per_node;
    const int left = r->ranks - first;
    const int node_size = left < r->ranks_per_node ? left : r->ranks_per_node;
    meta_mode mode;
    *m = (mapping){.rank = rank, .node_rank = rank - first};
    if (meta_rank_device(rank, r->ranks, rank - first, node_size, &mode, &m->index, &m->threads) ==
            META_OK &&
        get_device(m->index, mode, &m->device)) {
        m->found = true;
        return;
    }
    snprintf(m->reason, sizeof m->reason, "%s", meta_last_error());
}

/* ------------------------------------------------------------------ MPI */

/* The value in the helper's output line that starts with @p key. */
static void copy_line(const helper_end *end, const char *key, char *text, size_t room)
{
    char beginning[64];
    snprintf(beginning, sizeof beginning, HELPER_SAYS "%s ", key);
    const char *line = strstr(end->text, beginning);
    if (line != NULL) line += strlen(beginning);
    snprintf(text, room, "%.*s", line != NULL ? (int)strcspn(line, "\n") : 0,
             line != NULL ? line : "");
}

static uint64_t shared_room(void)
{
    struct statvfs shm;
    if (statvfs("/dev/shm", &shm) != 0) return 0;
    return (uint64_t)shm.f_bavail * shm.f_frsize;
}

/* Queries MPI in a helper process: MPI may be missing, or abort the process. */
static void ask_mpi(mpi_desc *m)
{
    helper_end end;
    *m = (mpi_desc){.shared = shared_room()};
    helper_run("--describe", NULL, &end);
    m->known = end.success;
    copy_line(&end, "library", m->library, sizeof m->library);
    copy_line(&end, "standard", m->standard, sizeof m->standard);
    copy_line(&end, "threads", m->threads, sizeof m->threads);
    copy_line(&end, "cuda", m->cuda, sizeof m->cuda);
    copy_line(&end, "hip", m->hip, sizeof m->hip);
    if (end.missing) {
        snprintf(m->reason, sizeof m->reason, "built without MPI: %s", end.how);
    } else if (!m->known) {
        char line[128];
        helper_last_line(&end, line, sizeof line);
        snprintf(m->reason, sizeof m->reason, "meta-mpi-probe failed, %s%s%s", end.how,
                 *line != '\0' ? ": " : "", line);
    }
}

/* ------------------------------------------------------------------ as text */

static void print_backends(int count)
{
    printf("back ends\n");
    for (int i = 0; i < count; ++i) {
        meta_backend_desc b;
        if (!get_backend(i, &b)) continue;
        if (b.usable)
            printf("  %-10s usable, %d %s: %s\n", b.name, b.devices,
                   b.devices == 1 ? "device" : "devices", b.description);
        else printf("  %-10s not usable: %s\n", b.name, b.reason);
        if (b.path[0] != '\0') printf("  %-10s   %s\n", "", b.path);
    }
}

static void print_device(const meta_device_desc *d)
{
    printf("  %s:%d  %s\n", d->backend, d->index, d->name);
    printf("    %.1f GiB, %d compute %s, %s double precision, %s\n", (double)d->memory / 0x1p30,
           d->compute_units, d->compute_units == 1 ? "unit" : "units", d->has_f64 ? "with" : "no",
           d->is_gpu    ? "GPU"
           : d->is_host ? "host memory"
                        : "own memory");
    printf("    %s%s%s\n", d->driver, d->pci[0] ? ", at " : "", d->pci);
}

static void print_devices(int count)
{
    printf("\ndevices\n");
    for (int i = 0; i < count; ++i) {
        meta_backend_desc b;
        meta_device_desc d;
        if (!get_backend(i, &b)) continue;
        for (int k = 0; k < b.devices; ++k)
            if (get_device(k, b.mode, &d)) print_device(&d);
    }
}

static void print_mpi(void)
{
    mpi_desc m;
    ask_mpi(&m);
    printf("\nMPI\n");
    if (m.known)
        printf("  %s, MPI %s, %s\n  takes CUDA memory: %s\n  takes HIP memory:  %s\n", m.library,
               m.standard, m.threads, m.cuda, m.hip);
    else printf("  none: %s\n", m.reason);
    if (mpi_tool_path(MPI_LAUNCHER) != NULL)
        printf("  launcher: %s\n", mpi_tool_path(MPI_LAUNCHER));
    printf("  /dev/shm has room for %.1f MiB\n", (double)m.shared / 0x1p20);
}

static void print_ranks(const request *r)
{
    printf("\nranks: %d, %d on a node\n", r->ranks, r->ranks_per_node);
    for (int rank = 0; rank < r->ranks; ++rank) {
        mapping m;
        map_rank(r, rank, &m);
        if (!m.found) printf("  %5d  none: %s\n", rank, m.reason);
        else
            printf("  %5d  %s:%d, %d CPU %s, %s\n", rank, m.device.backend, m.index, m.threads,
                   m.threads == 1 ? "thread" : "threads", m.device.name);
    }
}

static void print_variables(void)
{
    int count = 0;
    meta_variable_count(&count);
    for (int i = 0; i < count; ++i) {
        meta_variable_desc v;
        if (!get_variable(i, &v)) continue;
        if (v.value != NULL) printf("%s=%s\n", v.name, v.value);
        else printf("%s is not set\n", v.name);
        printf("    %s\n    values: %s\n    default: %s\n", v.description, v.values,
               *v.initial != '\0' ? v.initial : "none");
    }
}

/* ------------------------------------------------------------------ as JSON */

static void write_backends(json *j, int count)
{
    json_open(j, "backends", '[');
    for (int i = 0; i < count; ++i) {
        meta_backend_desc b;
        if (!get_backend(i, &b)) continue;
        json_open(j, NULL, '{');
        json_string(j, "name", b.name);
        json_bool(j, "usable", b.usable);
        json_string(j, "reason", b.reason);
        json_string(j, "description", b.description);
        json_string(j, "path", b.path);
        json_number(j, "devices", b.devices);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void write_device(json *j, const meta_device_desc *d)
{
    json_open(j, NULL, '{');
    json_string(j, "backend", d->backend);
    json_number(j, "index", d->index);
    json_string(j, "name", d->name);
    json_string(j, "driver", d->driver);
    json_size(j, "memory", d->memory);
    json_number(j, "compute_units", d->compute_units);
    json_bool(j, "f64", d->has_f64);
    json_bool(j, "host", d->is_host);
    json_bool(j, "gpu", d->is_gpu);
    json_string(j, "pci", d->pci);
    json_close(j, '}');
}

static void write_devices(json *j, int count)
{
    json_open(j, "devices", '[');
    for (int i = 0; i < count; ++i) {
        meta_backend_desc b;
        meta_device_desc d;
        if (!get_backend(i, &b)) continue;
        for (int k = 0; k < b.devices; ++k)
            if (get_device(k, b.mode, &d)) write_device(j, &d);
    }
    json_close(j, ']');
}

/* Whether an answer is yes, and who gave it. */
static void write_answer(json *j, const char *key, const char *answer)
{
    const char *comma = strchr(answer, ',');
    json_open(j, key, '{');
    json_bool(j, "says_yes", strncmp(answer, "yes", 3) == 0);
    json_string(j, "source", comma != NULL ? comma + 2 : NULL);
    json_close(j, '}');
}

static void write_mpi(json *j)
{
    mpi_desc m;
    ask_mpi(&m);
    json_open(j, "mpi", '{');
    json_bool(j, "known", m.known);
    json_string(j, "reason", m.reason);
    json_string(j, "library", m.known ? m.library : NULL);
    json_string(j, "standard", m.known ? m.standard : NULL);
    json_string(j, "threads", m.known ? m.threads : NULL);
    write_answer(j, "cuda", m.cuda);
    write_answer(j, "hip", m.hip);
    json_size(j, "shared_memory_free", m.shared);
    json_string(j, "launcher", mpi_tool_path(MPI_LAUNCHER));
    json_string(j, "compiler", mpi_tool_path(MPI_COMPILER));
    json_string(j, "fortran_compiler", mpi_tool_path(MPI_FORTRAN_COMPILER));
    json_close(j, '}');
}

static void write_ranks(json *j, const request *r)
{
    json_open(j, "ranks", '[');
    for (int rank = 0; rank < r->ranks; ++rank) {
        mapping m;
        map_rank(r, rank, &m);
        json_open(j, NULL, '{');
        json_number(j, "rank", rank);
        json_number(j, "node_rank", m.node_rank);
        json_string(j, "backend", m.found ? m.device.backend : NULL);
        if (m.found) {
            json_number(j, "index", m.index);
            json_number(j, "threads", m.threads);
        } else {
            json_string(j, "reason", m.reason);
        }
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void write_variables(json *j)
{
    int count = 0;
    meta_variable_count(&count);
    json_open(j, "variables", '[');
    for (int i = 0; i < count; ++i) {
        meta_variable_desc v;
        if (!get_variable(i, &v)) continue;
        json_open(j, NULL, '{');
        json_string(j, "name", v.name);
        json_string(j, "value", v.value);
        json_string(j, "default", v.initial);
        json_string(j, "values", v.values);
        json_string(j, "description", v.description);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void write_all(const request *r, int backends)
{
    json j = {.to = stdout};
    json_open(&j, NULL, '{');
    json_string(&j, "version", PACKAGE_VERSION);
    write_backends(&j, backends);
    write_devices(&j, backends);
    write_mpi(&j);
    write_ranks(&j, r);
    write_variables(&j);
    documents_write(&j);
    json_close(&j, '}');
}

static int fail(const char *message)
{
    fprintf(stderr, "meta-info: %s\n", message);
    return STATUS_UNUSABLE;
}

static int fail_draw(const char *path, const char *why)
{
    fprintf(stderr, "meta-info: --draw%s%s: %s\n", path != NULL ? "=" : "",
            path != NULL ? path : "", why);
    return STATUS_UNUSABLE;
}

/* ------------------------------------------------------------------ as a picture */

static bool list_devices(node *n, int backends)
{
    meta_backend_desc b;
    node_device d = {.domain = -1};
    int room = 0;
    for (int i = 0; i < backends; ++i)
        if (get_backend(i, &b)) room += b.devices;
    n->devices = calloc((size_t)room + 1, sizeof *n->devices);
    if (n->devices == NULL) return false;
    for (int i = 0; i < backends; ++i) {
        if (!get_backend(i, &b)) continue;
        for (int k = 0; k < b.devices && n->device_count < room; ++k)
            if (get_device(k, b.mode, &d.desc)) n->devices[n->device_count++] = d;
    }
    return true;
}

static int device_of(const node *n, const mapping *m)
{
    for (int d = 0; m->found && d < n->device_count; ++d)
        if (n->devices[d].desc.mode == m->device.mode && n->devices[d].desc.index == m->index)
            return d;
    return -1;
}

/* The ranks of the first node. */
static bool list_ranks(node *n, const request *r)
{
    n->job_ranks = r->ranks;
    n->ranks = calloc((size_t)r->ranks_per_node, sizeof *n->ranks);
    if (n->ranks == NULL) return false;
    for (int rank = 0; rank < r->ranks_per_node; ++rank) {
        node_rank *to = &n->ranks[n->rank_count++];
        mapping m;
        map_rank(r, rank, &m);
        *to = (node_rank){.rank = rank, .threads = m.threads, .device = device_of(n, &m)};
        if (m.found) snprintf(to->text, sizeof to->text, "%s:%d", m.device.backend, m.index);
        else snprintf(to->text, sizeof to->text, "no device: %s", m.reason);
    }
    return true;
}

static int write_node(const node *n, const char *path)
{
    FILE *to = path != NULL ? fopen(path, "w") : stdout;
    if (to == NULL) return fail_draw(path, strerror(errno));
    if (path != NULL && has_end(path, ".svg")) node_write_svg(n, to);
    else node_write_text(n, to);
    if (path == NULL) return STATUS_LOOKED;
    const bool is_lost = fflush(to) != 0 || ferror(to);
    const int cause = errno;
    if (fclose(to) == 0 && !is_lost) return STATUS_LOOKED;
    struct stat status;
    if (lstat(path, &status) == 0 && S_ISREG(status.st_mode)) remove(path); /* it is not whole */
    return fail_draw(path, strerror(is_lost ? cause : errno));
}

static int draw(const request *r, int backends)
{
    node n = {.domains = NULL};
    char why[256] = "";
    int status = STATUS_UNUSABLE;
    if (!list_devices(&n, backends) || !list_ranks(&n, r))
        fail_draw(NULL, "no memory for the node's devices and ranks");
    else if (!node_find_domains(&n, why, sizeof why)) fail_draw(NULL, why);
    else status = write_node(&n, r->draw_file);
    node_free(&n);
    return status;
}

/* ------------------------------------------------------------------ the program */

static int look(const request *r)
{
    int backends = 0;
    if (meta_init() != META_OK) return fail(meta_last_error());
    if (meta_backend_count(&backends) != META_OK) return fail(meta_last_error());
    int status = STATUS_LOOKED;
    if (r->draw) {
        status = draw(r, backends);
    } else if (r->json) {
        write_all(r, backends);
    } else {
        print_backends(backends);
        print_devices(backends);
        print_mpi();
        print_ranks(r);
    }
    return meta_finalize() == META_OK ? status : fail(meta_last_error());
}

static int look_for_kernels(const request *r, int argc, char **argv)
{
    if (meta_init() != META_OK) return fail(meta_last_error());
    const bool all = kernel_list(argc - r->first_file, argv + r->first_file, r->json);
    if (meta_finalize() != META_OK) return fail(meta_last_error());
    return all ? STATUS_LOOKED : STATUS_UNUSABLE;
}

static int run(int argc, char **argv)
{
    request r;
    int status;
    if (!read_command_line(&r, argc, argv, &status)) return status;
    if (!is_first_process()) return STATUS_LOOKED;
    if (r.tool != MPI_TOOLS) return mpi_tool_print(r.tool) ? STATUS_LOOKED : STATUS_UNUSABLE;
    complete(&r);
    if (r.documents) {
        documents_print();
        return STATUS_LOOKED;
    }
    if (r.learned)
        return learned_list(argc - r.first_file, argv + r.first_file) ? STATUS_LOOKED
                                                                      : STATUS_UNUSABLE;
    if (r.kernels) return look_for_kernels(&r, argc, argv);
    if (!r.env || r.json) return look(&r);
    print_variables();
    return STATUS_LOOKED;
}

int main(int argc, char **argv)
{
    standard_output_begin();
    const int status = run(argc, argv);
    const char *error = standard_output_error();
    return error == NULL || status == STATUS_UNUSABLE ? status : fail(error);
}
