/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta_kernel_team.h
 *  Kernels whose cells are computed by teams, which share memory. Included by meta_kernel.h.
 *
 *      // sums.kernel.h
 *      #include <meta_kernel.h>
 *      #define sums_ARGS(A) A(INOUT, T, sum, WHOLE) A(IN, T, x, CELL) A(SHARED, T, part, 256)
 *      META_TEAMS(sums, 256, 1, 1)                 // the extents of a team in x, y and z
 *      {
 *          MEMBERS { SHARED(part, MY(0)) = ON(x); }
 *          for (int gap = 128; gap > 0; gap /= 2)
 *              MEMBERS
 *              {
 *                  if (MY(0) < gap && MY(0) + gap < EXTENT(0))
 *                      SHARED(part, MY(0)) += SHARED(part, MY(0) + gap);
 *              }
 *          MEMBERS { if (MY(0) == 0) GET(sum, TEAM(0)) = SHARED(part, 0); }
 *      }
 *      #include META_AGAIN
 *
 *  The kernel is called like any other. The box is divided into teams of the given extents, from its
 *  start; along dimensions behind the third, each index has teams of its own. The body is run once for
 *  each team, in any order and concurrently:
 *   - MEMBERS { … } is a phase: it is run for every cell of the team that lies in the box. All members
 *     have finished a phase, and see what it wrote, when the next one begins. On CPUs a phase is a
 *     loop; on other devices each member is a work item, and a phase begins with a barrier.
 *   - Statements outside phases are run by every work item, and once on CPUs: variables for the whole
 *     team, loops, conditions. They must be the same for all members. They cannot use shared memory,
 *     AT() or results, and write no array. Phases see variables of the team but do not change them.
 *   - Variables of a phase end with it. What is to be kept lies in shared memory.
 *   - In one phase no member accesses an element, of shared memory or of an array, that another member
 *     writes, except by ADD_TO().
 *   - `continue` ends a member's part in a phase. `return` and `goto` in a phase are refused when the
 *     kernel first runs: other members would wait for ever. `return` outside phases ends the team.
 *   - These rules are checked in the text, before macros are expanded: write MEMBERS, `return`, `goto`
 *     and unpaired braces in the body, not in macros. Each branch of an #if must keep the rules, and
 *     all must leave the same braces open, or the kernel is refused; those of #if 0 are not read.
 *
 *  A(SHARED, type, name, count) is no parameter of the call, but `count` elements, a constant, that
 *  each team has for itself. What they hold when a team begins is undefined. All arrays of a kernel
 *  together have at most META_KERNEL_SHARED_BYTES; devices may have less.
 *
 *  In the body, for d of 0 to 3:
 *   - SHARED(name, n): element n of shared memory; in phases only.
 *   - MY(d): the member's place in its team, from 0; in phases only, as are INDEX(d), AT(), ON(),
 *     ADD_TO() and the results' ADD(), LOWER() and RAISE(). AT()'s reach counts from the member's cell,
 *     which is also the place of what the member contributes to a MIN_AT or MAX_AT.
 *   - EXTENT(d): how many members the team has along d: fewer than the given extent where the box
 *     ends. START(d): INDEX(d) of the member at 0.
 *   - TEAM(d): the team's number along d, from 0. TEAMS(d): how many teams the box has along d.
 *
 *  While sums are reproducible, what a member contributes to a floating-point SUM in all phases of its
 *  team is added up in double, in the order of the body, as of a cell of META_CELLS; what the members
 *  contribute is added without rounding. A device whose work groups or whose shared memory are too
 *  small for a team returns META_ERR_UNSUPPORTED with both numbers. CPUs run any team, OpenCL's with
 *  reproducible sums those whose number of members times that of sums is at most 131072. With
 *  META_CHECK=on the index of SHARED() is checked, and shared memory filled with NaN (integers: -1)
 *  when a team begins.
 *
 *  A body in a back end's own language (META_NATIVE_OPENCL, META_NATIVE_GPU, see meta_kernel.h) is run
 *  once for each team too, with the words above. Where each member is a work item, META_TEAM_BARRIER is
 *  defined: a barrier for all of them, outside phases. On CPUs one work item runs the whole team. The
 *  rules of `return`, `goto` and results are not checked in it.
 *
 *  Messages of the first call of a kernel, and their causes:
 *   - META_ERR_ARGUMENT: kernel prefix, prefix.kernel.h:15: return in a phase — use `continue`,
 *     which ends a member's part in the phase.
 *   - META_ERR_ARGUMENT: … ADD outside MEMBERS { } — let one member contribute.
 *   - META_ERR_ARGUMENT: … the branches of this #if differ in the braces that they leave open — end
 *     a block, or MEMBERS { }, in the branch that begins it.
 *   - META_ERR_UNSUPPORTED: kernel prefix: a team has 2048 members, which takes 2048 work items,
 *     but … at most 1024 — use smaller teams on this device.
 *   - META_ERR_UNSUPPORTED: kernel prefix: a team needs 65536 bytes of shared memory, but … has
 *     49152 — share less, or use smaller teams. Each reproducible sum takes 556 bytes of it.
 *   - META_ERR_BOUNDS: META_CHECK: kernel prefix f64, prefix.kernel.h:15: SHARED() of 'part',
 *     element 128 of 128 — the index is out of bounds. */
