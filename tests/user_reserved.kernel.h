/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of test_user_reserved: names that OpenCL C, C++, CUDA and HIP reserve and C does not, and
 * macros of the file whose names are those of variables in the text for a device: ∀ of them. */
#define META_KERNEL_TYPES (META_KERNEL_F64 | META_KERNEL_I32)
#define META_KERNEL_FILE  "user_reserved.kernel.h"
#include <meta_kernel.h>

#ifndef USER_RESERVED_ONCE
#define USER_RESERVED_ONCE
typedef struct float2 {
    float x, dot;
} float2;
struct private {
    float2 global;
    int32_t kernel[2];
};
enum { uchar = 3, all = 4 };
#endif
#define s       1
#define n       2
#define r       3
#define i       4
#define k       5
#define word    6
#define layout  8
#define base    9
#define cell    13
#define ndim    14
#define min(a, b) \
    ((a) < (b) ? (a) : /* the lesser */ (b))
#define pair(class) (class##_of + 1) * sign(private) // with an apostrophe's '
#define sign(x) ((x) < 0 ? -1 : 1)

META_FUNCTION T FN(clamp)(T step, T half)
{
    return min(step, half);
}

/* Of arrays, values, scalars and results; of structures, their tags and members; of variables and
 * labels. */
#define kernel_ARGS(A)                                                                             \
    A(OUT, T, local) A(IN, T, constant, STAR(1)) A(VALUE, struct private, new)                     \
    A(VALUE, float2, class) A(SCALAR, T, template) A(SUM, T, this) A(MAX, T, virtual)              \
    A(MIN_AT, T, typename)
META_CELLS(kernel)
{
    const T own_of = 20, private = FN(clamp)(AT1(constant, -1) + AT1(constant, 1), 60);
    T barrier = (T)new.kernel[1] * (T)class.dot + (T)new.global.x, namespace = pair(own);
    for (int32_t global = 0;; ++global) {
        if (global == uchar) goto delete;
        barrier += (T)(all * global);
    }
delete:
    ON(local) = barrier + namespace + template - ON(constant);
    ADD(this, ON(local) + s + n + r + i + k + word + layout + base);
    RAISE(virtual, ON(local) - cell - ndim);
    LOWER(typename, ON(local));
}

/* Of memory that a team shares. */
#define throw_ARGS(A) A(INOUT, T, get_global_id) A(SHARED, T, threadIdx, 4)
META_TEAMS(throw, 4, 1, 1)
{
    MEMBERS { SHARED(threadIdx, MY(0)) = ON(get_global_id); }
    MEMBERS
    {
        T or = SHARED(threadIdx, EXTENT(0) - 1 - MY(0));
        if (or <= 50) or += 100;
        ON(get_global_id) = or;
    }
}

#include META_AGAIN
