/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_slabs.c
 *  Kernels of the program's own that read the array which they write: allowed where no cell is
 * written that another one reads, which boundary conditions need. */
/* TEST: backends=openmp,opencl auto=yes labels=core */
#define META_KERNELS_HERE
#include "user_slabs.kernel.h"

#include "test.h"

#include <string.h>

enum { MOST = 7, ROOM = MOST * MOST * MOST, ALL = 3 * ROOM };

static int32_t before[ALL], expected[ALL], found[ALL];

/* The element of cell (x, y, z), counted from the address of the array. */
static int64_t element(const meta_box *box, int64_t x, int64_t y, int64_t z)
{
    return x + box->size[0] * (y + box->size[1] * z);
}

/* Compute `expected`, with the array that is written @p to elements behind the buffer's beginning,
 * and the one that is read @p from. @return whether an element that is read is written */
static bool compute(const meta_box *box, int64_t to, int64_t from, bool sides)
{
    static const int low[3] = {0, -1, 0}, high[3] = {2, 0, 1};
    bool written[ALL] = {false}, meets = false;
    memcpy(expected, before, sizeof expected);
    for (int pass = 0; pass < 2; ++pass)
        for (int64_t z = box->start[2]; z < box->end[2]; ++z)
            for (int64_t y = box->start[1]; y < box->end[1]; ++y)
                for (int64_t x = box->start[0]; x < box->end[0]; ++x) {
                    const int64_t cell = to + element(box, x, y, z);
                    int32_t sum = 0;
                    if (pass == 0) {
                        written[cell] = true;
                        continue;
                    }
                    for (int c = sides ? low[2] : 0; c <= (sides ? high[2] : 0); ++c)
                        for (int b = sides ? low[1] : 0; b <= (sides ? high[1] : 0); ++b)
                            for (int a = sides ? low[0] : 0; a <= (sides ? high[0] : 0); ++a) {
                                const int64_t k = from + element(box, x + a, y + b, z + c);
                                meets = meets || written[k];
                                sum += (1 + a - 3 * b + 9 * c) * before[k];
                            }
                    expected[cell] = sides ? sum : 2 * before[from + element(box, x, y, z)] + 1;
                }
    return meets;
}

static void random_box(meta_box *box, bool sides)
{
    static const int low[3] = {0, 1, 0}, high[3] = {2, 0, 1};
    box->ndim = 3;
    for (int d = 0; d < 3; ++d) {
        const int first = sides ? low[d] : 0, behind = sides ? high[d] : 0;
        box->size[d] = test_random_in(first + behind + 1, MOST);
        box->start[d] = test_random_in(first, box->size[d] - behind - 1);
        box->end[d] = test_random_in(box->start[d] + 1, box->size[d] - behind);
        if (test_random_in(0, 2) == 0) box->end[d] = box->start[d] + 1; /* a slab */
    }
}

static void an_array_may_be_read_where_it_is_not_written(void)
{
    int32_t *buffer;
    int allowed = 0, refused = 0;
    void *memory;
    if (!CHECK_OK(meta_alloc(&memory, sizeof before))) return;
    buffer = memory;
    for (int64_t n = test_count(400, 10000); n > 0; --n) {
        const bool sides = test_random_in(0, 1);
        meta_box box = {0};
        random_box(&box, sides);
        /* Often a few cells apart. */
        const int64_t apart =
            element(&box, test_random_in(-2, 2), test_random_in(-2, 2), test_random_in(-1, 1));
        const int64_t to = ROOM, from = ROOM + (apart < -ROOM || apart > ROOM ? 0 : apart);
        test_case("%s, [%d, %d) × [%d, %d) × [%d, %d) of %d × %d × %d, %d apart",
                  sides ? "sides" : "cell", (int)box.start[0], (int)box.end[0], (int)box.start[1],
                  (int)box.end[1], (int)box.start[2], (int)box.end[2], (int)box.size[0],
                  (int)box.size[1], (int)box.size[2], (int)(from - to));
        test_random_fill(before, ALL, META_I32);
        for (int k = 0; k < ALL; ++k) before[k] %= 1000;
        const bool meets = compute(&box, to, from, sides);
        CHECK_OK(meta_copy_h2d(buffer, before, sizeof before, NULL));
        const meta_err error = sides ? slab_sides_i32(&box, buffer + to, buffer + from, NULL)
                                     : slab_cell_i32(&box, buffer + to, buffer + from, NULL);
        CHECK_OK(meta_copy_d2h(found, buffer, sizeof found, NULL));
        if (meets) {
            CHECK_ERR_NAMES(error, META_ERR_OVERLAP, "'from'");
            CHECK_ARRAY(found, before, ALL, META_I32);
            ++refused;
        } else {
            CHECK_OK(error);
            CHECK_ARRAY(found, expected, ALL, META_I32);
            ++allowed;
        }
    }
    CHECK(allowed > 0 && refused > 0);
    CHECK_OK(meta_free(memory));
}

TEST_DEVICE_MAIN(PROMISE(an_array_may_be_read_where_it_is_not_written))
