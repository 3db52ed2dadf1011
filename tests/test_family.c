/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_family.c
 *  Every operation that takes one box for its arrays addresses each grid by the grid's own extents,
 *  and memory without a shape by the box's: the same cells in all of them, and no others. */
/* TEST: backends=all auto=yes labels=core */
/* TEST: backends=openmp labels=core with=CHECK=1 */
#define META_KERNELS_HERE
#include "family.kernel.h"

#include "mirror.h"
#include "sums.h"

#include <inttypes.h>
#include <meta_library.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ arrays */

/* An array and where its elements lie. Contents are whole numbers from 1 to 8 of either sign, so
 * that sums and products are exact in all types, and one oracle in double serves them all. */
typedef struct array {
    meta_type type;
    meta_box own;          /* its own extents, and own elements */
    int dim[META_MAX_DIM]; /* own dimension e is dimension dim[e] of a call; -1: it has one element
                            */
    mirror m;
} array;

/* The arrays of a case. */
enum { FLOATS = 3, MARKS, PLAIN, ARRAYS }; /* 0 to 2 and PLAIN have the case's type */
typedef struct family {
    int ndim, low[META_MAX_DIM], high[META_MAX_DIM];
    int64_t cells[META_MAX_DIM];
    int64_t least[META_MAX_DIM]; /* extents that all arrays have */
    meta_type type;
    bool is_padded;
    meta_grid_field field[PLAIN];
    meta_box box; /* of the cells */
    array array[ARRAYS];
} family;

static double get_number(const void *from, int64_t at, meta_type type)
{
    return (double)sum_real(from, at, type);
}

static void put_number(void *to, int64_t at, meta_type type, double number)
{
    if (type == META_F64) ((double *)to)[at] = number;
    else if (type == META_F32) ((float *)to)[at] = (float)number;
    else if (type == META_I64) ((int64_t *)to)[at] = (int64_t)number;
    else ((int32_t *)to)[at] = (int32_t)number;
}

static double any_number(void)
{
    const uint64_t bits = test_random();
    return (bits & 8 ? -1.0 : 1.0) * (double)(1 + (bits & 7));
}

static size_t bytes_of_type(meta_type type)
{
    size_t bytes = 1;
    CHECK_OK(meta_type_size(type, &bytes));
    return bytes;
}

/* Cell @p n of a box. */
static void cell_of(const meta_box *box, int64_t n, int64_t cell[META_MAX_DIM])
{
    for (int d = 0; d < box->ndim; ++d) {
        const int64_t extent = box->end[d] - box->start[d];
        cell[d] = box->start[d] + n % extent;
        n /= extent;
    }
}

#define EACH_CELL(box, cell)                                                                       \
    for (int64_t cell[META_MAX_DIM], n_ = 0, cells_ = case_box_cells(box);                         \
         n_ < cells_ && (cell_of(box, n_, cell), true); ++n_)

static int64_t place(const array *a, const int64_t *cell)
{
    int64_t at = 0;
    for (int e = a->own.ndim - 1; e >= 0; --e)
        at = at * a->own.size[e] + (a->dim[e] < 0 ? 0 : cell[a->dim[e]]);
    return at;
}

static double get(const array *a, const int64_t *cell)
{
    return get_number(a->m.expected, place(a, cell), a->type);
}

/* So many cells away along dimension @p d. */
static double get_away(const array *a, const int64_t *cell, int d, int away)
{
    int64_t other[META_MAX_DIM];
    memcpy(other, cell, sizeof other);
    other[d] += away;
    return get(a, other);
}

static void put(array *a, const int64_t *cell, double number)
{
    put_number(a->m.expected, place(a, cell), a->type, number);
}

static sum_expected sum_of(const array *a, const meta_box *box)
{
    sum_expected sum = {0};
    EACH_CELL(box, cell)
    {
        const int64_t at = place(a, cell);
        sum_add(&sum, sum_real(a->m.expected, at, a->type), sum_whole(a->m.expected, at, a->type));
    }
    return sum;
}

/* New contents, of the padding too. */
static bool renew(array *a)
{
    const int64_t count = (int64_t)(a->m.bytes / bytes_of_type(a->type));
    for (int64_t k = 0; k < count; ++k) put_number(a->m.expected, k, a->type, any_number());
    return CHECK_OK(meta_copy_h2d(a->m.device, a->m.expected, a->m.bytes, NULL));
}

