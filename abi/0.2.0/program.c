/* SPDX-License-Identifier: BSD-3-Clause */
/** @file program.c
 *  A program of 0.2.0 without MPI: it uses each structure that begins with its size, the arrays of
 *  those that do not, and every kind of kernel parameter, and compares all results with those of
 *  simple loops in numbers that are exact. Arguments: the module of kernels, and `short` for few
 *  kernels of its own, where it takes long to compile them. */
#include <dlfcn.h>
#include <meta.h>
#include <meta_library.h>

#include "check.h"
#define META_KERNELS_HERE
#include "cells.kernel.h"

enum { NX = 10, NY = 7, NZ = 6, MOST = 40 * 20 * 20 };

static meta_mode mode;
static int device;

/* A grid with a ghost on each side, and its values on the host. */
typedef struct grid {
    void *buf;
    meta_box box;
    size_t bytes;
    double f64[MOST];
    int32_t i32[MOST];
} grid;

static int at(const grid *g, int x, int y, int z)
{
    return (int)((z * g->box.size[1] + y) * g->box.size[0]) + x;
}

static int value(int n)
{
    return n * 37 % 101 - 50;
}

static void make(grid *g, meta_type type)
{
    const int64_t cells[3] = {NX, NY, NZ};
    const int widths[3] = {1, 1, 1};
    size_t each;
    TRY(meta_type_size(type, &each));
    TRY(meta_grid_alloc(&g->buf, &g->box, 3, cells, widths, widths, type));
    g->bytes = each * (size_t)(g->box.size[0] * g->box.size[1] * g->box.size[2]);
    for (int n = 0; n < MOST; ++n) g->f64[n] = g->i32[n] = value(n);
    TRY(meta_copy_h2d(g->buf, type == META_F64 ? (void *)g->f64 : (void *)g->i32, g->bytes, NULL));
}

static void get(grid *g, meta_type type)
{
    TRY(meta_copy_d2h(type == META_F64 ? (void *)g->f64 : (void *)g->i32, g->buf, g->bytes, NULL));
}

#define EACH_CELL(g)                                                                               \
    for (int z = (int)(g)->box.start[2]; z < (g)->box.end[2]; ++z)                                 \
        for (int y = (int)(g)->box.start[1]; y < (g)->box.end[1]; ++y)                             \
            for (int x = (int)(g)->box.start[0]; x < (g)->box.end[0]; ++x)

static grid a, b;

/* ------------------------------------------------------------------ structures with a size */

static void describe(void)
{
    meta_device_desc about = META_DEVICE_DESC_INIT;
    meta_backend_desc backend = META_BACKEND_DESC_INIT;
    meta_variable_desc variable = META_VARIABLE_DESC_INIT;
    int count, found = 0;
    TRY(meta_get_acc(&device, &mode));
    TRY(meta_device_info(device, mode, &about));
    EXPECT(about.size == sizeof about && about.mode == mode && about.index == device);
    EXPECT(*about.name && about.memory > 0);
    TRY(meta_backend_count(&count));
    for (int k = 0; k < count; ++k) {
        TRY(meta_backend_info(k, &backend));
        EXPECT(backend.size == sizeof backend && *backend.name);
        found += backend.mode == mode && backend.usable && backend.devices > 0;
    }
    EXPECT(found == 1 || mode == META_AUTO);
    TRY(meta_variable_count(&count));
    for (int k = found = 0; k < count; ++k) {
        TRY(meta_variable_info(k, &variable));
        EXPECT(variable.size == sizeof variable);
        found += strcmp(variable.name, "META_MODE") == 0 && variable.value && *variable.description;
    }
    EXPECT(found == 1);
}

