/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_cases.c
 *  Random cases of a halo exchange and their oracle. It is independent of messages, packing and
 *  order: an element's final value comes from one loop over the neighbours. */
#include "config.h"

#include "halo_cases.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ back ends */

enum { MOST_MODES = 8 };

static bool named_in_requirements(const char *name)
{
    const char *list = getenv("META_TEST_REQUIRE_BACKENDS");
    const size_t length = strlen(name);
    for (const char *at = list; at && (at = strstr(at, name)); at += length)
        if ((at == list || strchr(", ", at[-1])) && (at[length] == 0 || strchr(", ", at[length])))
            return true;
    return false;
}

/* The back ends with devices; one alone, the process's own, where the environment has chosen. */
static int modes_at_hand(meta_mode modes[MOST_MODES])
{
    int count = 0, found = 0;
    const char *mode = getenv("META_MODE"), *map = getenv("META_RANK_MAP");
    modes[0] = META_SPREAD;
    if ((mode && *mode) || (map && *map)) return 1;
    CHECK_OK(meta_backend_count(&count));
    for (int k = 0; k < count && found < MOST_MODES; ++k) {
        meta_backend_desc desc = META_BACKEND_DESC_INIT;
        CHECK_OK(meta_backend_info(k, &desc));
        if (desc.usable && desc.mode < META_FIRST_PLUGIN) modes[found++] = desc.mode;
        else if (named_in_requirements(desc.name)) FAIL("%s: %s", desc.name, desc.reason);
    }
    return found > 0 ? found : 1;
}

static void pair_of(halo_wish *wish, int64_t number)
{
    meta_mode modes[MOST_MODES];
    const int count = modes_at_hand(modes);
    wish->mode[0] = modes[number % count];
    wish->mode[1] = modes[number / count % count];
}

/* ------------------------------------------------------------------ wishes */

enum { KINDS = 2, OPS = 2, MASKS = 2 + 4 + 8, MOST_MORE = 6 };

int64_t halo_wish_count(void)
{
    meta_mode modes[MOST_MODES];
    const int count = modes_at_hand(modes);
    const int pairs = test_size > 1 ? count * count : count;
    return (int64_t)MASKS * KINDS * OPS * CASE_WIDEST * CASE_FIELDS * pairs;
}

halo_wish halo_wish_number(int64_t number)
{
    halo_wish wish = {.thick = MOST_MORE};
    int mask = (int)(number % MASKS);
    wish.dims = mask < 2 ? 1 : mask < 6 ? 2 : 3;
    wish.periodic = mask < 2 ? mask : mask < 6 ? mask - 2 : mask - 6;
    number /= MASKS;
    wish.kind = number % KINDS ? META_HALO_ALL : META_HALO_FACES;
    number /= KINDS;
    wish.op = number % OPS ? META_HALO_ADD : META_HALO_COPY;
    number /= OPS;
    wish.width = 1 + (int)(number % CASE_WIDEST);
    number /= CASE_WIDEST;
    wish.fields = 1 + (int)(number % CASE_FIELDS);
    number /= CASE_FIELDS;
    wish.differ = test_random() % 2;
    wish.batch = test_random() % 3 == 0 ? (int)test_random_in(1, CASE_BATCHES) : 0;
    wish.placed = test_random() % 2;
    pair_of(&wish, number);
    return wish;
}

halo_wish halo_wish_random(void)
{
    return halo_wish_number(test_random_in(0, halo_wish_count() - 1));
}

/* ------------------------------------------------------------------ a case */

/* Ranks over dimensions, any factorisation of them. */
static void cut_ranks(halo_case *c)
{
    int rest = test_size;
    for (int d = 0; d < CASE_DIMS; ++d) c->extent[d] = 1;
    for (int factor = 2; rest > 1; ++factor)
        while (rest % factor == 0) {
            c->extent[test_random_in(0, c->wish.dims - 1)] *= factor;
            rest /= factor;
        }
}

/* One width on all sides, or any up to it. */
static void choose_widths(halo_case *c)
{
    const bool equal = test_random() % 2 || c->wish.sided;
    for (int d = 0; d < c->wish.dims; ++d) {
        c->low[d] = equal ? c->wish.width : (int)test_random_in(0, c->wish.width);
        c->high[d] = equal ? c->wish.width : (int)test_random_in(0, c->wish.width);
    }
    c->low[0] = c->wish.width;
}

