/* SPDX-License-Identifier: BSD-3-Clause */
/** @file lang_team.h
 *  Teams, see meta_kernel_team.h, in OpenCL C and in the C++ of CUDA and HIP. Compiled after
 *  lang_opencl_user.h or in lang_gpu_user.h. On CPUs a work item computes whole teams, one after the
 *  other; elsewhere a work group computes a team at a time, with a work item for each member. The core
 *  generates what uses it, and defines META_TEAM_X, _Y and _Z, a team's extents, META_TEAM_ITEMS, the
 *  members rounded up to a power of two, as reductions need it, and META_K_TEAM_SIMD. */
#if defined META_CPU || defined META_USER_HOST
#define META_TEAM_MEMORY
#define META_TEAM_KERNEL META_USER_KERNEL
#elif defined __OPENCL_VERSION__
#define META_TEAM_MEMORY  __local
#define META_TEAM_KERNEL  __kernel __attribute__((reqd_work_group_size(META_TEAM_ITEMS, 1, 1))) void
#define META_TEAM_MEMBER  ((meta_u32)get_local_id(0))
#define META_TEAM_BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#else
#define META_TEAM_MEMORY
#define META_TEAM_KERNEL  META_USER_KERNEL
#define META_TEAM_MEMBER  threadIdx.x
#define META_TEAM_BARRIER __syncthreads()
#endif

/* The memory itself, as a variable of the function that is launched. */
#if defined META_TEAM_BARRIER && !defined __OPENCL_VERSION__
#define META_TEAM_VARIABLE __shared__
#else
#define META_TEAM_VARIABLE META_TEAM_MEMORY
#endif

/* The numbers of the teams that this work group computes, of `all`. */
#if !defined __OPENCL_VERSION__
#define META_TEAM_FIRST(all) ((meta_i64)meta_block.number)
#define META_TEAM_END(all)   (all)
#define META_TEAM_STEP       ((meta_i64)meta_block.count)
#elif defined META_CPU
#define META_TEAM_FIRST(all) META_SHARE(all, 0, 0)
#define META_TEAM_END(all)   META_SHARE(all, 0, 1)
#define META_TEAM_STEP       1
#else
#define META_TEAM_FIRST(all) ((meta_i64)get_group_id(0))
#define META_TEAM_END(all)   (all)
#define META_TEAM_STEP       ((meta_i64)get_num_groups(0))
#endif

/** A team: as in meta_kernel_place, the index of its first cell in each operand, and of the cells'
 * numbers in the box that of its first one, and the steps to the next row and plane. */
typedef struct meta_team {
    meta_i64 start[4], extent[3], number[4], teams[4], at[META_SPACE_OPERANDS], cell[3];
} meta_team;

META_INLINE meta_i64 meta_teams_along(META_SPACE_MEMORY const meta_space *s, int d, meta_i64 side)
{
    return d < (int)s->ndim ? (s->extent[d] + side - 1) / side : 1;
}

/** The teams of a space. */
META_INLINE meta_i64 meta_teams_of(META_SPACE_MEMORY const meta_space *s, meta_i64 x, meta_i64 y,
                                   meta_i64 z)
{
    meta_i64 teams = meta_teams_along(s, 0, x) * meta_teams_along(s, 1, y) * meta_teams_along(s, 2, z);
    for (int d = 3; d < (int)s->ndim; ++d) teams *= s->extent[d];
    return teams;
}

/* Set what a team is along dimension @p d, a constant, of the teams that are left by the dimensions
 * before it. @p cells: from a cell's number to that of the next one along d.
 * @return its number among those of the dimensions behind it */
META_INLINE meta_i64 meta_team_set(META_SPACE_MEMORY const meta_space *s, meta_team *t,
                                   meta_i64 number, int d, meta_i64 side, meta_i64 cells)
{
    const meta_i64 teams = meta_teams_along(s, d, side), rest = number / teams;
    const meta_i64 mine = number - rest * teams, first = mine * side;
    const meta_i64 left = (d < (int)s->ndim ? s->extent[d] : 1) - first;
    t->start[d] = first;
    t->cell[0] += first * cells;
    t->number[d] = mine;
    t->teams[d] = teams;
    if (d < 3) t->extent[d] = left < side ? left : side;
    for (int k = 0; k < META_SPACE_OPERANDS; ++k) t->at[k] += first * s->layout[k].stride[d];
    return rest;
}

/** Team @p number; its start counts from the box's. */
META_INLINE meta_team meta_team_of(META_SPACE_MEMORY const meta_space *s, meta_i64 number,
                                   meta_i64 x, meta_i64 y, meta_i64 z)
{
    meta_team t;
    for (int k = 0; k < META_SPACE_OPERANDS; ++k) t.at[k] = s->layout[k].base;
    t.cell[0] = 0;
    t.cell[1] = s->extent[0];
    t.cell[2] = t.cell[1] * (s->ndim > 1 ? s->extent[1] : 1);
    meta_i64 cells = t.cell[2] * (s->ndim > 2 ? s->extent[2] : 1);
    number = meta_team_set(s, &t, number, 0, x, 1);
    number = meta_team_set(s, &t, number, 1, y, t.cell[1]);
    number = meta_team_set(s, &t, number, 2, z, t.cell[2]);
    number = meta_team_set(s, &t, number, 3, 1, cells);
    if (s->ndim > 3) cells *= s->extent[3];
    for (int d = 4; d < (int)s->ndim; ++d) {
        const meta_i64 rest = number / s->extent[d], mine = number - rest * s->extent[d];
        for (int k = 0; k < META_SPACE_OPERANDS; ++k) t.at[k] += mine * s->layout[k].stride[d];
        t.cell[0] += mine * cells;
        cells *= s->extent[d];
        number = rest;
    }
    return t;
}