static void buffers(void)
{
    meta_pointer_desc pointer = META_POINTER_DESC_INIT;
    meta_mem_desc memory = META_MEM_DESC_INIT;
    meta_pool_desc pool = META_POOL_DESC_INIT;
    meta_state state = META_STATE_INIT;
    void *object;
    size_t offset;
    TRY(meta_label(a.buf, "old array"));
    TRY(meta_pointer_info((char *)a.buf + 16, &pointer));
    EXPECT(pointer.size == sizeof pointer && pointer.base == a.buf && pointer.offset == 16);
    EXPECT(pointer.bytes == a.bytes && pointer.kind == META_MEMORY_DEVICE);
    EXPECT(strcmp(pointer.label, "old array") == 0);
    TRY(meta_mem_info(device, mode, &memory));
    EXPECT(memory.size == sizeof memory && memory.buffers >= 1 && memory.allocated >= a.bytes);
    TRY(meta_pool_info(device, mode, &pool));
    EXPECT(pool.size == sizeof pool && pool.held_peak >= pool.held);
    TRY(meta_native((char *)a.buf + 8, &object, &offset));
    EXPECT(object && offset == 8);
    TRY(meta_native_end(a.buf));
    if (mode == META_AUTO) return;
    TRY(meta_get_state(device, mode, &state));
    EXPECT(state.size == sizeof state);
    EXPECT(meta_set_state(device, mode, &state) == META_ERR_STATE); /* it is in use */
}

static int begun[META_ACTIVITY_COUNT], ended[META_ACTIVITY_COUNT];

static void tool_begin(void *user, meta_activity activity, const char *name, uint64_t bytes,
                       uint64_t id)
{
    (void)bytes;
    EXPECT(user == &begun && name && id != 0);
    ++begun[activity];
}

static void tool_end(void *user, meta_activity activity, uint64_t id, uint64_t from, uint64_t to)
{
    EXPECT(user == &begun && id != 0 && from <= to);
    ++ended[activity];
}

static int decisions;

static int choose(const meta_decision *decision, void *user)
{
    EXPECT(user == &decisions && decision->size >= sizeof *decision && decision->candidates > 0);
    EXPECT(decision->candidate[0]->size >= sizeof(meta_candidate) &&
           decision->candidate[0]->device);
    ++decisions;
    return decision->candidates - 1;
}

/* ------------------------------------------------------------------ the library's own kernels */

static void sums(void)
{
    double sum, dot, from_stencil, expected = 0, squares = 0;
    meta_event event = META_EVENT_NULL;
    const double two = 2;
    int complete;
    make(&a, META_F64);
    make(&b, META_F64);
    EACH_CELL(&a)
    {
        expected += value(at(&a, x, y, z));
        squares += (double)value(at(&a, x, y, z)) * value(at(&a, x, y, z));
    }
    TRY(meta_reduce(&sum, a.buf, &a.box, META_SUM, META_F64, &event));
    TRY(meta_event_wait(event));
    TRY(meta_event_test(event, &complete));
    EXPECT(complete && sum == expected);
    TRY(meta_event_free(&event));
    TRY(meta_dot(&dot, a.buf, b.buf, &a.box, META_F64, NULL));
    EXPECT(dot == squares);
    TRY(meta_axpy(b.buf, &two, a.buf, &a.box, META_F64, META_ASYNC));
    TRY(meta_flush());
    get(&b, META_F64);
    EACH_CELL(&b)
    FIRST_WRONG("axpy", at(&b, x, y, z), b.f64[at(&b, x, y, z)], 3.0 * value(at(&b, x, y, z)));
    /* Seven times one value is that value times 7, whatever the division does with it. */
    TRY(meta_fill(a.buf, (int64_t)(a.bytes / 8), &two, META_F64, NULL));
    TRY(meta_stencil(b.buf, a.buf, &a.box, META_3D7P, META_F64, &from_stencil, NULL));
    get(&b, META_F64);
    EACH_CELL(&b) FIRST_WRONG("stencil", at(&b, x, y, z), b.f64[at(&b, x, y, z)], 2.0);
    EXPECT(from_stencil == 2.0 * NX * NY * NZ);
    TRY(meta_free(a.buf));
    TRY(meta_free(b.buf));
}

static void faces(void)
{
    meta_face face;
    void *packed;
    double host[NX * NY];
    int64_t elements;
    make(&a, META_F64);
    TRY(meta_face_slab(&face, &a.box, 2, META_SLAB_HIGH, 1));
    TRY(meta_face_elements(&face, &elements));
    EXPECT(elements == NX * NY && face.count >= 2);
    TRY(meta_alloc(&packed, sizeof host));
    TRY(meta_pack_face(packed, a.buf, &face, META_F64, NULL));
    TRY(meta_copy_d2h(host, packed, sizeof host, NULL));
    for (int y = 0; y < NY; ++y)
        for (int x = 0; x < NX; ++x)
            FIRST_WRONG("pack", y * NX + x, host[y * NX + x],
                        value(at(&a, x + (int)a.box.start[0], y + 1, (int)a.box.end[2] - 1)));
    TRY(meta_free(packed));
    TRY(meta_free(a.buf));
}

