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
 *  which runs the body for every cell of the box on the device that holds the arrays, and one that takes
 *  its arguments by name:
 *
 *      heat_f64_with(&box, &(heat_f64_arguments){.next = b, .now = a, .k = 0.1, .change = &change}, done);
 *
 *  There the compiler refuses a name that the list has not; an array, SCALAR or result that is left out is
 *  NULL, which is an error that names it, and a VALUE that is left out is 0. Exactly one
 *  file of the program defines META_KERNELS_HERE before it includes the kernel file. There the
 *  program's compiler compiles the body for the CPU: by default for its own target, on x86-64 for
 *  AVX2 and AVX-512, on aarch64 for SVE, and once more for META_CHECK=on. The file's text becomes
 *  part of the object; other devices' compilers build the kernel from it when it first runs. Include
 *  a kernel file once in a source file.
 *
 *  The parameters, A(kind, type, name), or A(kind, type, name, reach) for IN and ADD:
 *   - OUT: an array of which every cell of the box is written. A body may read what it has written to
 *     the cell; what was there before is undefined.
 *   - INOUT: an array read and written at the cell itself only; the reach CELL may be given.
 *     A(INOUT, type, name, WHOLE): an array of which a cell reads and writes any element, by GET();
 *     the author promises that no cell accesses an element that another one writes.
 *   - IN: an array that is read; reach says where. CELL: at the cell itself. STAR(r): up to r cells
 *     away along one dimension. BOX(r): up to r cells away along every dimension. SIDES(x0, x1, y0,
 *     y1, z0, z1): in the box that ends so many cells before and behind the cell; SIDES2(x0, x1, y0, y1)
 *     and SIDES1(x0, x1) for fewer dimensions. WHOLE: anywhere, by GET().
 *   - ADD: an array to which cells add, atomically and in any order, by ADD_TO(); it is neither read
 *     nor written otherwise. Its reach says where, as for IN.
 *   - VALUE: a number or a structure of up to 512 bytes, by value.
 *   - SCALAR: a number that lies on the device, such as the result of an earlier kernel. Its argument
 *     is the address of one element in device memory; in the body it is a constant. Work is ordered
 *     as for an array that is read, so the host need not wait for the number.
 *   - SUM, MIN, MAX: a result, combined over all cells; ADD(), LOWER() and RAISE() contribute to it.
 *     A NaN among the contributions gives NaN. Its argument is the address of one element in host
 *     memory or on the device, which the result replaces; of an empty box it is 0, the highest or the
 *     lowest value of the type. Sums of float are collected in double, integers wrap. With reproducible
 *     sums (meta_set_reproducible()) a floating-point SUM is exact, rounded once: what each cell has
 *     contributed, in double, is added without rounding.
 *     Where a cell contributes several times, its own contributions are added up first, in double, in
 *     the order of the body.
 *   - MIN_AT, MAX_AT: as MIN and MAX, with the index of the cell that contributed the extreme. The
 *     argument is the address of a meta_extreme_f64, meta_extreme_f32 …, which says more, in host
 *     memory or on the device.
 *   - SHARED: memory that a team of cells shares, see meta_kernel_team.h, which begins kernels by
 *     META_TEAMS(name, x, y, z) instead of META_CELLS(name): no parameter of the call.
 *  A type is T, the element type that the kernel is compiled for, or one of double, float, int64_t,
 *  uint64_t, int32_t and uint32_t; of a VALUE or SHARED memory, any.
 *
 *  An array that is not WHOLE has the extents of its grid (see meta_box in meta.h): so arrays of
 *  cells, faces and nodes meet in a kernel. Any other memory has the extents in the box's size,
 *  unless a further item gives its shape. A grid may have such an item, too: an array with LINE()
 *  or PLANE() may be a grid of the dimensions that it has. In the item of an IN or ADD array it
 *  follows the reach:
 *   - LINE(d): it has dimension d alone, size[d] elements; PLANE(d): all dimensions but d. IN and ADD
 *     only; the reach may be left out, and is then CELL. AT() ignores offsets along dimensions that the
 *     array lacks.
 *   - GROWN(x, y, z), GROWN2(x, y), GROWN1(x): its extents are the box's size plus these numbers,
 *     which may be negative: a staggered array that is no grid (a grid has its own extents). Index
 *     (i, j, k) belongs to cell (i, j, k): with GROWN(1, 0, 0) element i is the face below cell i,
 *     and i + 1 the one above it. Bounds are those of the array, so that reading the face above a
 *     cell needs no ghost cell. May follow LINE() or PLANE().
 *
 *  In the body:
 *   - AT(array, x, y, z): the element so many cells away; AT1(array, x), AT2(array, x, y) and
 *     AT4(array, x, y, z, w) in boxes of other dimensions. INDEX(d): the cell's index along
 *     dimension d, counted like the box's start.
 *   - ON(array): the element of the cell itself, AT() without offsets.
 *   - GET(array, n): element n of a WHOLE array, counted from the address that the call passed.
 *   - ADD_TO(element, x): add x to an element of an ADD array, ADD_TO(AT(charge, 1, 0, 0), x) or
 *     ADD_TO(GET(charge, n), x). Integers wrap. Where several cells add floating numbers to one
 *     element, its last bits depend on their order, which differs from run to run; GPUs may take
 *     f32 numbers below the normal range for 0 here.
 *   - return: ends the work for this cell. An OUT array must be written in every cell.
 *   - ABS(x) and SQRT(x), of x converted to T; LEAST(x, y), MOST(x, y); and the functions of <math.h>
 *     that the device has.
 *   - META_FUNCTION begins a helper function, which is called FN(name), for example
 *     `META_FUNCTION T FN(limiter)(T a, T b) { … }` and `FN(limiter)(x, y)`. It takes numbers,
 *     structures and addresses of variables of the body; not arrays or results, as an array's address
 *     space differs between devices.
 *
 *  Before the file includes this header it may define META_KERNEL_TYPES as the types that it is to
 *  be compiled for, `(META_KERNEL_F64 | META_KERNEL_I32)`; the default is F64 and F32. Compilers
 *  without __FILE_NAME__ (GCC before 12) also need META_KERNEL_FILE, the file's own name in quotes.
 *
 *  In the program these may be defined before the kernel file is included: META_KERNELS_HERE, see
 *  above; META_KERNEL_ONE_VARIANT, to compile for the program's own target only, and for
 *  META_CHECK=on; META_KERNEL_PROGRAM_LEVEL, see below; META_KERNEL_TEXT_APART, where another
 *  object defines `const char meta_kernel_text_NAME[]` for each kernel, with the file's text, which
 *  is otherwise embedded by the assembler's .incbin; and, before this header, META_KERNEL_NO_PASS,
 *  for the declarations alone.
 *
 *  On devices other than the CPU the file's text is all that the compiler sees: no other header, no
 *  macro of the compiler's command line. It is C that is also OpenCL C 1.2 and, for CUDA and HIP,
 *  C++: no recursion, no variadic macros or functions, no variable-length arrays, no static
 *  variables, no function pointers; `#include` lines are ignored there. It is ASCII but for
 *  comments and strings. Names are C's: those that the languages of devices reserve (kernel,
 *  global, half, new, class, clamp, float2 …) are replaced in the text for a device (by
 *  meta_word_kernel, for example), but not names that a macro makes by `##`, nor any in a file that
 *  has a native body or `__OPENCL…`, `__CUDA…`, `__HIP…` or `__cplusplus`, which may mean the
 *  device's words. A program in C++ that includes the file needs names that are none of C++'s
 *  keywords. Names that begin with meta_ are the library's. Where the file is included, no macro of
 *  the program has the name of a reach (CELL, STAR …), a parameter or a variable of the file; a
 *  macro of the file with a name in small letters may meet a member of the structures below (at,
 *  value, extent), which the C compiler reports. The words of the body (T, AT, ADD …) have their
 *  meaning in the file only; macros of the program with these names are in force again behind it.
 *
 *  The compiler refuses constant offsets of AT() beyond the reach. Other offsets, and the index of
 *  GET() and SHARED(), are checked with META_CHECK=on, on every device; that of GET() against the end
 *  of the array's buffer. Such an access then goes to the cell's own element, or to element 0. Without
 *  META_CHECK=on nothing is checked: it may read or write anywhere.
 *
 *  Behind its portable body a kernel may have native ones, in OpenCL C and in C++ for CUDA and HIP:
 *
 *      #ifdef META_NATIVE_OPENCL
 *      META_NATIVE_OPENCL(heat)
 *      {
 *          …
 *      }
 *      #endif
 *      #ifdef META_NATIVE_GPU
 *      META_NATIVE_GPU(heat)
 *      …
 *
 *  META_NATIVE_OPENCL is defined where the compiler is one of OpenCL C, META_NATIVE_GPU where it is
 *  one of a GPU; the library finds the body by the words `META_NATIVE_OPENCL(heat)` in the text. On
 *  such devices it runs instead of the portable body, and does the same work: it computes one cell,
 *  with the words above and whatever else its language has. A work item (a thread) runs it for a
 *  number of cells that differs from item to item, so it cannot have barriers or collective
 *  functions; in a kernel of teams it can, see meta_kernel_team.h. Further words in it:
 *   - &ON(array): the address of the cell's element. STRIDE(array, d): the distance in elements from
 *     there to the next element along dimension d, 0 if the array lacks it. Accesses by these are not
 *     checked; those by AT() and GET() are, with META_CHECK=on.
 *   - EXTENT(d): the number of cells of the box along dimension d; in a kernel of teams, of the team.
 *   - in a META_NATIVE_GPU body, what tells compilers apart: __CUDACC__, __HIP__, and META_USER_HOST
 *     where HIP-CPU emulates a GPU.
 *
 *  With META_CHECK=on both bodies run, and META_ERR_MISMATCH names the kernel, the array or result,
 *  the cell and both values where they differ; the arrays then have the native body's values, and
 *  results on the host are not written. Bits are compared, except that two NaN are equal, and that
 *  a floating SUM and floating elements of an ADD array may differ by 1e-9 (double) or 1e-4 (float)
 *  times the greater of the two sums or the greatest element of the array, since the order of
 *  additions may differ. So a sum whose terms cancel can be reported although both bodies are
 *  right. The bits of reproducible sums are compared. Arrays of more than 64 MiB, or in use by a
 *  message or an exchange, are not compared.
 *
 *  gcc compiles kernels at -O3 whatever the program's level is, unless META_KERNEL_PROGRAM_LEVEL is
 *  defined, as for a debugger; clang compiles them at the program's level. A value that a conditional
 *  expression does not choose may be computed all the same, and raise a flag of <fenv.h>. In a file with
 *  META_KERNELS_HERE sqrt() and sqrtf() set no errno, which keeps compilers from vectorizing them.
 *
 *  Messages when a program is built, here for a kernel wave, and their causes:
 *   - linker: undefined reference to wave_f64_kernel — no file of the program defines
 *     META_KERNELS_HERE and includes the kernel file.
 *   - linker: wave_f64_kernel_file_has_an_include_guard_or_pragma_once — remove what it names: the
 *     kernel file includes itself by META_AGAIN, once for each element type and instruction set.
 *   - linker: multiple definition of wave_f64_kernel — more than one file defines
 *     META_KERNELS_HERE, or two files have a kernel of that name.
 *   - assembler: file not found: wave.kernel.h — .incbin does not find the text, as with
 *     -ffile-prefix-map, or with link-time optimization in another folder: use `meta-kernel embed`
 *     or META_KERNEL_TEXT_APART.
 *   - parameter A(INN, T, now, STAR(1)) is of no kind that parameters have — here INN; the line is
 *     that of META_CELLS.
 *   - parameter A(IN, T, now) has no reach — IN and ADD arrays need one.
 *   - parameter A(OUT, T, next, GROW(1, 0, 0)) has an item that is neither a reach nor a shape —
 *     here GROW.
 *   - parameter A(OUT, T, next, WHOLE) has a reach that OUT arrays do not have — to write anywhere,
 *     use INOUT with WHOLE.
 *   - parameter A(INOUT, T, x, STAR(1)) has a reach — INOUT arrays have none but CELL and WHOLE.
 *   - parameter A(SHARED, T, tile, 8) is for kernels that META_TEAMS begins — META_CELLS begins
 *     this one.
 *   - mistake in a kernel: wave_ARGS: this list of parameters is missing or has a mistake: No such
 *     file or directory — the errors before it name the mistake. If there are none, the list is
 *     missing, or has more than parameters, such as commas between them. It ends the compilation as
 *     a missing header does.
 *   - mistake in a kernel: a body before this leaves a parenthesis open — in the kernel file that
 *     includes itself there; `meta-kernel check` prints the line.
 *   - meta_added is no member — ADD_TO() of an array that is not ADD.
 *   - incompatible types, struct meta_k_added_f64 — an ADD array is used without ADD_TO().
 *   - AT() of near at (2, 0, 0, 0), beyond the reach that the kernel's list declares — the list
 *     must declare what the body accesses.
 *   - GET() of near, which is not WHOLE in the kernel's list — GET() counts from the address of the
 *     call, which only WHOLE arrays have in the body.
 *   - meta_i undeclared — AT(), MY(), SHARED() … outside MEMBERS { } in a kernel of teams.
 *   - meta_e0 undeclared — MEMBERS or EXTENT() in a kernel that META_CELLS begins.
 *
 *  A kernel gives the same bits on every device, whatever the program's compiler flags, except for
 *  -ffast-math, which is refused, for clang's -ffp-contract=fast, which overrides what this header
 *  says, and for functions that differ between devices, such as exp(). The order of additions to a
 *  SUM or to an element of an ADD array differs between devices; that to a SUM does not matter with
 *  reproducible sums. */
