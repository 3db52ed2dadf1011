/* SPDX-License-Identifier: BSD-3-Clause */
/** @file python_layout.c
 *  Prints the layout of the structures, and the numbers, that the Python package declares for
 * itself: tests/python_checks.py compares them. */
#include <stdio.h>

#define META_KERNEL_NO_PASS
#include "meta_kernel.h"
#ifdef WITH_MPI
#include "meta_comm.h"
#endif

#define SIZE(type)           printf(#type " %zu\n", sizeof(type))
#define MEMBER(type, member) printf(#type "." #member " %zu\n", offsetof(type, member))
#define NUMBER(name)         printf(#name " %d\n", (int)(name))

int main(void)
{
    SIZE(meta_box);
    MEMBER(meta_box, ndim), MEMBER(meta_box, size), MEMBER(meta_box, start), MEMBER(meta_box, end);
    SIZE(meta_grid_field);
    MEMBER(meta_grid_field, name), MEMBER(meta_grid_field, type), MEMBER(meta_grid_field, stagger);
    MEMBER(meta_grid_field, ptr), MEMBER(meta_grid_field, box);
    SIZE(meta_backend_desc);
    MEMBER(meta_backend_desc, mode), MEMBER(meta_backend_desc, usable),
        MEMBER(meta_backend_desc, devices);
    MEMBER(meta_backend_desc, name), MEMBER(meta_backend_desc, reason),
        MEMBER(meta_backend_desc, path);
    SIZE(meta_device_desc);
    MEMBER(meta_device_desc, mode), MEMBER(meta_device_desc, index),
        MEMBER(meta_device_desc, backend);
    MEMBER(meta_device_desc, name), MEMBER(meta_device_desc, driver),
        MEMBER(meta_device_desc, memory);
    MEMBER(meta_device_desc, compute_units), MEMBER(meta_device_desc, has_f64),
        MEMBER(meta_device_desc, is_host);
    MEMBER(meta_device_desc, is_gpu), MEMBER(meta_device_desc, pci);
    SIZE(meta_kernel_parameter);
    MEMBER(meta_kernel_parameter, name), MEMBER(meta_kernel_parameter, kind),
        MEMBER(meta_kernel_parameter, type);
    MEMBER(meta_kernel_parameter, bytes), MEMBER(meta_kernel_parameter, reach),
        MEMBER(meta_kernel_parameter, low);
    MEMBER(meta_kernel_parameter, high), MEMBER(meta_kernel_parameter, dropped),
        MEMBER(meta_kernel_parameter, grown);
    MEMBER(meta_kernel, name), MEMBER(meta_kernel, type), MEMBER(meta_kernel, parameter),
        MEMBER(meta_kernel, parameters);
    SIZE(meta_extreme_f64);
    MEMBER(meta_extreme_f64, index);
    SIZE(meta_extreme_f32);
    MEMBER(meta_extreme_f32, index);
    NUMBER(META_F64), NUMBER(META_F32), NUMBER(META_I64), NUMBER(META_U64), NUMBER(META_I32),
        NUMBER(META_U32);
    NUMBER(META_I16), NUMBER(META_U16), NUMBER(META_I8), NUMBER(META_U8), NUMBER(META_TYPE_COUNT);
    NUMBER(META_SUM), NUMBER(META_MIN), NUMBER(META_MAX);
    NUMBER(META_2D5P), NUMBER(META_2D9P), NUMBER(META_3D7P), NUMBER(META_3D27P),
        NUMBER(META_STENCIL_COUNT);
    NUMBER(META_PARAMETER_OUT), NUMBER(META_PARAMETER_INOUT), NUMBER(META_PARAMETER_IN),
        NUMBER(META_PARAMETER_ADD);
    NUMBER(META_PARAMETER_SCALAR), NUMBER(META_PARAMETER_VALUE), NUMBER(META_PARAMETER_SUM);
    NUMBER(META_PARAMETER_MIN), NUMBER(META_PARAMETER_MAX), NUMBER(META_PARAMETER_MIN_AT);
    NUMBER(META_PARAMETER_MAX_AT), NUMBER(META_PARAMETER_WHOLE), NUMBER(META_MAX_DIM),
        NUMBER(META_KERNEL_DIMS);
#ifdef WITH_MPI
    SIZE(MPI_Comm);
    SIZE(meta_halo);
    SIZE(meta_halo_field);
    MEMBER(meta_halo_field, box);
    SIZE(meta_halo_desc);
    MEMBER(meta_halo_desc, cart), MEMBER(meta_halo_desc, box), MEMBER(meta_halo_desc, low);
    MEMBER(meta_halo_desc, high), MEMBER(meta_halo_desc, kind), MEMBER(meta_halo_desc, fields);
    MEMBER(meta_halo_desc, type), MEMBER(meta_halo_desc, op), MEMBER(meta_halo_desc, field);
    MEMBER(meta_halo_desc, batch);
    NUMBER(META_HALO_FACES), NUMBER(META_HALO_ALL), NUMBER(META_HALO_COPY), NUMBER(META_HALO_ADD);
#endif
    return 0;
}