/* A matrix of 5 rows with 2 entries each: r in column r, 1 in column 0. */
static void matrix(void)
{
    const int32_t starts[6] = {0, 2, 4, 6, 8, 10}, columns[10] = {0, 0, 0, 1, 0, 2, 0, 3, 0, 4};
    const double values[10] = {1, 0, 1, 1, 1, 2, 1, 3, 1, 4}, xs[5] = {7, 1, 2, 3, 4};
    double ys[5];
    void *start, *column, *entry, *x, *y;
    TRY(meta_alloc(&start, sizeof starts));
    TRY(meta_alloc(&column, sizeof columns));
    TRY(meta_alloc(&entry, sizeof values));
    TRY(meta_alloc(&x, sizeof xs));
    TRY(meta_alloc(&y, sizeof ys));
    TRY(meta_copy_h2d(start, starts, sizeof starts, NULL));
    TRY(meta_copy_h2d(column, columns, sizeof columns, NULL));
    TRY(meta_copy_h2d(entry, values, sizeof values, NULL));
    TRY(meta_copy_h2d(x, xs, sizeof xs, NULL));
    meta_csr csr = META_CSR_INIT;
    csr.rows = csr.columns = 5;
    csr.entries = 10;
    csr.start = start;
    csr.column = column;
    csr.value = entry;
    TRY(meta_csr_check(&csr));
    TRY(meta_csr_multiply(y, NULL, &csr, x, NULL, NULL));
    TRY(meta_copy_d2h(ys, y, sizeof ys, NULL));
    for (int r = 0; r < 5; ++r) FIRST_WRONG("matrix", r, ys[r], 7 + r * xs[r]);
    TRY(meta_free(start));
    TRY(meta_free(column));
    TRY(meta_free(entry));
    TRY(meta_free(x));
    TRY(meta_free(y));
}

/* ------------------------------------------------------------------ its own kernels */

static double spread_of(const grid *g, int x, int y, int z)
{
    return 2.0 * value(at(g, x, y, z)) +
           3.0 *
               (value(at(g, x - 1, y, z)) + value(at(g, x + 1, y, z)) + value(at(g, x, y - 1, z)) +
                value(at(g, x, y + 1, z)) + value(at(g, x, y, z - 1)) + value(at(g, x, y, z + 1)));
}

static void spreads(void)
{
    double sum = 0, low = 1e9, high = -1e9, sum64, low64, high64;
    int32_t sum32, low32, high32;
    make(&a, META_F64);
    make(&b, META_F64);
    EACH_CELL(&a)
    {
        const double s = spread_of(&a, x, y, z);
        sum += s;
        low = s < low ? s : low;
        high = s > high ? s : high;
    }
    TRY(spread_f64(&a.box, b.buf, a.buf, 3, &sum64, &low64, &high64, NULL));
    EXPECT(sum64 == sum && low64 == low && high64 == high);
    get(&b, META_F64);
    EACH_CELL(&b)
    FIRST_WRONG("spread_f64", at(&b, x, y, z), b.f64[at(&b, x, y, z)], spread_of(&b, x, y, z));
    TRY(meta_free(a.buf));
    TRY(meta_free(b.buf));
    make(&a, META_I32);
    make(&b, META_I32);
    TRY(spread_i32(&a.box, b.buf, a.buf, 3, &sum32, &low32, &high32, NULL));
    get(&b, META_I32);
    EACH_CELL(&b)
    FIRST_WRONG("spread_i32", at(&b, x, y, z), b.i32[at(&b, x, y, z)],
                (int32_t)spread_of(&b, x, y, z));
    TRY(meta_free(a.buf));
    TRY(meta_free(b.buf));
}

static void *put(const void *host, size_t bytes)
{
    void *buf;
    TRY(meta_alloc(&buf, bytes));
    TRY(meta_copy_h2d(buf, host, bytes, NULL));
    return buf;
}

