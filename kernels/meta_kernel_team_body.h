/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of the body of a kernel of teams, see meta_kernel_team.h; the same for every back end.
 * `meta_i`, `meta_i1` and `meta_i2` are the member's place, so that words that contain them mean
 * something in phases only; `meta_e0` … are the team's extents, `meta_t` is where it lies.
 *
 * Where a member is a thread, META_TEAM_BARRIER waits for all threads of the team, META_TEAM_MEMBER is
 * the number of this one, and META_TEAM_X, _Y and _Z are the extents of a team that no edge cuts. A
 * barrier at the begin of a phase, not at its end, is in no conditional code, whatever the phase does.
 * Both `continue` and `break` end a member's part, on CPUs too.
 *
 * `meta_member` is the member's number in its team. It is a parameter, 0, of bodies that may
 * contribute to results outside phases: those of cells, and those in a back end's own language. */
#ifndef META_K_SHARED_ELEMENT
#define META_K_SHARED_ELEMENT(array)
#define META_K_SHARED_ELEMENT_END
#endif
#define SHARED(array, n)                                                                           \
    META_K_SHARED_ELEMENT(array) array[META_K_SHARED_AT(array, n)] META_K_SHARED_ELEMENT_END
#ifndef META_K_SHARED_AT
#define META_K_SHARED_AT(array, n) ((void)meta_i, (n))
#endif
#define MY(d)     ((d) == 0 ? meta_i : (d) == 1 ? meta_i1 : (d) == 2 ? meta_i2 : 0)
#define EXTENT(d) ((d) == 0 ? meta_e0 : (d) == 1 ? meta_e1 : (d) == 2 ? meta_e2 : 1)
#define START(d)  (meta_t->start[d])
#define TEAM(d)   (meta_t->number[d])
#define TEAMS(d)  (meta_t->teams[d])

#ifdef META_TEAM_BARRIER
#define META_K_MEMBER 0
#define MEMBERS                                                                                    \
    for (int64_t meta_i = (META_TEAM_BARRIER, (int64_t)(META_TEAM_MEMBER % META_TEAM_X)),          \
                 meta_i1 = (int64_t)(META_TEAM_MEMBER / META_TEAM_X % META_TEAM_Y),                \
                 meta_i2 = (int64_t)(META_TEAM_MEMBER / (META_TEAM_X * META_TEAM_Y)),              \
                 meta_once = meta_i < meta_e0 && meta_i1 < meta_e1 && meta_i2 < meta_e2;           \
         meta_once; meta_once = 0)
#else
#define META_K_MEMBER meta_member
#define MEMBERS                                                                                    \
    for (int64_t meta_i2 = 0; meta_i2 < meta_e2; ++meta_i2)                                        \
        for (int64_t meta_i1 = 0; meta_i1 < meta_e1; ++meta_i1)                                    \
            META_K_TEAM_SIMD for (int64_t meta_i = 0; meta_i < meta_e0; ++meta_i) for (            \
                int64_t meta_member = meta_i + meta_e0 * (meta_i1 + meta_e1 * meta_i2),            \
                        meta_once = 1;                                                             \
                meta_once; (void)meta_member, meta_once = 0)
#endif