/* Blocks of different extents, each as thick as what it has to send. */
static void cut_cells(halo_case *c, int d)
{
    const int64_t widest = c->low[d] > c->high[d] ? c->low[d] : c->high[d];
    const int64_t least = widest > 0 ? widest : 1;
    for (int k = 0; k < c->extent[d]; ++k) {
        const int64_t thick = test_random_in(least, least + c->wish.thick);
        if (k == c->at[d]) c->first[d] = c->cells[d], c->own[d] = thick;
        c->cells[d] += thick;
    }
}

/* Which dimensions of the arrays are a batch. */
static void place_batch(halo_case *c)
{
    const int all = c->wish.dims + c->wish.batch;
    for (int k = 0; k < c->wish.batch; ++k) {
        int b = c->wish.placed ? (int)test_random_in(0, all - 1) : all - 1;
        while (c->batch >> b & 1) b = (b + all - 1) % all;
        c->batch |= UINT32_C(1) << b;
    }
}

/* The range along a dimension, between @p low and @p high ghosts and some padding. */
static void lay(halo_array *a, int b, int64_t own, int low, int high)
{
    const int64_t before = test_random_in(0, 6), behind = test_random_in(0, 4);
    a->box.start[b] = low + (before + test_rank) % 3;
    a->box.end[b] = a->box.start[b] + own;
    a->box.size[b] = a->box.end[b] + high + (behind + test_rank) % 2;
    a->count *= a->box.size[b];
}

/* The own cells somewhere in an array that has its ghosts and some padding; the same types, and so
 * the same random numbers, on every rank, but paddings of its own. */
static void shape(halo_case *c, halo_array *a)
{
    const int types = c->wish.op == META_HALO_ADD ? META_I16 : META_TYPE_COUNT;
    const bool batches = a == c->array || test_random() % 3 > 0;
    a->type = (meta_type)test_random_in(0, types - 1);
    if (c->wish.typed) a->type = c->wish.type;
    meta_type_size(a->type, &a->element);
    a->count = 1;
    a->box.ndim = c->wish.dims + (batches ? c->wish.batch : 0);
    for (int b = 0, d = 0; b < a->box.ndim; ++b) {
        if (batches && c->batch >> b & 1) {
            lay(a, b, test_random_in(1, 3), 0, 0);
            continue;
        }
        a->axis[d] = b;
        a->stagger[d] = c->wish.differ && test_random() % 3 == 0;
        lay(a, b, c->own[d] + a->stagger[d], c->low[d], c->high[d]);
        ++d;
    }
}

static bool device_is_host(void)
{
    meta_device_desc desc = META_DEVICE_DESC_INIT;
    meta_mode mode = META_SPREAD;
    int index = 0;
    CHECK_OK(meta_get_acc(&index, &mode));
    CHECK_OK(meta_device_info(index, mode, &desc));
    return desc.is_host;
}

/* Somewhere in a buffer of the library's, or where the device can in an array of the test's. */
static bool allocate(halo_array *a, void **field)
{
    const size_t bytes = (size_t)a->count * a->element;
    const size_t before = (size_t)test_random_in(0, 3) * a->element;
    const bool wrap = test_random() % 4 == 0;
    a->found = malloc(bytes);
    a->expected = malloc(bytes);
    if (!CHECK(a->found && a->expected)) return false;
    if (wrap && device_is_host()) {
        a->wrapped = malloc(before + bytes);
        if (!CHECK(a->wrapped)) return false;
        if (!CHECK_OK(meta_wrap(&a->base, a->wrapped, before + bytes, META_NATIVE_HOST)))
            return false;
    } else if (!CHECK_OK(meta_alloc(&a->base, before + bytes))) {
        return false;
    }
    *field = (char *)a->base + before;
    return true;
}