static void shapes(void)
{
    static double face[MOST], layer[MOST], profile[MOST];
    const double factor = 3;
    const int32_t table[4] = {10, 20, 30, 40};
    const cells_pair pair = {100, 2, 5};
    make(&a, META_F64);
    for (int n = 0; n < MOST; ++n) face[n] = n % 13, layer[n] = n % 7, profile[n] = n % 5;
    void *faces_of = put(face, sizeof face), *layers = put(layer, sizeof layer),
         *profiles = put(profile, sizeof profile), *three = put(&factor, sizeof factor),
         *tables = put(table, sizeof table);
    TRY(shaped_f64(&a.box, a.buf, three, profiles, layers, faces_of, pair, tables, NULL));
    get(&a, META_F64);
    EACH_CELL(&a)
    {
        const int64_t nx = a.box.size[0], ny = a.box.size[1];
        const double expected = 3.0 * value(at(&a, x, y, z)) + profile[x] + layer[z * nx + x] +
                                face[(z * ny + y) * (nx + 1) + x] + 110 + table[x % 4];
        FIRST_WRONG("shaped", at(&a, x, y, z), a.f64[at(&a, x, y, z)], expected);
    }
    TRY(meta_free(faces_of));
    TRY(meta_free(layers));
    TRY(meta_free(profiles));
    TRY(meta_free(three));
    TRY(meta_free(tables));
    TRY(meta_free(a.buf));
}

static void deposits(void)
{
    static int32_t charge[MOST];
    int32_t bin[4] = {0}, found[4], low = 1000, high = -1000;
    int64_t low_x = 0, high_x = 0;
    const int32_t zero = 0;
    meta_extreme_i32 least, most;
    make(&a, META_I32);
    make(&b, META_I32);
    TRY(meta_fill(a.buf, (int64_t)(a.bytes / 4), &zero, META_I32, NULL));
    EACH_CELL(&b)
    {
        const int32_t q = value(at(&b, x, y, z));
        charge[at(&b, x, y, z)] += q;
        ++charge[at(&b, x + 1, y, z)];
        ++bin[q & 3];
        if (q < low) low = q, low_x = x;
        if (q > high) high = q, high_x = x;
    }
    void *bins = put((int32_t[4]){0}, sizeof bin);
    const meta_err error = deposit_i32(&a.box, a.buf, bins, b.buf, &least, &most, NULL);
    /* The plug-in of 0.2.0 refuses results with places. */
    if (mode >= META_FIRST_PLUGIN) EXPECT(error == META_ERR_UNSUPPORTED);
    else TRY(error);
    TRY(meta_copy_d2h(found, bins, sizeof found, NULL));
    get(&a, META_I32);
    TRY(meta_free(bins));
    TRY(meta_free(a.buf));
    TRY(meta_free(b.buf));
    if (error != META_OK) return;
    for (int k = 0; k < 4; ++k) FIRST_WRONG("bins", k, found[k], bin[k]);
    EXPECT(least.value == low && least.index[0] == low_x);
    EXPECT(most.value == high && most.index[0] == high_x);
    EACH_CELL(&a)
    FIRST_WRONG("charge", at(&a, x, y, z), a.i32[at(&a, x, y, z)], charge[at(&a, x, y, z)]);
}

static void teams(void)
{
    int64_t cells;
    make(&a, META_F64);
    make(&b, META_F64);
    TRY(turn_f64(&a.box, b.buf, a.buf, &cells, NULL));
    EXPECT(cells == NX * NY * NZ);
    get(&b, META_F64);
    EACH_CELL(&b)
    {
        const int x0 = (int)b.box.start[0], y0 = (int)b.box.start[1];
        const int tx = (x - x0) / 4 * 4, ty = (y - y0) / 4 * 4;
        const int ex = NX - tx < 4 ? NX - tx : 4, ey = NY - ty < 4 ? NY - ty : 4;
        const int fx = x0 + tx + ex - 1 - (x - x0 - tx), fy = y0 + ty + ey - 1 - (y - y0 - ty);
        FIRST_WRONG("turn", at(&b, x, y, z), b.f64[at(&b, x, y, z)], value(at(&b, fx, fy, z)));
    }
    TRY(meta_free(a.buf));
    TRY(meta_free(b.buf));
}