#ifndef META_KERNEL_H
#define META_KERNEL_H

/* Compilers judge a program by its own lines. */
#if defined __GNUC__ && !defined META_JUDGE_HEADERS
#pragma GCC system_header
#endif

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
#define META_KERNEL_F32 2  /**< float */
#define META_KERNEL_I64 4  /**< int64_t */
#define META_KERNEL_U64 8  /**< uint64_t */
#define META_KERNEL_I32 16 /**< int32_t */
#define META_KERNEL_U32 32 /**< uint32_t */

/** The most parameters of a kernel. */
#define META_KERNEL_PARAMETERS 64
/** The most arrays and SCALARs among them. */
#define META_KERNEL_ARRAYS 32
/** The most bytes of a VALUE. */
#define META_KERNEL_VALUE 512
/** The dimensions along which a kernel can read neighbours; its further ones are a batch. A reach is at
 *  most 255 cells. */
#define META_KERNEL_DIMS 4

/** The kinds of parameters, as in a kernel's list. */
typedef enum meta_parameter_kind {
    META_PARAMETER_OUT,    /**< OUT */
    META_PARAMETER_INOUT,  /**< INOUT */
    META_PARAMETER_IN,     /**< IN */
    META_PARAMETER_ADD,    /**< ADD */
    META_PARAMETER_SCALAR, /**< SCALAR, as an array of one element; those above are arrays */
    META_PARAMETER_VALUE,  /**< VALUE */
    META_PARAMETER_SUM,    /**< SUM */
    META_PARAMETER_MIN,    /**< MIN */
    META_PARAMETER_MAX,    /**< MAX */
    META_PARAMETER_MIN_AT, /**< MIN_AT */
    META_PARAMETER_MAX_AT  /**< MAX_AT */
} meta_parameter_kind;

/** Where a kernel reads an array, or adds to it, as seen from a cell. */
typedef enum meta_parameter_reach {
    META_PARAMETER_CELL, /**< CELL: the cell itself */
    META_PARAMETER_STAR, /**< STAR(r): along one dimension */
    META_PARAMETER_BOX,  /**< BOX(r) or SIDES(…) */
    META_PARAMETER_WHOLE /**< WHOLE: anywhere */
} meta_parameter_reach;

/** A parameter of a kernel. */
typedef struct meta_kernel_parameter {
    const char *type_name; /**< as the kernel's text spells it */
    const char *name;      /**< as in the list */
    uint32_t kind;  /**< meta_parameter_kind */
    uint32_t type;  /**< meta_type; META_TYPE_COUNT if it is none */
    uint32_t bytes; /**< of an element or a value */
    uint32_t reach; /**< meta_parameter_reach */
    uint8_t low[META_KERNEL_DIMS];  /**< cells that it reaches below the cell */
    uint8_t high[META_KERNEL_DIMS]; /**< and above it */
    uint32_t dropped;               /**< a bit for each dimension of the box that the array lacks */
    int8_t grown[META_KERNEL_DIMS]; /**< what the array's extents have more than the box's */
} meta_kernel_parameter;

/** An argument of a kernel's CPU code: the address of an array's first cell, of a value or scalar,
 *  or of META_KERNEL_LANES accumulators of a result; of a MIN_AT or MAX_AT there is one, the value
 *  and an int64_t, the number of its cell or -1. Strides are in elements. */
typedef struct meta_kernel_cpu_argument {
    void *at;                         /**< the address */
    int64_t stride[META_KERNEL_DIMS]; /**< of an array */
} meta_kernel_cpu_argument;
/** The accumulators of a result. */
#define META_KERNEL_LANES 8

/** Rows of cells: what a kernel's CPU code computes in one call. The next row is one step along
 *  dimension 1. Accumulators have the type in which libmeta sums: double for float, 64 bits
 *  unsigned for 64-bit integers, 32 bits unsigned for 32-bit integers. */
typedef struct meta_kernel_rows {
    int64_t cells;                   /**< of a row */
    int64_t rows;                    /**< their number */
    int64_t index[META_KERNEL_DIMS]; /**< of the first cell */
    const meta_kernel_cpu_argument *argument; /**< one for each parameter */
    int alone; /**< no other thread adds to what these rows add to: it need not be atomic */
    const struct meta_kernel *kernel; /**< that they are rows of */
    /** Sums are to be reproducible: there is one row of at most META_KERNEL_PIECE cells, or a team,
     *  and a floating-point SUM has no accumulators at its argument's address, but a double for each
     *  of its cells, which receives what the cell contributes. */
    int reproducible;
    int64_t number;  /**< of the first cell in the box, in the order of memory */
    int64_t columns; /**< from a row's numbers to those of the next one */
    int64_t planes;  /**< from a plane's numbers to those of the next one: in a team, which has several */
    /** How many bytes behind a cell's own memory is fetched while it is computed; 0: not at all. */
    int64_t ahead;
} meta_kernel_rows;
/** The most cells of a row while sums are reproducible. */
#define META_KERNEL_PIECE 256
/** A kernel's CPU code: compute these rows. */
typedef void meta_kernel_cpu(const meta_kernel_rows *rows);

/** The instruction sets that a kernel's CPU code is compiled for, and the code of META_CHECK=on, which
 *  compares every offset with the reach and every index with the end of the array's buffer. */
enum {
    META_KERNEL_BASELINE, /**< that of the compiler's target */
    META_KERNEL_AVX2,     /**< AVX2 */
    META_KERNEL_AVX512,   /**< AVX-512 */
    META_KERNEL_CHECKED,  /**< for META_CHECK=on */
    META_KERNEL_VARIANTS, /**< their number */
    META_KERNEL_SVE = META_KERNEL_AVX2 /**< on aarch64: SVE, of any width */
};

/** Its CPU code was compiled without optimization. */
#define META_KERNEL_UNOPTIMIZED 1u

/** A kernel for one element type. META_CELLS or META_TEAMS defines it, as heat_f64_kernel, and registers
 *  it. Members may be appended, as to all structures that begin with their size; those of its arrays and
 *  those that its CPU code receives do not change, since they are read by programs and plug-ins of other
 *  versions, too. */
typedef struct meta_kernel {
    size_t size;      /**< of this structure */
    const char *name; /**< without the type */
    meta_type type;   /**< T */
    const char *file; /**< in which it stands */
    const char *text; /**< of the kernel file */
    const meta_kernel_parameter *parameter; /**< its parameters */
    uint32_t parameters;                    /**< their number */
    meta_kernel_cpu *cpu[META_KERNEL_VARIANTS]; /**< NULL: not compiled for that set */
    struct meta_kernel_state *state;            /**< libmeta's */
    const struct meta_kernel_team *team;        /**< of META_TEAMS; else NULL */
    uint64_t flags;                             /**< META_KERNEL_UNOPTIMIZED or 0 */
} meta_kernel;

/** Make a kernel known to the library, and forget it. Called by META_CELLS when a program or shared
 *  object is loaded and unloaded; may be called before meta_init(). A kernel must not be running
 *  when it is forgotten. One that was compiled with older headers than those of 0.2.0, or that sets what
 *  only a newer library knows, cannot be run: a warning in the log names it when the library starts,
 *  or when it is loaded later, and calls that ask for it return an error. */
META_API void meta_kernel_register(meta_kernel *kernel);
META_API void meta_kernel_unregister(meta_kernel *kernel);

