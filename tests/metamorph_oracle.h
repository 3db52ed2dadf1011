/* SPDX-License-Identifier: BSD-3-Clause */
/** @file metamorph_oracle.h
 *  What the programs of metamorph_style.h compute, in plain loops over the whole grid. */
#ifndef METAMORPH_ORACLE_H
#define METAMORPH_ORACLE_H

#include <stdlib.h>

/** style_torus()'s sum on @p rank. */
static inline double oracle_torus(int rank, int ranks, const int cells[3])
{
    double sum = 0;
    for (int k = 0; k < cells[2]; ++k)
        for (int j = 0; j < cells[1]; ++j)
            for (int i = 0; i < cells[0]; ++i) {
                const int x =
                    i + cells[0] * rank; /* as wide as all ranks, counted from 1; 0 is the last */
                sum += (x ? x : cells[0] * ranks) + j + k;
            }
    return sum;
}

/** The value that a cell begins with. */
static inline float oracle_first(int x, int y, int z)
{
    return (float)((x * 7 + y * 13 + z * 29) % 31) - 9.5f;
}

/** style_average()'s cells of all ranks after some steps; the caller frees them. */
static inline float *oracle_average(const int cells[3], int steps)
{
    const int nx = cells[0], ny = cells[1], nz = cells[2];
    float *now = malloc(sizeof(float) * (size_t)(nx * ny * nz)),
          *next = malloc(sizeof(float) * (size_t)(nx * ny * nz));
#define ORACLE(x, y, z) now[(((z) + nz) % nz * ny + ((y) + ny) % ny) * nx + ((x) + nx) % nx]
    for (int z = 0; z < nz; ++z)
        for (int y = 0; y < ny; ++y)
            for (int x = 0; x < nx; ++x) ORACLE(x, y, z) = oracle_first(x, y, z);
    for (int step = 0; step < steps; ++step) {
        for (int z = 0; z < nz; ++z)
            for (int y = 0; y < ny; ++y)
                for (int x = 0; x < nx; ++x)
                    next[(z * ny + y) * nx + x] =
                        (ORACLE(x, y, z) + ORACLE(x - 1, y, z) + ORACLE(x + 1, y, z) +
                         ORACLE(x, y - 1, z) + ORACLE(x, y + 1, z) + ORACLE(x, y, z - 1) +
                         ORACLE(x, y, z + 1)) /
                        7;
        float *swap = now;
        now = next;
        next = swap;
    }
#undef ORACLE
    free(next);
    return now;
}

#endif