static void describe(halo_case *c)
{
    c->desc = (meta_halo_desc)META_HALO_DESC_INIT;
    c->desc.cart = c->cart;
    c->desc.kind = c->wish.kind;
    c->desc.op = c->wish.op;
    c->desc.fields = c->wish.fields;
    c->desc.type = c->array[0].type;
    c->desc.box = c->array[0].box;
    for (int d = 0; d < c->wish.dims; ++d) {
        const int b = c->array[0].axis[d];
        c->desc.box.end[b] -= c->array[0].stagger[d];
        c->desc.low[b] = c->low[d];
        c->desc.high[b] = c->high[d];
    }
    /* Those behind the communicator's dimensions need not be said. */
    c->desc.batch = c->batch;
    for (int b = c->array[0].axis[c->wish.dims - 1] + 1; b < c->desc.box.ndim; ++b)
        if (test_random() % 2) c->desc.batch &= ~(UINT32_C(1) << b);
    for (int f = 0; f < c->wish.fields; ++f)
        c->field[f] = (meta_halo_field){c->array[f].type, c->array[f].box};
    if (c->wish.differ) c->desc.field = c->field;
}

static void name_case(const halo_case *c, const char *name, int64_t number)
{
    char types[CASE_FIELDS * 8 + 1] = "";
    for (int f = 0; f < c->wish.fields; ++f) {
        const halo_array *a = &c->array[f];
        const char text[] = {' ',
                             (char)('0' + (int)a->type),
                             ':',
                             (char)('0' + a->stagger[0]),
                             (char)('0' + a->stagger[1]),
                             (char)('0' + a->stagger[2]),
                             '\0'};
        strcat(types, text);
    }
    test_case("%s %lld: ranks %dx%dx%d, periodic %d%d%d, cells %lldx%lldx%lld, low %d,%d,%d, high "
              "%d,%d,%d, %s, %s, %d dimensions and batches 0x%x, %d fields (type:staggering)%s%s, "
              "modes %d and %d",
              name, (long long)number, c->extent[0], c->extent[1], c->extent[2], c->wraps[0],
              c->wraps[1], c->wraps[2], (long long)c->cells[0], (long long)c->cells[1],
              (long long)c->cells[2], c->low[0], c->low[1], c->low[2], c->high[0], c->high[1],
              c->high[2], c->wish.kind == META_HALO_ALL ? "all" : "faces",
              c->wish.op == META_HALO_ADD ? "add" : "copy", c->wish.dims, (unsigned)c->batch,
              c->wish.fields, types, c->wish.differ ? "" : ", all alike", c->wish.mode[0],
              c->wish.mode[1]);
}

bool halo_case_make(halo_case *c, const halo_wish *wish, const char *name, int64_t number)
{
    int rank;
    memset(c, 0, sizeof *c);
    c->wish = *wish;
    cut_ranks(c);
    for (int d = 0; d < wish->dims; ++d) c->wraps[d] = wish->periodic >> d & 1;
    MPI_Cart_create(MPI_COMM_WORLD, wish->dims, c->extent, c->wraps, 0, &c->cart);
    MPI_Comm_rank(c->cart, &rank);
    MPI_Cart_coords(c->cart, rank, wish->dims, c->at);
    choose_widths(c);
    for (int d = 0; d < wish->dims; ++d) cut_cells(c, d);
    place_batch(c);
    for (int f = 0; f < wish->fields; ++f)
        if (f > 0 && !wish->differ) c->array[f] = c->array[0];
        else shape(c, &c->array[f]);
    describe(c);
    name_case(c, name, number);
    if (!CHECK_OK(meta_set_acc(0, wish->mode[test_rank % 2]))) return false;
    for (int f = 0; f < wish->fields; ++f)
        if (!allocate(&c->array[f], &c->fields[f])) return false;
    return true;
}

bool halo_case_again(halo_case *c, const halo_case *like, meta_mode mode)
{
    *c = *like;
    c->cart = MPI_COMM_NULL;
    for (int f = 0; f < c->wish.fields; ++f) {
        halo_array *a = &c->array[f];
        a->base = a->wrapped = NULL;
        a->found = a->expected = NULL;
    }
    if (!CHECK_OK(meta_set_acc(0, mode))) return false;
    for (int f = 0; f < c->wish.fields; ++f)
        if (!allocate(&c->array[f], &c->fields[f])) return false;
    return true;
}

void halo_case_free(halo_case *c)
{
    for (int f = 0; f < c->wish.fields; ++f) {
        halo_array *a = &c->array[f];
        if (a->base) CHECK_OK(a->wrapped ? meta_unwrap(a->base) : meta_free(a->base));
        free(a->wrapped);
        free(a->found);
        free(a->expected);
    }
    if (c->cart != MPI_COMM_NULL) MPI_Comm_free(&c->cart);
}

