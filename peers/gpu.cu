/* SPDX-License-Identifier: BSD-3-Clause */
/** @file gpu.cu
 *  The peer of the CUDA and HIP back ends: cuBLAS or hipBLAS, CUB or hipCUB, and its own kernels
 *  on libmeta's stream. */
#include "gpurt.h"

#include <cstdlib>
#include <cstring>

#include "common.h"
#include "peer.h"

/* ------------------------------------------------------------------ the vendor's libraries */

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

#if defined(META_GPU_CUDA)
#define BLAS_NAME "cuBLAS"
#define WITHOUT_BLAS                                                                               \
    "this libmeta was built without cuBLAS: install it (NVIDIA: libcublas-dev of the toolkit's "   \
    "version), then configure and build libmeta anew"
#elif defined(__HIP_CPU_RT__)
#define BLAS_NAME    "hipBLAS"
#define WITHOUT_BLAS "HIP-CPU has no BLAS: take the OpenMP back end, or an AMD GPU with hipBLAS"
#else
#define BLAS_NAME "hipBLAS"
#define WITHOUT_BLAS                                                                               \
    "this libmeta was built without hipBLAS: install it (ROCm: hipblas-dev), then configure and "  \
    "build libmeta anew"
#endif

#if defined(META_PEER_BLAS) && defined(META_GPU_CUDA)
#include <cublas_v2.h>
#define BLAS(name)        cublas##name
#define BLAS_SUCCESS      CUBLAS_STATUS_SUCCESS
#define BLAS_HOST         CUBLAS_POINTER_MODE_HOST
#define BLAS_WORDS(error) cublasGetStatusString(error)
#define BLAS_VERSION                                                                               \
    " " TEXT(CUBLAS_VER_MAJOR) "." TEXT(CUBLAS_VER_MINOR) "." TEXT(CUBLAS_VER_PATCH)
#elif defined(META_PEER_BLAS)
#include <hipblas/hipblas.h>
#define BLAS(name)        hipblas##name
#define BLAS_SUCCESS      HIPBLAS_STATUS_SUCCESS
#define BLAS_HOST         HIPBLAS_POINTER_MODE_HOST
#define BLAS_WORDS(error) hipblasStatusToString(error)
#define BLAS_VERSION      ""
#endif

#if defined(META_GPU_CUDA) && __has_include(<cub/device/device_reduce.cuh>)
#include <cub/device/device_reduce.cuh>
#define CUB_NAME "CUB"
namespace reduction = cub;
#elif defined(META_GPU_HIP) && !defined(__HIP_CPU_RT__) && __has_include(<hipcub/hipcub.hpp>)
#include <hipcub/hipcub.hpp>
#define CUB_NAME "hipCUB"
namespace reduction = hipcub;
#endif

/* ------------------------------------------------------------------ the peer */

enum { BLOCK = 256, EACH = 4, MOST_PARTIALS = 8192 };

struct meta_peer {
    int index;
    gpu_stream stream;
    int blocks;       /* of a sum */
    double *partials; /* device memory; the result of any sum comes first */
    double *result;   /* page-locked host memory */
#if defined(META_PEER_BLAS)
    BLAS(Handle_t) blas;
#endif
    void *scratch; /* device memory */
    size_t scratch_bytes;
    char reason[512];
};

static int failed(meta_peer *peer, const char *call, gpu_status status)
{
    (void)GPU(GetLastError)(); /* reset, else a later call reports it again */
    return peer_fail(peer->reason, sizeof peer->reason, "%s: %s (%s)", call,
                     GPU(GetErrorString)(status), GPU(GetErrorName)(status));
}

/* Return -1 from the function where a call of the runtime fails: TRY(SetDevice, (0)). */
#define TRY_AS(call, expression)                                                                   \
    do {                                                                                           \
        const gpu_status try_ = (expression);                                                      \
        if (try_ != GPU(Success)) return failed(peer, call, try_);                                 \
    } while (0)
