/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_family.c
 *  The plans of one communicator of the program. MPI has few communicators (MPICH 2048 in a
 *  process), so they share duplicates of it, in which each has a range of tags of its own.
 *
 *  All ranks give the same range without asking each other, since they make plans in the same
 * order: they go through a list of ranges that were free on every one of them when they last
 * compared. At its end they compare again, and duplicate the communicator once more where little is
 * free. So each rank may free plans in its own order, and keep the range of one that failed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halo/halo_plan.h"

enum {
    MOST_RANGES = 4096, /**< of a duplicate: what is compared stays short */
    LEAST_TAGS = 32768  /**< that MPI has at least */
};

typedef enum range_state { RANGE_FREE, RANGE_TAKEN } range_state;

struct halo_family {
    halo_family *next;
    MPI_Comm of;           /**< the program's */
    _Atomic bool is_known; /**< MPI has this as an attribute of it: it is not freed yet */
    MPI_Comm *copy;        /**< the duplicates */
    int copies, ranges;    /**< and how many ranges each has */
    unsigned char *range;  /**< of each, on this rank: a plan has it, or it is not used again */
    unsigned char *given;  /**< RANGE_FREE: all ranks had it free, and give it next */
    int plans;
    bool dirty; /**< a later communicator could meet messages in the context of a duplicate */
};

static halo_family *families; /* in the order in which they were made */
static int key = MPI_KEYVAL_INVALID;

static void delete_family(halo_family *f)
{
    halo_family **at = &families;
    while (*at && *at != f) at = &(*at)->next;
    if (*at) *at = f->next;
    for (int k = 0; k < f->copies && !f->dirty; ++k) comm_free(&f->copy[k]);
    f->copies = 0;
    free(f->copy);
    free(f->range);
    free(f->given);
    f->copy = NULL;
    f->range = f->given = NULL;
    if (!f->is_known) free(f);
}

static void delete_unused(void)
{
    for (halo_family *f = families, *next; f; f = next) {
        next = f->next;
        if (!f->is_known && f->plans == 0) delete_family(f);
    }
}

/* MPI calls it when the program frees its communicator. Another thread may be in the library, and
 * MPI may hold a lock here that this thread needs: then the next call deletes the family. */
static int forget(MPI_Comm comm, int keyval, void *value, void *extra)
{
    halo_family *f = value;
    (void)comm, (void)keyval, (void)extra;
    f->is_known = false;
    if (!comm_trylock()) return MPI_SUCCESS;
    if (f->copies == 0) free(f); /* deleted before, when MPI did not delete the attribute */
    else delete_unused();
    comm_unlock();
    return MPI_SUCCESS;
}

/* ------------------------------------------------------------------ duplicates */

static meta_err make_room(halo_family *f)
{
    const size_t more = (size_t)(f->copies + 1) * (size_t)f->ranges;
    MPI_Comm *copy = realloc(f->copy, (size_t)(f->copies + 1) * sizeof(MPI_Comm));
    if (copy) f->copy = copy;
    unsigned char *range = realloc(f->range, more);
    if (range) f->range = range;
    unsigned char *given = realloc(f->given, more);
    if (given) f->given = given;
    if (copy && range && given) return META_OK;
    return core->fail(META_ERR_NO_MEMORY, "the host has no memory for the tags of halo plans");
}

static meta_err add_copy(halo_family *f, MPI_Comm copy)
{
    META_TRY(make_room(f));
    const size_t ranges = (size_t)f->ranges, first = (size_t)f->copies * ranges;
    memset(f->range + first, RANGE_FREE, ranges);
    memset(f->given + first, RANGE_FREE, ranges);
    f->copy[f->copies++] = copy;
    return META_OK;
}

/* How many ranges one communicator has: the same on all ranks, as MPI says. Only MPI_COMM_WORLD
 * need tell; in Open MPI 4.1 others do not. */
static meta_err count_ranges(int *ranges)
{
    int *last, there = 0;
    COMM_MPI(MPI_Comm_get_attr, (MPI_COMM_WORLD, MPI_TAG_UB, &last, &there));
    const int tags = there && *last >= LEAST_TAGS ? *last : LEAST_TAGS - 1;
    *ranges = tags / HALO_TAGS < MOST_RANGES ? tags / HALO_TAGS : MOST_RANGES;
    return META_OK;
}

