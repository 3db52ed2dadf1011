/* SPDX-License-Identifier: BSD-3-Clause */
/** @file decompose.c
 *  Cutting a global grid by the ranks' speeds and memory. One dimension is cut exactly; where
 *  several have more than one rank they take turns, each cut exactly for what the others are.
 *
 *  With the other dimensions fixed, a plane of part k of a dimension takes as long as the slowest
 *  rank in that part needs for its piece of it (its price), and no more planes fit than the rank
 *  with the least room can hold. So a dimension is a row of parts with a price and a room each,
 *  which one reduction over a vector of the dimension's parts finds.
 *
 *  Where a rank's time is not proportional to its cells there are no prices: how many planes a part
 *  can have within a time is the least of what its ranks can, found by a reduction for each step of
 *  the search. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "balance/cuts.h"

typedef struct cutting {
    const cuts_ranks *g;
    int64_t cells[CUTS_DIMS], least[CUTS_DIMS];
    double cost;               /* of a cell on this rank; the fastest one's is 1 */
    double filling;            /* share of this rank's room that a cell takes */
    int64_t most;              /* cells that it can hold */
    int64_t *part[CUTS_DIMS];  /* planes of each part, as they are now */
    int64_t *found[CUTS_DIMS]; /* of the best cuts so far */
    int axis;                  /* a dimension with several ranks, where there is one */
    double *price;           /* of the parts of a dimension, and room for their rooms behind them */
    int64_t *room;           /* planes that they can hold */
    int64_t *most_in;        /* and that they get at most within the time that was found */
    const cuts_times *times; /* NULL: this rank's time is its cells' cost */
    int64_t *within;         /* else the planes that the parts can have within each of some times */
} cutting;

/* Times that one reduction asks all ranks for. */
enum { TIMES = 63 };

/* ------------------------------------------------------------------ one dimension */

/* The planes that part k gets where none may take longer than @p time. */
static int64_t planes_in(const cutting *c, int d, int k, double time)
{
    const double planes = floor(time / c->price[k]);
    if (planes >= (double)c->room[k]) return c->room[k];
    return planes > (double)c->least[d] ? (int64_t)planes : c->least[d];
}

/* Give the planes that are left over to the parts that can have more, @p most[k] each. */
static void give_rest(cutting *c, int d, const int64_t *most)
{
    int64_t rest = c->cells[d];
    for (int k = 0; k < c->g->extent[d]; ++k) rest -= c->part[d][k];
    for (int k = 0; k < c->g->extent[d] && rest > 0; ++k) {
        const int64_t more = most[k] - c->part[d][k];
        c->part[d][k] += more < rest ? more : rest;
        rest -= more < rest ? more : rest;
    }
}

static bool enough(const cutting *c, int d, double time)
{
    int64_t rest = c->cells[d];
    for (int k = 0; k < c->g->extent[d] && rest > 0; ++k) rest -= planes_in(c, d, k, time);
    return rest <= 0;
}

/* Cut dimension @p d by its prices and rooms. The least time is found by bisection down to two
 * neighbouring numbers: at the lower one planes are left over, at the higher there are enough. */
static void cut_by_price(cutting *c, int d)
{
    const int parts = c->g->extent[d];
    double low = 0, high = 0;
    /* Twice what one part alone would need: a product that is divided again may come out below. */
    for (int k = 0; k < parts; ++k) high = fmax(high, 2 * (double)c->cells[d] * c->price[k]);
    if (enough(c, d, 0)) high = 0;
    for (;;) {
        const double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high) break;
        if (enough(c, d, middle)) high = middle;
        else low = middle;
    }
    for (int k = 0; k < parts; ++k) {
        c->part[d][k] = planes_in(c, d, k, low);
        c->most_in[k] = planes_in(c, d, k, high);
    }
    give_rest(c, d, c->most_in);
}

/* Whether the parts have room for the planes, and each for the least it must get. */
static bool holds(const cutting *c, int d, int64_t *together)
{
    bool each = true;
    *together = 0;
    for (int k = 0; k < c->g->extent[d]; ++k) {
        each = each && c->room[k] >= c->least[d];
        if (*together < c->cells[d]) *together += c->room[k];
    }
    return each && *together >= c->cells[d];
}

/* ------------------------------------------------------------------ all ranks */

