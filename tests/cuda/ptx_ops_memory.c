/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ptx_ops_memory.c
 *  Loads, stores and atomic operations. Every access is checked: that it is aligned, that it lies
 * in memory that the kernel may access, and where asked that it does not race on shared memory. */
#include "ptx_code.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

typedef enum access_kind { READS, WRITES, UPDATES } access_kind;

/* ------------------------------------------------------------------ races on shared memory */

/* Whether a barrier of the block, or of the thread's warp, came after an access. */
static bool is_before_barrier(const ptx_context *c, const ptx_access *a, int thread)
{
    return a->epoch != c->epoch ||
           (a->scope != PTX_SEVERAL_WARPS && a->thread / 32 == thread / 32 &&
            a->warp_epoch != c->warp_epoch[thread / 32]);
}

/* Whether an access is by another thread, with no barrier after it. */
static bool is_unordered(const ptx_context *c, const ptx_access *a, int thread)
{
    return !(a->scope == PTX_ONE_THREAD && a->thread == thread) && !is_before_barrier(c, a, thread);
}

/* Add an access to those before it: they are atomic where all since the barrier are. */
static void add_access(const ptx_context *c, ptx_access *a, const ptx_access *now)
{
    unsigned char scope = PTX_ONE_THREAD;
    if (is_unordered(c, a, now->thread))
        scope = a->scope == PTX_SEVERAL_WARPS || a->thread / 32 != now->thread / 32
                    ? PTX_SEVERAL_WARPS
                    : PTX_ONE_WARP;
    const bool atomic = now->atomic && (a->atomic || is_before_barrier(c, a, now->thread));
    *a = *now;
    a->scope = scope;
    a->atomic = atomic;
}

static bool note_byte(const ptx_ins *in, ptx_context *c, uint64_t at, int thread, access_kind kind)
{
    ptx_access *w = &c->wrote[at], *r = &c->read[at];
    const ptx_access now = {.epoch = c->epoch,
                            .warp_epoch = c->warp_epoch[thread / 32],
                            .thread = (int16_t)thread,
                            .atomic = kind == UPDATES,
                            .line = in->line};
    const ptx_access *other = NULL;
    if (!(kind == UPDATES && w->atomic) && is_unordered(c, w, thread)) other = w;
    else if (kind != READS && is_unordered(c, r, thread)) other = r;
    if (other) {
        ptx_fail(in, c, PTX_LAUNCH_FAILURE, thread,
                 "a race on shared memory: %s byte %" PRIu64
                 ", which thread %d%s %s at PTX line %d with no barrier between",
                 kind == READS ? "reads" : "writes", at, other->thread,
                 other->scope == PTX_ONE_THREAD ? "" : " (and others)",
                 other == r ? "read" : "wrote", other->line);
        return false;
    }
    add_access(c, kind == READS ? r : w, &now);
    return true;
}

static bool note(const ptx_ins *in, ptx_context *c, uint64_t at, int thread, access_kind kind)
{
    for (uint64_t k = at; k < at + in->bytes; ++k)
        if (!note_byte(in, c, k, thread, kind)) return false;
    return true;
}

/* ------------------------------------------------------------------ addresses */

static const char *doing(access_kind kind)
{
    return kind == READS ? "reads" : kind == WRITES ? "writes" : "updates";
}

/* Whether a module's .const variable is among the bytes: kernels may only read it. */
static bool has_constant(const ptx_context *c, uint64_t begin, uint64_t end)
{
    for (size_t k = 0; k < c->constants; ++k)
        if (begin < c->constant[k].end && end > c->constant[k].begin) return true;
    return false;
}

static const ptx_range *find(ptx_context *c, uint64_t address, size_t bytes)
{
    for (int k = 0; k < 4; ++k) {
        const ptx_range *r = &c->cached[k];
        if (address >= r->begin && address < r->end && r->end - address >= bytes) return r;
    }
    ptx_range found;
    if (!address || !c->memory->find(c->memory, address, bytes, &found)) return NULL;
    ptx_range *kept = &c->cached[c->next_cached];
    c->next_cached = (c->next_cached + 1) % 4;
    *kept = found;
    return kept;
}