/* An array at @p device, for as many elements as its box says. */
static bool take(array *a, void *device, meta_type type, const meta_box *own)
{
    const size_t bytes = (size_t)case_box_array(own) * bytes_of_type(type);
    *a = (array){.type = type, .own = *own};
    a->m = (mirror){
        .device = device, .expected = malloc(bytes), .found = malloc(bytes), .bytes = bytes};
    for (int d = 0; d < own->ndim; ++d) a->dim[d] = d;
    return CHECK(a->m.expected && a->m.found);
}

/* ------------------------------------------------------------------ families */

/* As a whole, each grid by itself, or in memory that becomes a grid. */
typedef enum origin { FAMILY, GRIDS, SHAPED, ORIGINS } origin;

/* Cells: few, so many that the grids may be padded, or more than caches hold. */
enum { FEW = 2000, MANY = 36000, LARGE = 900000 };

static void random_cells(family *f, int64_t room)
{
    const bool large = room > FEW;
    for (int d = 0; d < f->ndim; ++d) {
        const bool last = d == f->ndim - 1;
        f->low[d] = (int)test_random_in(1, 3);
        f->high[d] = (int)test_random_in(1, 3);
        f->cells[d] = last              ? room
                      : d == 0 && large ? test_random_in(60, 130)
                                        : test_random_in(5, room < LARGE / 200 ? 12 : 90);
        if (f->cells[d] < 5) f->cells[d] = 5;
        room /= f->cells[d];
    }
}

/* Cells, faces, edges or nodes; now and then fewer or more elements. */
static void random_stagger(const family *f, int *stagger)
{
    for (int d = 0; d < f->ndim; ++d) {
        stagger[d] = (int)test_random_in(0, 1);
        if (test_random_in(0, 9) == 0) stagger[d] = (int)test_random_in(-f->high[d], 3);
    }
}

static bool grid_alone(const family *f, meta_grid_field *field, bool shaped)
{
    int64_t cells[META_MAX_DIM];
    int high[META_MAX_DIM];
    for (int d = 0; d < f->ndim; ++d) {
        cells[d] = f->cells[d] + field->stagger[d];
        high[d] = f->high[d] + (int)test_random_in(0, 3);
    }
    if (!shaped)
        return CHECK_OK(
            meta_grid_alloc(&field->ptr, &field->box, f->ndim, cells, f->low, high, field->type));
    field->box = (meta_box){.ndim = f->ndim};
    for (int d = 0; d < f->ndim; ++d) {
        field->box.start[d] = f->low[d];
        field->box.end[d] = f->low[d] + cells[d];
        field->box.size[d] = field->box.end[d] + high[d];
    }
    const size_t bytes = (size_t)case_box_array(&field->box) * bytes_of_type(field->type);
    return CHECK_OK(meta_alloc(&field->ptr, bytes)) &&
           CHECK_OK(meta_grid_shape(field->ptr, &field->box, field->type));
}

static bool make_grids(family *f, origin how)
{
    if (how == FAMILY)
        return CHECK_OK(
            meta_grid_family(f->field, PLAIN, &f->box, f->ndim, f->cells, f->low, f->high));
    for (int k = 0; k < PLAIN; ++k)
        if (!grid_alone(f, &f->field[k], how == SHAPED)) return false;
    f->box = (meta_box){.ndim = f->ndim};
    for (int d = 0; d < f->ndim; ++d) {
        f->box.start[d] = f->low[d];
        f->box.end[d] = f->low[d] + f->cells[d];
    }
    return true;
}

static bool make_plain(family *f)
{
    meta_box room = {.ndim = f->ndim};
    void *device;
    for (int d = 0; d < f->ndim; ++d) room.size[d] = f->least[d] + 3;
    if (!CHECK_OK(meta_alloc(&device, (size_t)case_box_array(&room) * bytes_of_type(f->type))))
        return false;
    return take(&f->array[PLAIN], device, f->type, &room);
}

static bool make_family(family *f, int ndim, meta_type type, int64_t cells)
{
    const origin how = (origin)test_random_in(0, ORIGINS - 1);
    bool made;
    *f = (family){.ndim = ndim, .type = type};
    random_cells(f, cells);
    for (int k = 0; k < PLAIN; ++k) {
        f->field[k].type = k == FLOATS ? META_F32 : k == MARKS ? META_I32 : type;
        random_stagger(f, f->field[k].stagger);
    }
    test_case("arrays of %s, made %d, ghosts %d %d … and %d %d …", case_type_name(type), (int)how,
              f->low[0], f->low[1], f->high[0], f->high[1]);
    made = make_grids(f, how);
    for (int d = 0; d < ndim; ++d) f->least[d] = INT64_MAX;
    for (int k = 0; made && k < PLAIN; ++k) {
        const meta_box *own = &f->field[k].box;
        made = take(&f->array[k], f->field[k].ptr, f->field[k].type, own);
        f->is_padded |= how != SHAPED && cells > FEW && own->size[0] % 16 == 0;
        for (int d = 0; d < ndim; ++d)
            if (own->size[d] < f->least[d]) f->least[d] = own->size[d];
    }
    return made && make_plain(f);
}