/* ------------------------------------------------------------------ the oracle */

static const unsigned char untouched = 0xd7;

/* Where a rank sits and which element is meant, counted from the global grid's first cell along
 * that rank's own side of it: a ghost beyond a periodic boundary has an index below 0 or above. */
typedef struct place {
    int at[CASE_DIMS];
    int64_t global[CASE_DIMS];
    uint64_t batch; /* which element of the batch */
} place;

/* What that rank's array holds there before the exchange, as bits: any for a copy, and for a sum of
 * floating numbers those of a small whole one. */
static uint64_t bits_at(const halo_case *c, int field, int step, const place *p)
{
    uint64_t h = (uint64_t)field * 37 + (uint64_t)step * 101 + p->batch * 1009 + 1;
    for (int d = 0; d < c->wish.dims; ++d) {
        h = (h ^ (uint64_t)p->at[d]) * UINT64_C(0xbf58476d1ce4e5b9);
        h = (h ^ (uint64_t)p->global[d]) * UINT64_C(0x94d049bb133111eb);
        h ^= h >> 29;
    }
    return h;
}

static bool is_floating(meta_type type)
{
    return type == META_F64 || type == META_F32;
}

/* The bits of the sum's element: whole numbers are exact in either type, integers wrap. */
static uint64_t element_of_sum(meta_type type, uint64_t sum)
{
    const double f64 = (double)(int64_t)sum;
    const float f32 = (float)(int64_t)sum;
    memcpy(&sum, &f64, type == META_F64 ? sizeof f64 : 0);
    memcpy(&sum, &f32, type == META_F32 ? sizeof f32 : 0);
    return sum;
}

/* The element as a number that may be added. */
static uint64_t number_at(const halo_case *c, int field, int step, const place *p)
{
    const uint64_t bits = bits_at(c, field, step, p);
    return is_floating(c->array[field].type) ? (bits >> 20) % 2001 - 1000 : bits;
}

static uint64_t initial_at(const halo_case *c, int field, int step, const place *p)
{
    if (c->wish.op == META_HALO_COPY) return bits_at(c, field, step, p);
    return element_of_sum(c->array[field].type, number_at(c, field, step, p));
}

/* The same element as the neighbour in direction @p way counts it; false if there is none. */
static bool seen_from(const halo_case *c, const int way[CASE_DIMS], const place *mine, place *there)
{
    *there = *mine;
    for (int d = 0; d < c->wish.dims; ++d) {
        const int to = mine->at[d] + way[d];
        if (to >= 0 && to < c->extent[d]) {
            there->at[d] = to;
            continue;
        }
        if (!c->wraps[d]) return false;
        there->at[d] = to < 0 ? c->extent[d] - 1 : 0;
        there->global[d] += to < 0 ? c->cells[d] : -c->cells[d];
    }
    return true;
}

/* How many axes a direction has; one that the plan does not know has CASE_DIMS + 1. */
static int axes_of(const halo_case *c, const int way[CASE_DIMS])
{
    int axes = 0;
    for (int d = 0; d < c->wish.dims; ++d) axes += way[d] != 0;
    return axes > 1 && c->wish.kind == META_HALO_FACES ? CASE_DIMS + 1 : axes;
}

/* In which direction from the own cells element @p i lies; false for padding. */
static bool direction_of(const halo_case *c, const halo_array *a, const int64_t i[CASE_DIMS],
                         int way[CASE_DIMS])
{
    for (int d = 0; d < c->wish.dims; ++d) {
        const int64_t start = a->box.start[a->axis[d]], end = a->box.end[a->axis[d]];
        way[d] = i[d] < start ? -1 : i[d] >= end ? 1 : 0;
        if (i[d] < start - c->low[d] || i[d] >= end + c->high[d]) return false;
    }
    return true;
}

/* Whether own element @p i is among those that the neighbour in direction @p way adds to: what its
 * ghosts overlap, and what both own. */
