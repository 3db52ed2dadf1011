/* SPDX-License-Identifier: BSD-3-Clause */
/** @file compiler.c
 *  NVRTC and hipRTC, which have the same functions under other names: finding the library whose
 *  compiler knows a GPU, and compiling with it. */
#include "config.h"

#include "compiler.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "build_log.h"
#include "program.h"

/* ------------------------------------------------------------------ messages */

meta_err gpu_fail_of_program(const char *compiler, const char *title, const char *text)
{
    meta_log_lines(gpu_host, META_LOG_WARN, compiler, title, text);
    return gpu_host->fail(META_ERR_DEVICE, "%s does not compile, %s says: %s", title, compiler,
                          text);
}

/* ------------------------------------------------------------------ the libraries */

/* A compiler's functions, as NVRTC declares them; 0 is success. */
typedef struct functions {
    int (*version)(int *major, int *minor);
    int (*create)(void **program, const char *text, const char *name, int count,
                  const char *const *headers, const char *const *names);
    int (*compile)(void *program, int count, const char *const *options);
    int (*destroy)(void **program);
    int (*log_bytes)(void *program, size_t *bytes);
    int (*log)(void *program, char *text);
    const char *(*error)(int status);
    int (*code_bytes)(void *program, size_t *bytes); /* NULL in NVRTC 11.0, as those below */
    int (*code)(void *program, char *code);
    int (*ptx_bytes)(void *program, size_t *bytes);
    int (*ptx)(void *program, char *code);
    int (*architectures)(int *count);
    int (*architecture)(int *list);
} functions;

/* In the order of `functions`. hipRTC has neither PTX nor a list of GPUs. */
static const char *const nvidia_names[] = {"nvrtcVersion",
                                           "nvrtcCreateProgram",
                                           "nvrtcCompileProgram",
                                           "nvrtcDestroyProgram",
                                           "nvrtcGetProgramLogSize",
                                           "nvrtcGetProgramLog",
                                           "nvrtcGetErrorString",
                                           "nvrtcGetCUBINSize",
                                           "nvrtcGetCUBIN",
                                           "nvrtcGetPTXSize",
                                           "nvrtcGetPTX",
                                           "nvrtcGetNumSupportedArchs",
                                           "nvrtcGetSupportedArchs",
                                           NULL};
static const char *const amd_names[] = {"hiprtcVersion",           "hiprtcCreateProgram",
                                        "hiprtcCompileProgram",    "hiprtcDestroyProgram",
                                        "hiprtcGetProgramLogSize", "hiprtcGetProgramLog",
                                        "hiprtcGetErrorString",    "hiprtcGetCodeSize",
                                        "hiprtcGetCode",           NULL};
_Static_assert(sizeof(functions) ==
                   (sizeof nvidia_names / sizeof *nvidia_names - 1) * sizeof(void (*)(void)),
               "a name for each function");

/* A vendor's compiler, and the names of its libraries, the newest first. */
typedef struct vendor {
    const char *title;
    const char *const *names;
    size_t needed; /* the first so many functions */
    const char *libraries[7];
    const char *folder; /* where its toolkit is installed, behind the folders of the linker, */
    const char *variables[2]; /* and these */
} vendor;
static const vendor nvidia = {"NVRTC",
                              nvidia_names,
                              7,
                              {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                               "libnvrtc.so.11.1", "libnvrtc.so.11.0", "libnvrtc.so"},
                              "/usr/local/cuda/lib64",
                              {"CUDA_HOME", "CUDA_PATH"}};
static const vendor amd = {"hipRTC",
                           amd_names,
                           9,
                           {"libhiprtc.so", "libhiprtc.so.7", "libhiprtc.so.6", "libamdhip64.so",
                            "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"},
                           "/opt/rocm/lib",
                           {"ROCM_PATH", "HIP_PATH"}};