static void free_family(family *f)
{
    for (int k = 0; k < ARRAYS; ++k) mirror_free(&f->array[k].m);
}

static bool renew_all(family *f)
{
    bool renewed = true;
    for (int k = 0; k < ARRAYS; ++k) renewed = renewed && renew(&f->array[k]);
    return renewed;
}

/* Nothing but what the oracle wrote has changed, in any array. */
static void compare_all(family *f, const char *name)
{
    for (int k = 0; k < ARRAYS; ++k) mirror_holds(&f->array[k].m, f->array[k].type, name);
}

/* The cells, all that is allocated in every array, or any part; @p reach cells are free around it.
 * Its extents are those of an array, or others. */
static meta_box random_box(family *f, int reach)
{
    const meta_box *like = &f->array[test_random_in(0, PLAIN - 1)].own;
    const int64_t which = test_random_in(0, 3), extents = test_random_in(0, 2);
    meta_box box = {.ndim = f->ndim};
    for (int d = 0; d < f->ndim; ++d) {
        const int64_t last = f->least[d] - reach;
        box.start[d] = which == 0 ? f->box.start[d] : reach;
        box.end[d] = which == 0 && f->box.end[d] < last ? f->box.end[d] : last;
        if (which >= 2) {
            box.start[d] = test_random_in(reach, last - 1);
            box.end[d] = test_random_in(box.start[d] + 1, last);
        }
        box.size[d] = box.end[d] + reach + (extents == 0 ? test_random_in(0, 3) : 0);
        if (extents == 1) box.size[d] = like->size[d];
        if (box.size[d] > f->least[d] + 3) box.size[d] = f->least[d] + 3;
    }
    f->array[PLAIN].own.ndim = f->ndim;
    memcpy(f->array[PLAIN].own.size, box.size, sizeof box.size);
    test_case("%s of %s, box %s, grids %s, %s, %s", f->is_padded ? "padded" : "dense",
              case_type_name(f->type), case_box_text(&box), case_box_text(&f->array[0].own),
              case_box_text(&f->array[1].own), case_box_text(&f->array[2].own));
    return box;
}

/* Different ones of the case's type. */
static void choose(family *f, array *chosen[], int count)
{
    static const int all[] = {0, 1, 2, PLAIN};
    const int64_t first = test_random_in(0, 3);
    for (int k = 0; k < count; ++k) chosen[k] = &f->array[all[(first + k) % 4]];
}

static meta_type signed_type(void)
{
    static const meta_type types[] = {META_F64, META_F32, META_I64, META_I32};
    return types[test_random_in(case_has_f64() ? 0 : 1, 3)];
}

/* A check gets new contents, and sums in any order or exact ones. */
static bool run_check(family *f, bool exact, void (*check)(family *))
{
    const bool run = renew_all(f) && CHECK_OK(meta_set_reproducible(exact && case_has_f64()));
    if (run) check(f);
    CHECK_OK(meta_set_reproducible(0));
    return run;
}

/* Each check gets families of @p least to four dimensions, every other one large enough for
 * padding; real: of floating type. */
/* PoCL compiles a kernel again for each extent of a work group. */
static int64_t families_here(void)
{
    meta_mode mode = META_OPENMP;
    int index;
    CHECK_OK(meta_get_acc(&index, &mode));
    return 2 * (mode == META_OPENCL ? test_count(2, 100) : test_count(8, 500));
}

static void on_families(int least, bool real, void (*check)(family *))
{
    enum { BOXES = 4 };
    const int64_t families = families_here();
    int padded = 0;
    for (int64_t k = families; k > 0 && test_failures() == 0; --k) {
        const bool large = k % 2 == 0, wide = case_has_f64() && k % 4 < 2;
        const meta_type type = !real ? signed_type() : wide ? META_F64 : META_F32;
        const int ndim = (int)test_random_in(least, 4);
        family f;
        bool made = make_family(&f, ndim, type, large ? MANY : test_random_in(FEW / 10, FEW));
        padded += f.is_padded;
        for (int n = 0; made && n < BOXES; ++n) made = run_check(&f, n % 2, check);
        free_family(&f);
    }
    CHECK(padded > 1 || families < 16 || test_failures() > 0);
}