#define TRY(name, arguments) TRY_AS(GPU_PREFIX #name, GPU(name) arguments)
#if defined(META_PEER_BLAS)
#define TRY_BLAS(name, arguments)                                                                  \
    do {                                                                                           \
        const BLAS(Status_t) try_ = BLAS(name) arguments;                                          \
        if (try_ != BLAS_SUCCESS)                                                                  \
            return peer_fail(peer->reason, sizeof peer->reason, BLAS_NAME " " #name ": %s (%d)",   \
                             BLAS_WORDS(try_), (int)try_);                                         \
    } while (0)
#endif

/* ------------------------------------------------------------------ the kernels */

struct operands {
    double *out;
    const double *a, *b;
    int64_t count;
};

/* The widest load and store, for 16-byte aligned addresses. */
struct alignas(16) pair {
    double x, y;
};

static __device__ inline double triad_of(double a, double b)
{
    return a + 3 * b;
}

static __device__ inline pair triad_of(pair a, pair b)
{
    return pair{a.x + 3 * b.x, a.y + 3 * b.y};
}

static __device__ inline double total_of(double a)
{
    return a;
}

static __device__ inline double total_of(pair a)
{
    return a.x + a.y;
}

static __global__ void nothing(int, void *) {}

/* Each thread moves EACH elements, and issues all loads before the first store. */
template <class V, bool TRIAD> static __global__ void move(const operands o, void *)
{
    const V *a = (const V *)o.a, *b = (const V *)o.b;
    V *out = (V *)o.out, value[EACH];
    const int64_t first = (int64_t)blockIdx.x * (EACH * BLOCK) + threadIdx.x;
    for (int k = 0; k < EACH; ++k) {
        const int64_t i = first + k * BLOCK;
        if (i < o.count) value[k] = TRIAD ? triad_of(a[i], b[i]) : a[i];
    }
    for (int k = 0; k < EACH; ++k) {
        const int64_t i = first + k * BLOCK;
        if (i < o.count) out[i] = value[k];
    }
}

/* Each block stores its partial sum in out. */
template <class V> static __global__ void add(const operands o, void *)
{
    __shared__ double tree[BLOCK];
    const V *a = (const V *)o.a;
    const int64_t step = (int64_t)gridDim.x * BLOCK;
    int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    double sum[EACH] = {0};
    for (; i + (EACH - 1) * step < o.count; i += EACH * step)
        for (int k = 0; k < EACH; ++k) sum[k] += total_of(a[i + k * step]);
    for (; i < o.count; i += step) sum[0] += total_of(a[i]);
    tree[threadIdx.x] = sum[0] + sum[1] + (sum[2] + sum[3]);
    __syncthreads();
    for (unsigned left = BLOCK / 2; left > 0; left /= 2) {
        if (threadIdx.x < left) tree[threadIdx.x] += tree[threadIdx.x + left];
        __syncthreads();
    }
    if (threadIdx.x == 0) o.out[blockIdx.x] = tree[0];
}

template <class T> struct gray_scott_step {
    T *u1, *v1;
    const T *u0, *v0;
    int nx, ny, nz;
    int64_t first, sy, sz;
    T Du, Dv, F, k, dt;
};

template <class T> static __global__ void react(const gray_scott_step<T> s, void *)
{
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = (int)(blockIdx.y * blockDim.y + threadIdx.y), z = (int)blockIdx.z;
    if (x >= s.nx || y >= s.ny || z >= s.nz) return;
    const int64_t c = s.first + x + y * s.sy + z * s.sz;
    T *__restrict__ u1 = s.u1, *__restrict__ v1 = s.v1;
    const T *__restrict__ u0 = s.u0, *__restrict__ v0 = s.v0;
    const T u = u0[c], v = v0[c], uvv = u * v * v;
    const T su =
        u0[c - 1] + u0[c + 1] + u0[c - s.sy] + u0[c + s.sy] + u0[c - s.sz] + u0[c + s.sz] - 6 * u;
    const T sv =
        v0[c - 1] + v0[c + 1] + v0[c - s.sy] + v0[c + s.sy] + v0[c - s.sz] + v0[c + s.sz] - 6 * v;
    u1[c] = u + s.dt * (s.Du * su - uvv + s.F * (1 - u));
    v1[c] = v + s.dt * (s.Dv * sv + uvv - (s.F + s.k) * v);
}