/* Cells of this rank in a plane across dimension @p d; with -1 its cells in all. */
static int64_t cells_across(const cutting *c, int d)
{
    int64_t product = 1;
    for (int e = 0; e < c->g->dims; ++e)
        if (e != d) product *= c->part[e][c->g->at[e]];
    return product;
}

/* The prices of dimension @p d at @p cost a cell, and where @p limited its rooms; together in one
 * reduction, of the prices and the rooms' negatives. */
static meta_err find_prices(cutting *c, int d, double cost, bool limited)
{
    const int parts = c->g->extent[d], mine = c->g->at[d];
    const int64_t across = cells_across(c, d), room = c->most / across, cells = c->cells[d];
    double *price = c->price, *rooms = c->price + parts;
    for (int k = 0; k < parts; ++k) price[k] = 0, rooms[k] = -INFINITY;
    price[mine] = (double)across * cost;
    if (limited && room < cells) {
        rooms[mine] = -(double)room;
        /* Above 2^53 the conversion may have rounded the room up. */
        if (rooms[mine] < -0x1p53) rooms[mine] = nextafter(rooms[mine], 0);
    }
    META_TRY(comm_all_reduce(c->g->cart, c->price, 2 * parts, MPI_DOUBLE, MPI_MAX, CUTS_PHASE));
    for (int k = 0; k < parts; ++k)
        c->room[k] = -rooms[k] < (double)cells ? (int64_t)-rooms[k] : cells;
    return META_OK;
}

/* The largest of all ranks' costs, at the prices of dimension @p d. */
static double worst_of(const cutting *c, int d)
{
    double worst = 0;
    for (int k = 0; k < c->g->extent[d]; ++k)
        worst = fmax(worst, (double)c->part[d][k] * c->price[k]);
    return worst;
}

/* ------------------------------------------------------------------ times that are no prices */

/* The longest of all ranks' times with @p cells on this one. */
static meta_err longest_with(const cutting *c, int64_t cells, double *longest)
{
    *longest = c->times->seconds(c->times->of, cells);
    return comm_all_reduce(c->g->cart, longest, 1, MPI_DOUBLE, MPI_MAX, CUTS_PHASE);
}

/* The planes of @p across cells that this rank can compute within @p time, of @p most. */
static int64_t planes_within(const cutting *c, int64_t across, int64_t most, double time)
{
    int64_t low = 0, high = most;
    while (low < high) {
        const int64_t middle = high - (high - low) / 2;
        if (c->times->seconds(c->times->of, across * middle) <= time) low = middle;
        else high = middle - 1;
    }
    return low;
}

/* Find the planes that each part gets within each of TIMES times between @p low and @p high. */
static meta_err ask_within(cutting *c, int d, double low, double high)
{
    const int parts = c->g->extent[d], mine = c->g->at[d];
    const int64_t across = cells_across(c, d);
    for (int i = 0; i < TIMES * parts; ++i) c->within[i] = c->cells[d];
    for (int i = 0; i < TIMES; ++i) {
        const double time = low + (high - low) * (i + 1) / (TIMES + 1);
        c->within[i * parts + mine] = planes_within(c, across, c->cells[d], time);
    }
    META_TRY(
        comm_all_reduce(c->g->cart, c->within, TIMES * parts, MPI_INT64_T, MPI_MIN, CUTS_PHASE));
    for (int i = 0; i < TIMES; ++i)
        for (int k = 0; k < parts; ++k) {
            int64_t *planes = &c->within[i * parts + k];
            if (*planes >= c->room[k]) *planes = c->room[k];
            else if (*planes < c->least[d]) *planes = c->least[d];
        }
    return META_OK;
}

/* The planes that are left over where the parts get these, negative where there are not enough. */
static int64_t left_over(const cutting *c, int d, const int64_t *part)
{
    int64_t rest = c->cells[d];
    for (int k = 0; k < c->g->extent[d] && rest >= 0; ++k) rest -= part[k];
    return rest;
}

/* Cut dimension @p d by the ranks' times and its rooms: as by prices, but the least time is found
 * to a part in 10^9 of the longest there can be, or until only one cut is left. */
