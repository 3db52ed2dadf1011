/* SPDX-License-Identifier: BSD-3-Clause */
/** @file lang_check.h
 *  META_CHECK=on in the code of devices that build kernels from text: AT() compares its offsets
 *  with the declared reach, and GET() and SHARED() their index with the number of elements, before
 *  anything is accessed. The core puts this file ahead of the text of a kernel that is checked, and of no other,
 *  in OpenCL C as in C++.
 *
 *  A call has a section of META_NEAR_WORDS words of device memory. The first violation is written
 *  there; the host reads it once the work is complete. The access itself goes to the cell's own
 *  element, or to element 0 of a WHOLE array or of shared memory, which is poisoned when a team
 *  begins. */

/** A section: 0 until there is a violation; what was called; the parameter's number, of SHARED()
 *  among the arrays in shared memory; the line; what it was called with; and, set by the host, the
 *  number of elements of each array that is WHOLE. */
#define META_NEAR_STATE     0
#define META_NEAR_CALLED    1
#define META_NEAR_PARAMETER 2
#define META_NEAR_LINE      3
#define META_NEAR_WITH      4
#define META_NEAR_ELEMENTS  8
#define META_NEAR_WORDS     40
/** What was called. */
#define META_NEAR_AT     1
#define META_NEAR_GET    2
#define META_NEAR_SHARED 3

#ifndef META_NEAR_LAYOUT_ONLY /* the host needs no more than the above */

/** The reach of an array. */
typedef struct meta_near {
    meta_i32 low[4], high[4];
    meta_i32 parameter, array; /* its numbers among the parameters and among the arrays */
    meta_i32 lacks;            /* a bit for each dimension that it lacks */
    meta_i32 is_star, is_whole;
} meta_near;

/** An array in the memory that a team shares. */
typedef struct meta_near_memory {
    meta_i32 number, count;
} meta_near_memory;

/* Whether this thread is the first to set the word. */
#if defined __OPENCL_VERSION__
#define META_NEAR_FIRST(word) (atomic_cmpxchg((volatile __global int *)(word), 0, 1) == 0)
#elif defined META_USER_HOST
#define META_NEAR_FIRST(word) (__sync_val_compare_and_swap((int *)(word), 0, 1) == 0)
#else
#define META_NEAR_FIRST(word) (atomicCAS((int *)(word), 0, 1) == 0)
#endif

META_FUNCTION void meta_near_keep(META_GLOBAL meta_i64 *note, meta_i32 called, meta_i32 parameter,
                                  meta_i32 line, meta_i64 x, meta_i64 y, meta_i64 z, meta_i64 w)
{
    if (!META_NEAR_FIRST(note)) return;
    note[META_NEAR_CALLED] = called;
    note[META_NEAR_PARAMETER] = parameter;
    note[META_NEAR_LINE] = line;
    note[META_NEAR_WITH] = x;
    note[META_NEAR_WITH + 1] = y;
    note[META_NEAR_WITH + 2] = z;
    note[META_NEAR_WITH + 3] = w;
}

META_FUNCTION meta_i64 meta_near_at(META_GLOBAL meta_i64 *note, const meta_near n, meta_i32 line,
                                    meta_i64 i, meta_i64 i1, meta_i64 i2, meta_i64 x, meta_i64 y,
                                    meta_i64 z, meta_i64 w, meta_i64 s0, meta_i64 s1, meta_i64 s2,
                                    meta_i64 s3)
{
    const meta_i64 away[4] = {x, y, z, w};
    meta_i32 dims = 0, beyond = n.is_whole;
    for (int d = 0; d < 4; ++d) {
        if (n.lacks >> d & 1) continue;
        if (away[d] < -(meta_i64)n.low[d] || away[d] > (meta_i64)n.high[d]) beyond = 1;
        if (away[d] != 0) ++dims;
    }
    if (n.is_star && dims > 1) beyond = 1;
    if (!beyond) return (i + x) * s0 + (i1 + y) * s1 + (i2 + z) * s2 + w * s3;
    meta_near_keep(note, META_NEAR_AT, n.parameter, line, x, y, z, w);
    return i * s0 + i1 * s1 + i2 * s2;
}

META_FUNCTION meta_i64 meta_near_get(META_GLOBAL meta_i64 *note, const meta_near n, meta_i32 line,
                                     meta_i64 index)
{
    if (index >= 0 && index < note[META_NEAR_ELEMENTS + n.array]) return index;
    meta_near_keep(note, META_NEAR_GET, n.parameter, line, index, 0, 0, 0);
    return 0;
}

META_FUNCTION meta_i64 meta_near_shared(META_GLOBAL meta_i64 *note, const meta_near_memory m,
                                        meta_i32 line, meta_i64 index)
{
    if (index >= 0 && index < m.count) return index;
    meta_near_keep(note, META_NEAR_SHARED, m.number, line, index, 0, 0, 0);
    return 0;
}

#undef META_K_AT
#undef META_K_GET
#undef META_K_SHARED_AT
#define META_K_AT(array, x, y, z, w)                                                               \
    meta_near_at(meta_note, meta_n_##array, __LINE__, meta_i, meta_i1, meta_i2, (x), (y), (z),     \
                 (w), meta_0_##array, meta_1_##array, meta_2_##array, meta_3_##array)
#define META_K_GET(array, n) meta_near_get(meta_note, meta_n_##array, __LINE__, (n))
#define META_K_SHARED_AT(array, n)                                                                 \
    ((void)meta_i, meta_near_shared(meta_note, meta_n_##array, __LINE__, (n)))

/* Members may still be in a phase of the work item's team before this one. */
#ifdef META_TEAM_BARRIER
#define META_TEAM_POISON(memory)                                                                   \
    META_TEAM_BARRIER;                                                                             \
    META_TEAM_FILL(memory, META_TEAM_MEMBER, META_TEAM_ITEMS)
#else
#define META_TEAM_POISON(memory) META_TEAM_FILL(memory, 0, 1)
#endif
#define META_TEAM_FILL(memory, first, step)                                                        \
    for (meta_u32 meta_b = (first); meta_b < (meta_u32)sizeof(memory); meta_b += (step))           \
    ((META_TEAM_MEMORY unsigned char *)(memory))[meta_b] = 255

#endif