/* The host's address of one thread's access; 0 after a fault. */
static uint64_t resolve_one(const ptx_ins *in, ptx_context *c, uint64_t a, int thread,
                            access_kind kind)
{
    static const char *const names[] = {"generic", "global", "shared", "local", "parameter"};
    ptx_space space = in->space;
    if (space == PTX_GENERIC) {
        space = a & PTX_SHARED_WINDOW  ? PTX_SHARED
                : a & PTX_LOCAL_WINDOW ? PTX_LOCAL
                : a & PTX_PARAM_WINDOW ? PTX_PARAM
                                       : PTX_GLOBAL;
        a &= ~PTX_WINDOWS;
    }
    if (a % in->bytes) {
        ptx_fail(in, c, PTX_MISALIGNED, thread,
                 "%s %d bytes of %s memory at the misaligned address 0x%" PRIx64, doing(kind),
                 in->bytes, names[space], a);
        return 0;
    }
    char *base;
    size_t have;
    switch (space) {
    case PTX_SHARED:
        base = c->shared, have = c->shared_bytes;
        break;
    case PTX_LOCAL:
        base = c->local + (size_t)thread * c->local_bytes;
        have = kind == UPDATES ? 0 : c->local_bytes;
        break;
    case PTX_PARAM:
        base = NULL, have = kind == READS ? c->param_bytes : 0;
        break;
    default: {
        const ptx_range *r = find(c, a, in->bytes);
        if (r && (kind == READS || !has_constant(c, a, a + in->bytes)))
            return (uint64_t)(uintptr_t)r->bytes + (a - r->begin);
        ptx_fail(in, c, PTX_ILLEGAL_ADDRESS, thread,
                 "%s %d bytes at the illegal address 0x%" PRIx64, doing(kind), in->bytes, a);
        return 0;
    }
    }
    if (a >= have || have - a < in->bytes) {
        ptx_fail(in, c, PTX_ILLEGAL_ADDRESS, thread,
                 "%s %d bytes of %s memory at 0x%" PRIx64 ", of which there are %zu bytes",
                 doing(kind), in->bytes, names[space], a, have);
        return 0;
    }
    if (space == PTX_SHARED && c->wrote && !note(in, c, a, thread, kind)) return 0;
    return space == PTX_PARAM ? (uint64_t)(uintptr_t)c->param + a : (uint64_t)(uintptr_t)base + a;
}

typedef struct extent {
    uint64_t low, high, bits; /**< lowest and highest address, and all bits that are set in any */
} extent;

/* The addresses of all threads. */
#define ADDRESSES(name, T)                                                                         \
    PTX_CLONES static extent name(const ptx_ins *in, ptx_context *c, int row)                      \
    {                                                                                              \
        const T *a = PTX_ROW(in, c, row);                                                          \
        uint64_t *address = c->address;                                                            \
        const uint64_t offset = (uint64_t)in->offset;                                              \
        uint64_t low = UINT64_MAX, high = 0, bits = 0;                                             \
        if (!c->lane) {                                                                            \
            const int end = c->end;                                                                \
            PTX_VECTOR                                                                             \
            for (int i = c->from; i < end; ++i) {                                                  \
                const uint64_t x = a[i] + offset;                                                  \
                address[i] = x;                                                                    \
                low = x < low ? x : low;                                                           \
                high = x > high ? x : high;                                                        \
                bits |= x;                                                                         \
            }                                                                                      \
        } else {                                                                                   \
            for (int j = 0; j < c->lanes; ++j) {                                                   \
                const uint64_t x = a[c->lane[j]] + offset;                                         \
                address[c->lane[j]] = x;                                                           \
                low = x < low ? x : low;                                                           \
                high = x > high ? x : high;                                                        \
                bits |= x;                                                                         \
            }                                                                                      \
        }                                                                                          \
        return (extent){low, high, bits};                                                          \
    }
ADDRESSES(addresses_u32, uint32_t)
ADDRESSES(addresses_u64, uint64_t)

/* Check all threads' accesses at once, where they are in one allocation, and otherwise one by one.
 */