static void run_axpy(meta_kernel *kernel, const char *name)
{
    const double two = 2;
    double sum, expected = 0;
    make(&a, META_F64);
    make(&b, META_F64);
    const void *const arguments[] = {a.buf, b.buf, &two, &sum};
    TRY(meta_kernel_run(kernel, &a.box, arguments, NULL));
    EACH_CELL(&a) expected += 3.0 * value(at(&a, x, y, z));
    EXPECT(sum == expected);
    get(&a, META_F64);
    EACH_CELL(&a)
    FIRST_WRONG(name, at(&a, x, y, z), a.f64[at(&a, x, y, z)], 3.0 * value(at(&a, x, y, z)));
    TRY(meta_free(a.buf));
    TRY(meta_free(b.buf));
}

/* Kernels as the library knows them, also those that it has compiled itself. */
static void read_kernel(const char *name)
{
    static const uint32_t kind[] = {META_PARAMETER_INOUT, META_PARAMETER_IN, META_PARAMETER_VALUE,
                                    META_PARAMETER_SUM};
    static const char *const names[] = {"y", "x", "a", "sum"};
    int low[META_MAX_DIM] = {0}, high[META_MAX_DIM] = {0}, count, own = 0;
    meta_kernel *kernel;
    TRY(meta_kernel_find(name, META_F64, &kernel));
    EXPECT(kernel->size >= sizeof *kernel && strcmp(kernel->name, name) == 0 && !kernel->team);
    EXPECT(kernel->parameters == 4);
    for (int k = 0; k < 4; ++k)
        EXPECT(kernel->parameter[k].kind == kind[k] &&
               strcmp(kernel->parameter[k].name, names[k]) == 0 && kernel->parameter[k].bytes == 8);
    TRY(meta_kernel_reach(kernel, low, high));
    EXPECT(low[0] == 0 && high[2] == 0);
    TRY(meta_kernel_prepare(kernel));
    TRY(meta_kernel_count(&count));
    for (int k = 0; k < count; ++k) {
        meta_kernel *one;
        TRY(meta_kernel_at(k, &one));
        own += one == kernel;
    }
    EXPECT(own == 1);
    run_axpy(kernel, name);
}

static void modules(const char *path)
{
    meta_kernel *kernel;
    EXPECT(meta_kernel_find("module_axpy", META_F64, &kernel) == META_ERR_ARGUMENT);
    void *module = dlopen(path, RTLD_NOW);
    if (!module) {
        printf("BROKEN: %s\n", dlerror());
        exit(1);
    }
    read_kernel("module_axpy");
    dlclose(module);
    EXPECT(meta_kernel_find("module_axpy", META_F64, &kernel) == META_ERR_ARGUMENT);
}

static void texts(void)
{
    static const char text[] =
        "#include <meta_kernel.h>\n"
        "#define text_axpy_ARGS(A) A(INOUT, T, y) A(IN, T, x, CELL) A(VALUE, T, a) A(SUM, T, sum)\n"
        "META_CELLS(text_axpy)\n{\n    ON(y) += a * ON(x);\n    ADD(sum, ON(y));\n}\n"
        "#include META_AGAIN\n";
    meta_kernel *kernel;
    TRY(meta_kernel_compile(&kernel, "text_axpy", META_F64, "text.kernel.h", text));
    read_kernel("text_axpy");
}

/* ------------------------------------------------------------------ no byte more than that size */

static meta_err device_info(void *structure)
{
    return meta_device_info(device, mode, structure);
}
static meta_err backend_info(void *structure)
{
    return meta_backend_info(0, structure);
}
static meta_err variable_info(void *structure)
{
    return meta_variable_info(0, structure);
}
static meta_err pointer_info(void *structure)
{
    return meta_pointer_info(a.buf, structure);
}
static meta_err mem_info(void *structure)
{
    return meta_mem_info(device, mode, structure);
}
static meta_err pool_info(void *structure)
{
    return meta_pool_info(device, mode, structure);
}
static meta_err get_state(void *structure)
{
    return meta_get_state(device, mode, structure);
}
static meta_err set_state(void *structure)
{
    return meta_set_state(device, mode, structure);
}
static meta_err set_tool(void *structure)
{
    return meta_set_tool(structure);
}
static meta_err csr_check(void *structure)
{
    return meta_csr_check(structure);
}
static meta_err csr_multiply(void *structure)
{
    return meta_csr_multiply(a.buf, NULL, structure, b.buf, NULL, NULL);
}
static meta_err kernel_prepare(void *structure)
{
    return meta_kernel_prepare(structure);
}