/* ------------------------------------------------------------------ fill, sums, linear algebra */

static void check_fill(family *f)
{
    const meta_box box = random_box(f, 0);
    array *a = &f->array[test_random_in(0, ARRAYS - 1)];
    uint64_t value = 0;
    case_ending ending;
    put_number(&value, 0, a->type, 9);
    EACH_CELL(&box, cell) put(a, cell, 9);
    case_ending_pick(&ending);
    CHECK_OK(meta_fill_box(a->m.device, &box, &value, a->type, ending.done));
    CHECK_OK(case_ending_settle(&ending));
    compare_all(f, "fill");
}

static void cells_of_the_box_are_filled(void)
{
    on_families(1, false, check_fill);
}

static void check_reduction(const array *a, const meta_box *box, meta_op op, const void *found)
{
    double least = 100, most = -100;
    if (op == META_SUM) {
        const sum_expected sum = sum_of(a, box);
        sum_check(found, &sum, a->type, "sum");
        return;
    }
    EACH_CELL(box, cell)
    {
        const double number = get(a, cell);
        if (number < least) least = number;
        if (number > most) most = number;
    }
    CHECK_NEAR(get_number(found, 0, a->type), op == META_MIN ? least : most, 0);
}

static void check_reduce(family *f)
{
    const meta_box box = random_box(f, 0);
    const array *a = &f->array[test_random_in(0, ARRAYS - 1)];
    for (int op = 0; op < META_OP_COUNT; ++op) {
        uint64_t result = 0;
        CHECK_OK(meta_reduce(&result, a->m.device, &box, (meta_op)op, a->type, NULL));
        check_reduction(a, &box, (meta_op)op, &result);
    }
}

static void cells_of_the_box_are_reduced(void)
{
    on_families(1, false, check_reduce);
}

static void check_reduce_boxes(family *f)
{
    enum { FIELDS = 3, BOXES = 4, STRIDE = 5 };
    const size_t bytes = bytes_of_type(f->type);
    const meta_op op = (meta_op)test_random_in(0, META_OP_COUNT - 1);
    const meta_box first = random_box(f, 0);
    char results[FIELDS * STRIDE * 8];
    void *fields[FIELDS];
    array *a[FIELDS];
    meta_box box[BOXES];
    choose(f, a, FIELDS);
    for (int k = 0; k < FIELDS; ++k) fields[k] = a[k]->m.device;
    for (int b = 0; b < BOXES; ++b) {
        box[b] = random_box(f, 0);
        memcpy(box[b].size, first.size, sizeof first.size); /* one memory without a shape */
        for (int d = 0; d < f->ndim; ++d) {
            if (box[b].end[d] > box[b].size[d]) box[b].end[d] = box[b].size[d];
            if (box[b].start[d] >= box[b].end[d]) box[b].start[d] = box[b].end[d] - 1;
        }
    }
    memcpy(f->array[PLAIN].own.size, first.size, sizeof first.size);
    CHECK_OK(meta_reduce_boxes(results, STRIDE, FIELDS, fields, BOXES, box, op, f->type, NULL));
    for (int k = 0; k < FIELDS; ++k)
        for (int b = 0; b < BOXES; ++b) {
            uint64_t found = 0;
            memcpy(&found, results + (size_t)(k * STRIDE + b) * bytes, bytes);
            check_reduction(a[k], &box[b], op, &found);
        }
}

static void several_boxes_of_several_arrays_are_reduced(void)
{
    on_families(1, false, check_reduce_boxes);
}

static void check_dot(family *f)
{
    const meta_box box = random_box(f, 0);
    sum_expected sum = {0};
    uint64_t result = 0;
    array *a[2];
    choose(f, a, 2);
    if (test_random_in(0, 4) == 0) a[1] = a[0];
    EACH_CELL(&box, cell)
    {
        const double product = get(a[0], cell) * get(a[1], cell);
        sum_add(&sum, product, (uint64_t)(int64_t)product);
    }
    CHECK_OK(meta_dot(&result, a[0]->m.device, a[1]->m.device, &box, f->type, NULL));
    sum_check(&result, &sum, f->type, "dot");
}

static void products_are_those_of_equal_cells(void)
{
    on_families(1, false, check_dot);
}

typedef enum operation { AXPY, AXPBY, XPAY, SCALE, MULTIPLY, OPERATIONS } operation;