static bool resolve(const ptx_ins *in, ptx_context *c, int row, access_kind kind)
{
    const extent e = in->width[row] == 4 ? addresses_u32(in, c, row) : addresses_u64(in, c, row);
    const bool aligned = (e.bits & (in->bytes - 1u)) == 0;
    if (aligned && in->space == PTX_SHARED && !c->wrote && e.high < c->shared_bytes &&
        c->shared_bytes - e.high >= in->bytes) {
        c->base = (uint64_t)(uintptr_t)c->shared;
        return true;
    }
    if (aligned && (in->space == PTX_GLOBAL || in->space == PTX_GENERIC) &&
        !(e.bits & PTX_WINDOWS)) {
        const ptx_range *r = find(c, e.low, in->bytes);
        if (r && e.high < r->end && r->end - e.high >= in->bytes &&
            (kind == READS || !has_constant(c, e.low, e.high + in->bytes))) {
            c->base = (uint64_t)(uintptr_t)r->bytes - r->begin;
            return true;
        }
    }
    c->base = 0;
    PTX_EACH_EXACTLY(c, i, c->address[i] = resolve_one(in, c, c->address[i], i, kind);
                     if (!c->address[i]) return false;)
    return true;
}

/* ------------------------------------------------------------------ loads and stores */

/* Run statements for each thread with its address p. */
#define EACH_ADDRESS(c, i, p, ...)                                                                 \
    {                                                                                              \
        const uint64_t base_ = (c)->base, *address_ = (c)->address;                                \
        if (!(c)->lane) {                                                                          \
            const int end_ = (c)->end;                                                             \
            for (int i = (c)->from; i < end_; ++i) {                                               \
                char *p = (char *)(uintptr_t)(base_ + address_[i]);                                \
                __VA_ARGS__                                                                        \
            }                                                                                      \
        } else {                                                                                   \
            for (int j_ = 0; j_ < (c)->lanes; ++j_) {                                              \
                const int i = (c)->lane[j_];                                                       \
                char *p = (char *)(uintptr_t)(base_ + address_[i]);                                \
                __VA_ARGS__                                                                        \
            }                                                                                      \
        }                                                                                          \
    }

#define LOAD_STORE(t, T)                                                                           \
    static void load_##t(const ptx_ins *in, ptx_context *c)                                        \
    {                                                                                              \
        if (!resolve(in, c, in->outputs, READS)) return;                                           \
        for (int k = 0; k < in->outputs; ++k) {                                                    \
            T *d = PTX_ROW(in, c, k);                                                              \
            const size_t at = (size_t)k * sizeof(T);                                               \
            EACH_ADDRESS(c, i, p, memcpy(&d[i], p + at, sizeof(T));)                               \
        }                                                                                          \
    }                                                                                              \
    static void store_##t(const ptx_ins *in, ptx_context *c)                                       \
    {                                                                                              \
        if (!resolve(in, c, 0, WRITES)) return;                                                    \
        for (int k = 1; k < in->rows; ++k) {                                                       \
            const T *a = PTX_ROW(in, c, k);                                                        \
            const size_t at = (size_t)(k - 1) * sizeof(T);                                         \
            EACH_ADDRESS(c, i, p, memcpy(p + at, &a[i], sizeof(T));)                               \
        }                                                                                          \
    }
LOAD_STORE(u8, uint8_t)
LOAD_STORE(u16, uint16_t)
LOAD_STORE(u32, uint32_t)
LOAD_STORE(u64, uint64_t)

ptx_handler *ptx_load_of(size_t bytes)
{
    return bytes == 1 ? load_u8 : bytes == 2 ? load_u16 : bytes == 4 ? load_u32 : load_u64;
}

ptx_handler *ptx_store_of(size_t bytes)
{
    return bytes == 1 ? store_u8 : bytes == 2 ? store_u16 : bytes == 4 ? store_u32 : store_u64;
}

/* ------------------------------------------------------------------ atomic operations */

/* atom.add.f32 on global memory flushes subnormal inputs and results to zero. */
static inline float sum_f32(const ptx_context *c, const char *p, float a, float b)
{
    static const float least = 0x1p-126f;
    const bool flushes = (uintptr_t)p - (uintptr_t)c->shared >= c->shared_bytes;
    if (flushes && a < least && a > -least) a = __builtin_copysignf(0, a);
    if (flushes && b < least && b > -least) b = __builtin_copysignf(0, b);
    const float sum = a + b;
    return flushes && sum < least && sum > -least ? __builtin_copysignf(0, sum) : sum;
}