static void sizes(const meta_tool *tool)
{
    const meta_device_desc about = META_DEVICE_DESC_INIT;
    const meta_backend_desc backend = META_BACKEND_DESC_INIT;
    const meta_variable_desc variable = META_VARIABLE_DESC_INIT;
    const meta_pointer_desc pointer = META_POINTER_DESC_INIT;
    const meta_mem_desc memory = META_MEM_DESC_INIT;
    const meta_pool_desc pool = META_POOL_DESC_INIT;
    const meta_state state = META_STATE_INIT;
    meta_csr matrix = META_CSR_INIT;
    const meta_err has_state = mode == META_AUTO ? META_ERR_UNSUPPORTED : META_OK;
    const sized_case all[] = {
        SIZED(meta_device_desc, &about, device_info, META_OK),
        SIZED(meta_backend_desc, &backend, backend_info, META_OK),
        SIZED(meta_variable_desc, &variable, variable_info, META_OK),
        SIZED(meta_pointer_desc, &pointer, pointer_info, META_OK),
        SIZED(meta_mem_desc, &memory, mem_info, META_OK),
        SIZED(meta_pool_desc, &pool, pool_info, META_OK),
        SIZED(meta_state, &state, get_state, has_state),
        SIZED(meta_state, &state, set_state, META_ERR_STATE),
        SIZED(meta_tool, tool, set_tool, META_OK),
        SIZED(meta_csr, &matrix, csr_check, META_ERR_POINTER),
        SIZED(meta_csr, &matrix, csr_multiply, META_ERR_POINTER),
        SIZED(meta_kernel, &spread_i32_kernel, kernel_prepare, META_OK),
    };
    matrix.start = &matrix; /* not on a device */
    meta_kernel *kernel = guarded(&spread_f64_kernel, sizeof *kernel), *found;
    make(&a, META_F64);
    make(&b, META_F64);
    check_sized(all, sizeof all / sizeof *all - (mode != META_OPENMP));
    TRY(meta_free(a.buf));
    TRY(meta_free(b.buf));
    /* A kernel that the library has not seen. */
    kernel->name = "guarded";
    kernel->state = NULL;
    meta_kernel_register(kernel);
    TRY(meta_kernel_find("guarded", META_F64, &found));
    EXPECT(found == kernel);
    if (mode == META_OPENMP) TRY(meta_kernel_prepare(kernel));
    meta_kernel_unregister(kernel);
    EXPECT(meta_kernel_find("guarded", META_F64, &found) == META_ERR_ARGUMENT);
}

int main(int argc, char **argv)
{
    const meta_tool tool = {sizeof tool, &begun, tool_begin, tool_end};
    int major, minor;
    if (argc < 2) return 2;
    TRY(meta_init());
    TRY(meta_version(&major, &minor, NULL));
    EXPECT(major > 0 || minor >= 2);
    TRY(meta_set_tool(&tool));
    describe();
    make(&a, META_F64);
    buffers();
    TRY(meta_free(a.buf));
    if (mode == META_AUTO) TRY(meta_set_policy_function(choose, &decisions, META_POLICY_THREAD));
    TRY(meta_range_push("old program"));
    sums();
    faces();
    modules(argv[1]);
    if (argc == 2) {
        matrix();
        spreads();
        shapes();
        deposits();
        teams();
        texts();
        TRY(meta_set_reproducible(1));
        if (mode < META_FIRST_PLUGIN) spreads();
    }
    sizes(&tool);
    TRY(meta_range_pop());
    TRY(meta_flush());
    EXPECT(begun[META_ACTIVITY_KERNEL] > 0 && begun[META_ACTIVITY_COPY] > 0 &&
           begun[META_ACTIVITY_RANGE] == 1 && ended[META_ACTIVITY_RANGE] == 1);
    EXPECT(mode != META_AUTO || decisions > 0);
    TRY(meta_finalize());
    printf("mode %d: %s\n", (int)mode, broken ? "broken" : "as it was");
    return broken > 0;
}
