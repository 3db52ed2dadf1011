/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta_kernel.h
 *  Kernels of a program's own, written once in C for every back end.
 *
 *  A kernel file holds kernels and their helper functions, and nothing else:
 *
 *      // heat.kernel.h
 *      #include <meta_kernel.h>
 *      #define heat_ARGS(A) A(OUT, T, next) A(IN, T, now, STAR(1)) A(VALUE, T, k) A(MAX, T, change)
 *      META_CELLS(heat)
 *      {
 *          const T d = k * (AT(now, -1, 0, 0) + AT(now, 1, 0, 0) + AT(now, 0, -1, 0) + …);
 *          AT(next, 0, 0, 0) = AT(now, 0, 0, 0) + d;
 *          RAISE(change, ABS(d));
 *      }
 *      #include META_AGAIN
 *
 *  Included in a program it declares one typed function for each element type:
 *
 *      meta_err heat_f64(const meta_box *box, double *next, const double *now, double k,
 *                        double *change, meta_event *done);
 *
 *  which runs the body for every cell of the box on the device that holds the arrays. Exactly one
 *  file of the program defines META_KERNELS_HERE before it includes the kernel file: there the
 *  program's compiler compiles the body for the CPU (by default for its own target and, on x86-64,
 *  for AVX2 and AVX-512), and the file's text becomes part of the object, from which other devices'
 *  compilers build the kernel when it first runs. Include a kernel file once in a source file.
 *
 *  The parameters, A(kind, type, name), and A(IN, type, name, reach):
 *   - OUT: an array of which every cell of the box is written, and none is read.
 *   - INOUT: an array read and written at the cell itself only. A(INOUT, type, name, WHOLE): an array
 *     of which a cell reads and writes any element, by GET(); the author's promise is that no cell
 *     accesses an element that another one writes.
 *   - IN: an array that is read; reach says where. CELL: at the cell itself. STAR(r): up to r cells
 *     away along one dimension. BOX(r): up to r cells away along every dimension. SIDES(x0, x1, y0,
 *     y1, z0, z1): in the box that ends so many cells before and behind the cell. WHOLE: anywhere,
 *     by GET().
 *   - ADD: an array to which cells add, atomically and in any order, by ADD_TO(); it is neither read
 *     nor written otherwise. Its reach must be given, as of IN: A(ADD, type, name, reach).
 *   - VALUE: a number or a structure of up to 64 bytes, by value.
 *   - SCALAR: a number that lies on the device, such as the result of an earlier kernel. Its argument
 *     is the address of one element in device memory; in the body it is a constant. Work is ordered
 *     as for an array that is read, so the host need not wait for the number.
 *   - SUM, MIN, MAX: a result, combined over all cells; ADD(), LOWER() and RAISE() contribute to it.
 *     A NaN is the least and the most of all. Its argument is the address of one element in host
 *     memory or on the device.
 *  A type is T, the element type that the kernel is compiled for, or one of double, float, int64_t,
 *  uint64_t, int32_t and uint32_t; of a VALUE, any. All arrays have the shape of the box.
 *
 *  In the body:
 *   - AT(array, x, y, z): the element so many cells away; AT1(array, x), AT2(array, x, y) and
 *     AT4(array, x, y, z, w) in boxes of other dimensions. INDEX(d): the cell's index along
 *     dimension d, counted like the box's start.
 *   - GET(array, n): element n of a WHOLE array, counted from the address that the call passed.
 *   - ADD_TO(element, x): add x to an element of an ADD array, ADD_TO(AT(charge, 1, 0, 0), x) or
 *     ADD_TO(GET(charge, n), x). Integers wrap. Where several cells add floating numbers to one
 *     element, its last bits depend on their order, which differs from run to run; GPUs may take
 *     f32 numbers below the normal range for 0 here.
 *   - ABS(x), LEAST(x, y), MOST(x, y), SQRT(x), and the functions of <math.h> that the device has.
 *   - META_FUNCTION begins a helper function, which is called FN(name), for example
 *     `META_FUNCTION T FN(limiter)(T a, T b) { … }` and `FN(limiter)(x, y)`.
 *
 *  Before the file includes this header it may define META_KERNEL_TYPES as the types that it is to
 *  be compiled for, `(META_KERNEL_F64 | META_KERNEL_I32)`; the default is F64 and F32. Compilers
 *  without __FILE_NAME__ (GCC before 12) also need META_KERNEL_FILE, the file's own name in quotes.
 *
 *  A kernel gives the same bits on every device, whatever the program's compiler flags, except for
 *  -ffast-math, which is refused, for clang's -ffp-contract=fast, which overrides what this header
 *  says, and for functions that differ between devices, such as exp(). The order of additions to a
 *  SUM or to an element of an ADD array differs between devices. */
#ifndef META_KERNEL_H
#define META_KERNEL_H

#include <math.h>

#include "meta.h"

#ifdef __FAST_MATH__
#error "kernels cannot be compiled with -ffast-math: their bits would differ between devices"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** What a kernel file may be compiled for, see META_KERNEL_TYPES. */
#define META_KERNEL_F64 1
#define META_KERNEL_F32 2
#define META_KERNEL_I64 4
#define META_KERNEL_U64 8
#define META_KERNEL_I32 16
#define META_KERNEL_U32 32

/** The most parameters of a kernel, and the most arrays and SCALARs among them. */
#define META_KERNEL_PARAMETERS 64
#define META_KERNEL_ARRAYS     32
/** The most bytes of a VALUE. */
#define META_KERNEL_VALUE 64
/** The dimensions along which a kernel can read neighbours. */
#define META_KERNEL_DIMS 4