/* Rows: what was there, the address, b, and e of a compare and swap. */
#define ATOMIC(name, t, T, B, value)                                                               \
    static void name##_##t(const ptx_ins *in, ptx_context *c)                                      \
    {                                                                                              \
        if (!resolve(in, c, 1, UPDATES)) return;                                                   \
        T *d = PTX_ROW(in, c, 0);                                                                  \
        const T *row_b = PTX_ROW(in, c, 2), *row_e = PTX_ROW(in, c, 3);                            \
        EACH_ADDRESS(                                                                              \
            c, i, p, const T b = row_b[i]; const T e = row_e[i]; B *at = (void *)p;                \
            B was = __atomic_load_n(at, __ATOMIC_RELAXED), next; T a; (void)e; do {                \
                memcpy(&a, &was, sizeof a);                                                        \
                const T new_value = (T)(value);                                                    \
                memcpy(&next, &new_value, sizeof next);                                            \
            } while (!__atomic_compare_exchange_n(at, &was, next, false, __ATOMIC_RELAXED,         \
                                                  __ATOMIC_RELAXED));                              \
            d[i] = a;)                                                                             \
    }
#define ATOMICS(t, T, B)                                                                           \
    ATOMIC(atom_add, t, T, B, a + b)                                                               \
    ATOMIC(atom_exch, t, T, B, b)                                                                  \
    ATOMIC(atom_cas, t, T, B, a == b ? e : a)                                                      \
    ATOMIC(atom_and, t, T, B, a &b)                                                                \
    ATOMIC(atom_or, t, T, B, a | b)                                                                \
    ATOMIC(atom_xor, t, T, B, a ^ b)                                                               \
    ATOMIC(atom_min, t, T, B, a < b ? a : b)                                                       \
    ATOMIC(atom_max, t, T, B, a > b ? a : b)
ATOMICS(u32, uint32_t, uint32_t)
ATOMICS(u64, uint64_t, uint64_t)
ATOMIC(atom_min, s32, int32_t, uint32_t, a < b ? a : b)
ATOMIC(atom_max, s32, int32_t, uint32_t, a > b ? a : b)
ATOMIC(atom_min, s64, int64_t, uint64_t, a < b ? a : b)
ATOMIC(atom_max, s64, int64_t, uint64_t, a > b ? a : b)
ATOMIC(atom_inc, u32, uint32_t, uint32_t, a >= b ? 0 : a + 1)
ATOMIC(atom_dec, u32, uint32_t, uint32_t, a == 0 || a > b ? b : a - 1)
ATOMIC(atom_add, f32, float, uint32_t, sum_f32(c, p, a, b))
ATOMIC(atom_add, f64, double, uint64_t, a + b)

#define WORDS(f)                                                                                   \
    {                                                                                              \
        [PTX_U32] = f##_u32, [PTX_S32] = f##_u32, [PTX_U64] = f##_u64, [PTX_S64] = f##_u64         \
    }
#define ORDERED(f)                                                                                 \
    {                                                                                              \
        [PTX_U32] = f##_u32, [PTX_S32] = f##_s32, [PTX_U64] = f##_u64, [PTX_S64] = f##_s64         \
    }

ptx_handler *ptx_atomic(const char *operation, ptx_type type)
{
    static const struct {
        const char *name;
        ptx_handler *run[PTX_TYPES];
    } table[] = {{"add",
                  {[PTX_U32] = atom_add_u32,
                   [PTX_S32] = atom_add_u32,
                   [PTX_U64] = atom_add_u64,
                   [PTX_F32] = atom_add_f32,
                   [PTX_F64] = atom_add_f64}},
                 {"exch", WORDS(atom_exch)},
                 {"cas", WORDS(atom_cas)},
                 {"and", WORDS(atom_and)},
                 {"or", WORDS(atom_or)},
                 {"xor", WORDS(atom_xor)},
                 {"min", ORDERED(atom_min)},
                 {"max", ORDERED(atom_max)},
                 {"inc", {[PTX_U32] = atom_inc_u32}},
                 {"dec", {[PTX_U32] = atom_dec_u32}}};
    for (size_t k = 0; k < sizeof table / sizeof *table; ++k)
        if (strcmp(table[k].name, operation) == 0) return table[k].run[type];
    return NULL;
}

/* An update of one object by all orders what is before it and behind it. */
void ptx_fence(const ptx_ins *in, ptx_context *c)
{
    static atomic_int order;
    (void)in;
    (void)c;
    atomic_fetch_add(&order, 1);
}