/* ------------------------------------------------------------------ opening */

#if defined(META_PEER_BLAS)
static int open_blas(meta_peer *peer)
{
    TRY_BLAS(Create, (&peer->blas));
    TRY_BLAS(SetStream, (peer->blas, peer->stream));
    TRY_BLAS(SetPointerMode, (peer->blas, BLAS_HOST));
    return 0;
}
#else
static int open_blas(meta_peer *)
{
    return 0;
}
#endif

static int make(meta_peer *peer)
{
    gpu_properties about;
    void *partials, *result;
    TRY(SetDevice, (peer->index));
    TRY(GetDeviceProperties, (&about, peer->index));
    peer->blocks = 8 * about.multiProcessorCount;
    if (peer->blocks < 1) peer->blocks = 1;
    if (peer->blocks > MOST_PARTIALS) peer->blocks = MOST_PARTIALS;
    TRY_AS(GPU_PREFIX "Malloc", gpu_malloc(&partials, (MOST_PARTIALS + 2) * sizeof(double)));
    peer->partials = (double *)partials;
    TRY_AS(GPU_HOST_MALLOC, gpu_host_malloc(&result, sizeof(double)));
    peer->result = (double *)result;
    return open_blas(peer);
}

/* Errors are ignored: the device is released when the process ends. */
static void close_peer(meta_peer *peer)
{
    (void)GPU(SetDevice)(peer->index);
#if defined(META_PEER_BLAS)
    if (peer->blas) (void)BLAS(Destroy)(peer->blas);
#endif
    if (peer->scratch) (void)GPU(Free)(peer->scratch);
    if (peer->result) (void)gpu_host_free(peer->result);
    if (peer->partials) (void)GPU(Free)(peer->partials);
    free(peer);
}

static int open_peer(const meta_state *state, int index, int, meta_peer **peer, char *reason,
                     size_t room)
{
    meta_peer *made = (meta_peer *)calloc(1, sizeof *made);
    if (!made) return peer_fail(reason, room, "the host has no memory left");
    made->index = index;
    made->stream = (gpu_stream)state->queue;
    if (make(made) != 0) {
        peer_fail(reason, room, "%s", made->reason);
        close_peer(made);
        return -1;
    }
    *peer = made;
    return 0;
}

static const char *reason_of(const meta_peer *peer)
{
    return peer->reason;
}

/* ------------------------------------------------------------------ the vendor's sums */

static const void *address(meta_peer_memory m)
{
    return (const char *)m.object + m.offset;
}

#if defined(META_PEER_BLAS)

#define NO_BLAS nullptr
#define BLAS_IS BLAS_NAME BLAS_VERSION

static int dot_f64(meta_peer *peer, int64_t count, const double *a, const double *b, double *result)
{
    double part, sum = 0;
    for (int64_t at = 0, n; at < count; at += n, sum += part) {
        n = peer_part(count - at);
        TRY_BLAS(Ddot, (peer->blas, (int)n, a + at, 1, b + at, 1, &part));
    }
    return *result = sum, 0;
}

static int dot_f32(meta_peer *peer, int64_t count, const float *a, const float *b, float *result)
{
    float part, sum = 0;
    for (int64_t at = 0, n; at < count; at += n, sum += part) {
        n = peer_part(count - at);
        TRY_BLAS(Sdot, (peer->blas, (int)n, a + at, 1, b + at, 1, &part));
    }
    return *result = sum, 0;
}

static int dot(meta_peer *peer, meta_type type, int64_t count, meta_peer_memory a,
               meta_peer_memory b, void *result)
{
    TRY(SetDevice, (peer->index));
    if (type == META_F64)
        return dot_f64(peer, count, (const double *)address(a), (const double *)address(b),
                       (double *)result);
    if (type == META_F32)
        return dot_f32(peer, count, (const float *)address(a), (const float *)address(b),
                       (float *)result);
    return peer_fail(peer->reason, sizeof peer->reason,
                     BLAS_NAME " computes dot products in f64 and f32 only");
}