static meta_err cut_by_times(cutting *c, int d)
{
    enum { ROUNDS = 5 }; /* each leaves a 64th */
    const int parts = c->g->extent[d];
    int64_t *const low_part = c->part[d];
    double low = 0, high;
    META_TRY(longest_with(c, cells_across(c, d) * c->cells[d], &high));
    for (int k = 0; k < parts; ++k) {
        low_part[k] = c->least[d];
        c->most_in[k] = c->room[k];
    }
    for (int round = 0; round < ROUNDS; ++round) {
        if (left_over(c, d, low_part) == 0 || left_over(c, d, c->most_in) == 0) break;
        int first = 0; /* time that is enough */
        META_TRY(ask_within(c, d, low, high));
        while (first < TIMES && left_over(c, d, c->within + first * parts) > 0) ++first;
        const size_t bytes = (size_t)parts * sizeof *c->within;
        if (first < TIMES) memcpy(c->most_in, c->within + first * parts, bytes);
        if (first > 0) memcpy(low_part, c->within + (first - 1) * parts, bytes);
        const double step = (high - low) / (TIMES + 1);
        if (first < TIMES) high = low + step * (first + 1);
        low += step * first;
    }
    give_rest(c, d, c->most_in);
    return META_OK;
}

/* ------------------------------------------------------------------ several dimensions */

/* What cuts are to make small: the longest time, or the share of a rank's room that is filled. */
typedef enum objective { TIME, FILLING } objective;

/* Find what cutting dimension @p d takes, and the worst of all ranks as they are cut now. */
static meta_err look_at(cutting *c, int d, objective o, double *worst)
{
    META_TRY(find_prices(c, d, o == TIME ? c->cost : c->filling, o == TIME));
    *worst = worst_of(c, d);
    return o == TIME && c->times ? longest_with(c, cells_across(c, -1), worst) : META_OK;
}

/* Cut it, and look again. */
static meta_err cut(cutting *c, int d, objective o, double *worst)
{
    META_TRY(find_prices(c, d, o == TIME ? c->cost : c->filling, o == TIME));
    if (o == TIME && c->times) {
        META_TRY(cut_by_times(c, d));
        return longest_with(c, cells_across(c, -1), worst);
    }
    cut_by_price(c, d);
    *worst = worst_of(c, d);
    return META_OK;
}

/* Cut one dimension after the other, from the last on if @p backward, until the worst of all ranks
 * falls no more. Each cut is the best for what the others are, so it never rises. */
static meta_err take_turns(cutting *c, objective o, bool backward, double *worst)
{
    enum { MOST_ROUNDS = 50 };
    double before = INFINITY, now = INFINITY;
    for (int round = 0; round < MOST_ROUNDS; ++round) {
        for (int k = 0; k < c->g->dims; ++k) {
            const int d = backward ? c->g->dims - 1 - k : k;
            if (c->g->extent[d] > 1) META_TRY(cut(c, d, o, &now));
        }
        if (now >= before) break;
        before = now;
    }
    *worst = now;
    return META_OK;
}

/* ------------------------------------------------------------------ beginnings */

typedef enum beginning { FROM_EVEN, FROM_SUMS, FROM_NOW } beginning;

/* Every part of a dimension at the price of one over its ranks' speeds together. */
static meta_err price_by_sums(cutting *c, int d)
{
    const int parts = c->g->extent[d];
    for (int k = 0; k < parts; ++k) c->price[k] = 0;
    c->price[c->g->at[d]] = 1 / c->cost;
    META_TRY(comm_all_reduce(c->g->cart, c->price, parts, MPI_DOUBLE, MPI_SUM, CUTS_PHASE));
    /* The order of a sum is MPI's, and may differ between ranks. */
    META_TRY(comm_all_from(c->g->cart, c->price, parts, MPI_DOUBLE, 0, CUTS_PHASE));
    for (int k = 0; k < parts; ++k) c->price[k] = 1 / c->price[k];
    return META_OK;
}

static meta_err begin(cutting *c, beginning from, const meta_cuts *now)
{
    for (int d = 0; d < c->g->dims; ++d) {
        for (int k = 0; k < c->g->extent[d]; ++k) {
            c->price[k] = 1;
            c->room[k] = c->cells[d];
            if (from == FROM_NOW) c->part[d][k] = now->at[d][k + 1] - now->at[d][k];
        }
        if (from == FROM_SUMS) META_TRY(price_by_sums(c, d));
        if (from != FROM_NOW) cut_by_price(c, d);
    }
    return META_OK;
}