/* A library that has been looked for. */
typedef struct library {
    const vendor *of;
    bool sought, found;
    char unfit[160]; /* why one that is there cannot be used */
    int major, minor;
    int *known; /* what NVRTC can compile for, as capabilities; NULL: it does not say */
    int count;
    functions call;
} library;
enum { LIBRARIES = sizeof nvidia.libraries / sizeof *nvidia.libraries };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the libraries, which stay open */
static library opened[2][LIBRARIES];

static void *open_file(const vendor *v, const char *name)
{
    char path[1024];
    void *file = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    for (int k = 0; k < 2 && !file; ++k) {
        const char *root = gpu_host->variable(v->variables[k]);
        if (!root) continue;
        snprintf(path, sizeof path, "%s/lib64/%s", root, name);
        file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (file) break;
        snprintf(path, sizeof path, "%s/lib/%s", root, name);
        file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (!file) {
        snprintf(path, sizeof path, "%s/%s", v->folder, name);
        file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return file;
}

static void list_known(library *l)
{
    int count = 0;
    if (!l->call.architectures || !l->call.architecture || l->call.architectures(&count) != 0 ||
        count < 1 || !(l->known = calloc((size_t)count, sizeof *l->known)))
        return;
    if (l->call.architecture(l->known) == 0) {
        l->count = count;
    } else {
        free(l->known);
        l->known = NULL;
    }
}

static bool find_functions(library *l, const vendor *v, const char *name, void *file)
{
    for (size_t k = 0; v->names[k]; ++k) {
        void *symbol = dlsym(file, v->names[k]);
        if (!symbol && k < v->needed) {
            snprintf(l->unfit, sizeof l->unfit, "%s has no function %s", name, v->names[k]);
            return false;
        }
        memcpy((char *)&l->call + k * sizeof symbol, &symbol, sizeof symbol);
    }
    return true;
}

/* With the lock held. */
static void seek(library *l, const vendor *v, const char *name)
{
    void *file = open_file(v, name);
    l->of = v;
    l->sought = true;
    if (!file) return;
    if (find_functions(l, v, name, file)) {
        const int status = l->call.version(&l->major, &l->minor);
        l->found = status == 0;
        if (status != 0)
            snprintf(l->unfit, sizeof l->unfit, "%s: %s: %s", name, v->names[0],
                     l->call.error(status));
    }
    if (l->found) {
        list_known(l);
    } else {
        gpu_host->log(META_LOG_INFO, "%s", l->unfit);
        dlclose(file);
    }
}

/* ------------------------------------------------------------------ the choice of one */

/* The highest capability that @p l compiles for and a GPU of @p capability runs; 0: none. Without a
 * list it is NVRTC 11.0 or 11.1. */
static int best_for(const library *l, int capability)
{
    int best = 0;
    if (!l->known) return capability < 80 ? capability : 80;
    for (int k = 0; k < l->count; ++k)
        if (l->known[k] <= capability && l->known[k] > best) best = l->known[k];
    return best;
}

/* The first of the newest that knows the GPU itself, else that which comes nearest to it.
 * @p capability becomes what it is to compile for. */
static library *choose(const gpu_target *target, const vendor *v, int *capability, bool *too_new)
{
    library *chosen = NULL;
    *capability = 0;
    *too_new = false;
    for (int k = 0; k < LIBRARIES && v->libraries[k]; ++k) {
        library *l = &opened[v == &amd][k];
        if (!l->sought) seek(l, v, v->libraries[k]);
        if (!l->found) continue;
        if (v == &amd) return l;
        if (target->driver > 0 && l->major > target->driver) {
            *too_new = true;
            continue;
        }
        const int best = best_for(l, target->capability);
        if (best > *capability) {
            *capability = best;
            chosen = l;
        }
    }
    return chosen;
}

static meta_err fail_to_choose(const gpu_target *target, const vendor *v, const char *title,
                               bool too_new)
{
    const char *unfit = NULL;
    bool found = false;
    for (int k = LIBRARIES; k-- > 0;) {
        const library *l = &opened[v == &amd][k];
        found |= l->found;
        if (*l->unfit) unfit = l->unfit;
    }
    if (!found && unfit)
        return gpu_host->fail(META_ERR_UNSUPPORTED, "%s cannot be compiled: %s", title, unfit);
    if (!found)
        return gpu_host->fail(META_ERR_UNSUPPORTED,
                              "%s cannot be compiled: no %s was found, which is in %s or an older "
                              "one; add its folder to LD_LIBRARY_PATH",
                              title, v->title, v->libraries[0]);
    if (too_new)
        return gpu_host->fail(META_ERR_UNSUPPORTED,
                              "%s cannot be compiled: the NVRTC that was found is newer than the "
                              "driver, which serves CUDA %d; install that version's NVRTC",
                              title, target->driver);
    return gpu_host->fail(META_ERR_UNSUPPORTED,
                          "%s cannot be compiled: the NVRTC that was found no longer knows GPUs of "
                          "compute capability %d.%d; install an older one",
                          title, target->capability / 10, target->capability % 10);
}

/* ------------------------------------------------------------------ compiling */

/* The options: correctly rounded division and square root, no contraction, denormals kept. hipRTC
 * rounds and keeps by itself. */
enum { OPTIONS = 8, FACTS_ROOM = 2048 };
static int set_options(const gpu_target *target, int capability, bool is_ptx, char *architecture,
                       size_t room, const char *options[OPTIONS])
{
    static const char *const nvidia_options[] = {"-std=c++17", "-fmad=false", "-prec-div=true",
                                                 "-prec-sqrt=true", "-ftz=false"};
    static const char *const amd_options[] = {"-std=c++17", "-O3", "-ffp-contract=off"};
    const char *const *others = target->amd ? amd_options : nvidia_options;
    const int count = target->amd ? 3 : 5;
    if (target->amd) snprintf(architecture, room, "--offload-arch=%s", target->amd);
    else snprintf(architecture, room, "-arch=%s_%d", is_ptx ? "compute" : "sm", capability);
    options[0] = architecture;
    for (int k = 0; k < count; ++k) options[1 + k] = others[k];
    return 1 + count;
}

/* Everything that the compiler said, to be freed. */
static char *log_of(const functions *f, void *program)
{
    size_t bytes = 0;
    if (f->log_bytes(program, &bytes) != 0) bytes = 0;
    char *text = calloc(1, bytes + 1);
    if (text && bytes > 1 && f->log(program, text) != 0) *text = '\0';
    return text;
}

static meta_err take_code(const library *l, void *program, bool is_ptx, const char *title,
                          gpu_image *image)
{
    int status = is_ptx ? l->call.ptx_bytes(program, &image->bytes)
                        : l->call.code_bytes(program, &image->bytes);
    image->code = status == 0 ? malloc(image->bytes + 1) : NULL;
    if (status == 0 && !image->code)
        return gpu_host->fail(META_ERR_NO_MEMORY, "the host has no memory for the code of %s",
                              title);
    if (status == 0)
        status = is_ptx ? l->call.ptx(program, image->code) : l->call.code(program, image->code);
    if (status == 0) return META_OK;
    free(image->code);
    image->code = NULL;
    return gpu_host->fail(META_ERR_DEVICE, "%s, code of %s: %s", l->of->title, title,
                          l->call.error(status));
}

/* A compiler that does not know the GPU makes PTX of an older one's. */
static bool makes_ptx(const library *l, const gpu_target *target, int capability)
{
    return !target->amd && (capability < target->capability || !l->call.code);
}

static meta_err build(const library *l, void *program, const gpu_target *target, int capability,
                      const char *compiler, const char *title, gpu_image *image)
{
    const double start = meta_milliseconds();
    const bool is_ptx = makes_ptx(l, target, capability);
    char architecture[160];
    const char *options[OPTIONS];
    const int count =
        set_options(target, capability, is_ptx, architecture, sizeof architecture, options);
    const int status = l->call.compile(program, count, options);
    char *said = log_of(&l->call, program);
    meta_err error = META_OK;
    if (!said) return gpu_host->fail(META_ERR_NO_MEMORY, "the host has no memory left");
    if (status != 0) {
        error = gpu_fail_of_program(compiler, title, *said ? said : l->call.error(status));
    } else {
        meta_log_lines(gpu_host, META_LOG_INFO, compiler, title, said);
        error = take_code(l, program, is_ptx, title, image);
    }
    free(said);
    META_TRY(error);
    gpu_host->log(META_LOG_INFO, "%s: %s compiled with %s in %.0f ms", compiler, title,
                  architecture, meta_milliseconds() - start);
    return META_OK;
}

static meta_err compile(const library *l, const gpu_target *target, int capability,
                        const char *title, const char *text, gpu_image *image)
{
    const char *headers[GPU_HEADERS], *names[GPU_HEADERS];
    char compiler[64];
    void *program = NULL;
    snprintf(compiler, sizeof compiler, "%s %d.%d", l->of->title, l->major, l->minor);
    if (!target->amd && capability < target->capability)
        gpu_host->log(
            META_LOG_WARN,
            "%s does not know GPUs of compute capability %d.%d: it compiles PTX for %d.%d, "
            "from which the driver makes their code",
            compiler, target->capability / 10, target->capability % 10, capability / 10,
            capability % 10);
    for (int k = 0; k < GPU_HEADERS; ++k) {
        headers[k] = gpu_headers[k].text;
        names[k] = gpu_headers[k].name;
    }
    const int status = l->call.create(&program, text, "kernel", GPU_HEADERS, headers, names);
    if (status != 0)
        return gpu_host->fail(META_ERR_DEVICE, "%s, program of %s: %s", compiler, title,
                              l->call.error(status));
    const meta_err error = build(l, program, target, capability, compiler, title, image);
    l->call.destroy(&program);
    return error;
}

/* ------------------------------------------------------------------ which one it will be */

/* Opening NVRTC takes longer than loading code that it made, so which one a program finds is kept
 * in the cache too, with the size and time of its file. */
typedef struct sought {
    const gpu_target *target;
    char *text; /* what is found */
    size_t room;
} sought;

static bool describe_file(const char *path, char text[FACTS_ROOM])
{
    struct stat about;
    if (stat(path, &about) != 0) return false;
    const int length =
        snprintf(text, FACTS_ROOM, "%s: %lld bytes of %lld.%09ld", path, (long long)about.st_size,
                 (long long)about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
    return length > 0 && length < FACTS_ROOM;
}

/* The text is "PATH: SIZE AND TIME", a line's end, and the facts. */
static meta_err check_facts(void *with, const void *code, size_t bytes)
{
    const sought *s = with;
    char text[FACTS_ROOM], path[FACTS_ROOM], now[FACTS_ROOM];
    snprintf(text, sizeof text, "%.*s", (int)bytes, (const char *)code);
    char *facts = strchr(text, '\n');
    if (!facts) return gpu_host->fail(META_ERR_DEVICE, "no compiler's description");
    *facts++ = '\0';
    snprintf(path, sizeof path, "%.*s", (int)strcspn(text, ":"), text);
    if (!describe_file(path, now) || strcmp(now, text) != 0)
        return gpu_host->fail(META_ERR_DEVICE, "%s has changed", path);
    snprintf(s->text, s->room, "%s, %s", facts, now);
    return META_OK;
}

static meta_err find_facts(void *with, void **code, size_t *bytes)
{
    const sought *s = with;
    const gpu_target *target = s->target;
    const vendor *v = target->amd ? &amd : &nvidia;
    char architecture[160], file[FACTS_ROOM];
    const char *options[OPTIONS];
    Dl_info where;
    int capability;
    bool too_new;
    pthread_mutex_lock(&lock);
    const library *l = choose(target, v, &capability, &too_new);
    pthread_mutex_unlock(&lock);
    if (!l) return gpu_host->fail(META_ERR_UNSUPPORTED, "there is no %s", v->title);
    void *symbol;
    memcpy(&symbol, &l->call.version, sizeof symbol);
    if (dladdr(symbol, &where) == 0 || !where.dli_fname || !describe_file(where.dli_fname, file))
        return gpu_host->fail(META_ERR_UNSUPPORTED, "the file of %s is not known", v->title);
    char *text = malloc((size_t)2 * FACTS_ROOM);
    if (!text) return gpu_host->fail(META_ERR_NO_MEMORY, "the host has no memory left");
    const int count = set_options(target, capability, makes_ptx(l, target, capability),
                                  architecture, sizeof architecture, options);
    int used = snprintf(text, FACTS_ROOM, "%s\n%s %d.%d", file, v->title, l->major, l->minor);
    for (int k = 0; k < count && used < FACTS_ROOM; ++k)
        used += snprintf(text + used, (size_t)(2 * FACTS_ROOM - used), " %s", options[k]);
    *code = text;
    *bytes = (size_t)used;
    return check_facts(with, text, *bytes);
}

static meta_err look_up_facts(const gpu_target *target, char *text, size_t room)
{
    const vendor *v = target->amd ? &amd : &nvidia;
    char gpu[128], linker[FACTS_ROOM] = "";
    sought s = {target, text, room};
    const char *const fact[] = {v->title,
                                gpu,
                                gpu_host->variable("LD_LIBRARY_PATH"),
                                gpu_host->variable(v->variables[0]),
                                gpu_host->variable(v->variables[1]),
                                linker};
    const meta_cached what = {.size = sizeof what,
                              .kind = "compiler",
                              .title = v->title,
                              .fact = fact,
                              .facts = sizeof fact / sizeof *fact,
                              .with = &s,
                              .load = check_facts,
                              .build = find_facts};
    if (target->amd) snprintf(gpu, sizeof gpu, "%.100s", target->amd);
    else snprintf(gpu, sizeof gpu, "%d, CUDA %d", target->capability, target->driver);
    if (!describe_file("/etc/ld.so.cache", linker)) *linker = '\0';
    snprintf(text, room, "no %s", v->title);
    return meta_host_cached(gpu_host, &what);
}

/* The facts of the kinds of GPUs that this process uses, which rarely has more than one. They stay
 * right, as a library that was opened stays open. */
typedef struct remembered {
    char amd[128]; /* empty: NVIDIA's */
    int capability, driver;
    char text[2 * FACTS_ROOM]; /* empty: not used yet */
} remembered;
enum { REMEMBERED = 4 };
static pthread_mutex_t remembered_lock = PTHREAD_MUTEX_INITIALIZER;
static remembered facts_of[REMEMBERED];
static int oldest_facts;

void gpu_compiler_facts(const gpu_target *target, char *text, size_t room)
{
    const remembered *found = NULL;
    const char *name = target->amd ? target->amd : "";
    pthread_mutex_lock(&remembered_lock);
    for (int k = 0; k < REMEMBERED && !found; ++k) {
        const remembered *r = &facts_of[k];
        if (*r->text && strcmp(r->amd, name) == 0 && r->capability == target->capability &&
            r->driver == target->driver)
            found = r;
    }
    if (found) {
        snprintf(text, room, "%s", found->text);
    } else if (look_up_facts(target, text, room) == META_OK && strlen(name) < sizeof found->amd) {
        remembered *r = &facts_of[oldest_facts++ % REMEMBERED];
        snprintf(r->amd, sizeof r->amd, "%s", name);
        r->capability = target->capability;
        r->driver = target->driver;
        snprintf(r->text, sizeof r->text, "%s", text);
    } /* without a compiler, gpu_compile() says so */
    pthread_mutex_unlock(&remembered_lock);
}

meta_err gpu_compile(const gpu_target *target, const char *title, const char *text,
                     gpu_image *image)
{
    const vendor *v = target->amd ? &amd : &nvidia;
    int capability;
    bool too_new;
    pthread_mutex_lock(&lock);
    const library *l = choose(target, v, &capability, &too_new);
    const meta_err error = l ? META_OK : fail_to_choose(target, v, title, too_new);
    pthread_mutex_unlock(&lock);
    META_TRY(error);
    return compile(l, target, capability, title, text, image);
}