static meta_err linear(operation op, void *z, const void *a, const void *x, const void *b,
                       const void *y, const meta_box *box, meta_type type, meta_event *done)
{
    switch (op) {
    case AXPY:
        return meta_axpy(z, a, x, box, type, done);
    case AXPBY:
        return meta_axpby(z, a, x, b, y, box, type, done);
    case XPAY:
        return meta_xpay(z, x, a, y, box, type, done);
    case SCALE:
        return meta_scale(z, a, x, box, type, done);
    default:
        return meta_multiply(z, x, y, box, type, done);
    }
}

/* Which arrays are one: none, z and x, z and y, x and y. */
static void check_linear(family *f)
{
    static const int which[][3] = {{0, 1, 2}, {0, 0, 2}, {0, 1, 0}, {0, 1, 1}};
    static const char *const names[] = {"axpy", "axpby", "xpay", "scale", "multiply"};
    for (int op = 0; op < OPERATIONS; ++op) {
        const meta_box box = random_box(f, 0);
        const int *of = which[test_random_in(0, op == AXPY || op == SCALE ? 1 : 3)];
        const double p = any_number(), q = any_number();
        uint64_t a = 0, b = 0;
        case_ending ending;
        array *all[3];
        choose(f, all, 3);
        array *z = all[of[0]], *x = all[of[1]], *y = all[of[2]];
        put_number(&a, 0, f->type, p);
        put_number(&b, 0, f->type, q);
        if (!renew(z)) return;
        EACH_CELL(&box, cell)
        {
            const double u = get(x, cell), v = get(y, cell);
            put(z, cell,
                op == AXPY    ? get(z, cell) + p * u
                : op == AXPBY ? p * u + q * v
                : op == XPAY  ? u + p * v
                : op == SCALE ? p * u
                              : u * v);
        }
        case_ending_pick(&ending);
        CHECK_OK(linear((operation)op, z->m.device, &a, x->m.device, &b, y->m.device, &box, f->type,
                        ending.done));
        CHECK_OK(case_ending_settle(&ending));
        compare_all(f, names[op]);
    }
}

static void linear_algebra_is_that_of_equal_cells(void)
{
    on_families(1, false, check_linear);
}

static void check_convert(family *f)
{
    const meta_box box = random_box(f, 0);
    const int64_t from = test_random_in(0, ARRAYS - 1);
    const int64_t to = (from + test_random_in(1, ARRAYS - 1)) % ARRAYS;
    array *a = &f->array[from], *b = &f->array[to];
    EACH_CELL(&box, cell) put(b, cell, get(a, cell));
    CHECK_OK(meta_convert(b->m.device, b->type, a->m.device, a->type, &box, NULL));
    compare_all(f, "convert");
}

static void cells_are_converted_between_grids_of_two_types(void)
{
    on_families(1, false, check_convert);
}

/* ------------------------------------------------------------------ stencils */

enum { MOST_POINTS = 27 };

/* The points of a stencil in memory order. */
static int points_of(meta_stencil_kind kind, int point[MOST_POINTS][3])
{
    const int depth = kind == META_3D7P || kind == META_3D27P;
    const bool cross = kind == META_2D5P || kind == META_3D7P;
    int count = 0;
    for (int z = -depth; z <= depth; ++z)
        for (int y = -1; y <= 1; ++y)
            for (int x = -1; x <= 1; ++x) {
                if (cross && x * x + y * y + z * z > 1) continue;
                memcpy(point[count++], (int[]){x, y, z}, 3 * sizeof(int));
            }
    return count;
}

static double at_point(const array *a, const int64_t *cell, const int *point)
{
    int64_t other[META_MAX_DIM];
    memcpy(other, cell, sizeof other);
    for (int d = 0; d < 3; ++d)
        if (point[d] != 0) other[d] += point[d];
    return get(a, other);
}

static meta_stencil_kind any_stencil(const family *f)
{
    return (meta_stencil_kind)test_random_in(0, f->ndim > 2 ? META_3D27P : META_2D9P);
}

/* Averages of whole numbers this small are rounded the same in double and then in float. */
static void average(array *out, const array *in, const meta_box *box, meta_stencil_kind kind)
{
    int point[MOST_POINTS][3];
    const int points = points_of(kind, point);
    EACH_CELL(box, cell)
    {
        double sum = 0;
        for (int k = 0; k < points; ++k) sum += at_point(in, cell, point[k]);
        put(out, cell, sum / points);
    }
}