#else

#define NO_BLAS WITHOUT_BLAS
#define BLAS_IS nullptr

static int dot(meta_peer *peer, meta_type, int64_t, meta_peer_memory, meta_peer_memory, void *)
{
    return peer_fail(peer->reason, sizeof peer->reason, "%s", NO_BLAS);
}

#endif

static int fetch(meta_peer *peer, size_t bytes, void *result)
{
    TRY(MemcpyAsync, (peer->result, peer->partials, bytes, GPU(MemcpyDeviceToHost), peer->stream));
    TRY(StreamSynchronize, (peer->stream));
    memcpy(result, peer->result, bytes);
    return 0;
}

#if defined(CUB_NAME)

#define SUM sum_by_vendor

static int grow_scratch(meta_peer *peer, size_t bytes)
{
    void *more;
    if (bytes <= peer->scratch_bytes) return 0;
    TRY_AS(GPU_PREFIX "Malloc", gpu_malloc(&more, bytes));
    if (peer->scratch) TRY(Free, (peer->scratch));
    peer->scratch = more;
    peer->scratch_bytes = bytes;
    return 0;
}

template <class T> static int sum_of(meta_peer *peer, int64_t count, const T *a, void *result)
{
    T part, total = 0, *out = (T *)(void *)peer->partials;
    for (int64_t at = 0, n; at < count; at += n, total += part) {
        size_t bytes = 0;
        n = peer_part(count - at);
        TRY_AS(CUB_NAME " DeviceReduce::Sum",
               reduction::DeviceReduce::Sum(nullptr, bytes, a + at, out, (int)n, peer->stream));
        if (grow_scratch(peer, bytes) != 0) return -1;
        TRY_AS(
            CUB_NAME " DeviceReduce::Sum",
            reduction::DeviceReduce::Sum(peer->scratch, bytes, a + at, out, (int)n, peer->stream));
        if (fetch(peer, sizeof part, &part) != 0) return -1;
    }
    memcpy(result, &total, sizeof total);
    return 0;
}

static int sum_by_vendor(meta_peer *peer, meta_type type, int64_t count, meta_peer_memory a,
                         void *result)
{
    TRY(SetDevice, (peer->index));
    if (type == META_F64) return sum_of(peer, count, (const double *)address(a), result);
    if (type == META_F32) return sum_of(peer, count, (const float *)address(a), result);
    return peer_fail(peer->reason, sizeof peer->reason, "the peer adds up f64 and f32 only");
}

#else
#define SUM nullptr
#endif

/* ------------------------------------------------------------------ memory and launches */

template <class V> static int move_all(meta_peer *peer, bool triad, const operands &o)
{
    const dim3 grid((unsigned)((o.count + EACH * BLOCK - 1) / (EACH * BLOCK)));
    TRY_AS(GPU_PREFIX "LaunchKernel", gpu_run(triad ? move<V, true> : move<V, false>, grid,
                                              dim3(BLOCK), peer->stream, o, nullptr));
    return 0;
}

template <class V> static int add_up(meta_peer *peer, const operands &o)
{
    const operands partials = {peer->partials, o.out, nullptr, peer->blocks};
    TRY_AS(GPU_PREFIX "LaunchKernel",
           gpu_run(add<V>, dim3((unsigned)peer->blocks), dim3(BLOCK), peer->stream, o, nullptr));
    TRY_AS(GPU_PREFIX "LaunchKernel",
           gpu_run(add<double>, dim3(1), dim3(BLOCK), peer->stream, partials, nullptr));
    return 0;
}

/* Uses the widest loads and stores that the alignment allows. */
static int run_kernels(meta_peer *peer, meta_peer_work work, operands o)
{
    const bool sum = work == META_PEER_READ, triad = work == META_PEER_TRIAD;
    const uintptr_t all =
        (sum ? 0 : (uintptr_t)o.out) | (uintptr_t)o.a | (triad ? (uintptr_t)o.b : 0);
    const bool pairs = all % sizeof(pair) == 0 && o.count % 2 == 0;
    if (sum) o.out = peer->partials + 1;
    if (pairs) o.count /= 2;
    if (sum) return pairs ? add_up<pair>(peer, o) : add_up<double>(peer, o);
    return pairs ? move_all<pair>(peer, triad, o) : move_all<double>(peer, triad, o);
}