/** Run @p kernel for every cell of @p box: what the typed functions call.
 *
 *  Messages of a call and their causes; further ones of teams are in meta_kernel_team.h:
 *   - warning: kernels compiled without optimization, and slow on the CPU — clang at -O0, or
 *     META_KERNEL_PROGRAM_LEVEL.
 *   - META_ERR_POINTER: kernel wave reads this SCALAR on the device — the address of a number in
 *     host memory: declare it as VALUE.
 *   - META_ERR_BOUNDS: … leaves no cell for the stencil to reach over in now — the array has fewer
 *     ghost cells than the reach of `now`.
 *   - META_ERR_BOUNDS: … leaves array 'p' of kernel between — the box has more cells than the array
 *     has elements, by GROWN() with a negative number.
 *   - META_ERR_BOUNDS: … leaves 'p' … which is a grid of 93 x 72 elements — the box has cells that
 *     grid lacks, such as the faces of another array.
 *   - META_ERR_BOUNDS: argument 'box', dimension 0: [2, 94) is no range in box.size[0], which is 93
 *     — the box leaves the array that it was made for.
 *   - META_ERR_BOUNDS: argument 'cold' is the address of a meta_extreme_f64 of 88 bytes, but the
 *     buffer ends … — the place of a MIN_AT or MAX_AT needs that much room.
 *   - META_ERR_BOUNDS: META_CHECK: kernel wave f64, wave.kernel.h:7: AT() of 'now' at (2, 0, 0, 0),
 *     beyond its reach — an offset that is not a constant leaves the reach.
 *   - META_ERR_BOUNDS: META_CHECK: … GET() of 'from' with index 1000, but … — the index is out of
 *     range. If the buffer has another array behind this one, not all such indices are found.
 *   - META_ERR_ARGUMENT: META_CHECK: kernel wave for f64 does not write every cell of its OUT array
 *     'next' — write all cells, or declare the array INOUT.
 *   - META_ERR_ARGUMENT: argument 'box' has 2 dimensions, but array 'profile' … is LINE(2) — the
 *     box lacks the array's dimension.
 *   - META_ERR_ARGUMENT: array profile is written, so it cannot be a LINE() or PLANE() — these
 *     shapes are for IN and ADD.
 *   - META_ERR_ARGUMENT: argument 'u' … is a grid of 408 x 404 elements … but the box makes it an
 *     array of 409 x 404 — the box has the layout of another grid, or fewer dimensions than a
 *     padded grid.
 *   - META_ERR_ARGUMENT: arguments 'u' … and 'mask' … are grids whose own cells begin at index 1
 *     and 2 — they have different numbers of ghost cells.
 *   - META_ERR_MISMATCH: META_CHECK: kernel bits for u32: its body in OpenCL C and the portable one
 *     differ: … — one of the two bodies is wrong.
 *   - META_ERR_OVERLAP: arguments 'next' and 'now' overlap — an array that is written is also read,
 *     or written as another argument.
 *   - META_ERR_WRONG_DEVICE — the arrays are on two devices.
 *   - META_ERR_TYPE — the device has no double precision.
 *   - META_ERR_DEVICE: clBuildProgram(kernel wave): … wave.kernel.h:7:23: …, or: kernel wave for
 *     f64 does not compile, NVRTC 13.0 says: … — the device's compiler refused the text: it uses
 *     something that is not in both languages. meta_last_error() and the log have all of its
 *     messages, with lines of the kernel file.
 *   - META_ERR_UNSUPPORTED: kernel deposit adds to 'charge', whose elements have 8 bytes — the
 *     OpenCL device lacks cl_khr_int64_base_atomics: use f32, i32 or u32, or another device.
 *   - META_ERR_UNSUPPORTED: kernel deposit: cells add to 'charge' in any order, and reproducible
 *     sums are on — add multiples of a small unit as int64_t, or let each cell gather what it
 *     receives.
 *   - META_ERR_UNSUPPORTED: kernel coldest has a MIN_AT or MAX_AT, which back end … does not know —
 *     the back end is a plug-in of an older version: build it again.
 *   - META_ERR_UNSUPPORTED: … cannot be compiled: no NVRTC was found — install the CUDA toolkit's
 *     run-time compiler (package cuda-nvrtc), or add its folder to LD_LIBRARY_PATH.
 *   - META_ERR_UNSUPPORTED: … is not in the cache …, and META_JIT=load does not allow to compile it
 *     — run once without META_JIT=load, or build it by meta-kernel build.
 *
 *  @param arguments  one for each parameter, in order: the address of an array, of a value (which is
 *                    copied before the call returns), or of a result's element
 *  @param done       as everywhere; a result is valid once the work is complete
 *  @return META_ERR_ARGUMENT if the kernel or the box is not valid, META_ERR_POINTER if an array or a
 *          SCALAR is not on a device, META_ERR_BOUNDS if an array is too small for the box and the
 *          kernel's reach, META_ERR_ARGUMENT if the own cells of two grids begin at different indices,
 *          META_ERR_OVERLAP if an element that is written may be accessed as another array's too (STAR(r)
 *          counts as BOX(r) there), META_ERR_WRONG_DEVICE, META_ERR_UNSUPPORTED if the device's back end cannot
 *          build it, if a team is larger than it can be there or, while sums are to be reproducible,
 *          if the kernel adds floating-point numbers to an ADD array, or has a floating-point SUM and
 *          runs on a device without double precision,
 *          META_ERR_DEVICE with the compiler's messages if it does not compile there. With
 *          META_CHECK=on also META_ERR_BOUNDS if the body has accessed an array beyond its reach or
 *          buffer, META_ERR_ARGUMENT if it has left cells of an OUT array out, META_ERR_MISMATCH if two
 *          bodies differ */
META_API meta_err meta_kernel_run(meta_kernel *kernel, const meta_box *box,
                                  const void *const *arguments, meta_event *done);

/** The index, from an array's first cell in the row, of the element that AT() accesses so far from the
 *  cell in column @p column. Called by the code of META_KERNEL_CHECKED. An access beyond the reach is
 *  recorded for the error of the call, and the index is the cell's own. Of SHARED memory, @p column is
 *  the element's index, in place of which 0 is returned if there is no such element. */
META_API int64_t meta_kernel_near(const meta_kernel_rows *rows, const char *array, int line,
                                  int64_t column, int64_t x, int64_t y, int64_t z, int64_t w);

/** The index of the element that GET() accesses: @p index, or 0 where that is outside the buffer, which
 *  is recorded for the error of the call. Called by the code of META_KERNEL_CHECKED. */
META_API int64_t meta_kernel_element(const meta_kernel_rows *rows, const char *array, int line,
                                     int64_t index);

/** The registered kernel @p name for element type @p type.
 *  @return META_ERR_ARGUMENT if there is none */
META_API meta_err meta_kernel_find(const char *name, meta_type type, meta_kernel **kernel);

/** Compile the text of a kernel file that is given at run time, and get kernel @p name of it for
 *  element type @p type. Its kernels are registered like those that the program was built with, and
 *  live until the process ends. A text that the program was built with or has passed before is not
 *  compiled again. Otherwise its code for the CPU is loaded from the cache (META_CACHE_DIR) or from
 *  META_KERNEL_PATH, which meta-kernel build fills, or compiled by META_CC, else cc, gcc or clang in
 *  PATH, if META_JIT allows it. Other devices build the kernel from the text when it first runs.
 *
 *  @param kernel  NULL, as then @p name: all kernels of the text are registered, and none is looked for
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

/** Build many kernels, as meta_kernel_prepare() does one: what a program needs before its time loop.
 *  Several threads build them where the device's compiler allows it, and the processes of a node, which
 *  build each kernel once together, begin with different ones. It is not collective. What takes more
 *  than a second shows its progress on standard error, if that is a terminal, and in the log at
 *  META_LOG=info.
 *
 *  @param kernels  @p count of them; NULL, as then @p count is 0: all of the program's, for the types that
 *                  the device has, without those of meta_library.h
 *  @return the error of the first one that cannot be built, with the names of all of those; the others are
 *          built */
META_API meta_err meta_kernels_prepare(meta_kernel *const *kernels, int count);

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

#include "meta_kernel_list.h"

#include "meta_kernel_team.h"

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
static inline double meta_cxx_sum(double) { return 0; }
static inline double meta_cxx_sum(float) { return 0; }
static inline uint64_t meta_cxx_sum(int64_t) { return 0; }
static inline uint64_t meta_cxx_sum(uint64_t) { return 0; }
static inline uint32_t meta_cxx_sum(int32_t) { return 0; }
static inline uint32_t meta_cxx_sum(uint32_t) { return 0; }
#define META_K_SUM_TYPE(type) __typeof__(meta_cxx_sum((type)0))
static inline double meta_cxx_highest(double) { return HUGE_VAL; }
static inline float meta_cxx_highest(float) { return HUGE_VALF; }
static inline int64_t meta_cxx_highest(int64_t) { return INT64_MAX; }
static inline uint64_t meta_cxx_highest(uint64_t) { return UINT64_MAX; }
static inline int32_t meta_cxx_highest(int32_t) { return INT32_MAX; }
static inline uint32_t meta_cxx_highest(uint32_t) { return UINT32_MAX; }
static inline double meta_cxx_lowest(double) { return -HUGE_VAL; }
static inline float meta_cxx_lowest(float) { return -HUGE_VALF; }
static inline int64_t meta_cxx_lowest(int64_t) { return INT64_MIN; }
static inline uint64_t meta_cxx_lowest(uint64_t) { return 0; }
static inline int32_t meta_cxx_lowest(int32_t) { return INT32_MIN; }
static inline uint32_t meta_cxx_lowest(uint32_t) { return 0; }
#define META_K_HIGHEST(type) meta_cxx_highest((type)0)
#define META_K_LOWEST(type)  meta_cxx_lowest((type)0)
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
#define META_K_ADDER_OF(name) meta_cxx_add
#define META_K_ADDER(to)      meta_cxx_add
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
#define META_K_IS_FIRST(result) ((result)->meta_has == 0)
/* The number of a member's cell; where there are no teams, the rows' loop knows better. */
#define META_K_CELL                                                                                \
    (meta_r->number + meta_i + meta_i1 * meta_r->columns + meta_i2 * meta_r->planes)
#define META_K_ADD_TO(element, x)                                                                  \
    META_K_ADDER(&(element).meta_added)                                                            \
    (&(element).meta_added, (__typeof__((element).meta_added))(x), meta_alone)

#include "meta_kernel_extremes.h"

#include "meta_extreme.h"