static void check_stencil(family *f)
{
    const meta_box box = random_box(f, 1);
    const meta_stencil_kind kind = any_stencil(f);
    const bool with_sum = test_random_in(0, 1);
    uint64_t sum = 0;
    case_ending ending;
    array *a[2];
    choose(f, a, 2);
    average(a[0], a[1], &box, kind);
    case_ending_pick(&ending);
    CHECK_OK(meta_stencil(a[0]->m.device, a[1]->m.device, &box, kind, f->type,
                          with_sum ? &sum : NULL, ending.done));
    CHECK_OK(case_ending_settle(&ending));
    compare_all(f, "stencil");
    if (!with_sum) return;
    const sum_expected expected = sum_of(a[0], &box);
    sum_check(&sum, &expected, f->type, "sum of the stencil");
}

static void stencils_read_the_neighbours_in_each_grid(void)
{
    on_families(2, false, check_stencil);
}

/* Sides of the box, and parts that have ghosts. */
static void check_stencil_sums(family *f)
{
    enum { PARTS = 6 };
    const size_t bytes = bytes_of_type(f->type);
    const meta_box box = random_box(f, 1);
    const meta_stencil_kind kind = any_stencil(f);
    meta_box part[PARTS];
    uint64_t sum = 0;
    char sums[PARTS * 8];
    array *a[2];
    choose(f, a, 2);
    for (int p = 0; p < PARTS; ++p) {
        const int d = p % f->ndim;
        part[p] = box;
        if (p % 2) part[p].start[d] = box.end[d] - 1;
        else part[p].end[d] = box.start[d] + 1;
        if (test_random_in(0, 3) == 0) part[p].start[d] -= 1;
        if (test_random_in(0, 3) == 0)
            part[p].end[d] = test_random_in(part[p].start[d], box.end[d] + 1);
    }
    sum_expected expected[PARTS];
    for (int p = 0; p < PARTS; ++p) expected[p] = sum_of(a[1], &part[p]);
    average(a[0], a[1], &box, kind);
    const bool with_sum = test_random_in(0, 1);
    CHECK_OK(meta_stencil_sums(a[0]->m.device, a[1]->m.device, &box, kind, f->type,
                               with_sum ? &sum : NULL, sums, PARTS, part, NULL));
    compare_all(f, "stencil with sums");
    for (int p = 0; p < PARTS; ++p) {
        uint64_t found = 0;
        memcpy(&found, sums + (size_t)p * bytes, bytes);
        sum_check(&found, &expected[p], f->type, "sum of a part");
    }
    if (!with_sum) return;
    const sum_expected all = sum_of(a[0], &box);
    sum_check(&sum, &all, f->type, "sum of the stencil");
}

static void sums_beside_a_stencil_are_those_of_its_grid(void)
{
    on_families(2, false, check_stencil_sums);
}

/* Weights are constants, or two arrays in turn. */
static void check_weights(family *f)
{
    const meta_box box = random_box(f, 1);
    const meta_stencil_kind kind = any_stencil(f);
    const bool variable = test_random_in(0, 1), with_dot = test_random_in(0, 1);
    int point[MOST_POINTS][3];
    const int points = points_of(kind, point);
    const void *arrays[MOST_POINTS];
    char constants[MOST_POINTS * 8];
    double weight[MOST_POINTS];
    sum_expected sum = {0};
    uint64_t dot = 0;
    array *a[4];
    choose(f, a, 4);
    for (int k = 0; k < points; ++k) {
        weight[k] = any_number();
        arrays[k] = a[2 + k % 2]->m.device;
        put_number(constants, k, f->type, weight[k]);
    }
    EACH_CELL(&box, cell)
    {
        double all = 0;
        for (int k = 0; k < points; ++k)
            all +=
                (variable ? get(a[2 + k % 2], cell) : weight[k]) * at_point(a[1], cell, point[k]);
        const double product = all * get(a[1], cell);
        put(a[0], cell, all);
        sum_add(&sum, product, (uint64_t)(int64_t)product);
    }

    void *to = with_dot ? &dot : NULL;
    if (variable)
        CHECK_OK(meta_stencil_variable(a[0]->m.device, a[1]->m.device, arrays, &box, kind, f->type,
                                       to, NULL));
    else
        CHECK_OK(meta_stencil_constant(a[0]->m.device, a[1]->m.device, constants, &box, kind,
                                       f->type, to, NULL));
    compare_all(f, variable ? "stencil of weights in arrays" : "stencil of constant weights");
    if (with_dot) sum_check(&dot, &sum, f->type, "dot product of the stencil");
}

static void weighted_stencils_take_weights_of_equal_cells(void)
{
    on_families(2, false, check_weights);
}

/* ------------------------------------------------------------------ boundary conditions */