typedef enum meta_parameter_kind {
    META_PARAMETER_OUT,
    META_PARAMETER_INOUT,
    META_PARAMETER_IN,
    META_PARAMETER_ADD,
    META_PARAMETER_SCALAR, /**< as an array of one element; those above are arrays */
    META_PARAMETER_VALUE,
    META_PARAMETER_SUM,
    META_PARAMETER_MIN,
    META_PARAMETER_MAX
} meta_parameter_kind;

typedef enum meta_parameter_reach {
    META_PARAMETER_CELL,
    META_PARAMETER_STAR,
    META_PARAMETER_BOX,
    META_PARAMETER_WHOLE
} meta_parameter_reach;

typedef struct meta_kernel_parameter {
    const char *type_name; /**< as the kernel's text spells it */
    const char *name;
    uint32_t kind;  /**< meta_parameter_kind */
    uint32_t type;  /**< meta_type; META_TYPE_COUNT if it is none */
    uint32_t bytes; /**< of an element or a value */
    uint32_t reach; /**< meta_parameter_reach */
    uint8_t low[META_KERNEL_DIMS], high[META_KERNEL_DIMS];
} meta_kernel_parameter;

/** An argument of a kernel's CPU code: the address of an array's first cell, of a value or scalar,
 *  or of META_KERNEL_LANES accumulators of a result. Strides are in elements. */
typedef struct meta_kernel_cpu_argument {
    void *at;
    int64_t stride[META_KERNEL_DIMS];
} meta_kernel_cpu_argument;
#define META_KERNEL_LANES 8

/** Rows of cells: what a kernel's CPU code computes in one call. The next row is one step along
 *  dimension 1. Accumulators have the type in which libmeta sums: double for float, 64 bits
 *  unsigned for 64-bit integers, 32 bits unsigned for 32-bit integers. */
typedef struct meta_kernel_rows {
    int64_t cells, rows;
    int64_t index[META_KERNEL_DIMS]; /**< of the first cell */
    const meta_kernel_cpu_argument *argument;
    int alone; /**< no other thread adds to what these rows add to: it need not be atomic */
} meta_kernel_rows;
typedef void meta_kernel_cpu(const meta_kernel_rows *rows);

/** The instruction sets that a kernel's CPU code is compiled for. */
enum { META_KERNEL_BASELINE, META_KERNEL_AVX2, META_KERNEL_AVX512, META_KERNEL_VARIANTS };

/** A kernel for one element type. META_CELLS defines it, as heat_f64_kernel, and registers it. */
typedef struct meta_kernel {
    size_t size; /**< of this structure */
    const char *name;
    meta_type type; /**< T */
    const char *file;
    const char *text; /**< of the kernel file */
    const meta_kernel_parameter *parameter;
    uint32_t parameters;
    meta_kernel_cpu *cpu[META_KERNEL_VARIANTS]; /**< NULL: not compiled for that set */
    struct meta_kernel_state *state;            /**< libmeta's */
} meta_kernel;

/** Make a kernel known to the library, and forget it. Called by META_CELLS when a program or shared
 *  object is loaded and unloaded; may be called before meta_init(). A kernel must not be running
 *  when it is forgotten. */
META_API void meta_kernel_register(meta_kernel *kernel);
META_API void meta_kernel_unregister(meta_kernel *kernel);

/** Run @p kernel for every cell of @p box: what the typed functions call.
 *
 *  @param arguments  one for each parameter, in order: the address of an array, of a value (which is
 *                    copied before the call returns), or of a result's element
 *  @param done       as everywhere; a result is valid once the work is complete
 *  @return META_ERR_ARGUMENT if the kernel or the box is not valid, META_ERR_POINTER if an array or a
 *          SCALAR is not on a device, META_ERR_BOUNDS
 *          if an array is too small for the box and the kernel's reach, META_ERR_OVERLAP if an element
 *          that is written may be accessed as another array's too, META_ERR_WRONG_DEVICE, META_ERR_UNSUPPORTED if the
 *          device's back end cannot build it or, while sums are to be reproducible, if it adds
 *          floating numbers, META_ERR_DEVICE with the compiler's messages if it does
 *          not compile there */
META_API meta_err meta_kernel_run(meta_kernel *kernel, const meta_box *box,
                                  const void *const *arguments, meta_event *done);

/** The registered kernel @p name for element type @p type.
 *  @return META_ERR_ARGUMENT if there is none */
META_API meta_err meta_kernel_find(const char *name, meta_type type, meta_kernel **kernel);

/** Compile the text of a kernel file that is given at run time, and get kernel @p name of it for
 *  element type @p type. Its kernels are registered like those that the program was built with, and
 *  live until the process ends. A text that the program was built with or has given before is not
 * compiled again; otherwise its code for the CPU is loaded from the cache (META_CACHE_DIR), or
 * compiled by META_CC, else cc, gcc or clang in PATH, as far as META_JIT allows. Other devices build
 * the kernel from the text when it first runs.
 *
 *  @param file  the file's name in messages, such as "heat.kernel.h": letters, digits and _ . - +
 *  @param text  of the file, which begins by including <meta_kernel.h> and ends by including
 *               META_AGAIN; copied. Beside it the compiler sees the system's headers only
 *  @return META_ERR_ARGUMENT with the compiler's messages if it refuses the text, or if the text has
 *          no such kernel, META_ERR_TYPE, META_ERR_UNSUPPORTED if there is no compiler or META_JIT
 *          does not allow to compile, META_ERR_DEVICE if the compiler hangs (META_JIT_TIMEOUT) */
