/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_native.kernel.h
 *  Kernels with bodies in the languages of back ends beside the portable ones, right and wrong; see
 *  test_user_native.c. */
#define META_KERNEL_TYPES (META_KERNEL_F64 | META_KERNEL_F32 | META_KERNEL_I32)
#include <meta_kernel.h>

/* Which body runs: 1 the portable one. That of META_NATIVE_OPENCL(mark) is no body of `marks`, nor
 * is one in a comment: META_NATIVE_GPU(marks). */
#define mark_ARGS(A) A(OUT, T, out) A(MAX, T, most)
META_CELLS(mark)
{
    ON(out) = 1;
    RAISE(most, 1);
}
#ifdef META_NATIVE_OPENCL
META_FUNCTION int two_of_opencl(void)
{
    return get_work_dim() > 0 ? 2 : 0;
}
META_NATIVE_OPENCL(mark)
{
    ON(out) = two_of_opencl();
    RAISE(most, 2);
}
#endif
#ifdef META_NATIVE_GPU
META_NATIVE_GPU ( mark )
{
    auto three = [](int x) { return (T)(x + 1); };
    ON(out) = three(2);
    RAISE(most, 3);
}
#endif

#define marks_ARGS(A) A(OUT, T, out) A(IN, T, scale, WHOLE)
META_CELLS(marks)
{
    ON(out) = GET(scale, 0); // META_NATIVE_OPENCL(marks)
}

/* The same values by pointers, strides and the box's extents. */
#define smooth_ARGS(A)                                                                             \
    A(OUT, T, next) A(INOUT, T, age) A(IN, T, now, BOX(1)) A(IN, T, level, LINE(1))                \
    A(VALUE, T, k) A(SUM, T, sum) A(SUM, int64_t, cells) A(MIN, T, least)
META_CELLS(smooth)
{
    const T v = AT2(now, -1, 0) + AT2(now, 1, 1) + AT2(now, 0, -1) + k * ON(level);
    ON(next) = v;
    ON(age) += 1;
    ADD(sum, v);
    ADD(cells, 1);
    LOWER(least, v + (T)(INDEX(0) + INDEX(1)));
}
#ifdef META_NATIVE_OPENCL
META_NATIVE_OPENCL(smooth)
{
    __global const T *c = &ON(now);
    const T v = c[-STRIDE(now, 0)] + c[STRIDE(now, 0) + STRIDE(now, 1)] + c[-STRIDE(now, 1)] +
                k * ON(level);
    if (INDEX(0) >= 1 + EXTENT(0) || INDEX(1) >= 1 + EXTENT(1) || EXTENT(2) != 1) return;
    if (STRIDE(level, 0) != 0) return;
    ON(next) = v;
    *&ON(age) += (T)1;
    ADD(sum, v);
    ADD(cells, 1);
    LOWER(least, v + (T)(INDEX(0) + INDEX(1)));
}
#endif
#ifdef META_NATIVE_GPU
META_NATIVE_GPU(smooth)
{
    const T *c = &ON(now);
    const T v = c[-STRIDE(now, 0)] + c[STRIDE(now, 0) + STRIDE(now, 1)] + c[-STRIDE(now, 1)] +
                k * ON(level);
    if (INDEX(0) >= 1 + EXTENT(0) || INDEX(1) >= 1 + EXTENT(1) || EXTENT(2) != 1) return;
    if (STRIDE(level, 0) != 0) return;
    ON(next) = v;
    ON(age) += static_cast<T>(1);
    ADD(sum, v);
    ADD(cells, 1);
    LOWER(least, v + (T)(INDEX(0) + INDEX(1)));
}
#endif

/* Bodies of their own that do the one wrong thing that they are told: nothing, a cell, an element
 * anywhere, an addition, a sum, a maximum, an offset beyond the reach. */
#define errs_ARGS(A)                                                                               \
    A(OUT, T, out) A(INOUT, T, to, WHOLE) A(ADD, T, added, CELL) A(IN, T, in, STAR(1))             \
    A(VALUE, int32_t, wrong) A(SUM, T, sum) A(MAX, T, most)
META_CELLS(errs)
{
    ON(out) = ON(in);
    GET(to, INDEX(0) + 12 * INDEX(1)) = ON(in);
    ADD_TO(ON(added), ON(in));
    ADD(sum, ON(in));
    RAISE(most, ON(in));
}
#if defined META_NATIVE_OPENCL || defined META_NATIVE_GPU
#define ERRS                                                                                       \
    {                                                                                              \
        const int here = INDEX(0) == 5 && INDEX(1) == 3;                                           \
        ON(out) = ON(in) + (T)(wrong == 1 && here);                                                \
        GET(to, INDEX(0) + 12 * INDEX(1)) = ON(in) + (T)(wrong == 2 && here);                      \
        ADD_TO(ON(added), ON(in) + (T)(wrong == 3 && here));                                       \
        ADD(sum, ON(in) + (T)(wrong == 4 && here));                                                \
        RAISE(most, ON(in) + (T)(100 * (wrong == 5 && here)));                                     \
        if (wrong == 6) ON(out) = AT2(in, wrong - 4, 0);                                           \
    }
#ifdef META_NATIVE_OPENCL
META_NATIVE_OPENCL(errs) ERRS /* the line of OpenCL */
#else
META_NATIVE_GPU(errs) ERRS /* the line of GPUs */
#endif
#endif

#include META_AGAIN