/* The layers are written one by one, as far as the array has them. */
static void expect_boundary(array *a, const meta_box *box, int d, bool low, int64_t width,
                            meta_boundary_kind kind, double value)
{
    for (int64_t layer = 0; layer < width; ++layer) {
        meta_box ghosts = *box;
        ghosts.start[d] = low ? box->start[d] - 1 - layer : box->end[d] + layer;
        ghosts.end[d] = ghosts.start[d] + 1;
        EACH_CELL(&ghosts, cell)
        {
            const int64_t in = kind == META_BOUNDARY_GRADIENT ? 0 : layer;
            int64_t from[META_MAX_DIM];
            memcpy(from, cell, sizeof from);
            from[d] = low ? box->start[d] + in : box->end[d] - 1 - in;
            const double inner = get(a, from);
            put(a, cell,
                kind == META_BOUNDARY_VALUE      ? value
                : kind == META_BOUNDARY_WALL     ? 2 * value - inner
                : kind == META_BOUNDARY_GRADIENT ? inner + (double)(layer + 1) * value
                : kind == META_BOUNDARY_EVEN     ? inner
                                                 : -inner);
        }
    }
}

static void check_boundary(family *f)
{
    for (int kind = 0; kind < META_BOUNDARY_COUNT; ++kind) {
        const meta_box box = random_box(f, 1);
        const int d = (int)test_random_in(0, f->ndim - 1);
        const bool low = test_random_in(0, 1),
                   mirrors = kind != META_BOUNDARY_VALUE && kind != META_BOUNDARY_GRADIENT;
        const double value = any_number();
        array *a = &f->array[test_random_in(0, ARRAYS - 1)];
        const int64_t outside = low ? box.start[d] : a->own.size[d] - box.end[d];
        int64_t most = outside < 3 ? outside : 3;
        uint64_t element = 0;
        if (mirrors && box.end[d] - box.start[d] < most) most = box.end[d] - box.start[d];
        const int64_t width = test_random_in(0, most);
        put_number(&element, 0, a->type, value);
        expect_boundary(a, &box, d, low, width, (meta_boundary_kind)kind, value);
        CHECK_OK(meta_boundary(a->m.device, &box, d,
                               low ? META_SLAB_LOW_GHOST : META_SLAB_HIGH_GHOST, width,
                               (meta_boundary_kind)kind, &element, a->type, NULL));
        compare_all(f, "boundary");
    }
}

static void boundary_conditions_are_set_in_the_grids_own_ghosts(void)
{
    on_families(1, false, check_boundary);
}

/* ------------------------------------------------------------------ kernels of the program's */

static meta_kernel *of_type(const family *f, meta_kernel *f64, meta_kernel *f32)
{
    return f->type == META_F64 ? f64 : f32;
}

static void check_near(family *f)
{
    const meta_box box = random_box(f, 1);
    const array *v = &f->array[FLOATS], *mask = &f->array[MARKS];
    int64_t marked = -1, expected = 0;
    array *a[2];
    choose(f, a, 2);
    EACH_CELL(&box, cell)
    {
        expected += get(mask, cell) > 0;
        put(a[0], cell,
            get_away(a[1], cell, 0, 1) - 2 * get_away(a[1], cell, 0, -1) +
                get_away(v, cell, 0, 1) * get(mask, cell));
    }
    const void *const arguments[] = {a[0]->m.device, a[1]->m.device, v->m.device, mask->m.device,
                                     &marked};
    CHECK_OK(
        meta_kernel_run(of_type(f, &near_f64_kernel, &near_f32_kernel), &box, arguments, NULL));
    compare_all(f, "near");
    CHECK_INT(marked, expected);
}

static void a_kernel_meets_grids_of_several_shapes_and_types(void)
{
    on_families(1, true, check_near);
}

enum { LOWER = 5 };

/* An array of fewer dimensions than the call's: a grid of just those, a grid in which the others
 * have one cell, or memory that goes by the box. */
static bool make_lower(array *a, const family *f, const meta_box *box, meta_type type,
                       uint32_t lacking)
{
    const int64_t how = test_random_in(0, 2);
    int64_t cells[META_MAX_DIM];
    int low[META_MAX_DIM], high[META_MAX_DIM], dim[META_MAX_DIM], ndim = 0;
    meta_box own = {.ndim = 0};
    void *device;
    for (int d = 0; d < f->ndim; ++d) {
        const bool lacks = lacking >> d & 1;
        if (lacks && how == 0) continue;
        dim[ndim] = lacks ? -1 : d;
        own.size[ndim] = lacks ? 1 : box->size[d];
        low[ndim] = lacks ? 0 : f->low[d];
        cells[ndim] = lacks ? 1 : f->least[d] - f->low[d] + test_random_in(0, 2);
        high[ndim++] = lacks ? 0 : (int)test_random_in(0, 3);
    }
    own.ndim = ndim;
    if (how < 2
            ? !CHECK_OK(meta_grid_alloc(&device, &own, ndim, cells, low, high, type))
            : !CHECK_OK(meta_alloc(&device, (size_t)case_box_array(&own) * bytes_of_type(type))))
        return false;
    const bool taken = take(a, device, type, &own);
    memcpy(a->dim, dim, sizeof dim);
    return taken && renew(a);
}