META_API meta_err meta_kernel_compile(meta_kernel **kernel, const char *name, meta_type type,
                                      const char *file, const char *text);

/** Build @p kernel for the device that meta_alloc() would use, so that its first run need not wait. */
META_API meta_err meta_kernel_prepare(meta_kernel *kernel);

/** Raise the ghost widths @p low and @p high of each dimension to what the arrays of @p kernel need,
 *  so that after a call for each kernel of a program they suit meta_grid_alloc() and a
 *  meta_halo_desc. Arrays that are read anywhere (WHOLE) need none. */
META_API meta_err meta_kernel_reach(meta_kernel *kernel, int low[META_MAX_DIM],
                                    int high[META_MAX_DIM]);

/** The number of registered kernels, and number @p index of them in the order of registration.
 *  @return META_ERR_ARGUMENT if there is none of that number */
META_API meta_err meta_kernel_count(int *count);
META_API meta_err meta_kernel_at(int index, meta_kernel **kernel);

#ifdef __cplusplus
}
#endif

/* ------------------------------------------------------------------ of the parameter list */

#ifdef __cplusplus
template <typename meta_k> struct meta_k_code { enum { value = META_TYPE_COUNT }; };
template <> struct meta_k_code<double> { enum { value = META_F64 }; };
template <> struct meta_k_code<float> { enum { value = META_F32 }; };
template <> struct meta_k_code<int64_t> { enum { value = META_I64 }; };
template <> struct meta_k_code<uint64_t> { enum { value = META_U64 }; };
template <> struct meta_k_code<int32_t> { enum { value = META_I32 }; };
template <> struct meta_k_code<uint32_t> { enum { value = META_U32 }; };
#define META_K_CODE(type) ((uint32_t)meta_k_code<type>::value)
static inline double meta_k_sum(double) { return 0; }
static inline double meta_k_sum(float) { return 0; }
static inline uint64_t meta_k_sum(int64_t) { return 0; }
static inline uint64_t meta_k_sum(uint64_t) { return 0; }
static inline uint32_t meta_k_sum(int32_t) { return 0; }
static inline uint32_t meta_k_sum(uint32_t) { return 0; }
#define META_K_SUM_TYPE(type) __typeof__(meta_k_sum((type)0))
static inline double meta_k_highest(double) { return HUGE_VAL; }
static inline float meta_k_highest(float) { return HUGE_VALF; }
static inline int64_t meta_k_highest(int64_t) { return INT64_MAX; }
static inline uint64_t meta_k_highest(uint64_t) { return UINT64_MAX; }
static inline int32_t meta_k_highest(int32_t) { return INT32_MAX; }
static inline uint32_t meta_k_highest(uint32_t) { return UINT32_MAX; }
static inline double meta_k_lowest(double) { return -HUGE_VAL; }
static inline float meta_k_lowest(float) { return -HUGE_VALF; }
static inline int64_t meta_k_lowest(int64_t) { return INT64_MIN; }
static inline uint64_t meta_k_lowest(uint64_t) { return 0; }
static inline int32_t meta_k_lowest(int32_t) { return INT32_MIN; }
static inline uint32_t meta_k_lowest(uint32_t) { return 0; }
#define META_K_HIGHEST(type) meta_k_highest((type)0)
#define META_K_LOWEST(type)  meta_k_lowest((type)0)
#define META_K_EXTERN extern "C" __attribute__((visibility("hidden")))
#define META_K_DEFINE __attribute__((visibility("hidden")))
#else
#define META_K_CODE(type)                                                                          \
    _Generic((type *)0, double *: META_F64, float *: META_F32, int64_t *: META_I64,                \
             uint64_t *: META_U64, int32_t *: META_I32, uint32_t *: META_U32,                      \
             default: META_TYPE_COUNT)
#define META_K_SUM_TYPE(type)                                                                      \
    __typeof__(_Generic((type)0, float: 0.0, double: 0.0, int64_t: (uint64_t)0,                    \
                        uint64_t: (uint64_t)0, int32_t: (uint32_t)0, uint32_t: (uint32_t)0))
#define META_K_HIGHEST(type)                                                                       \
    _Generic((type)0, double: HUGE_VAL, float: HUGE_VALF, int64_t: INT64_MAX,                      \
             uint64_t: UINT64_MAX, int32_t: INT32_MAX, uint32_t: UINT32_MAX)
#define META_K_LOWEST(type)                                                                        \
    _Generic((type)0, double: -HUGE_VAL, float: -HUGE_VALF, int64_t: INT64_MIN,                    \
             uint64_t: (uint64_t)0, int32_t: INT32_MIN, uint32_t: (uint32_t)0)
#define META_K_EXTERN extern __attribute__((visibility("hidden")))
#define META_K_DEFINE __attribute__((visibility("hidden")))
#endif

#define META_K_UNUSED __attribute__((unused))

/* Elements of an ADD array are structures, so that only ADD_TO() compiles with them. Where no other
 * thread adds to them, an addition that is not atomic takes a fraction of the time. */