/* Whether every rank can hold the cuts as they are, and the worst of all ranks' costs. */
static meta_err look(cutting *c, bool *hold, double *worst)
{
    META_TRY(look_at(c, c->axis, TIME, worst));
    *hold = true;
    for (int k = 0; k < c->g->extent[c->axis]; ++k)
        *hold = *hold && c->part[c->axis][k] <= c->room[k];
    return META_OK;
}

/* Cuts that every rank can hold, by way of making the fullest less full. */
static meta_err make_hold(cutting *c, bool backward, bool *hold, double *worst)
{
    META_TRY(look(c, hold, worst));
    if (*hold) return META_OK;
    META_TRY(take_turns(c, FILLING, backward, worst));
    return look(c, hold, worst);
}

static void keep_better(cutting *c, double worst, double *best)
{
    if (worst >= *best) return;
    *best = worst;
    for (int d = 0; d < c->g->dims; ++d)
        memcpy(c->found[d], c->part[d], (size_t)c->g->extent[d] * sizeof *c->found[d]);
}

/* The best outcome of all beginnings; *any is false where none can be held. */
static meta_err try_all(cutting *c, const meta_cuts *now, bool *any)
{
    double best = INFINITY, worst;
    for (int from = now ? FROM_NOW : FROM_SUMS; from >= 0; --from)
        for (int backward = 0; backward < (c->times ? 1 : 2); ++backward) {
            bool hold;
            META_TRY(begin(c, (beginning)from, now));
            META_TRY(make_hold(c, backward, &hold, &worst));
            if (!hold) continue;
            *any = true;
            if (from == FROM_NOW) keep_better(c, worst, &best);
            META_TRY(take_turns(c, TIME, backward, &worst));
            keep_better(c, worst, &best);
        }
    return META_OK;
}

/* ------------------------------------------------------------------ where they cannot hold it */

static meta_err no_room_together(const cutting *c)
{
    int64_t all = 1;
    double mine = (double)c->most, together;
    for (int d = 0; d < c->g->dims; ++d) all *= c->cells[d];
    together = mine;
    META_TRY(comm_all_reduce(c->g->cart, &together, 1, MPI_DOUBLE, MPI_SUM, CUTS_PHASE));
    META_TRY(comm_all_from(c->g->cart, &together, 1, MPI_DOUBLE, 0, CUTS_PHASE));
    if (together >= (double)all) return META_OK;
    return core->fail(META_ERR_NO_MEMORY,
                      "the grid has %" PRId64 " cells, but all ranks together can hold %.0f "
                      "('desc->most'): use more ranks or a smaller grid",
                      all, together);
}

static meta_err cut_one(cutting *c)
{
    const int d = c->axis;
    int64_t together;
    double best = INFINITY, worst;
    META_TRY(begin(c, FROM_EVEN, NULL));
    META_TRY(find_prices(c, d, c->cost, true));
    if (holds(c, d, &together)) {
        META_TRY(cut(c, d, TIME, &worst));
        keep_better(c, worst, &best);
        return META_OK;
    }
    META_TRY(no_room_together(c));
    for (int k = 0; k < c->g->extent[d]; ++k)
        if (c->room[k] < c->least[d])
            return core->fail(META_ERR_NO_MEMORY,
                              "the rank with coordinate %d along dimension %d can hold %" PRId64
                              " planes of %" PRId64 " cells ('desc->most'), but must get at "
                              "least %" PRId64,
                              k, d, c->room[k], cells_across(c, d), c->least[d]);
    return core->fail(META_ERR_NO_MEMORY,
                      "dimension %d has %" PRId64 " planes of %" PRId64 " cells, but all ranks "
                      "together can hold %" PRId64 " whole ones ('desc->most'): use more ranks or "
                      "a smaller grid",
                      d, c->cells[d], cells_across(c, d), together);
}

static meta_err cut_several(cutting *c, const meta_cuts *now)
{
    bool any = false;
    meta_err error = META_OK;
    META_TRY(try_all(c, now, &any));
    if (any) return META_OK;
    META_TRY(no_room_together(c));
    const int64_t cells = cells_across(c, -1);
    if (cells > c->most)
        error = core->fail(META_ERR_NO_MEMORY,
                           "no cuts were found that every rank can hold: this one has %" PRId64
                           " cells in the last ones, and can hold %" PRId64 " ('desc->most'); use "
                           "more ranks, another process grid or a smaller grid",
                           cells, c->most);
    return comm_agree(c->g->cart, error);
}