static void check_lower_of(family *f, const meta_box *box, array *out, array *u, array *lower)
{
    const array *row = &lower[0], *level = &lower[1], *side = &lower[2], *ground = &lower[3];
    array *marks = &lower[4];
    EACH_CELL(box, cell)
    {
        const double around =
            get_away(u, cell, 2, 1) - 2 * get_away(u, cell, 1, -1) + get_away(u, cell, 0, 1);
        int64_t below[META_MAX_DIM];
        memcpy(below, cell, sizeof below);
        below[1] -= 1;
        put(marks, below, get(marks, below) + get(ground, cell));
        put(out, cell,
            get(out, cell) + around + get_away(row, cell, 0, 1) - get_away(row, cell, 0, -1) +
                get_away(level, cell, 2, 1) + 2 * get(side, cell) -
                get_away(ground, cell, 0, -1) * get_away(ground, cell, 1, 1));
    }
    const void *const arguments[] = {out->m.device,   u->m.device,    row->m.device,
                                     level->m.device, side->m.device, ground->m.device,
                                     marks->m.device};
    CHECK_OK(
        meta_kernel_run(of_type(f, &lower_f64_kernel, &lower_f32_kernel), box, arguments, NULL));
    compare_all(f, "lower");
    for (int k = 0; k < LOWER; ++k) mirror_holds(&lower[k].m, lower[k].type, "line or plane");
}

static void check_lower(family *f)
{
    const uint32_t all = (UINT32_C(1) << f->ndim) - 1;
    const meta_box box = random_box(f, 1);
    array lower[LOWER] = {{.type = META_F32}}, *a[2];
    choose(f, a, 2);
    if (make_lower(&lower[0], f, &box, f->type, all & ~1u) &&
        make_lower(&lower[1], f, &box, META_F32, all & ~4u) &&
        make_lower(&lower[2], f, &box, f->type, 1u) &&
        make_lower(&lower[3], f, &box, META_I32, 4u) &&
        make_lower(&lower[4], f, &box, META_I32, all & ~2u))
        check_lower_of(f, &box, a[0], a[1], lower);
    for (int k = 0; k < LOWER; ++k) mirror_free(&lower[k].m);
}

static void lines_and_planes_are_grids_of_their_own(void)
{
    on_families(3, true, check_lower);
}

/* ------------------------------------------------------------------ large ones */

/* More than the caches hold, which CPUs compute in other ways. */
static void large_grids_are_computed_alike(void)
{
    static void (*const checks[])(family *) = {check_stencil, check_stencil_sums, check_linear};
    const char *brief = getenv("META_TEST_BRIEF");
    if (brief && strcmp(brief, "1") == 0) {
        CHECK(true); /* interpreters of kernels take minutes */
        return;
    }
    for (int k = 0; k < 3 && test_failures() == 0; ++k) {
        family f;
        bool made = make_family(&f, k == 0 ? 2 : 3, k == 1 ? META_F32 : signed_type(), LARGE);
        for (int n = 0; made && n < 3; ++n) made = run_check(&f, false, checks[n]);
        free_family(&f);
    }
}

TEST_DEVICE_MAIN(PROMISE(cells_of_the_box_are_filled), PROMISE(cells_of_the_box_are_reduced),
                 PROMISE(several_boxes_of_several_arrays_are_reduced),
                 PROMISE(products_are_those_of_equal_cells),
                 PROMISE(linear_algebra_is_that_of_equal_cells),
                 PROMISE(cells_are_converted_between_grids_of_two_types),
                 PROMISE(stencils_read_the_neighbours_in_each_grid),
                 PROMISE(sums_beside_a_stencil_are_those_of_its_grid),
                 PROMISE(weighted_stencils_take_weights_of_equal_cells),
                 PROMISE(boundary_conditions_are_set_in_the_grids_own_ghosts),
                 PROMISE(a_kernel_meets_grids_of_several_shapes_and_types),
                 PROMISE(lines_and_planes_are_grids_of_their_own),
                 PROMISE(large_grids_are_computed_alike))