#define META_K_ADDS_FLOAT(type, name)                                                              \
    META_K_ADDS(name, type)                                                                        \
    {                                                                                              \
        type was, sum;                                                                             \
        if (alone) {                                                                               \
            *to = *to + x;                                                                         \
            return;                                                                                \
        }                                                                                          \
        __atomic_load(to, &was, __ATOMIC_RELAXED);                                                 \
        do sum = was + x;                                                                          \
        while (!__atomic_compare_exchange(to, &was, &sum, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); \
    }
#define META_K_ADDS_WHOLE(type, name, wraps)                                                       \
    META_K_ADDS(name, type)                                                                        \
    {                                                                                              \
        if (alone) *to = (type)((wraps)*to + (wraps)x);                                            \
        else (void)__atomic_fetch_add(to, x, __ATOMIC_RELAXED);                                    \
    }
#define META_K_ADDS(name, type)                                                                    \
    static inline __attribute__((always_inline, unused)) void META_K_ADDER_OF(name)(               \
        type *to, type x, int alone)
#ifdef __cplusplus
#define META_K_ADDER_OF(name) meta_k_add
#define META_K_ADDER(to)      meta_k_add
template <typename meta_k> struct meta_k_added { meta_k meta_added; };
#define META_K_ADDED(type) meta_k_added<type>
#else
#define META_K_ADDER_OF(name) meta_k_add_##name
#define META_K_ADDER(to)                                                                           \
    _Generic(to, double *: meta_k_add_f64, float *: meta_k_add_f32, int64_t *: meta_k_add_i64,     \
             uint64_t *: meta_k_add_u64, int32_t *: meta_k_add_i32, uint32_t *: meta_k_add_u32)
#define META_K_ADDED(type)                                                                         \
    __typeof__(_Generic((type *)0, double *: *(struct meta_k_added_f64 *)0,                        \
                        float *: *(struct meta_k_added_f32 *)0,                                    \
                        int64_t *: *(struct meta_k_added_i64 *)0,                                  \
                        uint64_t *: *(struct meta_k_added_u64 *)0,                                 \
                        int32_t *: *(struct meta_k_added_i32 *)0,                                  \
                        uint32_t *: *(struct meta_k_added_u32 *)0))
struct meta_k_added_f64 { double meta_added; };
struct meta_k_added_f32 { float meta_added; };
struct meta_k_added_i64 { int64_t meta_added; };
struct meta_k_added_u64 { uint64_t meta_added; };
struct meta_k_added_i32 { int32_t meta_added; };
struct meta_k_added_u32 { uint32_t meta_added; };
#endif
META_K_ADDS_FLOAT(double, f64)
META_K_ADDS_FLOAT(float, f32)
META_K_ADDS_WHOLE(int64_t, i64, uint64_t)
META_K_ADDS_WHOLE(uint64_t, u64, uint64_t)
META_K_ADDS_WHOLE(int32_t, i32, uint32_t)
META_K_ADDS_WHOLE(uint32_t, u32, uint32_t)
#define META_K_ADD_TO(element, x)                                                                  \
    META_K_ADDER(&(element).meta_added)                                                            \
    (&(element).meta_added, (__typeof__((element).meta_added))(x), meta_alone)

#define META_K_TAGGED_(name, suffix, variant) name##_##suffix##_##variant
#define META_K_TAGGED(name, suffix, variant)  META_K_TAGGED_(name, suffix, variant)

/* The reach of an IN array, as members of meta_kernel_parameter. */
#define META_K_REACH_CELL META_PARAMETER_CELL, {0, 0, 0, 0}, {0, 0, 0, 0}
#define META_K_REACH_WHOLE META_PARAMETER_WHOLE, {0, 0, 0, 0}, {0, 0, 0, 0}
#define META_K_REACH_STAR(r) META_PARAMETER_STAR, {r, r, r, r}, {r, r, r, r}
#define META_K_REACH_BOX(r)  META_PARAMETER_BOX, {r, r, r, r}, {r, r, r, r}
#define META_K_REACH_SIDES(x0, x1, y0, y1, z0, z1)                                                 \
    META_PARAMETER_BOX, {x0, y0, z0, 0}, {x1, y1, z1, 0}
/* Of an INOUT array. */
#define META_K_REACH_INOUT_CELL  META_K_REACH_CELL
#define META_K_REACH_INOUT_WHOLE META_K_REACH_WHOLE

/* META_K_ROW: a parameter as data. */
#define META_K_ROW(kind, type, ...) {#type, META_K_ROW_##kind(type, __VA_ARGS__)},
#define META_K_ROW_(kind, type, name, ...)                                                         \
    #name, META_PARAMETER_##kind, META_K_CODE(type), (uint32_t)sizeof(type), __VA_ARGS__
#define META_K_ROW_OUT(type, name)       META_K_ROW_(OUT, type, name, META_K_REACH_CELL)
#define META_K_ROW_INOUT(type, ...)      META_K_ROW_INOUT_(type, __VA_ARGS__, CELL, )
#define META_K_ROW_INOUT_(type, name, reach, ...)                                                  \
    META_K_ROW_(INOUT, type, name, META_K_REACH_INOUT_##reach)
#define META_K_ROW_IN(type, name, reach) META_K_ROW_(IN, type, name, META_K_REACH_##reach)
#define META_K_ROW_ADD(type, name, reach) META_K_ROW_(ADD, type, name, META_K_REACH_##reach)
#define META_K_ROW_SCALAR(type, name)    META_K_ROW_(SCALAR, type, name, META_K_REACH_CELL)
#define META_K_ROW_VALUE(type, name)     META_K_ROW_(VALUE, type, name, META_K_REACH_CELL)
#define META_K_ROW_SUM(type, name)       META_K_ROW_(SUM, type, name, META_K_REACH_CELL)
#define META_K_ROW_MIN(type, name)       META_K_ROW_(MIN, type, name, META_K_REACH_CELL)
#define META_K_ROW_MAX(type, name)       META_K_ROW_(MAX, type, name, META_K_REACH_CELL)

/* META_K_CALL: a parameter of the typed function; META_K_PASS: what it passes on. */
#define META_K_CALL(kind, type, ...)     META_K_CALL_##kind(type, __VA_ARGS__)
#define META_K_CALL_OUT(type, name)      type *name,
#define META_K_CALL_INOUT(type, ...)     META_K_CALL_INOUT_(type, __VA_ARGS__, )
#define META_K_CALL_INOUT_(type, name, ...) type *name,
#define META_K_CALL_IN(type, name, r)    const type *name,
#define META_K_CALL_ADD(type, name, r)   type *name,
#define META_K_CALL_SCALAR(type, name)   const type *name,
#define META_K_CALL_VALUE(type, name)    type name,
#define META_K_CALL_SUM(type, name)      type *name,
#define META_K_CALL_MIN(type, name)      type *name,
#define META_K_CALL_MAX(type, name)      type *name,
#define META_K_PASS(kind, type, ...)     META_K_PASS_##kind(__VA_ARGS__)
#define META_K_PASS_OUT(name)            name,
#define META_K_PASS_INOUT(...)           META_K_PASS_INOUT_(__VA_ARGS__, )
#define META_K_PASS_INOUT_(name, ...)    name,
#define META_K_PASS_IN(name, r)          name,
#define META_K_PASS_ADD(name, r)         name,
#define META_K_PASS_SCALAR(name)         name,
#define META_K_PASS_VALUE(name)          &name,
#define META_K_PASS_SUM(name)            name,
#define META_K_PASS_MIN(name)            name,
#define META_K_PASS_MAX(name)            name,

/* META_K_FORMAL: a parameter of the body's function; META_K_ACTUAL: its argument in the CPU code. */
#define META_K_FORMAL(kind, type, ...) META_K_FORMAL_##kind(type, __VA_ARGS__)
#define META_K_STRIDES(name)                                                                       \
    const int64_t meta_1_##name META_K_UNUSED, const int64_t meta_2_##name META_K_UNUSED,          \
        const int64_t meta_3_##name META_K_UNUSED,
#define META_K_FORMAL_OUT(type, name)   type *__restrict__ name META_K_UNUSED, META_K_STRIDES(name)
#define META_K_FORMAL_INOUT(type, ...)  META_K_FORMAL_INOUT_(type, __VA_ARGS__, )
#define META_K_FORMAL_INOUT_(type, name, ...)                                                      \
    type *__restrict__ name META_K_UNUSED, META_K_STRIDES(name)
#define META_K_FORMAL_IN(type, name, r)                                                            \
    const type *__restrict__ name META_K_UNUSED, META_K_STRIDES(name)
#define META_K_FORMAL_ADD(type, name, r)                                                           \
    META_K_ADDED(type) *__restrict__ name META_K_UNUSED, META_K_STRIDES(name)
#define META_K_FORMAL_SCALAR(type, name) const type name META_K_UNUSED,
#define META_K_FORMAL_VALUE(type, name) const type name META_K_UNUSED,
#define META_K_FORMAL_SUM(type, name)                                                              \
    META_K_SUM_TYPE(type) *__restrict__ name META_K_UNUSED,
#define META_K_FORMAL_MIN(type, name) type *__restrict__ name META_K_UNUSED,
#define META_K_FORMAL_MAX(type, name) type *__restrict__ name META_K_UNUSED,

/* ------------------------------------------------------------------ the CPU code */

/* Cells whose contributions to a result are collected before they are combined, in as many lanes as
 * keep the processor from waiting for one addition to begin the next. */
#define META_K_CHUNK 256
#define META_K_LANES 32

#define META_K_ORDER(kind, type, ...) META_K_ORDER_##kind(__VA_ARGS__)
#define META_K_ORDER_ALL(name)        meta_k_##name,
#define META_K_ORDER_OUT(name)        META_K_ORDER_ALL(name)
#define META_K_ORDER_INOUT(...)       META_K_ORDER_INOUT_(__VA_ARGS__, )
#define META_K_ORDER_INOUT_(name, ...) META_K_ORDER_ALL(name)
#define META_K_ORDER_IN(name, r)      META_K_ORDER_ALL(name)
#define META_K_ORDER_ADD(name, r)     META_K_ORDER_ALL(name)
#define META_K_ORDER_SCALAR(name)     META_K_ORDER_ALL(name)
#define META_K_ORDER_VALUE(name)      META_K_ORDER_ALL(name)
#define META_K_ORDER_SUM(name)        META_K_ORDER_ALL(name)
#define META_K_ORDER_MIN(name)        META_K_ORDER_ALL(name)
#define META_K_ORDER_MAX(name)        META_K_ORDER_ALL(name)

#define META_K_IS_RESULT(kind, type, ...) META_K_IS_RESULT_##kind
#define META_K_IS_RESULT_OUT
#define META_K_IS_RESULT_INOUT
#define META_K_IS_RESULT_IN
#define META_K_IS_RESULT_ADD
#define META_K_IS_RESULT_SCALAR
#define META_K_IS_RESULT_VALUE
#define META_K_IS_RESULT_SUM +1
#define META_K_IS_RESULT_MIN +1
#define META_K_IS_RESULT_MAX +1

/* Declare and load. */
#define META_K_LOAD(kind, type, ...) META_K_LOAD_##kind(type, __VA_ARGS__)
#define META_K_LOAD_ARRAY(type, name)                                                              \
    type *name = (type *)meta_r->argument[meta_k_##name].at;                                       \
    const int64_t meta_1_##name = meta_r->argument[meta_k_##name].stride[1],                       \
                  meta_2_##name = meta_r->argument[meta_k_##name].stride[2],                       \
                  meta_3_##name = meta_r->argument[meta_k_##name].stride[3];
#define META_K_LOAD_OUT(type, name)   META_K_LOAD_ARRAY(type, name)
#define META_K_LOAD_INOUT(type, ...)  META_K_LOAD_INOUT_(type, __VA_ARGS__, )
#define META_K_LOAD_INOUT_(type, name, ...) META_K_LOAD_ARRAY(type, name)
#define META_K_LOAD_IN(type, name, r) META_K_LOAD_ARRAY(const type, name)
#define META_K_LOAD_ADD(type, name, r) META_K_LOAD_ARRAY(META_K_ADDED(type), name)
#define META_K_LOAD_SCALAR(type, name) META_K_LOAD_VALUE(type, name)
#define META_K_LOAD_VALUE(type, name)                                                              \
    const type name = *(const type *)meta_r->argument[meta_k_##name].at;
#define META_K_LOAD_RESULT(type, name, identity)                                                   \
    type *const meta_of_##name = (type *)meta_r->argument[meta_k_##name].at;                       \
    const type meta_none_##name = identity;                                                        \
    type meta_row_##name[META_K_CHUNK], meta_lane_##name[META_K_LANES];                            \
    for (int meta_l = 0; meta_l < META_K_LANES; ++meta_l) meta_lane_##name[meta_l] = meta_none_##name;
#define META_K_LOAD_SUM(type, name) META_K_LOAD_RESULT(META_K_SUM_TYPE(type), name, 0)
#define META_K_LOAD_MIN(type, name) META_K_LOAD_RESULT(type, name, META_K_HIGHEST(type))
#define META_K_LOAD_MAX(type, name) META_K_LOAD_RESULT(type, name, META_K_LOWEST(type))

/* A cell contributes to variables of its own, which are kept for the whole chunk. */
#define META_K_BEGIN(kind, type, ...) META_K_BEGIN_##kind(type, __VA_ARGS__)
#define META_K_BEGIN_OUT(type, name)
#define META_K_BEGIN_INOUT(type, ...)
#define META_K_BEGIN_IN(type, name, r)
#define META_K_BEGIN_ADD(type, name, r)
#define META_K_BEGIN_SCALAR(type, name)
#define META_K_BEGIN_VALUE(type, name)
#define META_K_BEGIN_SUM(type, name) META_K_SUM_TYPE(type) name = meta_none_##name;
#define META_K_BEGIN_MIN(type, name) type name = meta_none_##name;
#define META_K_BEGIN_MAX(type, name) type name = meta_none_##name;
#define META_K_KEEP(kind, type, ...) META_K_KEEP_##kind(__VA_ARGS__)
#define META_K_KEEP_OUT(name)
#define META_K_KEEP_INOUT(...)
#define META_K_KEEP_IN(name, r)
#define META_K_KEEP_ADD(name, r)
#define META_K_KEEP_SCALAR(name)
#define META_K_KEEP_VALUE(name)
#define META_K_KEEP_SUM(name) meta_row_##name[meta_i - meta_from] = name;
#define META_K_KEEP_MIN(name) meta_row_##name[meta_i - meta_from] = name;
#define META_K_KEEP_MAX(name) meta_row_##name[meta_i - meta_from] = name;

#define META_K_ACTUAL(kind, type, ...) META_K_ACTUAL_##kind(__VA_ARGS__)
#define META_K_ACTUAL_ARRAY(name)      name, meta_1_##name, meta_2_##name, meta_3_##name,
#define META_K_ACTUAL_OUT(name)        META_K_ACTUAL_ARRAY(name)
#define META_K_ACTUAL_INOUT(...)       META_K_ACTUAL_INOUT_(__VA_ARGS__, )
#define META_K_ACTUAL_INOUT_(name, ...) META_K_ACTUAL_ARRAY(name)
#define META_K_ACTUAL_IN(name, r)      META_K_ACTUAL_ARRAY(name)
#define META_K_ACTUAL_ADD(name, r)     META_K_ACTUAL_ARRAY(name)
#define META_K_ACTUAL_SCALAR(name)     name,
#define META_K_ACTUAL_VALUE(name)      name,
#define META_K_ACTUAL_RESULT(name)     &name,
#define META_K_ACTUAL_SUM(name)        META_K_ACTUAL_RESULT(name)
#define META_K_ACTUAL_MIN(name)        META_K_ACTUAL_RESULT(name)
#define META_K_ACTUAL_MAX(name)        META_K_ACTUAL_RESULT(name)

/* After a chunk: combine its cells' contributions, each lane those of every META_K_LANES-th cell. */
#define META_K_END(kind, type, ...) META_K_END_##kind(__VA_ARGS__)
#define META_K_END_OUT(name)
#define META_K_END_INOUT(...)
#define META_K_END_IN(name, r)
#define META_K_END_ADD(name, r)
#define META_K_END_SCALAR(name)
#define META_K_END_VALUE(name)
#define META_K_END_ALL(name, to)                                                                   \
    for (int64_t meta_n = meta_cells; meta_n % META_K_LANES; ++meta_n)                             \
        meta_row_##name[meta_n] = meta_none_##name;                                                \
    for (int64_t meta_n = 0; meta_n < meta_cells; meta_n += META_K_LANES)                          \
        for (int meta_l = 0; meta_l < META_K_LANES; ++meta_l)                                      \
            to(meta_lane_##name[meta_l], meta_row_##name[meta_n + meta_l]);
#define META_K_TO_SUM(a, b) (a) += (b)
#define META_K_TO_MIN(a, b) (a) = META_K_LEAST(a, b)
#define META_K_TO_MAX(a, b) (a) = META_K_MOST(a, b)
#define META_K_END_SUM(name) META_K_END_ALL(name, META_K_TO_SUM)
#define META_K_END_MIN(name) META_K_END_ALL(name, META_K_TO_MIN)
#define META_K_END_MAX(name) META_K_END_ALL(name, META_K_TO_MAX)

/* After the last row: to the caller's lanes. */
#define META_K_GIVE(kind, type, ...) META_K_GIVE_##kind(__VA_ARGS__)
#define META_K_GIVE_OUT(name)
#define META_K_GIVE_INOUT(...)
#define META_K_GIVE_IN(name, r)
#define META_K_GIVE_ADD(name, r)
#define META_K_GIVE_SCALAR(name)
#define META_K_GIVE_VALUE(name)
#define META_K_GIVE_ALL(name, to)                                                                  \
    for (int meta_l = 0; meta_l < META_K_LANES; ++meta_l)                                          \
        to(meta_of_##name[meta_l % META_KERNEL_LANES], meta_lane_##name[meta_l]);
#define META_K_GIVE_SUM(name) META_K_GIVE_ALL(name, META_K_TO_SUM)
#define META_K_GIVE_MIN(name) META_K_GIVE_ALL(name, META_K_TO_MIN)
#define META_K_GIVE_MAX(name) META_K_GIVE_ALL(name, META_K_TO_MAX)

/* To the next row. */
#define META_K_STEP(kind, type, ...) META_K_STEP_##kind(__VA_ARGS__)
#define META_K_STEP_OUT(name)        name += meta_1_##name;
#define META_K_STEP_INOUT(...)       META_K_STEP_INOUT_(__VA_ARGS__, CELL, )
#define META_K_STEP_INOUT_(name, r, ...) META_K_STEP_IN_(name, META_K_STEPS_##r)
#define META_K_STEP_IN(name, r)      META_K_STEP_IN_(name, META_K_STEPS_##r)
#define META_K_STEP_ADD(name, r)     META_K_STEP_IN_(name, META_K_STEPS_##r)
#define META_K_STEP_SCALAR(name)
#define META_K_STEP_IN_(name, steps) name += (steps) * meta_1_##name;
#define META_K_STEPS_CELL            1
#define META_K_STEPS_WHOLE           0
#define META_K_STEPS_STAR(r)         1
#define META_K_STEPS_BOX(r)          1
#define META_K_STEPS_SIDES(x0, x1, y0, y1, z0, z1) 1
#define META_K_STEP_VALUE(name)
#define META_K_STEP_SUM(name)
#define META_K_STEP_MIN(name)
#define META_K_STEP_MAX(name)

/* Cells of a row are independent of each other: what is written does not overlap what is read. Not
 * where they add to the same elements: META_K_SIMD() of a comma for each ADD array is nothing. */
#define META_K_SIMD(...)           META_K_SIMD_OF(__VA_ARGS__ independent, )
#define META_K_SIMD_OF(first, ...) META_K_SIMD_##first
#define META_K_SIMD_
#ifdef __clang__
#define META_K_SIMD_independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define META_K_SIMD_independent _Pragma("GCC ivdep")
#endif
#define META_K_COMMA(kind, type, ...) META_K_COMMA_##kind
#define META_K_COMMA_OUT
#define META_K_COMMA_INOUT
#define META_K_COMMA_IN
#define META_K_COMMA_ADD ,
#define META_K_COMMA_SCALAR
#define META_K_COMMA_VALUE
#define META_K_COMMA_SUM
#define META_K_COMMA_MIN
#define META_K_COMMA_MAX

#define META_K_CPU(name, tag)                                                                      \
    static void name##_rows_##tag(const meta_kernel_rows *meta_r)                                  \
    {                                                                                              \
        enum { name##_ARGS(META_K_ORDER) meta_k_parameters_ };                                     \
        enum { meta_k_results_ = 0 name##_ARGS(META_K_IS_RESULT) };                                \
        const int64_t meta_chunk = meta_k_results_ > 0 ? META_K_CHUNK : meta_r->cells;             \
        int64_t meta_x[META_KERNEL_DIMS] = {meta_r->index[0], meta_r->index[1], meta_r->index[2],  \
                                            meta_r->index[3]};                                     \
        const int meta_alone META_K_UNUSED = meta_r->alone;                                        \
        name##_ARGS(META_K_LOAD) for (int64_t meta_row = 0; meta_row < meta_r->rows; ++meta_row)   \
        {                                                                                          \
            for (int64_t meta_from = 0; meta_from < meta_r->cells; meta_from += meta_chunk) {      \
                const int64_t meta_cells = meta_r->cells - meta_from < meta_chunk                  \
                                               ? meta_r->cells - meta_from                         \
                                               : meta_chunk;                                       \
                META_K_SIMD(name##_ARGS(META_K_COMMA))                                             \
                for (int64_t meta_i = meta_from; meta_i < meta_from + meta_cells; ++meta_i) {      \
                    name##_ARGS(META_K_BEGIN)                                                      \
                        name##_cell_##tag(name##_ARGS(META_K_ACTUAL) meta_i, meta_x, meta_alone);  \
                    name##_ARGS(META_K_KEEP)                                                       \
                }                                                                                  \
                name##_ARGS(META_K_END)                                                            \
            }                                                                                      \
            name##_ARGS(META_K_STEP)++ meta_x[1];                                                  \
        }                                                                                          \
        name##_ARGS(META_K_GIVE)                                                                   \
    }

/* ------------------------------------------------------------------ what META_CELLS makes */

#define META_K_HEAD(name, tag)                                                                     \
    static inline __attribute__((always_inline, unused)) void name##_cell_##tag(                   \
        name##_ARGS(META_K_FORMAL) const int64_t meta_i META_K_UNUSED,                             \
        const int64_t *meta_x META_K_UNUSED, const int meta_alone META_K_UNUSED)

#define META_K_TYPED(name, suffix)                                                                 \
    META_K_EXTERN meta_kernel name##_##suffix##_kernel;                                            \
    static inline META_K_UNUSED meta_err name##_##suffix(                                          \
        const meta_box *meta_cells_, name##_ARGS(META_K_CALL) meta_event *meta_done_)              \
    {                                                                                              \
        const void *const meta_arguments[] = {name##_ARGS(META_K_PASS)};                           \
        return meta_kernel_run(&name##_##suffix##_kernel, meta_cells_, meta_arguments,             \
                               meta_done_);                                                        \
    }

#define META_K_OBJECT(name, suffix, type, avx2, avx512)                                            \
    static const meta_kernel_parameter name##_##suffix##_parameters[] = {name##_ARGS(META_K_ROW)}; \
    META_K_DEFINE meta_kernel name##_##suffix##_kernel = {                                         \
        sizeof(meta_kernel),                                                                       \
        #name,                                                                                     \
        type,                                                                                      \
        __FILE__,                                                                                  \
        meta_kernel_text_##name,                                                                   \
        name##_##suffix##_parameters,                                                              \
        (uint32_t)(sizeof name##_##suffix##_parameters / sizeof *name##_##suffix##_parameters),    \
        {name##_rows_##suffix##_0, avx2, avx512},                                                  \
        0};                                                                                        \
    __attribute__((constructor)) static void name##_##suffix##_begins(void)                        \
    {                                                                                              \
        meta_kernel_register(&name##_##suffix##_kernel);                                           \
    }                                                                                              \
    __attribute__((destructor)) static void name##_##suffix##_ends(void)                           \
    {                                                                                              \
        meta_kernel_unregister(&name##_##suffix##_kernel);                                         \
    }

/* What META_CELLS is in each pass; the body of the function follows. */
#define META_K_DECLARE(name, suffix, variant) META_K_DECLARE_(name, suffix)
#define META_K_DECLARE_(name, suffix)                                                              \
    META_K_TYPED(name, suffix)                                                                     \
    META_K_HEAD(name, suffix##_0)
#define META_K_COMPILE(name, tag)                                                                  \
    META_K_HEAD(name, tag);                                                                        \
    META_K_CPU(name, tag)
#define META_K_ALONE_FIRST(name, suffix, type) META_K_TEXT(name) META_K_ALONE(name, suffix, type)
#define META_K_ALONE(name, suffix, type)       META_K_ALONE_(name, suffix, type)
#define META_K_ALONE_(name, suffix, type)                                                          \
    META_K_TYPED(name, suffix)                                                                     \
    META_K_COMPILE(name, suffix##_0)                                                               \
    META_K_OBJECT(name, suffix, type, 0, 0)                                                        \
    META_K_HEAD(name, suffix##_0)
#define META_K_BASELINE_FIRST(name, suffix) META_K_TEXT(name) META_K_BASELINE(name, suffix)
#define META_K_BASELINE(name, suffix)       META_K_BASELINE_(name, suffix)
#define META_K_BASELINE_(name, suffix)                                                             \
    META_K_TYPED(name, suffix)                                                                     \
    META_K_COMPILE(name, suffix##_0)                                                               \
    META_K_HEAD(name, suffix##_0)
#define META_K_AVX2(name, suffix) META_K_AVX2_(name, suffix)
#define META_K_AVX2_(name, suffix)                                                                 \
    META_K_COMPILE(name, suffix##_1)                                                               \
    META_K_HEAD(name, suffix##_1)
#define META_K_AVX512(name, suffix, type) META_K_AVX512_(name, suffix, type)
#define META_K_AVX512_(name, suffix, type)                                                         \
    META_K_COMPILE(name, suffix##_2)                                                               \
    META_K_OBJECT(name, suffix, type, name##_rows_##suffix##_1, name##_rows_##suffix##_2)          \
    META_K_HEAD(name, suffix##_2)

/* The file's own text, from which other devices' compilers build. */
#ifdef META_KERNEL_TEXT_APART
#define META_K_TEXT(name) META_K_EXTERN const char meta_kernel_text_##name[];
#else
#define META_K_TEXT(name)                                                                          \
    META_K_EXTERN const char meta_kernel_text_##name[];                                            \
    __asm__(".pushsection .rodata\n"                                                               \
            ".global meta_kernel_text_" #name "\n"                                                 \
            ".hidden meta_kernel_text_" #name "\n"                                                 \
            "meta_kernel_text_" #name ":\n"                                                        \
            ".incbin \"" __FILE__ "\"\n"                                                           \
            ".byte 0\n"                                                                            \
            ".popsection\n");
#endif

#endif

#ifndef META_KERNEL_NO_PASS /* only the declarations */
#include "meta_kernel_pass.h"
#endif