static bool is_added_from(const halo_case *c, const halo_array *a, const int64_t i[CASE_DIMS],
                          const int way[CASE_DIMS])
{
    for (int d = 0; d < c->wish.dims; ++d) {
        const int64_t own = i[d] - a->box.start[a->axis[d]];
        if (way[d] > 0 && own < c->own[d] - c->low[d]) return false;
        if (way[d] < 0 && own >= c->high[d] + a->stagger[d]) return false;
    }
    return true;
}

/* An own element after the ghosts of all neighbours were added. */
static uint64_t sum_at(const halo_case *c, int field, int step, const int64_t i[CASE_DIMS],
                       const place *mine)
{
    const halo_array *a = &c->array[field];
    uint64_t sum = 0;
    for (int k = 0; k < 27; ++k) {
        const int way[CASE_DIMS] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
        place there;
        bool counts = axes_of(c, way) <= CASE_DIMS && is_added_from(c, a, i, way);
        for (int d = c->wish.dims; d < CASE_DIMS; ++d) counts = counts && way[d] == 0;
        if (counts && seen_from(c, way, mine, &there)) sum += number_at(c, field, step, &there);
    }
    return element_of_sum(a->type, sum);
}

static uint64_t final_at(const halo_case *c, int field, int step, const int64_t i[CASE_DIMS],
                         const int way[CASE_DIMS], const place *mine)
{
    const int axes = axes_of(c, way);
    place there;
    if (c->wish.op == META_HALO_ADD && axes == 0) return sum_at(c, field, step, i, mine);
    if (c->wish.op == META_HALO_COPY && axes > 0 && axes <= CASE_DIMS &&
        seen_from(c, way, mine, &there))
        return initial_at(c, field, step, &there);
    return initial_at(c, field, step, mine);
}

/* Which element the @p k th of an array is; false where it is none of the batch's. */
static bool find_place(const halo_case *c, const halo_array *a, int64_t k, int64_t i[CASE_DIMS],
                       place *mine)
{
    bool inside = true;
    for (int b = 0, d = 0; b < a->box.ndim; ++b) {
        const int64_t at = k % a->box.size[b], own = at - a->box.start[b];
        k /= a->box.size[b];
        if (d < c->wish.dims && a->axis[d] == b) {
            i[d] = at;
            mine->at[d] = c->at[d];
            mine->global[d] = c->first[d] + own;
            ++d;
        } else {
            inside &= own >= 0 && at < a->box.end[b];
            mine->batch = mine->batch * 5 + (uint64_t)own + 1;
        }
    }
    return inside;
}

static void fill(const halo_case *c, int field, int step, bool after, unsigned char *to)
{
    const halo_array *a = &c->array[field];
    memset(to, untouched, (size_t)a->count * a->element);
    for (int64_t k = 0; k < a->count; ++k, to += a->element) {
        int64_t i[CASE_DIMS] = {0};
        int way[CASE_DIMS] = {0};
        place mine = {{0}, {0}, 0};
        if (!find_place(c, a, k, i, &mine) || !direction_of(c, a, i, way)) continue;
        const uint64_t value =
            after ? final_at(c, field, step, i, way, &mine) : initial_at(c, field, step, &mine);
        memcpy(to, &value, a->element);
    }
}

void halo_case_initial(halo_case *c, int step)
{
    for (int f = 0; f < c->wish.fields; ++f) fill(c, f, step, false, c->array[f].found);
}

void halo_case_expected(halo_case *c, int step)
{
    for (int f = 0; f < c->wish.fields; ++f) fill(c, f, step, true, c->array[f].expected);
}

bool halo_case_upload(halo_case *c)
{
    bool right = true;
    for (int f = 0; f < c->wish.fields; ++f) {
        const halo_array *a = &c->array[f];
        right &=
            CHECK_OK(meta_copy_h2d(c->fields[f], a->found, (size_t)a->count * a->element, NULL));
    }
    return right;
}

bool halo_case_check(halo_case *c)
{
    bool right = true;
    for (int f = 0; f < c->wish.fields; ++f) {
        const halo_array *a = &c->array[f];
        right &=
            CHECK_OK(meta_copy_d2h(a->found, c->fields[f], (size_t)a->count * a->element, NULL));
        right &= CHECK_ARRAY(a->found, a->expected, a->count, a->type);
    }
    return right;
}

bool halo_broken_anywhere(void)
{
    const int mine = test_failures() > 0;
    int any = 0;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any;
}