#ifndef META_KERNEL_TEAM_H
#define META_KERNEL_TEAM_H

/** The most members of a team. */
#define META_KERNEL_MEMBERS 65536
/** The most bytes of the memory that they share. */
#define META_KERNEL_SHARED_BYTES 65536
/** The dimensions along which a team can extend. */
#define META_KERNEL_TEAM_DIMS 3

/** An array in shared memory. */
typedef struct meta_kernel_shared {
    const char *type_name; /**< as the kernel's text spells it */
    const char *name;      /**< as in the list of parameters */
    uint32_t bytes;        /**< of an element */
    uint32_t count;        /**< its elements */
} meta_kernel_shared;

/** What a kernel of META_TEAMS has besides its parameters. */
typedef struct meta_kernel_team {
    uint32_t extent[META_KERNEL_TEAM_DIMS]; /**< cells along each dimension */
    uint32_t shareds;                       /**< the number of arrays in shared memory */
    const meta_kernel_shared *shared;       /**< these arrays */
} meta_kernel_team;

/** Where a team lies: the index of its first cell, its members, its number and how many there are. */
typedef struct meta_kernel_place {
    int64_t start[META_KERNEL_DIMS];       /**< START(d) */
    int64_t extent[META_KERNEL_TEAM_DIMS]; /**< EXTENT(d) */
    int64_t number[META_KERNEL_DIMS];      /**< TEAM(d) */
    int64_t teams[META_KERNEL_DIMS];       /**< TEAMS(d) */
} meta_kernel_place;

/** A team: what the CPU code of such a kernel computes in one call. Of `rows`, which it is given, it
 *  uses the arguments, which begin at the team's first cell, the kernel, and whether sums are to be
 *  reproducible. */
typedef struct meta_kernel_teams {
    meta_kernel_rows rows;   /**< as for a kernel without teams */
    meta_kernel_place place; /**< where the team lies */
} meta_kernel_teams;

/* ------------------------------------------------------------------ SHARED in the list */

#define META_K_PROBE_SHARED ~, ~

