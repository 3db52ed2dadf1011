/* SPDX-License-Identifier: BSD-3-Clause */
/** @file move.h
 *  The move kernels, included once per element size with META_SUFFIX (u64 …) and META_M (the unsigned
 *  type of that size) defined. Packing, unpacking, transposing and copying a box are the same
 *  operation on strided layouts; each has its own kernel, so that a back end can replace one of
 *  them. */
#define META_MOVE(name)                                                              \
    META_KERNEL(name)                                                                \
    {                                                                                \
        META_SPACE;                                                                  \
        META_OUT(META_M, out, 0);                                                    \
        META_IN(META_M, in, 1);                                                      \
        const meta_i64 to = META_STRIDE(0, 0), from = META_STRIDE(1, 0);             \
        META_ROWS(r)                                                                 \
        {                                                                            \
            META_GLOBAL META_M *d = out + META_AT(r, 0);                             \
            META_GLOBAL const META_M *a = in + META_AT(r, 1);                        \
            if (to == 1 && from == 1) {                                              \
                META_SIMD META_COLUMNS(i) d[i] = a[i];                               \
            } else {                                                                 \
                META_COLUMNS(i) d[i * to] = a[i * from];                             \
            }                                                                        \
        }                                                                            \
    }

META_MOVE(copy)
META_MOVE(pack)
META_MOVE(unpack)
META_MOVE(transpose)

META_KERNEL(fill)
{
    META_SPACE;
    META_OUT(META_M, out, 0);
    META_SCALAR(META_M, value);
    const meta_i64 to = META_STRIDE(0, 0);
    META_ROWS(r)
    {
        META_GLOBAL META_M *d = out + META_AT(r, 0);
        META_COLUMNS(i) d[i * to] = value;
    }
}

#undef META_MOVE