static int memory(meta_peer *peer, meta_peer_work work, int64_t count, meta_peer_memory out,
                  meta_peer_memory a, meta_peer_memory b, double *result)
{
    const operands o = {(double *)address(out), (const double *)address(a),
                        (const double *)address(b), count};
    TRY(SetDevice, (peer->index));
    if (count == 0 && work != META_PEER_READ) return 0;
    if (work == META_PEER_COPY_NT)
        TRY(MemcpyAsync,
            (o.out, o.a, (size_t)count * sizeof(double), GPU(MemcpyDeviceToDevice), peer->stream));
    else if (run_kernels(peer, work, o) != 0) return -1;
    if (work == META_PEER_READ) return fetch(peer, sizeof *result, result);
    TRY(StreamSynchronize, (peer->stream));
    return 0;
}

static int empty(meta_peer *peer, int count)
{
    TRY(SetDevice, (peer->index));
    for (int k = 0; k < count; ++k)
        TRY_AS(GPU_PREFIX "LaunchKernel",
               gpu_run(nothing, dim3(1), dim3(1), peer->stream, k, nullptr));
    TRY(StreamSynchronize, (peer->stream));
    return 0;
}

static int pairs(meta_peer *peer, size_t bytes, int64_t count)
{
    TRY(SetDevice, (peer->index));
    for (int64_t k = 0; k < count; ++k) {
        void *memory;
        TRY_AS(GPU_PREFIX "Malloc", gpu_malloc(&memory, bytes));
        TRY(Free, (memory));
    }
    return 0;
}

/* ------------------------------------------------------------------ a kernel written by hand */

template <class T> static T *array_of(meta_peer_memory m)
{
    return (T *)((char *)m.object + m.offset);
}

template <class T> static int step_of(meta_peer *peer, const meta_peer_gray_scott *s)
{
    const dim3 block(64, 4, 1);
    const int64_t sy = s->size[0], sz = s->size[0] * s->size[1];
    const gray_scott_step<T> step = {array_of<T>(s->u1),
                                     array_of<T>(s->v1),
                                     array_of<T>(s->u0),
                                     array_of<T>(s->v0),
                                     (int)(s->end[0] - s->start[0]),
                                     (int)(s->end[1] - s->start[1]),
                                     (int)(s->end[2] - s->start[2]),
                                     s->start[0] + s->start[1] * sy + s->start[2] * sz,
                                     sy,
                                     sz,
                                     (T)s->Du,
                                     (T)s->Dv,
                                     (T)s->F,
                                     (T)s->k,
                                     (T)s->dt};
    const dim3 grid(((unsigned)step.nx + block.x - 1) / block.x,
                    ((unsigned)step.ny + block.y - 1) / block.y, (unsigned)step.nz);
    TRY(SetDevice, (peer->index));
    TRY_AS(GPU_PREFIX "LaunchKernel", gpu_run(react<T>, grid, block, peer->stream, step, nullptr));
    TRY(StreamSynchronize, (peer->stream));
    return 0;
}

static int gray_scott(meta_peer *peer, const meta_peer_gray_scott *s)
{
    if (s->type == META_F64) return step_of<double>(peer, s);
    if (s->type == META_F32) return step_of<float>(peer, s);
    return peer_fail(peer->reason, sizeof peer->reason, "the peer computes in f64 and f32 only");
}

/* Not const: hipcc would then require the functions on the device, too. */
extern "C" {
META_API meta_peer_table meta_peer_v1 = {
    sizeof(meta_peer_table),
    BLAS_IS,
    NO_BLAS,
    "an empty kernel, launched and waited for",
    open_peer,
    close_peer,
    reason_of,
    dot,
    SUM,
    memory,
    empty,
    nullptr,
    pairs,
    gray_scott,
};
}