#define META_K_SHARED_ROW(kind, type, ...)                                                         \
    META_K_IF(META_K_PROBE_##kind, META_K_SHARED_ROW_OF, META_K_NOTHING, )                         \
    (type, #type, __VA_ARGS__)
#define META_K_SHARED_ROW_OF(type, text, name, count)                                              \
    {text, #name, (uint32_t)sizeof(type), (uint32_t)(count)},
#define META_K_SHARED_SUM(kind, type, ...)                                                         \
    META_K_IF(META_K_PROBE_##kind, META_K_SHARED_SUM_OF, META_K_NOTHING, )                         \
    (type, __VA_ARGS__)
#define META_K_SHARED_SUM_OF(type, name, count) +(int64_t)sizeof(type) * (count)
/* Variables of the function that computes a team. The empty asm is as if it wrote all of them: that a
 * phase reads only what one before it has written is beyond what compilers see, and they would warn. */
#define META_K_SHARED_MEMORY(kind, type, ...)                                                      \
    META_K_IF(META_K_PROBE_##kind, META_K_SHARED_MEMORY_OF, META_K_NOTHING, )                      \
    (type, __VA_ARGS__)
#define META_K_SHARED_MEMORY_OF(type, name, count)                                                 \
    __attribute__((aligned(64))) __typeof__(type) name[count];                                     \
    __asm__("" : "=m"(name));
#define META_K_SHARED_POISON(kind, type, ...)                                                      \
    META_K_IF(META_K_PROBE_##kind, META_K_SHARED_POISON_OF, META_K_NOTHING, )                      \
    (type, __VA_ARGS__)
#define META_K_SHARED_POISON_OF(type, name, count) __builtin_memset(name, 0xff, sizeof(name));

/* Elsewhere it is only a parameter of the body's function. */
#define META_K_NEAR_SHARED(name, ...)
#define META_K_CALL_SHARED(type, name)
#define META_K_PASS_SHARED(name)
#define META_K_FIELD_SHARED(type, name)
#define META_K_FORMAL_SHARED(type, name) __typeof__(type) *__restrict__ name META_K_UNUSED,
#define META_K_ORDER_SHARED(name)
#define META_K_COLUMN_SHARED(name, ...)
#define META_K_IS_RESULT_SHARED
#define META_K_LOAD_SHARED(type, name)
#define META_K_BEGIN_SHARED(type, name)
#define META_K_KEEP_SHARED(name)
#define META_K_AHEAD_SHARED(type, name)
#define META_K_ACTUAL_SHARED(name) name,
#define META_K_END_SHARED(name)
#define META_K_GIVE_SHARED(name)
#define META_K_STEP_SHARED(name)
#define META_K_COMMA_SHARED(...)

/* ------------------------------------------------------------------ the CPU code */

/* Members of a phase are independent of each other but for what they contribute to results, which lies
 * in memory here: clang is not told that they are. Nor could 16 and later be, as members share memory,
 * see META_K_COMMON. Additions to arrays are always atomic. */
#ifdef __clang__
#define META_K_TEAM_SIMD
#else
#define META_K_TEAM_SIMD META_K_SIMD_independent
#endif

/* While sums are to be reproducible each member has a double of its own of each floating-point SUM, in
 * the caller's memory: of a third copy of the body. META_K_OWN is the body's argument,
 * META_K_OWN_CLEAR sets those of a team to 0, META_K_OWN_ANY is whether there are any. */
#define META_K_OWN_OF_SUM ~, ~
#define META_K_OWN(kind, type, ...)                                                                \
    META_K_IF(META_K_OWN_OF_##kind, META_K_OWN_ACTUAL, META_K_ACTUAL, )                            \
    (kind, type, __VA_ARGS__)
#define META_K_OWN_ACTUAL(kind, type, name)                                                        \
    META_K_IS_REAL(meta_none_##name) ? meta_of_##name : &name, META_K_IS_REAL(meta_none_##name),
#define META_K_OWN_CLEAR(kind, type, ...)                                                          \
    META_K_IF(META_K_OWN_OF_##kind, META_K_OWN_ZEROS, META_K_NOTHING, )(type, __VA_ARGS__)
#define META_K_OWN_ZEROS(type, name)                                                               \
    for (int64_t meta_n = 0; META_K_IS_REAL(meta_none_##name) && meta_n < meta_members; ++meta_n)  \
        meta_of_##name[meta_n] = 0;
#define META_K_OWN_ANY(kind, type, ...)                                                            \
    META_K_IF(META_K_OWN_OF_##kind, META_K_OWN_IS_REAL, META_K_NOTHING, )(type, __VA_ARGS__)
#define META_K_OWN_IS_REAL(type, name) +META_K_IS_REAL(meta_none_##name)

/* For results a team is what a cell is elsewhere: a row of one, whose number is that of the member that
 * contributed a MIN_AT or MAX_AT. Most teams have all members: for those
 * the body is compiled with constant extents. */
#define META_K_TEAM_END(kind, type, ...)                                                           \
    {                                                                                              \
        const int64_t meta_at META_K_UNUSED = META_K_IF(                                           \
            META_K_PLACE_OF_##kind, META_K_MEMBER_OF, META_K_NO_MEMBER, )(__VA_ARGS__, );          \
        META_K_END(kind, type, __VA_ARGS__)                                                        \
    }
#define META_K_PLACE_OF_MIN_AT      ~, ~
#define META_K_PLACE_OF_MAX_AT      ~, ~
#define META_K_MEMBER_OF(name, ...) name.meta_cell
#define META_K_NO_MEMBER(...)       0
#define META_K_TEAM_CPU(name, tag, x, y, z, checked)                                               \
    static void name##_rows_##tag(const meta_kernel_rows *meta_r)                                  \
    {                                                                                              \
        enum { name##_ARGS(META_K_ORDER) meta_k_parameters_ };                                     \
        enum { name##_ARGS(META_K_COLUMN) meta_k_columns_ };                                       \
        const meta_kernel_place *const meta_t =                                                    \
            &((const meta_kernel_teams *)(const void *)meta_r)->place;                             \
        const int64_t meta_i META_K_UNUSED = 0, meta_from META_K_UNUSED = 0,                       \
                      meta_cells META_K_UNUSED = 1, meta_given META_K_UNUSED = 0,                  \
                      meta_first META_K_UNUSED = 0, meta_lanes META_K_UNUSED = META_KERNEL_LANES;  \
        META_K_ASSERT((x) > 0 && (y) > 0 && (z) > 0 &&                                             \
                          (int64_t)(x) * (y) * (z) <= META_KERNEL_MEMBERS,                         \
                      "a team of " #name " has 1 to 65536 members");                               \
        META_K_ASSERT(0 name##_ARGS(META_K_SHARED_SUM) <= META_KERNEL_SHARED_BYTES,                \
                      "the members of a team of " #name " share more than 65536 bytes");           \
        name##_ARGS(META_K_LOAD) name##_ARGS(META_K_SHARED_MEMORY) name##_ARGS(META_K_BEGIN)       \
        if (checked) {                                                                             \
            name##_ARGS(META_K_SHARED_POISON)                                                      \
        }                                                                                          \
        if ((0 name##_ARGS(META_K_OWN_ANY)) && meta_r->reproducible) {                             \
            const int64_t meta_members META_K_UNUSED =                                             \
                meta_t->extent[0] * meta_t->extent[1] * meta_t->extent[2];                         \
            name##_ARGS(META_K_OWN_CLEAR)                                                          \
            name##_cell_##tag(name##_ARGS(META_K_OWN) meta_t->extent[0], meta_t->extent[1],        \
                              meta_t->extent[2], meta_t->start, meta_t, 0, meta_r,                 \
                              (const struct name##_near_##tag *)0);                                \
        } else if (!(checked) && meta_t->extent[0] == (x) && meta_t->extent[1] == (y) &&           \
                   meta_t->extent[2] == (z)) {                                                     \
            name##_cell_##tag(name##_ARGS(META_K_ACTUAL)(x), (y), (z), meta_t->start, meta_t, 0,   \
                              meta_r, (const struct name##_near_##tag *)0);                        \
        } else {                                                                                   \
            name##_cell_##tag(name##_ARGS(META_K_ACTUAL) meta_t->extent[0], meta_t->extent[1],     \
                              meta_t->extent[2], meta_t->start, meta_t, 0, meta_r,                 \
                              (const struct name##_near_##tag *)0);                                \
        }                                                                                          \
        name##_ARGS(META_K_KEEP) name##_ARGS(META_K_TEAM_END) name##_ARGS(META_K_GIVE)             \
    }

/* ------------------------------------------------------------------ what META_TEAMS makes */

#define META_K_TEAM_HEAD(name, tag)                                                                \
    static inline __attribute__((always_inline, unused)) void name##_cell_##tag(                   \
        name##_ARGS(META_K_FORMAL) const int64_t meta_e0 META_K_UNUSED,                            \
        const int64_t meta_e1 META_K_UNUSED, const int64_t meta_e2 META_K_UNUSED,                  \
        const int64_t *meta_x META_K_UNUSED, const meta_kernel_place *meta_t META_K_UNUSED,        \
        const int meta_alone META_K_UNUSED, const meta_kernel_rows *meta_r META_K_UNUSED,          \
        const struct name##_near_##tag *meta_k META_K_UNUSED)

#define META_K_TEAM_DATA(name, suffix, x, y, z)                                                    \
    static const meta_kernel_shared name##_##suffix##_shared[] = {                                 \
        name##_ARGS(META_K_SHARED_ROW){0, 0, 0, 0}};                                               \
    static const meta_kernel_team name##_##suffix##_team = {                                       \
        {x, y, z},                                                                                 \
        (uint32_t)(sizeof name##_##suffix##_shared / sizeof *name##_##suffix##_shared) - 1,        \
        name##_##suffix##_shared};

#define META_K_TEAM_COMPILE(name, tag, x, y, z, checked)                                           \
    META_K_BOUNDS(name, tag)                                                                       \
    META_K_TEAM_HEAD(name, tag);                                                                   \
    META_K_TEAM_CPU(name, tag, x, y, z, checked)

/* What META_TEAMS is in each pass, as META_CELLS; the body of the function follows. */
#define META_K_TEAM_DECLARE(name, suffix) META_K_TEAM_DECLARE_(name, suffix)
#define META_K_TEAM_DECLARE_(name, suffix)                                                         \
    META_K_TYPED(name, suffix)                                                                     \
    META_K_BOUNDS(name, suffix##_0)                                                                \
    META_K_TEAM_HEAD(name, suffix##_0)
#define META_K_TEAM_FIRST(name, suffix, x, y, z)                                                   \
    META_K_TEXT(name) META_K_TEAM_BASELINE(name, suffix, x, y, z)
#define META_K_TEAM_BASELINE(name, suffix, x, y, z) META_K_TEAM_BASELINE_(name, suffix, x, y, z)
#define META_K_TEAM_BASELINE_(name, suffix, x, y, z)                                               \
    META_K_TYPED(name, suffix)                                                                     \
    META_K_NEEDS_END(name, suffix)                                                                 \
    META_K_TEAM_SET_(name, suffix##_0, x, y, z)
#define META_K_TEAM_SET(name, suffix, variant, x, y, z)                                            \
    META_K_TEAM_SET_OF(name, suffix, variant, x, y, z)
#define META_K_TEAM_SET_OF(name, suffix, variant, x, y, z)                                         \
    META_K_TEAM_SET_(name, suffix##_##variant, x, y, z)
#define META_K_TEAM_SET_(name, tag, x, y, z)                                                       \
    META_K_TEAM_COMPILE(name, tag, x, y, z, 0)                                                     \
    META_K_TEAM_HEAD(name, tag)
#define META_K_TEAM_CHECKED_ALONE(name, suffix, type, x, y, z)                                     \
    META_K_TEAM_CHECKED_ALONE_(name, suffix, type, x, y, z)
#define META_K_TEAM_CHECKED_ALONE_(name, suffix, type, x, y, z)                                    \
    META_K_TEAM_LAST(name, suffix, type, 0, 0, x, y, z)
#define META_K_TEAM_CHECKED(name, suffix, type, x, y, z)                                           \
    META_K_TEAM_CHECKED_(name, suffix, type, x, y, z)
#define META_K_TEAM_CHECKED_(name, suffix, type, x, y, z)                                          \
    META_K_TEAM_LAST(name, suffix, type, name##_rows_##suffix##_1,                                 \
                     META_K_ROWS_WIDEST(name, suffix), x, y, z)
#define META_K_TEAM_LAST(name, suffix, type, wide, widest, x, y, z)                                \
    META_K_TEAM_COMPILE(name, suffix##_3, x, y, z, 1)                                              \
    META_K_TEAM_DATA(name, suffix, x, y, z)                                                        \
    META_K_OBJECT(name, suffix, type, wide, widest, &name##_##suffix##_team)                       \
    META_K_TEAM_HEAD(name, suffix##_3)

#endif