static meta_err fill_family(halo_family *f, MPI_Comm of, MPI_Comm copy)
{
    META_TRY(count_ranges(&f->ranges));
    META_TRY(add_copy(f, copy));
    if (key == MPI_KEYVAL_INVALID)
        COMM_MPI(MPI_Comm_create_keyval, (MPI_COMM_NULL_COPY_FN, forget, &key, NULL));
    COMM_MPI(MPI_Comm_set_attr, (of, key, f));
    f->is_known = true;
    return META_OK;
}

/* Collective; one outcome for all. */
static meta_err make_family(MPI_Comm of, halo_family **made)
{
    MPI_Comm copy;
    META_TRY(comm_duplicate(of, &copy));
    halo_family *f = calloc(1, sizeof *f);
    meta_err error = f ? META_OK
                       : core->fail(META_ERR_NO_MEMORY,
                                    "the host has no memory for a communicator's halo plans");
    if (f) f->of = of;
    if (error == META_OK) error = fill_family(f, of, copy);
    error = comm_agree(copy, error);
    if (error == META_OK) {
        halo_family **last = &families;
        while (*last) last = &(*last)->next;
        *last = f;
        *made = f;
        return META_OK;
    }
    char text[COMM_TEXT];
    snprintf(text, sizeof text, "%s", meta_last_error());
    if (f && f->is_known) MPI_Comm_delete_attr(of, key);
    if (f && f->copies > 0) delete_family(f);
    else comm_free(&copy), free(f);
    return core->fail_as(error, text);
}

static meta_err find_family(MPI_Comm of, halo_family **found)
{
    int there = 0;
    if (key != MPI_KEYVAL_INVALID) COMM_MPI(MPI_Comm_get_attr, (of, key, found, &there));
    return there && (*found)->copies > 0 ? META_OK : make_family(of, found);
}

/* ------------------------------------------------------------------ ranges */

static size_t count_free(const unsigned char *ranges, size_t count)
{
    size_t found = 0;
    for (size_t k = 0; k < count; ++k) found += ranges[k] == RANGE_FREE;
    return found;
}

static const unsigned char *next_free(const halo_family *f)
{
    return memchr(f->given, RANGE_FREE, (size_t)f->copies * (size_t)f->ranges);
}

static meta_err duplicate_again(halo_family *f)
{
    MPI_Comm copy;
    META_TRY(comm_duplicate(f->copy[0], &copy));
    const meta_err mine = add_copy(f, copy);
    const meta_err error = comm_agree(copy, mine);
    if (error == META_OK) return META_OK;
    if (mine == META_OK) --f->copies;
    comm_free(&copy);
    return error;
}

/* List the ranges that all ranks have free. Collective, one outcome for all. */
static meta_err compare(halo_family *f)
{
    const size_t count = (size_t)f->copies * (size_t)f->ranges;
    memcpy(f->given, f->range, count);
    meta_err error = comm_all_reduce(f->copy[0], f->given, (int)count, MPI_UNSIGNED_CHAR, MPI_MAX,
                                     "while ranks compare which tags of halo plans are free");
    error = comm_agree(f->copy[0], error);
    if (error != META_OK) {
        memset(f->given, RANGE_TAKEN, count); /* the next plan's ranks compare again */
        return error;
    }
    const size_t found = count_free(f->given, count);
    if (found >= count / 4) return META_OK;
    error = duplicate_again(f);
    return found > 0 && error != META_ERR_PEER ? META_OK : error;
}

meta_err halo_place_take(MPI_Comm of, halo_place *place)
{
    halo_family *f = NULL;
    delete_unused();
    META_TRY(find_family(of, &f));
    const unsigned char *next = next_free(f);
    if (!next) {
        META_TRY(compare(f));
        next = next_free(f);
    }
    const int range = (int)(next - f->given);
    f->given[range] = f->range[range] = RANGE_TAKEN;
    ++f->plans;
    *place = (halo_place){.comm = f->copy[range / f->ranges],
                          .first_tag = range % f->ranges * HALO_TAGS,
                          .family = f,
                          .range = range};
    return META_OK;
}

void halo_place_leave(const halo_place *place, halo_leaving how)
{
    halo_family *f = place->family;
    if (how == HALO_LEFT_CLEAN) f->range[place->range] = RANGE_FREE;
    if (how == HALO_LEFT_DIRTY) f->dirty = true;
    --f->plans;
    delete_unused();
}

void halo_families_drop(void)
{
    while (families) {
        halo_family *f = families;
        if (f->is_known) MPI_Comm_delete_attr(f->of, key);
        delete_family(f);
    }
}