static meta_err prepare(cutting *c, const meta_decompose_desc *desc, double speed, double fastest)
{
    int64_t all = 1;
    size_t most = 1;
    bool there = true;
    for (int d = 0; d < c->g->dims; ++d) {
        const size_t parts = (size_t)c->g->extent[d];
        c->cells[d] = desc->cells[d];
        c->least[d] = desc->least[d] == 0 ? 1 : desc->least[d];
        all *= desc->cells[d];
        c->part[d] = calloc(parts, sizeof *c->part[d]);
        c->found[d] = calloc(parts, sizeof *c->found[d]);
        there = there && c->part[d] && c->found[d];
        if (parts > most) most = parts;
        if (parts > 1) c->axis = d;
    }
    /* Ranks that are slower still get the least planes anyway. */
    c->cost = fmin(fastest / speed, 1e30);
    c->most = desc->most > 0 && desc->most < all ? desc->most : all;
    c->filling = 1 / (double)c->most;
    c->price = calloc(2 * most, sizeof *c->price);
    c->room = calloc(most, sizeof *c->room);
    c->most_in = calloc(most, sizeof *c->most_in);
    c->within = calloc(c->times ? TIMES * most : 1, sizeof *c->within);
    if (there && c->price && c->room && c->most_in && c->within) return META_OK;
    return core->fail(META_ERR_NO_MEMORY, "the host has no memory for the cuts of a process grid");
}

/* Write the cuts that were found, and the time of the rank that needs longest with them. */
static meta_err write_found(const cutting *c, double speed, const meta_cuts *next, double *seconds)
{
    double mine = 1 / speed;
    int64_t cells = 1;
    for (int d = 0; d < c->g->dims; ++d) {
        mine *= (double)c->found[d][c->g->at[d]];
        cells *= c->found[d][c->g->at[d]];
    }
    *seconds = c->times ? c->times->seconds(c->times->of, cells) : mine;
    META_TRY(comm_all_reduce(c->g->cart, seconds, 1, MPI_DOUBLE, MPI_MAX, CUTS_PHASE));
    for (int d = 0; d < c->g->dims; ++d) {
        next->at[d][0] = 0;
        for (int k = 0; k < c->g->extent[d]; ++k)
            next->at[d][k + 1] = next->at[d][k] + c->found[d][k];
    }
    return META_OK;
}

meta_err cuts_find(const cuts_ranks *g, const meta_decompose_desc *desc, double speed,
                   const cuts_times *times, const meta_cuts *now, const meta_cuts *next,
                   double *seconds)
{
    cutting c = {.g = g, .times = times};
    double fastest;
    int several = 0;
    fastest = speed;
    META_TRY(comm_all_reduce(g->cart, &fastest, 1, MPI_DOUBLE, MPI_MAX, CUTS_PHASE));
    for (int d = 0; d < g->dims; ++d) several += g->extent[d] > 1;
    meta_err error = comm_agree(g->cart, prepare(&c, desc, speed, fastest));
    if (error == META_OK) error = several > 1 ? cut_several(&c, now) : cut_one(&c);
    if (error == META_OK) error = write_found(&c, speed, next, seconds);
    for (int d = 0; d < g->dims; ++d) {
        free(c.part[d]);
        free(c.found[d]);
    }
    free(c.price);
    free(c.room);
    free(c.most_in);
    free(c.within);
    return error;
}

static meta_err decompose(const meta_cuts *cuts, const meta_decompose_desc *desc, double *seconds)
{
    cuts_ranks g;
    meta_decompose_desc own;
    double longest;
    META_TRY(cuts_check_begins(desc));
    META_TRY(cuts_open(&g, desc->cart, "desc->cart"));
    meta_err error = cuts_check_desc(&g, &own, desc, "cuts", cuts, "desc->speed", &own.speed);
    if (error == META_OK) error = cuts_find(&g, &own, own.speed, NULL, NULL, cuts, &longest);
    if (error == META_OK && seconds) *seconds = longest;
    cuts_close(&g);
    return error;
}

meta_err meta_decompose(const meta_cuts *cuts, const meta_decompose_desc *desc, double *seconds)
{
    META_TRY(comm_enter(__func__));
    return comm_leave(decompose(cuts, desc, seconds));
}