#define META_K_NAME_OF(name, ...) name
#define META_K_APPLY(macro, name)         macro(name)
#define META_K_APPLY_TO(macro, type, name) macro(type, name)
#define META_K_TAGGED_(name, suffix, variant) name##_##suffix##_##variant
#define META_K_TAGGED(name, suffix, variant)  META_K_TAGGED_(name, suffix, variant)

/* The reach of an IN array, as members of meta_kernel_parameter. */
#define META_K_REACH_CELL    META_PARAMETER_CELL, {0, 0, 0, 0}, {0, 0, 0, 0}
#define META_K_REACH_WHOLE   META_PARAMETER_WHOLE, {0, 0, 0, 0}, {0, 0, 0, 0}
#define META_K_REACH_STAR(r) META_PARAMETER_STAR, {r, r, r, r}, {r, r, r, r}
#define META_K_REACH_BOX(r)  META_PARAMETER_BOX, {r, r, r, r}, {r, r, r, r}
#define META_K_REACH_SIDES(x0, x1, y0, y1, z0, z1)                                                 \
    META_PARAMETER_BOX, {x0, y0, z0, 0}, {x1, y1, z1, 0}
#define META_K_REACH_SIDES2(x0, x1, y0, y1) META_K_REACH_SIDES(x0, x1, y0, y1, 0, 0)
#define META_K_REACH_SIDES1(x0, x1)         META_K_REACH_SIDES(x0, x1, 0, 0, 0, 0)
/* Of an OUT and an INOUT array. */
#define META_K_REACH_OUT_                 META_K_REACH_CELL
#define META_K_REACH_OUT_GROWN(x, y, z)   META_K_REACH_CELL
#define META_K_REACH_OUT_GROWN2(x, y)     META_K_REACH_CELL
#define META_K_REACH_OUT_GROWN1(x)        META_K_REACH_CELL
#define META_K_REACH_OUT_LINE(d)          META_K_REACH_CELL /* which a call refuses */
#define META_K_REACH_OUT_PLANE(d)         META_K_REACH_CELL
#define META_K_REACH_INOUT_               META_K_REACH_CELL
#define META_K_REACH_INOUT_CELL           META_K_REACH_CELL
#define META_K_REACH_INOUT_WHOLE          META_K_REACH_WHOLE
#define META_K_REACH_INOUT_GROWN(x, y, z) META_K_REACH_CELL
#define META_K_REACH_INOUT_GROWN2(x, y)   META_K_REACH_CELL
#define META_K_REACH_INOUT_GROWN1(x)      META_K_REACH_CELL
#define META_K_REACH_INOUT_LINE(d)        META_K_REACH_CELL /* which a call refuses */
#define META_K_REACH_INOUT_PLANE(d)       META_K_REACH_CELL
#define META_K_REACH_LINE(d)              META_K_REACH_CELL
#define META_K_REACH_PLANE(d)             META_K_REACH_CELL

/* Its shape: the dimensions that it lacks, and how much larger it is than the box. An item of the list
 * may be about either, or missing. */
#define META_K_SHAPE(a, b, c)                                                                      \
    META_K_DROPS_##a | META_K_DROPS_##b | META_K_DROPS_##c,                                        \
    {META_K_GROWS_##a META_K_GROWS_##b META_K_GROWS_##c 0}
#define META_K_DROPS_                              0u
#define META_K_DROPS_CELL                          0u
#define META_K_DROPS_WHOLE                         0u
#define META_K_DROPS_STAR(r)                       0u
#define META_K_DROPS_BOX(r)                        0u
#define META_K_DROPS_SIDES(x0, x1, y0, y1, z0, z1) 0u
#define META_K_DROPS_SIDES2(x0, x1, y0, y1)        0u
#define META_K_DROPS_SIDES1(x0, x1)                0u
#define META_K_DROPS_GROWN(x, y, z)                0u
#define META_K_DROPS_GROWN2(x, y)                  0u
#define META_K_DROPS_GROWN1(x)                     0u
#define META_K_DROPS_LINE(d)                       (((1u << META_MAX_DIM) - 1) & ~(1u << (d)))
#define META_K_DROPS_PLANE(d)                      (1u << (d))
#define META_K_GROWS_
#define META_K_GROWS_CELL
#define META_K_GROWS_WHOLE
#define META_K_GROWS_STAR(r)
#define META_K_GROWS_BOX(r)
#define META_K_GROWS_SIDES(x0, x1, y0, y1, z0, z1)
#define META_K_GROWS_SIDES2(x0, x1, y0, y1)
#define META_K_GROWS_SIDES1(x0, x1)
#define META_K_GROWS_GROWN(x, y, z) x, y, z,
#define META_K_GROWS_GROWN2(x, y)   x, y, 0,
#define META_K_GROWS_GROWN1(x)      x, 0, 0,
#define META_K_GROWS_LINE(d)
#define META_K_GROWS_PLANE(d)

/* META_K_NEAR: the reach as members of a structure that the body's function is given a pointer to, for
 * their sizes, which are constants in it: an array's member has r + 2 elements for a reach of r, more
 * than any reach has for a dimension that it lacks, and one if it is WHOLE. */
#define META_K_NEAR(kind, type, ...)         META_K_NEAR_##kind(__VA_ARGS__, , , , )
#define META_K_NEAR_OUT(name, a, b, c, ...)   META_K_NEAR_ARRAY(name, a, b, c)
#define META_K_NEAR_INOUT(name, a, b, c, ...) META_K_NEAR_ARRAY(name, a, b, c)
#define META_K_NEAR_IN(name, a, b, c, ...)    META_K_NEAR_ARRAY(name, a, b, c)
#define META_K_NEAR_ADD(name, a, b, c, ...)   META_K_NEAR_ARRAY(name, a, b, c)
#define META_K_NEAR_SCALAR(name, ...)
#define META_K_NEAR_VALUE(name, ...)
#define META_K_NEAR_SUM(name, ...)
#define META_K_NEAR_MIN(name, ...)
#define META_K_NEAR_MAX(name, ...)
#define META_K_NEAR_ARRAY(name, a, b, c)                                                           \
    META_K_NEAR_SIDES(name, (META_K_DROPS_##a | META_K_DROPS_##b | META_K_DROPS_##c),              \
                      META_K_FAR_##a)
#define META_K_NEAR_SIDES(name, drops, ...) META_K_NEAR_MEMBERS(name, drops, __VA_ARGS__)
#define META_K_NEAR_MEMBERS(name, drops, x0, x1, y0, y1, z0, z1, w0, w1, star)                     \
    char meta_x0_##name[META_K_NEAR_SIZE(drops, 0, x0)];                                           \
    char meta_x1_##name[META_K_NEAR_SIZE(drops, 0, x1)];                                           \
    char meta_y0_##name[META_K_NEAR_SIZE(drops, 1, y0)];                                           \
    char meta_y1_##name[META_K_NEAR_SIZE(drops, 1, y1)];                                           \
    char meta_z0_##name[META_K_NEAR_SIZE(drops, 2, z0)];                                           \
    char meta_z1_##name[META_K_NEAR_SIZE(drops, 2, z1)];                                           \
    char meta_w0_##name[META_K_NEAR_SIZE(drops, 3, w0)];                                           \
    char meta_w1_##name[META_K_NEAR_SIZE(drops, 3, w1)];                                           \
    char meta_star_##name[1 + (star)];
#define META_K_LACKS                     (1 << 14)
#define META_K_NEAR_SIZE(drops, d, r) ((drops) >> (d) & 1u ? META_K_LACKS : (r) + 2)
#define META_K_FAR_                              0, 0, 0, 0, 0, 0, 0, 0, 0
#define META_K_FAR_CELL                          META_K_FAR_
#define META_K_FAR_WHOLE                         -1, -1, -1, -1, -1, -1, -1, -1, 0
#define META_K_FAR_STAR(r)                       r, r, r, r, r, r, r, r, 1
#define META_K_FAR_BOX(r)                        r, r, r, r, r, r, r, r, 0
#define META_K_FAR_SIDES(x0, x1, y0, y1, z0, z1) x0, x1, y0, y1, z0, z1, 0, 0, 0
#define META_K_FAR_SIDES2(x0, x1, y0, y1)        x0, x1, y0, y1, 0, 0, 0, 0, 0
#define META_K_FAR_SIDES1(x0, x1)                x0, x1, 0, 0, 0, 0, 0, 0, 0
#define META_K_FAR_LINE(d)                       META_K_FAR_
#define META_K_FAR_PLANE(d)                      META_K_FAR_
#define META_K_FAR_GROWN(x, y, z)                META_K_FAR_
#define META_K_FAR_GROWN2(x, y)                  META_K_FAR_
#define META_K_FAR_GROWN1(x)                     META_K_FAR_

/* Offsets that are constant expressions are held against the reach by the compiler. META_K_CONSTANT is
 * the value of one, and 0 of any other expression. In C, zero times an integer constant expression is
 * a null pointer constant, and the type of a conditional expression tells. In C++, g++ takes x ^ x for
 * a constant as well, and refuses it if x is none. */
#ifdef __cplusplus
#define META_K_CONSTANT(x) (__builtin_constant_p(x) ? (x) : 0)
#else
#define META_K_CONSTANT(x)                                                                         \
    _Generic(1 ? (void *)((intptr_t)(x) * 0) : (int *)0, int *: (x), default: 0)
#endif
#define META_K_ALONG(x, low, high)                                                                 \
    ((intptr_t)META_K_CONSTANT(x) >= 2 - (intptr_t)sizeof(low) &&                                  \
     (intptr_t)META_K_CONSTANT(x) <= (intptr_t)sizeof(high) - 2)
#define META_K_AWAY(x, low) (META_K_CONSTANT(x) != 0 && sizeof(low) < META_K_LACKS)
#define META_K_REACHES(array, x, y, z, w)                                                          \
    (META_K_ALONG(x, meta_k->meta_x0_##array, meta_k->meta_x1_##array) &&                          \
     META_K_ALONG(y, meta_k->meta_y0_##array, meta_k->meta_y1_##array) &&                          \
     META_K_ALONG(z, meta_k->meta_z0_##array, meta_k->meta_z1_##array) &&                          \
     META_K_ALONG(w, meta_k->meta_w0_##array, meta_k->meta_w1_##array) &&                          \
     (sizeof(meta_k->meta_star_##array) == 1 ||                                                    \
      META_K_AWAY(x, meta_k->meta_x0_##array) + META_K_AWAY(y, meta_k->meta_y0_##array) +          \
              META_K_AWAY(z, meta_k->meta_z0_##array) + META_K_AWAY(w, meta_k->meta_w0_##array) <= \
          1))
#ifdef __cplusplus
template <bool within> struct meta_k_within {
    static_assert(within, "AT() of an element beyond the reach that the kernel's list declares");
    enum { zero };
};
template <bool whole> struct meta_k_whole {
    static_assert(whole, "GET() of an array that is not WHOLE in the kernel's list");
    enum { zero };
};
#define META_K_WITHIN(array, x, y, z, w)                                                           \
    +(int)meta_k_within<(META_K_REACHES(array, x, y, z, w))>::zero
#define META_K_WHOLE(array) +(int)meta_k_whole<(sizeof(meta_k->meta_x0_##array) == 1)>::zero
#elif __STDC_VERSION__ < 201112 /* where it is a macro of the C library's, for declarations alone */
#define META_K_WITHIN(array, x, y, z, w)                                                           \
    +0 * (int)sizeof(struct {                                                                      \
        int AT_is_beyond_the_reach_of_##array : META_K_REACHES(array, x, y, z, w) ? 1 : -1;        \
    })
#define META_K_WHOLE(array)                                                                        \
    +0 * (int)sizeof(struct {                                                                      \
        int GET_is_of_no_WHOLE_array_##array : sizeof(meta_k->meta_x0_##array) == 1 ? 1 : -1;      \
    })
#else
/* Where gcc judges no headers it needs no semicolon there: of a statement that lacks its own, it skips the
 * rest up to the next one. */
#if defined __clang__ || defined META_JUDGE_HEADERS
#define META_K_SEMICOLON ; char meta_c;
#else
#define META_K_SEMICOLON
#endif
#define META_K_WITHIN(array, x, y, z, w)                                                           \
    +0 * (int)__extension__ sizeof(struct {                                                        \
        _Static_assert(META_K_REACHES(array, x, y, z, w),                                          \
                       "AT() of " #array " at (" #x ", " #y ", " #z ", " #w                        \
                       "), beyond the reach that the kernel's list declares") META_K_SEMICOLON     \
    })
#define META_K_WHOLE(array)                                                                        \
    +0 * (int)__extension__ sizeof(struct {                                                        \
        _Static_assert(sizeof(meta_k->meta_x0_##array) == 1,                                       \
                       "GET() of " #array ", which is not WHOLE in the kernel's list")             \
            META_K_SEMICOLON                                                                       \
    })
#endif

/* An element of an array. Where the controlling expression of a _Generic is wrong, gcc and clang say so and
 * skip the rest: that of an array which is none, or of which META_K_NEAR has no member. */
#ifndef __cplusplus
#define META_K_ELEMENT(array)                                                                      \
    _Generic(&array[0], default: _Generic(*meta_k->meta_star_##array, default:
#define META_K_ELEMENT_END           ))
#define META_K_SHARED_ELEMENT(array) _Generic(&array[0], default:
#define META_K_SHARED_ELEMENT_END    )
#endif
#define META_K_RESULT(result) meta_extreme_##result

/* META_K_ROW: a parameter as data. */
#define META_K_ROW(kind, type, ...)                                                                \
    META_K_IF(META_K_PROBE_##kind, META_K_NOTHING, META_K_ROW_OF, )                                \
    ({#type, META_K_ROW_##kind(type, __VA_ARGS__)})
#define META_K_ROW_OF(...) __VA_ARGS__,
#define META_K_ROW_(kind, type, name, ...)                                                         \
    #name, META_PARAMETER_##kind, META_K_CODE(type), (uint32_t)sizeof(type), __VA_ARGS__
#define META_K_ROW_ALL(kind, type, name)                                                           \
    META_K_ROW_(kind, type, name, META_K_REACH_CELL, META_K_SHAPE(, , ))
#define META_K_ROW_WRITTEN(kind, type, name, shape, more, ...)                                     \
    META_K_ROW_(kind, type, name, META_K_REACH_OUT_##shape, META_K_SHAPE(shape, more, ))
#define META_K_ROW_BOTH(kind, type, name, item, more, last, ...)                                   \
    META_K_ROW_(kind, type, name, META_K_REACH_INOUT_##item, META_K_SHAPE(item, more, last))
#define META_K_ROW_READ(kind, type, name, reach, shape, more, ...)                                 \
    META_K_ROW_(kind, type, name, META_K_REACH_##reach, META_K_SHAPE(reach, shape, more))
#define META_K_ROW_OUT(type, ...)     META_K_ROW_WRITTEN(OUT, type, __VA_ARGS__, , , )
#define META_K_ROW_INOUT(type, ...)   META_K_ROW_BOTH(INOUT, type, __VA_ARGS__, , , , )
#define META_K_ROW_IN(type, ...)      META_K_ROW_READ(IN, type, __VA_ARGS__, , , , )
#define META_K_ROW_ADD(type, ...)     META_K_ROW_READ(ADD, type, __VA_ARGS__, , , , )
#define META_K_ROW_SCALAR(type, name) META_K_ROW_ALL(SCALAR, type, name)
#define META_K_ROW_VALUE(type, name)  META_K_ROW_ALL(VALUE, type, name)
#define META_K_ROW_SUM(type, name)    META_K_ROW_ALL(SUM, type, name)
#define META_K_ROW_MIN(type, name)    META_K_ROW_ALL(MIN, type, name)
#define META_K_ROW_MAX(type, name)    META_K_ROW_ALL(MAX, type, name)

/* META_K_CALL: a parameter of the typed function; META_K_PASS: what it passes on. */
#define META_K_CALL(kind, type, ...)                                                               \
    META_K_APPLY_TO(META_K_CALL_##kind, type, META_K_NAME_OF(__VA_ARGS__, ))
#define META_K_CALL_OUT(type, name)    __typeof__(type) *name,
#define META_K_CALL_INOUT(type, name)  __typeof__(type) *name,
#define META_K_CALL_IN(type, name)     const __typeof__(type) *name,
#define META_K_CALL_ADD(type, name)    __typeof__(type) *name,
#define META_K_CALL_SCALAR(type, name) const __typeof__(type) *name,
#define META_K_CALL_VALUE(type, name)  __typeof__(type) name,
#define META_K_CALL_SUM(type, name)    __typeof__(type) *name,
#define META_K_CALL_MIN(type, name)    __typeof__(type) *name,
#define META_K_CALL_MAX(type, name)    __typeof__(type) *name,
#define META_K_PASS(kind, type, ...)                                                               \
    META_K_APPLY(META_K_PASS_##kind, META_K_NAME_OF(__VA_ARGS__, ))
#define META_K_PASS_OUT(name)    name,
#define META_K_PASS_INOUT(name)  name,
#define META_K_PASS_IN(name)     name,
#define META_K_PASS_ADD(name)    name,
#define META_K_PASS_SCALAR(name) name,
#define META_K_PASS_VALUE(name)  &name,
#define META_K_PASS_SUM(name)    name,
#define META_K_PASS_MIN(name)    name,
#define META_K_PASS_MAX(name)    name,

/* META_K_FIELD: a parameter as a member of the structure of arguments; META_K_NAMED: what the call by position
 * gets of that. */
#define META_K_FIELD(kind, type, ...)                                                              \
    META_K_APPLY_TO(META_K_FIELD_##kind, type, META_K_NAME_OF(__VA_ARGS__, ))
#define META_K_FIELD_OUT(type, name)    __typeof__(type) *name;
#define META_K_FIELD_INOUT(type, name)  __typeof__(type) *name;
#define META_K_FIELD_IN(type, name)     const __typeof__(type) *name;
#define META_K_FIELD_ADD(type, name)    __typeof__(type) *name;
#define META_K_FIELD_SCALAR(type, name) const __typeof__(type) *name;
#define META_K_FIELD_VALUE(type, name)  __typeof__(type) name;
#define META_K_FIELD_SUM(type, name)    __typeof__(type) *name;
#define META_K_FIELD_MIN(type, name)    __typeof__(type) *name;
#define META_K_FIELD_MAX(type, name)    __typeof__(type) *name;
#define META_K_NAMED(kind, type, ...)                                                              \
    META_K_IF(META_K_PROBE_##kind, META_K_NOTHING, META_K_NAMED_OF, )                              \
    (META_K_NAME_OF(__VA_ARGS__, ))
#define META_K_NAMED_OF(name) meta_given_->name,

/* META_K_FORMAL: a parameter of the body's function; META_K_ACTUAL: its argument in the CPU code. */
#define META_K_FORMAL(kind, type, ...)                                                             \
    META_K_APPLY_TO(META_K_FORMAL_##kind, type, META_K_NAME_OF(__VA_ARGS__, ))
#define META_K_STRIDES(name)                                                                       \
    const int64_t meta_0_##name META_K_UNUSED, const int64_t meta_1_##name META_K_UNUSED,          \
        const int64_t meta_2_##name META_K_UNUSED, const int64_t meta_3_##name META_K_UNUSED,
#define META_K_FORMAL_OUT(type, name)                                                              \
    __typeof__(type) *__restrict__ name META_K_UNUSED, META_K_STRIDES(name)
#define META_K_FORMAL_INOUT(type, name)                                                            \
    __typeof__(type) *__restrict__ name META_K_UNUSED, META_K_STRIDES(name)
#define META_K_FORMAL_IN(type, name)                                                               \
    const __typeof__(type) *__restrict__ name META_K_UNUSED, META_K_STRIDES(name)
#define META_K_FORMAL_ADD(type, name)                                                              \
    META_K_ADDED(type) *__restrict__ name META_K_UNUSED, META_K_STRIDES(name)
#define META_K_FORMAL_SCALAR(type, name) const __typeof__(type) name META_K_UNUSED,
#define META_K_FORMAL_VALUE(type, name)  const __typeof__(type) name META_K_UNUSED,
#define META_K_FORMAL_SUM(type, name)                                                              \
    META_K_SUM_TYPE(type) *__restrict__ name META_K_UNUSED,                                        \
        const int64_t meta_own_##name META_K_UNUSED,

/* ------------------------------------------------------------------ the CPU code */

/* What a cell contributes to a result is combined with what the cell so many columns before it has:
 * in lanes, which are many so that no contribution waits for the one before, and few so that they stay
 * in the first cache. What is computed does not depend on the pieces of a row. */
#define META_K_CHUNK META_KERNEL_PIECE
/* Cells between two requests for memory ahead, of which a chunk is a multiple; and a cache line. */
#define META_K_SHORT_CHUNK 64
#define META_K_LINE        64

#define META_K_ORDER(kind, type, ...)                                                              \
    META_K_APPLY(META_K_ORDER_##kind, META_K_NAME_OF(__VA_ARGS__, ))
#define META_K_ORDER_ALL(name)    meta_n_##name,
#define META_K_ORDER_OUT(name)    META_K_ORDER_ALL(name)
#define META_K_ORDER_INOUT(name)  META_K_ORDER_ALL(name)
#define META_K_ORDER_IN(name)     META_K_ORDER_ALL(name)
#define META_K_ORDER_ADD(name)    META_K_ORDER_ALL(name)
#define META_K_ORDER_SCALAR(name) META_K_ORDER_ALL(name)
#define META_K_ORDER_VALUE(name)  META_K_ORDER_ALL(name)
#define META_K_ORDER_SUM(name)    META_K_ORDER_ALL(name)
#define META_K_ORDER_MIN(name)    META_K_ORDER_ALL(name)
#define META_K_ORDER_MAX(name)    META_K_ORDER_ALL(name)

/* The stride along a row, a constant: 0 for an array that lacks dimension 0. */
#define META_K_COLUMN(kind, type, ...) META_K_COLUMN_##kind(__VA_ARGS__, , , , )
#define META_K_COLUMN_OUT(name, ...)   meta_k_0_##name = 1,
#define META_K_COLUMN_INOUT(name, ...) meta_k_0_##name = 1,
#define META_K_COLUMN_IN(name, a, b, c, ...)                                                       \
    meta_k_0_##name = (META_K_DROPS_##a | META_K_DROPS_##b | META_K_DROPS_##c) & 1u ? 0 : 1,
#define META_K_COLUMN_ADD(...) META_K_COLUMN_IN(__VA_ARGS__)
#define META_K_COLUMN_SCALAR(name, ...)
#define META_K_COLUMN_VALUE(name, ...)
#define META_K_COLUMN_SUM(name, ...)
#define META_K_COLUMN_MIN(name, ...)
#define META_K_COLUMN_MAX(name, ...)

#define META_K_IS_RESULT(kind, type, ...) META_K_IS_RESULT_##kind
#define META_K_IS_RESULT_OUT
#define META_K_IS_RESULT_INOUT
#define META_K_IS_RESULT_IN
#define META_K_IS_RESULT_ADD
#define META_K_IS_RESULT_SCALAR
#define META_K_IS_RESULT_VALUE
#define META_K_IS_RESULT_SUM              +1
#define META_K_IS_RESULT_MIN              +1
#define META_K_IS_RESULT_MAX              +1

/* Declare and load. */
#define META_K_LOAD(kind, type, ...)                                                               \
    META_K_APPLY_TO(META_K_LOAD_##kind, type, META_K_NAME_OF(__VA_ARGS__, ))
#define META_K_LOAD_ARRAY(type, name)                                                              \
    type *name = (type *)meta_r->argument[meta_n_##name].at;                                       \
    const int64_t meta_1_##name = meta_r->argument[meta_n_##name].stride[1],                       \
                  meta_2_##name = meta_r->argument[meta_n_##name].stride[2],                       \
                  meta_3_##name = meta_r->argument[meta_n_##name].stride[3];
#define META_K_LOAD_OUT(type, name)    META_K_LOAD_ARRAY(__typeof__(type), name)
#define META_K_LOAD_INOUT(type, name)  META_K_LOAD_ARRAY(__typeof__(type), name)
#define META_K_LOAD_IN(type, name)     META_K_LOAD_ARRAY(const __typeof__(type), name)
#define META_K_LOAD_ADD(type, name)    META_K_LOAD_ARRAY(META_K_ADDED(type), name)
#define META_K_LOAD_SCALAR(type, name) META_K_LOAD_VALUE(type, name)
#define META_K_LOAD_VALUE(type, name)                                                              \
    const __typeof__(type) name = *(const __typeof__(type) *)meta_r->argument[meta_n_##name].at;
#define META_K_LOAD_RESULT(type, name, identity)                                                   \
    type *const meta_of_##name = (type *)meta_r->argument[meta_n_##name].at;                       \
    const type meta_none_##name = identity;                                                        \
    type meta_lane_##name[META_K_CHUNK];                                                           \
    META_K_CLEAR(name)
#ifdef META_KERNEL_REPORT /* see META_K_CPU */
#define META_K_CLEAR(name) __asm__("" : "=m"(meta_lane_##name));
#else
#define META_K_CLEAR(name)                                                                         \
    for (int64_t meta_l = 0; meta_l < meta_lanes; ++meta_l)                                        \
        meta_lane_##name[meta_l] = meta_none_##name;
#endif
#define META_K_LOAD_SUM(type, name) META_K_LOAD_RESULT(META_K_SUM_TYPE(type), name, 0)
#define META_K_LOAD_MIN(type, name) META_K_LOAD_RESULT(type, name, META_K_HIGHEST(type))
#define META_K_LOAD_MAX(type, name) META_K_LOAD_RESULT(type, name, META_K_LOWEST(type))

/* A cell contributes to variables of its own, then those to its lane. */
#define META_K_BEGIN(kind, type, ...)                                                              \
    META_K_APPLY_TO(META_K_BEGIN_##kind, type, META_K_NAME_OF(__VA_ARGS__, ))
#define META_K_BEGIN_OUT(type, name)
#define META_K_BEGIN_INOUT(type, name)
#define META_K_BEGIN_IN(type, name)
#define META_K_BEGIN_ADD(type, name)
#define META_K_BEGIN_SCALAR(type, name)
#define META_K_BEGIN_VALUE(type, name)
#define META_K_BEGIN_SUM(type, name) META_K_SUM_TYPE(type) name = meta_none_##name;
#define META_K_KEEP(kind, type, ...)                                                               \
    META_K_APPLY(META_K_KEEP_##kind, META_K_NAME_OF(__VA_ARGS__, ))
#define META_K_KEEP_OUT(name)
#define META_K_KEEP_INOUT(name)
#define META_K_KEEP_IN(name)
#define META_K_KEEP_ADD(name)
#define META_K_KEEP_SCALAR(name)
#define META_K_KEEP_VALUE(name)
#define META_K_KEEP_SUM(name)        META_K_KEEP_ALL(name, META_K_TO_SUM, name)
#define META_K_KEEP_MIN(name)        META_K_KEEP_ALL(name, META_K_TO_MIN, name.meta_value)
#define META_K_KEEP_MAX(name)        META_K_KEEP_ALL(name, META_K_TO_MAX, name.meta_value)
#define META_K_KEEP_ALL(name, to, x) to(meta_lane_##name[meta_i - meta_first], x);
#define META_K_TO_SUM(a, b)          (a) += (b)
#define META_K_TO_MIN(a, b)          (a) = META_K_LEAST(a, b)
#define META_K_TO_MAX(a, b)          (a) = META_K_MOST(a, b)

#define META_K_ACTUAL(kind, type, ...)                                                             \
    META_K_APPLY(META_K_ACTUAL_##kind, META_K_NAME_OF(__VA_ARGS__, ))
#define META_K_ACTUAL_ARRAY(name)  name, meta_k_0_##name, meta_1_##name, meta_2_##name, meta_3_##name,
#define META_K_ACTUAL_OUT(name)    META_K_ACTUAL_ARRAY(name)
#define META_K_ACTUAL_INOUT(name)  META_K_ACTUAL_ARRAY(name)
#define META_K_ACTUAL_IN(name)     META_K_ACTUAL_ARRAY(name)
#define META_K_ACTUAL_ADD(name)    META_K_ACTUAL_ARRAY(name)
#define META_K_ACTUAL_SCALAR(name) name,
#define META_K_ACTUAL_VALUE(name)  name,
#define META_K_ACTUAL_RESULT(name) &name,
#define META_K_ACTUAL_SUM(name)    &name, 0,
#define META_K_ACTUAL_MIN(name)    META_K_ACTUAL_RESULT(name)
#define META_K_ACTUAL_MAX(name)    META_K_ACTUAL_RESULT(name)

/* After a chunk. */
#define META_K_END(kind, type, ...)                                                                \
    META_K_APPLY(META_K_END_##kind, META_K_NAME_OF(__VA_ARGS__, ))
#define META_K_END_OUT(name)
#define META_K_END_INOUT(name)
#define META_K_END_IN(name)
#define META_K_END_ADD(name)
#define META_K_END_SCALAR(name)
#define META_K_END_VALUE(name)
#define META_K_END_SUM(name)
#define META_K_END_MIN(name)
#define META_K_END_MAX(name)

/* After the last row: to the caller's accumulators. While sums are to be reproducible there is one row,
 * and each of its cells has a lane: `meta_given` is their number; what members of a team contribute is
 * where the caller wants it. */
#define META_K_GIVE(kind, type, ...)                                                               \
    META_K_APPLY(META_K_GIVE_##kind, META_K_NAME_OF(__VA_ARGS__, ))
#define META_K_GIVE_OUT(name)
#define META_K_GIVE_INOUT(name)
#define META_K_GIVE_IN(name)
#define META_K_GIVE_ADD(name)
#define META_K_GIVE_SCALAR(name)
#define META_K_GIVE_VALUE(name)
#ifdef META_KERNEL_REPORT
#define META_K_GIVE_ALL(name, to) __asm__ volatile("" : : "m"(meta_lane_##name));
#define META_K_GIVE_SUM(name)     META_K_GIVE_ALL(name, )
#else
#define META_K_GIVE_ALL(name, to)                                                                  \
    for (int64_t meta_n = 0; meta_n < meta_lanes; meta_n += META_KERNEL_LANES)                     \
        for (int meta_l = 0; meta_l < META_KERNEL_LANES; ++meta_l)                                 \
            to(meta_of_##name[meta_l], meta_lane_##name[meta_n + meta_l]);
#define META_K_GIVE_SUM(name)                                                                      \
    if (META_K_IS_REAL(meta_none_##name) && meta_r->reproducible) {                                \
        for (int64_t meta_n = 0; meta_n < meta_given; ++meta_n)                                    \
            meta_of_##name[meta_n] = meta_lane_##name[meta_n];                                     \
    } else {                                                                                       \
        META_K_GIVE_ALL(name, META_K_TO_SUM)                                                       \
    }
#endif
#define META_K_IS_REAL(sum) ((__typeof__(+(sum)))0.5 > 0)
#define META_K_GIVE_MIN(name) META_K_GIVE_ALL(name, META_K_TO_MIN)
#define META_K_GIVE_MAX(name) META_K_GIVE_ALL(name, META_K_TO_MAX)

/* Lanes for rows of so many cells, a multiple of the accumulators. */
#define META_K_LANES_OF(cells)                                                                     \
    ((cells) < META_K_CHUNK                                                                        \
         ? ((cells) + META_KERNEL_LANES - 1) / META_KERNEL_LANES * META_KERNEL_LANES               \
         : META_K_CHUNK)

/* To the next row. */
#define META_K_STEP(kind, type, ...)                                                               \
    META_K_APPLY(META_K_STEP_##kind, META_K_NAME_OF(__VA_ARGS__, ))
#define META_K_STEP_OUT(name)   name += meta_1_##name;
#define META_K_STEP_INOUT(name) name += meta_1_##name;
#define META_K_STEP_IN(name)    name += meta_1_##name;
#define META_K_STEP_ADD(name)   name += meta_1_##name;
#define META_K_STEP_SCALAR(name)
#define META_K_STEP_VALUE(name)
#define META_K_STEP_SUM(name)
#define META_K_STEP_MIN(name)
#define META_K_STEP_MAX(name)

/* Before a piece of a row: fetch the lines that a piece further on is the first to need: those in the
 * highest plane that its cells reach. Fetching from an address behind an array's end does nothing. */
#define META_K_AHEAD(kind, type, ...)                                                              \
    META_K_APPLY_TO(META_K_AHEAD_##kind, type, META_K_NAME_OF(__VA_ARGS__, ))
#define META_K_AHEAD_ARRAY(type, name, to_write)                                                   \
    if (sizeof meta_k->meta_x1_##name > 1 && sizeof meta_k->meta_x1_##name < META_K_LACKS) {       \
        const int64_t meta_up = sizeof meta_k->meta_z1_##name < META_K_LACKS                       \
                                    ? (int64_t)sizeof meta_k->meta_z1_##name - 2                   \
                                    : 0;                                                           \
        const uintptr_t meta_line =                                                                \
            (uintptr_t)name + (uintptr_t)meta_ahead +                                              \
            (uintptr_t)(meta_from + meta_up * meta_2_##name) * sizeof(type);                       \
        for (size_t meta_b = 0; meta_b < META_K_SHORT_CHUNK * sizeof(type); meta_b += META_K_LINE) \
            __builtin_prefetch((const void *)(meta_line + meta_b), to_write);                      \
    }
#define META_K_AHEAD_OUT(type, name)   META_K_AHEAD_ARRAY(type, name, 1)
#define META_K_AHEAD_INOUT(type, name) META_K_AHEAD_ARRAY(type, name, 1)
#define META_K_AHEAD_IN(type, name)    META_K_AHEAD_ARRAY(type, name, 0)
#define META_K_AHEAD_ADD(type, name)   META_K_AHEAD_ARRAY(type, name, 1)
#define META_K_AHEAD_SCALAR(type, name)
#define META_K_AHEAD_VALUE(type, name)
#define META_K_AHEAD_SUM(type, name)
#define META_K_AHEAD_MIN(type, name)
#define META_K_AHEAD_MAX(type, name)

/* Cells of a row are independent of each other: what is written does not overlap what is read. Not
 * where they add to the same elements: META_K_SIMD() of a comma for each ADD array is nothing. clang is
 * not told so, but to vectorize if it can: with assume_safety it has one array for several cells where a
 * loop's body has an array of its own (seen with 14 and 19, in a loop like that of the cells). */
#define META_K_SIMD(...)           META_K_SIMD_OF(__VA_ARGS__ independent, )
#define META_K_SIMD_OF(first, ...) META_K_SIMD_##first
#define META_K_SIMD_
#ifdef __clang__
#define META_K_SIMD_independent _Pragma("clang loop vectorize(enable)")
#else
#define META_K_SIMD_independent _Pragma("GCC ivdep")
#endif
/* Nor with clang 16 and later where cells may read an element by an index that is the same for all of
 * them: of a WHOLE array, of one that lacks dimensions, of a structure. Told to vectorize, clang computes
 * such an address in lane 0 alone, even where a condition skips in lane 0 the unsigned division that it
 * depends on: `if (INDEX(0) % 3 == 1) x = GET(table, a / b);` then reads at an undefined address (seen
 * with 17 to 20 and 22). By itself it was not seen to vectorize such a loop. */
#if defined __clang__ && __clang_major__ >= 16
#define META_K_COMMON ,
#else
#define META_K_COMMON
#endif
#define META_K_COMMA(kind, type, ...)                 META_K_COMMA_##kind(type, __VA_ARGS__, , , , )
#define META_K_COMMA_OUT(type, name, a, b, c, ...)    META_K_COMMONS(a, b, c)
#define META_K_COMMA_INOUT(type, name, a, b, c, ...)  META_K_COMMONS(a, b, c)
#define META_K_COMMA_IN(type, name, a, b, c, ...)     META_K_COMMONS(a, b, c)
#define META_K_COMMA_ADD(...)                         ,
#define META_K_COMMA_SCALAR(...)
#define META_K_COMMA_VALUE(type, ...)                                                              \
    META_K_IF(META_K_NUMBER_##type, META_K_NOTHING, META_K_OF_STRUCTURE, )()
#define META_K_OF_STRUCTURE() META_K_COMMON
#define META_K_COMMA_SUM(...)
#define META_K_COMMA_MIN(...)
#define META_K_COMMA_MAX(...)
#define META_K_COMMONS(a, b, c) META_K_COMMON_##a META_K_COMMON_##b META_K_COMMON_##c
#define META_K_COMMON_
#define META_K_COMMON_CELL
#define META_K_COMMON_WHOLE META_K_COMMON
#define META_K_COMMON_STAR(r)
#define META_K_COMMON_BOX(r)
#define META_K_COMMON_SIDES(x0, x1, y0, y1, z0, z1)
#define META_K_COMMON_SIDES2(x0, x1, y0, y1)
#define META_K_COMMON_SIDES1(x0, x1)
#define META_K_COMMON_GROWN(x, y, z)
#define META_K_COMMON_GROWN2(x, y)
#define META_K_COMMON_GROWN1(x)
#define META_K_COMMON_LINE(d)   META_K_COMMON
#define META_K_COMMON_PLANE(d)  META_K_COMMON
#define META_K_NUMBER_double    ~, ~
#define META_K_NUMBER_float     ~, ~
#define META_K_NUMBER_int64_t   ~, ~
#define META_K_NUMBER_uint64_t  ~, ~
#define META_K_NUMBER_int32_t   ~, ~
#define META_K_NUMBER_uint32_t  ~, ~
#define META_K_NUMBER_int16_t   ~, ~
#define META_K_NUMBER_uint16_t  ~, ~
#define META_K_NUMBER_int8_t    ~, ~
#define META_K_NUMBER_uint8_t   ~, ~
#define META_K_NUMBER_int       ~, ~

/* Those of a piece of a row. */
#define META_K_CELL_LOOP(name, tag)                                                                \
    META_K_SIMD(name##_ARGS(META_K_COMMA))                                                         \
    for (int64_t meta_i = meta_from; meta_i < meta_from + meta_cells; ++meta_i) {                  \
        name##_ARGS(META_K_BEGIN)                                                                  \
            name##_cell_##tag(name##_ARGS(META_K_ACTUAL) meta_i, 0, 0, 0, meta_x,                  \
                              meta_alone, meta_r, meta_k);                                         \
        name##_ARGS(META_K_KEEP)                                                                   \
    }
/* The cells of all rows, `chunk` of a row at a time; before each of these pieces memory is fetched
 * `ahead`, unless that is 0. META_KERNEL_REPORT is for meta-kernel check, which reads what the compiler
 * says of the loop over cells. Compilers give all loops of a macro the macro's line: so that one is
 * alone then, in a function whose name has the line. */
#ifdef META_KERNEL_REPORT
#define META_K_CPU(name, tag, fetches) META_K_CPU_AT(name, tag, __LINE__)
#define META_K_CPU_AT(name, tag, line) META_K_CPU_AT_(name, tag, line)
#define META_K_CPU_AT_(name, tag, line)                                                            \
    __attribute__((used)) static void name##_rows_##tag##_##line(const meta_kernel_rows *meta_r)   \
    {                                                                                              \
        enum { name##_ARGS(META_K_ORDER) meta_k_parameters_ };                                     \
        enum { name##_ARGS(META_K_COLUMN) meta_k_columns_ };                                       \
        const struct name##_near_##tag *const meta_k META_K_UNUSED = 0;                            \
        const int64_t meta_x[META_KERNEL_DIMS] = {meta_r->index[0], meta_r->index[1],              \
                                                  meta_r->index[2], meta_r->index[3]};             \
        const int64_t meta_at META_K_UNUSED = meta_r->number, meta_from = meta_r->ahead,           \
                      meta_cells = meta_r->cells,                                                  \
                      meta_first META_K_UNUSED = meta_from - meta_from % META_K_CHUNK;             \
        const int meta_alone META_K_UNUSED = meta_r->alone;                                        \
        name##_ARGS(META_K_LOAD) META_K_CELL_LOOP(name, tag) name##_ARGS(META_K_GIVE)              \
    }
#else
#define META_K_SWEEP(name, tag, chunk, ahead)                                                      \
    const int64_t meta_chunk = chunk, meta_ahead = ahead;                                          \
    const struct name##_near_##tag *const meta_k META_K_UNUSED = 0;                                \
    const int64_t meta_given META_K_UNUSED = meta_r->cells,                                        \
                  meta_lanes META_K_UNUSED = META_K_LANES_OF(meta_given);                          \
    int64_t meta_x[META_KERNEL_DIMS] = {meta_r->index[0], meta_r->index[1], meta_r->index[2],      \
                                        meta_r->index[3]};                                         \
    const int meta_alone META_K_UNUSED = meta_r->alone;                                            \
    name##_ARGS(META_K_LOAD) for (int64_t meta_row = 0; meta_row < meta_r->rows; ++meta_row)       \
    {                                                                                              \
        const int64_t meta_at META_K_UNUSED = meta_r->number + meta_row * meta_r->columns;         \
        for (int64_t meta_from = 0; meta_from < meta_r->cells; meta_from += meta_chunk) {          \
            const int64_t meta_cells = meta_r->cells - meta_from < meta_chunk                      \
                                           ? meta_r->cells - meta_from                             \
                                           : meta_chunk,                                           \
                          meta_first META_K_UNUSED = meta_from - meta_from % META_K_CHUNK;         \
            if (meta_ahead) {                                                                      \
                name##_ARGS(META_K_AHEAD)                                                          \
            }                                                                                      \
            META_K_CELL_LOOP(name, tag)                                                            \
            name##_ARGS(META_K_END)                                                                \
        }                                                                                          \
        name##_ARGS(META_K_STEP)++ meta_x[1];                                                      \
    }                                                                                              \
    name##_ARGS(META_K_GIVE)

/* A kernel without results computes whole rows; that it could compute pieces of them would slow short
 * rows down, so what fetches ahead is a function of its own. Where accesses are checked there is none:
 * `fetches` is 0. */
#if defined __cplusplus || defined __clang__
#define META_K_APART(function) static __attribute__((noinline)) function;
#else
/* Of a file compiled with -O0 gcc keeps functions that are never called, unless they are inline, and of
 * an inline one with this attribute it warns. In C++ it does not heed a macro's pragma. */
#define META_K_APART(function)                                                                     \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wattributes\"")              \
    static inline __attribute__((noinline)) function;                                              \
    _Pragma("GCC diagnostic pop")
#endif
#define META_K_CPU(name, tag, fetches)                                                             \
    META_K_APART(void name##_ahead_##tag(const meta_kernel_rows *meta_r))                          \
    static void name##_ahead_##tag(const meta_kernel_rows *meta_r)                                 \
    {                                                                                              \
        enum { name##_ARGS(META_K_ORDER) meta_k_parameters_ };                                     \
        enum { name##_ARGS(META_K_COLUMN) meta_k_columns_ };                                       \
        META_K_SWEEP(name, tag, META_K_SHORT_CHUNK, meta_r->ahead)                                 \
    }                                                                                              \
    static void name##_rows_##tag(const meta_kernel_rows *meta_r)                                  \
    {                                                                                              \
        enum { name##_ARGS(META_K_ORDER) meta_k_parameters_ };                                     \
        enum { name##_ARGS(META_K_COLUMN) meta_k_columns_ };                                       \
        enum { meta_k_results_ = 0 name##_ARGS(META_K_IS_RESULT) };                                \
        if (fetches && meta_k_results_ == 0 && meta_r->ahead) {                                    \
            name##_ahead_##tag(meta_r);                                                            \
            return;                                                                                \
        }                                                                                          \
        META_K_SWEEP(name, tag,                                                                    \
                     meta_k_results_ == 0 ? meta_r->cells                                          \
                     : meta_r->ahead      ? META_K_SHORT_CHUNK                                     \
                                          : META_K_CHUNK,                                          \
                     meta_k_results_ == 0 ? 0 : meta_r->ahead)                                     \
    }
#endif

/* ------------------------------------------------------------------ what META_CELLS makes */

#define META_K_HEAD(name, tag)                                                                     \
    static inline __attribute__((always_inline, unused)) void name##_cell_##tag(                   \
        name##_ARGS(META_K_FORMAL) const int64_t meta_i META_K_UNUSED,                             \
        const int64_t meta_i1 META_K_UNUSED, const int64_t meta_i2 META_K_UNUSED,                  \
        const int64_t meta_member META_K_UNUSED, const int64_t *meta_x META_K_UNUSED,              \
        const int meta_alone META_K_UNUSED, const meta_kernel_rows *meta_r META_K_UNUSED,          \
        const struct name##_near_##tag *meta_k META_K_UNUSED)

#define META_K_BOUNDS(name, tag)                                                                   \
    struct name##_near_##tag {                                                                     \
        name##_ARGS(META_K_NEAR) char meta_none;                                                   \
    };

#define META_K_TYPED(name, suffix)                                                                 \
    META_K_EXTERN meta_kernel name##_##suffix##_kernel;                                            \
    static inline meta_err name##_##suffix(                                                        \
        const meta_box *meta_cells_, name##_ARGS(META_K_CALL) meta_event *meta_done_)              \
    {                                                                                              \
        const void *const meta_arguments[] = {name##_ARGS(META_K_PASS)};                           \
        return meta_kernel_run(&name##_##suffix##_kernel, meta_cells_, meta_arguments,             \
                               meta_done_);                                                        \
    }                                                                                              \
    typedef struct name##_##suffix##_arguments {                                                   \
        name##_ARGS(META_K_FIELD)                                                                  \
    } name##_##suffix##_arguments;                                                                 \
    static inline meta_err META_K_UNUSED name##_##suffix##_with(                                   \
        const meta_box *meta_cells_, const name##_##suffix##_arguments *meta_given_,               \
        meta_event *meta_done_)                                                                    \
    {                                                                                              \
        if (!meta_given_)                                                                          \
            return meta_kernel_run(&name##_##suffix##_kernel, meta_cells_, 0, meta_done_);         \
        return name##_##suffix(meta_cells_, name##_ARGS(META_K_NAMED) meta_done_);                 \
    }

#define META_K_OBJECT(name, suffix, type, wide, widest, team)                                      \
    static const meta_kernel_parameter name##_##suffix##_parameters[] = {name##_ARGS(META_K_ROW)}; \
    META_K_DEFINE meta_kernel name##_##suffix##_kernel = {                                         \
        sizeof(meta_kernel),                                                                       \
        #name,                                                                                     \
        type,                                                                                      \
        __FILE__,                                                                                  \
        META_K_TEXT_OF(name),                                                                      \
        name##_##suffix##_parameters,                                                              \
        (uint32_t)(sizeof name##_##suffix##_parameters / sizeof *name##_##suffix##_parameters),    \
        {name##_rows_##suffix##_0, wide, widest, name##_rows_##suffix##_3},                        \
        0,                                                                                         \
        team,                                                                                      \
        META_K_FLAGS};                                                                             \
    const char META_K_ENDED(name, suffix) = 0;                                                     \
    __attribute__((constructor)) static void name##_##suffix##_begins(void)                        \
    {                                                                                              \
        meta_kernel_register(&name##_##suffix##_kernel);                                           \
    }                                                                                              \
    __attribute__((destructor)) static void name##_##suffix##_ends(void)                           \
    {                                                                                              \
        meta_kernel_unregister(&name##_##suffix##_kernel);                                         \
    }

/* A type's first pass refers to what its last one defines: where the file does not come to that, the
 * linker tells why. */
#define META_K_ENDED(name, suffix)                                                                 \
    name##_##suffix##_kernel_file_has_an_include_guard_or_pragma_once
#define META_K_NEEDS_END(name, suffix)                                                             \
    META_K_EXTERN const char META_K_ENDED(name, suffix);                                           \
    __attribute__((used)) static const char *const name##_##suffix##_end =                         \
        &META_K_ENDED(name, suffix);

/* Likely misspellings. */
#define META_CELL(...) META_K_FAIL(META_CELL begins no kernel: META_CELLS does)
#define META_TEAM(...) META_K_FAIL(META_TEAM begins no kernel: META_TEAMS does)

/* What META_CELLS is in each pass; the body of the function follows. */
#define META_K_DECLARE(name, suffix, variant) META_K_DECLARE_(name, suffix)
#define META_K_DECLARE_(name, suffix)                                                              \
    META_K_TYPED(name, suffix)                                                                     \
    META_K_BOUNDS(name, suffix##_0)                                                                \
    META_K_HEAD(name, suffix##_0)
#define META_K_COMPILE(name, tag, fetches)                                                         \
    META_K_BOUNDS(name, tag)                                                                       \
    META_K_HEAD(name, tag);                                                                        \
    META_K_CPU(name, tag, fetches)
#define META_K_BASELINE_FIRST(name, suffix) META_K_TEXT(name) META_K_BASELINE(name, suffix)
#define META_K_BASELINE(name, suffix)       META_K_BASELINE_(name, suffix)
#define META_K_BASELINE_(name, suffix)                                                             \
    META_K_TYPED(name, suffix)                                                                     \
    META_K_NEEDS_END(name, suffix)                                                                 \
    META_K_COMPILE(name, suffix##_0, 1)                                                            \
    META_K_HEAD(name, suffix##_0)
#define META_K_SET(name, suffix, variant) META_K_SET_(name, suffix##_##variant)
#define META_K_SET_(name, tag)                                                                     \
    META_K_COMPILE(name, tag, 1)                                                                   \
    META_K_HEAD(name, tag)
#define META_K_REPORTED(name, suffix, variant)   META_K_SET(name, suffix, variant)
#define META_K_WIDE(name, suffix)                META_K_SET(name, suffix, 1)
#define META_K_WIDEST(name, suffix)              META_K_SET(name, suffix, 2)
#ifdef __x86_64__
#define META_K_ROWS_WIDEST(name, suffix) name##_rows_##suffix##_2
#else
#define META_K_ROWS_WIDEST(name, suffix) 0
#endif
#define META_K_CHECKED_ALONE(name, suffix, type) META_K_CHECKED_ALONE_(name, suffix, type)
#define META_K_CHECKED_ALONE_(name, suffix, type)                                                  \
    META_K_COMPILE(name, suffix##_3, 0)                                                            \
    META_K_OBJECT(name, suffix, type, 0, 0, 0)                                                     \
    META_K_HEAD(name, suffix##_3)
#define META_K_CHECKED(name, suffix, type) META_K_CHECKED_(name, suffix, type)
#define META_K_CHECKED_(name, suffix, type)                                                        \
    META_K_COMPILE(name, suffix##_3, 0)                                                            \
    META_K_OBJECT(name, suffix, type, name##_rows_##suffix##_1, META_K_ROWS_WIDEST(name, suffix),  \
                  0)                                                                               \
    META_K_HEAD(name, suffix##_3)

/* The file's own text, from which other devices' compilers build: once for all kernels of the file. */
#ifdef META_KERNEL_TEXT_FROM /* an array ahead of the kernel file, which meta-kernel embed wrote */
#define META_K_TEXT_OF(name) META_KERNEL_TEXT_FROM
#else
#define META_K_TEXT_OF(name) meta_kernel_text_##name
#endif
#ifdef META_KERNEL_TEXT_FROM
#define META_K_TEXT(name)
#elif defined META_KERNEL_TEXT_APART
#define META_K_TEXT(name) META_K_EXTERN const char meta_kernel_text_##name[];
#else
#define META_K_TEXT(name)                                                                          \
    META_K_EXTERN const char meta_kernel_text_##name[];                                            \
    __asm__(".pushsection .rodata\n"                                                               \
            ".ifndef \"meta_kernel_text of " __FILE__ "\"\n"                                       \
            "\"meta_kernel_text of " __FILE__ "\":\n"                                              \
            ".incbin \"" __FILE__ "\"\n"                                                           \
            ".byte 0\n"                                                                            \
            ".endif\n"                                                                             \
            ".global meta_kernel_text_" #name "\n"                                                 \
            ".hidden meta_kernel_text_" #name "\n"                                                 \
            ".set meta_kernel_text_" #name ", \"meta_kernel_text of " __FILE__ "\"\n"              \
            ".popsection\n");
#endif

#endif

#ifndef META_KERNEL_NO_PASS /* only the declarations */
#include "meta_kernel_pass.h"
#endif
