/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_manual_examples.c
 *  The examples of the manual pages of meta.h and meta_library.h: what stands between EXAMPLE and
 * END OF EXAMPLE is shown by the pages of the names given there (doc/manual.awk), and does what it
 * says. */
/* TEST: backends=all labels=core,documents */
#define META_KERNEL_NO_PASS /* this program has no kernels */
#include "meta_kernel.h"
#include "meta_library.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (!CHECK_OK(call)) return;                                                               \
    } while (0)

enum { N = 64 };

/* ------------------------------------------------------------------ life and devices */

static void the_library_begins_and_ends(void)
{
    CHECK_OK(meta_finalize());
    /* EXAMPLE: meta_init meta_finalize meta_last_error meta_strerror */
    meta_err err = meta_init();
    if (err) fprintf(stderr, "%s: %s\n", meta_strerror(err), meta_last_error());

    /* … allocate, compute, free … */

    err = meta_finalize();
    if (err) fprintf(stderr, "%s: %s\n", meta_strerror(err), meta_last_error());
    /* END OF EXAMPLE */
    CHECK_INT(err, META_OK);
    test_require_device();
}

static void a_job_is_described_by_hand(void)
{
    CHECK_OK(meta_finalize());
    TRY(meta_init());
    /* EXAMPLE: meta_set_job meta_rank_device */
    /* Processes that something else than MPI has started: rank 2 of 4, alone on its node. */
    meta_mode mode;
    int index, threads;
    TRY(meta_set_job(2, 4, 0, 1));
    TRY(meta_rank_device(2, 4, 0, 1, &mode, &index, &threads));
    printf("device %d of mode %d, %d threads\n", index, mode, threads);
    /* END OF EXAMPLE */
    CHECK(threads > 0);
    CHECK_OK(meta_finalize());
    test_require_device();
}

static void versions_agree(void)
{
    /* EXAMPLE: meta_version META_VERSION_MAJOR */
    int major, minor;
    TRY(meta_version(&major, &minor, NULL));
    if (major != META_VERSION_MAJOR || minor < META_VERSION_MINOR)
        fprintf(stderr, "compiled with libmeta %d.%d, running with %d.%d\n", META_VERSION_MAJOR,
                META_VERSION_MINOR, major, minor);
    /* END OF EXAMPLE */
    CHECK_INT(major, META_VERSION_MAJOR);
}

static void back_ends_are_listed(void)
{
    /* EXAMPLE: meta_backend_count meta_backend_info meta_backend_desc */
    int count;
    TRY(meta_backend_count(&count));
    for (int k = 0; k < count; ++k) {
        meta_backend_desc desc = META_BACKEND_DESC_INIT;
        TRY(meta_backend_info(k, &desc));
        printf("%s: %d devices%s%s\n", desc.name, desc.devices, desc.usable ? "" : ", ",
               desc.reason);
    }
    /* END OF EXAMPLE */
    CHECK(count > 0);
}

static void variables_are_listed(void)
{
    /* EXAMPLE: meta_variable_count meta_variable_info meta_variable_desc */
    int count;
    TRY(meta_variable_count(&count));
    for (int k = 0; k < count; ++k) {
        meta_variable_desc desc = META_VARIABLE_DESC_INIT;
        TRY(meta_variable_info(k, &desc));
        if (desc.value) printf("%s=%s\n", desc.name, desc.value);
    }
    /* END OF EXAMPLE */
    CHECK(count > 30);
}

static void devices_are_listed(void)
{
    /* EXAMPLE: meta_mode_find meta_device_count meta_device_info meta_device_desc meta_mode */
    meta_mode mode;
    int count;
    TRY(meta_mode_find("openmp", &mode)); /* META_OPENMP */
    TRY(meta_device_count(mode, &count));
    for (int k = 0; k < count; ++k) {
        meta_device_desc desc = META_DEVICE_DESC_INIT;
        TRY(meta_device_info(k, mode, &desc));
        printf("%s:%d: %s, %d cores\n", desc.backend, k, desc.name, desc.compute_units);
    }
    /* END OF EXAMPLE */
    CHECK_INT(mode, META_OPENMP);
}

static void a_thread_changes_its_device(void)
{
    /* EXAMPLE: meta_set_acc meta_get_acc */
    meta_mode mode;
    int index;
    void *there;
    TRY(meta_get_acc(&index, &mode));
    TRY(meta_set_acc(0, META_OPENMP)); /* for what this thread allocates now */
    TRY(meta_alloc(&there, 1 << 20));
    TRY(meta_set_acc(index, mode));
    /* END OF EXAMPLE */
    CHECK_OK(meta_free(there));
}

/* ------------------------------------------------------------------ memory */

static void buffers_hold_what_is_copied(void)
{
    /* EXAMPLE: meta_alloc meta_free meta_copy_h2d meta_copy_d2h meta_copy_d2d meta_type_size */
    double host[N] = {1, 2, 3}, back[N];
    size_t bytes;
    void *a, *b;
    TRY(meta_type_size(META_F64, &bytes));
    TRY(meta_alloc(&a, N * bytes));
    TRY(meta_alloc(&b, N * bytes));
    TRY(meta_copy_h2d(a, host, sizeof host, NULL));
    TRY(meta_copy_d2d((char *)b + 8, a, sizeof host - 8, NULL)); /* addresses count in bytes */
    TRY(meta_copy_d2h(back, a, sizeof back, NULL));
    TRY(meta_free(a));
    TRY(meta_free(b));
    /* END OF EXAMPLE */
    CHECK_ARRAY(back, host, N, META_F64);
}

static void grids_have_ghosts(void)
{
    double inner[16 * 8] = {0};
    /* EXAMPLE: meta_grid_alloc meta_fill meta_fill_box meta_copy_box_d2h meta_box */
    const int64_t cells[2] = {16, 8};
    const int ghosts[2] = {1, 1};
    const double one = 1, zero = 0;
    const meta_box dense = {2, {16, 8}, {0, 0}, {16, 8}}; /* of array inner on the host */
    meta_box box;
    void *grid;
    TRY(meta_grid_alloc(&grid, &box, 2, cells, ghosts, ghosts, META_F64));
    TRY(meta_fill(grid, box.size[0] * box.size[1], &zero, META_F64, NULL)); /* with the ghosts */
    TRY(meta_fill_box(grid, &box, &one, META_F64, NULL));                   /* without them */
    TRY(meta_copy_box_d2h(inner, &dense, grid, &box, META_F64, NULL));
    TRY(meta_free(grid));
    /* END OF EXAMPLE */
    CHECK_NEAR(inner[0] + inner[16 * 8 - 1], 2, 0);
}

static void a_family_meets_in_one_call(void)
{
    double first = 0, flux = 0;
    /* EXAMPLE: meta_grid_family meta_grid_field */
    const int64_t cells[2] = {16, 8};
    const int ghosts[2] = {1, 1};
    const double half = 0.5, two = 2;
    meta_grid_field f[] = {{.name = "density", .type = META_F64},
                           {.name = "velocity", .type = META_F64, .stagger = {1, 0}}};
    meta_box box; /* of the cells */
    TRY(meta_grid_family(f, 2, &box, 2, cells, ghosts, ghosts));
    TRY(meta_fill_box(f[0].ptr, &f[0].box, &half, META_F64, NULL)); /* 16 × 8 cells */
    TRY(meta_fill_box(f[1].ptr, &f[1].box, &two, META_F64, NULL));  /* 17 × 8 faces */
    TRY(meta_dot(&flux, f[0].ptr, f[1].ptr, &box, META_F64, NULL));
    for (int k = 0; k < 2; ++k) TRY(meta_free(f[k].ptr));
    /* END OF EXAMPLE */
    CHECK_NEAR(flux, 16 * 8, 0);
    /* EXAMPLE: meta_grid_shape */
    const meta_box wide = {2, {12, 10}, {1, 1}, {11, 9}}, narrow = {2, {11, 9}, {1, 1}, {11, 9}};
    void *buf;
    TRY(meta_alloc(&buf, 12 * 10 * sizeof(double)));
    TRY(meta_grid_shape(buf, &wide, META_F64));                  /* a grid of 12 × 10 elements */
    TRY(meta_fill_box(buf, &narrow, &two, META_F64, NULL));      /* by its own extents */
    TRY(meta_grid_shape(buf, NULL, META_F64));                   /* by those of a box again */
    TRY(meta_copy_d2h(&first, (double *)buf + 12 + 1, 8, NULL)); /* the first own cell */
    TRY(meta_free(buf));
    /* END OF EXAMPLE */
    CHECK_NEAR(first, 2, 0);
}

static void boxes_are_copied(void)
{
    double back[4] = {0};
    /* EXAMPLE: meta_copy_box meta_copy_box_h2d */
    const double host[4] = {1, 2, 3, 4}; /* 2 × 2 cells */
    const meta_box dense = {2, {2, 2}, {0, 0}, {2, 2}};
    const meta_box here = {2, {8, 8}, {1, 1}, {3, 3}};  /* 2 × 2 of 8 × 8 cells */
    const meta_box there = {2, {8, 8}, {5, 5}, {7, 7}}; /* others of the same array */
    void *array;
    TRY(meta_alloc(&array, 8 * 8 * sizeof(double)));
    TRY(meta_copy_box_h2d(array, &here, host, &dense, META_F64, NULL));
    TRY(meta_copy_box(array, &there, array, &here, META_F64, NULL));
    /* END OF EXAMPLE */
    CHECK_OK(meta_copy_box_d2h(back, &dense, array, &there, META_F64, NULL));
    CHECK_ARRAY(back, host, 4, META_F64);
    CHECK_OK(meta_free(array));
}

static void host_memory_is_pinned(void)
{
    void *buffer;
    if (!CHECK_OK(meta_alloc(&buffer, 1 << 16))) return;
    /* EXAMPLE: meta_host_alloc meta_host_free */
    void *host;
    TRY(meta_host_alloc(&host, 1 << 16));
    memset(host, 0, 1 << 16);
    TRY(meta_copy_h2d(buffer, host, 1 << 16, NULL));
    TRY(meta_host_free(host));
    /* END OF EXAMPLE */
    CHECK_OK(meta_free(buffer));
}

static void a_host_array_is_a_buffer_of_openmp(void)
{
    meta_mode mode;
    int index;
    if (!CHECK_OK(meta_get_acc(&index, &mode)) || mode != META_OPENMP) return;
    /* EXAMPLE: meta_wrap meta_unwrap meta_host_view meta_native_kind */
    double array[N];
    const double three = 3;
    void *buffer, *view;
    TRY(meta_wrap(&buffer, array, sizeof array, META_NATIVE_HOST));
    TRY(meta_fill(buffer, N, &three, META_F64, NULL));
    TRY(meta_host_view(buffer, &view)); /* the address itself, where memory is the host's */
    ((double *)view)[0] = 4;
    TRY(meta_unwrap(buffer));
    /* END OF EXAMPLE */
    CHECK_NEAR(array[0] + array[1], 7, 0);
}

static void buffers_have_names(void)
{
    void *buffer;
    if (!CHECK_OK(meta_alloc(&buffer, 1024))) return;
    /* EXAMPLE: meta_label meta_pointer_info meta_pointer_desc */
    meta_pointer_desc desc = META_POINTER_DESC_INIT;
    TRY(meta_label(buffer, "temperature"));
    TRY(meta_pointer_info((char *)buffer + 100, &desc));
    printf("byte %zu of %s, which has %zu bytes\n", desc.offset, desc.label, desc.bytes);
    /* END OF EXAMPLE */
    CHECK_STRING(desc.label, "temperature");
    CHECK_INT(desc.offset, 100);
    CHECK_OK(meta_free(buffer));
}

/* EXAMPLE: meta_here */
/* An allocator of the program's own: errors name the line of its caller. */
static meta_err allocate(void **ptr, size_t bytes, const char *file, int line)
{
    meta_here(file, line);
    return (meta_alloc)(ptr, bytes); /* the function: the macro would name this line */
}
/* END OF EXAMPLE */

static void a_place_is_the_callers(void)
{
    void *buffer;
    TRY(allocate(&buffer, 64, __FILE__, __LINE__));
    CHECK_OK(meta_free(buffer));
}

static void memory_is_counted(void)
{
    meta_mode mode;
    int index;
    if (!CHECK_OK(meta_get_acc(&index, &mode))) return;
    /* EXAMPLE: meta_mem_info meta_mem_desc meta_pool_info meta_pool_trim meta_pool_limit
     * meta_pool_desc */
    meta_mem_desc mem = META_MEM_DESC_INIT;
    meta_pool_desc pool = META_POOL_DESC_INIT;
    TRY(meta_mem_info(index, mode, &mem));
    TRY(meta_pool_limit(index, mode, (size_t)256 << 20)); /* keep at most 256 MiB */
    TRY(meta_pool_trim(index, mode, 0));                  /* give all of it back now */
    TRY(meta_pool_info(index, mode, &pool));
    printf("%zu bytes in buffers, %zu kept\n", (size_t)mem.allocated, (size_t)pool.kept);
    /* END OF EXAMPLE */
    CHECK_INT(pool.kept, 0);
}

/* ------------------------------------------------------------------ order */

/* EXAMPLE: meta_event_then */
static void note(void *user, meta_err status)
{
    *(int *)user = status == META_OK ? 1 : -1;
}

static meta_err fill_and_note(void *buffer, const double *value, int *noted)
{
    meta_event done;
    meta_err err = meta_fill(buffer, N, value, META_F64, &done);
    if (!err) err = meta_event_then(done, note, noted); /* noted is set by the wait */
    if (!err) err = meta_event_wait(done);
    if (!err) err = meta_event_free(&done);
    return err;
}
/* END OF EXAMPLE */

static void work_is_queued(void)
{
    const double one = 1;
    int noted = 0;
    void *a, *b;
    if (!CHECK_OK(meta_alloc(&a, N * sizeof(double)))) return;
    if (!CHECK_OK(meta_alloc(&b, N * sizeof(double)))) return;
    TRY(fill_and_note(a, &one, &noted));
    CHECK_INT(noted, 1);
    /* EXAMPLE: meta_event_test meta_event_wait meta_event_waitall meta_event_free meta_flush
     * meta_event */
    double host[N];
    meta_event done[2];
    int complete;
    TRY(meta_fill(a, N, &one, META_F64, META_ASYNC)); /* no event: meta_flush() waits for it */
    TRY(meta_fill(b, N, &one, META_F64, &done[0]));
    TRY(meta_copy_d2h(host, a, sizeof host, &done[1])); /* behind the first fill */
    TRY(meta_event_test(done[0], &complete));
    if (!complete) TRY(meta_event_wait(done[0]));
    TRY(meta_event_waitall(2, done));
    TRY(meta_event_free(&done[0]));
    TRY(meta_event_free(&done[1]));
    TRY(meta_flush());
    /* END OF EXAMPLE */
    CHECK_NEAR(host[N - 1], 1, 0);
    CHECK_OK(meta_free(a));
    CHECK_OK(meta_free(b));
}

/* ------------------------------------------------------------------ sharing, policies */

static void native_objects_are_shared(void)
{
    void *buffer;
    meta_mode mode;
    int index;
    if (!CHECK_OK(meta_get_acc(&index, &mode)) || !CHECK_OK(meta_alloc(&buffer, 4096))) return;
    /* EXAMPLE: meta_get_state meta_native meta_native_end meta_state */
    meta_state state = META_STATE_INIT;
    void *object;
    size_t offset;
    TRY(meta_get_state(index, mode, &state));
    TRY(meta_native(buffer, &object, &offset));
    /* … a library's own call: OpenCL's with state.queue and cl_mem object from byte offset on … */
    TRY(meta_native_end(buffer));
    /* END OF EXAMPLE */
    CHECK(object != NULL);
    CHECK_OK(meta_free(buffer));
}

/* EXAMPLE: meta_set_state */
/* Before the device is used: the program's own objects, here those of an earlier life. */
static meta_err use_objects(int index, meta_mode mode, const meta_state *own)
{
    return meta_set_state(index, mode, own);
}
/* END OF EXAMPLE */

static void objects_come_before_the_first_use(void)
{
    meta_state state = META_STATE_INIT;
    meta_mode mode;
    int index;
    if (!CHECK_OK(meta_get_acc(&index, &mode)) || !CHECK_OK(meta_get_state(index, mode, &state)))
        return;
    CHECK_ERR(use_objects(index, mode, &state), META_ERR_STATE);
}

/* EXAMPLE: meta_set_policy_function meta_policy_function meta_decision meta_candidate */
/* The device that is expected to be done first, but for small kernels the first one. */
static int choose(const meta_decision *decision, void *user)
{
    int best = 0;
    double least = -1;
    (void)user;
    for (int k = 0; k < decision->candidates && decision->cells > 1000; ++k) {
        const meta_candidate *c = decision->candidate[k];
        const double cost = c->queued + c->moving + c->running;
        if (least < 0 || cost < least) best = k, least = cost;
    }
    return best;
}

static meta_err use_choose(void)
{
    return meta_set_policy_function(choose, NULL, META_POLICY_THREAD); /* with META_MODE=auto */
}
/* END OF EXAMPLE */

static void policies_are_set(void)
{
    TRY(use_choose());
    /* EXAMPLE: meta_set_policy meta_policy_scope */
    TRY(meta_set_policy("locality", META_POLICY_THREAD)); /* of META_MODE=auto, in this thread */
    TRY(meta_set_policy("greedy", META_POLICY_CALL));     /* of its next kernel */
    TRY(meta_set_policy(NULL, META_POLICY_THREAD));       /* as META_POLICY says */
    /* END OF EXAMPLE */
    TRY(meta_set_policy(NULL, META_POLICY_CALL));
}

/* ------------------------------------------------------------------ faces */

static void faces_are_packed(void)
{
    const meta_box box = {2, {8, 8}, {1, 1}, {7, 7}};
    void *grid, *packed, *turned;
    if (!CHECK_OK(meta_alloc(&grid, 8 * 8 * 8)) || !CHECK_OK(meta_alloc(&packed, 8 * 8 * 8)) ||
        !CHECK_OK(meta_alloc(&turned, 8 * 8 * 8)))
        return;
    /* EXAMPLE: meta_pack_face meta_unpack_face meta_face_slab meta_face_elements meta_face
     * meta_slab */
    meta_face from, to;
    int64_t elements;
    TRY(meta_face_slab(&from, &box, 0, META_SLAB_LOW, 1)); /* the cells at the low end of x */
    TRY(meta_face_slab(&to, &box, 0, META_SLAB_HIGH_GHOST, 1));
    TRY(meta_face_elements(&from, &elements));
    TRY(meta_pack_face(packed, grid, &from, META_F64, META_ASYNC));
    TRY(meta_unpack_face(grid, packed, &to, META_F64, META_ASYNC)); /* periodic along x */
    TRY(meta_flush());
    /* END OF EXAMPLE */
    CHECK_INT(elements, 6);
    {
        /* EXAMPLE: meta_face_make meta_face_box meta_transpose_face */
        const int64_t sizes[2] = {8, 8}, column[1] = {8}, stride[1] = {8};
        meta_face third, all;
        TRY(meta_face_make(&third, 3, 1, column, stride)); /* column 3 of 8 × 8 elements */
        TRY(meta_face_box(&all, &box));
        TRY(meta_pack_face(packed, grid, &third, META_F64, NULL));
        TRY(meta_pack_face(packed, grid, &all, META_F64, NULL));
        TRY(meta_transpose_face(turned, grid, sizes, META_F64, NULL)); /* the whole array */
        /* END OF EXAMPLE */
    }
    CHECK_OK(meta_free(grid));
    CHECK_OK(meta_free(packed));
    CHECK_OK(meta_free(turned));
}

/* ------------------------------------------------------------------ compute */

/* Two grids with ghosts, of value 1 everywhere. */
static bool two_grids(void **a, void **b, meta_box *box)
{
    const int64_t cells[3] = {8, 8, 8};
    const int ghosts[3] = {1, 1, 1};
    const double one = 1;
    bool made = CHECK_OK(meta_grid_alloc(a, box, 3, cells, ghosts, ghosts, META_F64)) &&
                CHECK_OK(meta_grid_alloc(b, box, 3, cells, ghosts, ghosts, META_F64));
    const int64_t all = box->size[0] * box->size[1] * box->size[2];
    return made && CHECK_OK(meta_fill(*a, all, &one, META_F64, NULL)) &&
           CHECK_OK(meta_fill(*b, all, &one, META_F64, NULL));
}

static void grids_are_computed(void)
{
    void *grid, *next;
    meta_box box;
    if (!two_grids(&grid, &next, &box)) return;
    /* EXAMPLE: meta_stencil meta_reduce meta_dot meta_axpy meta_stencil_kind meta_op */
    double sum, least, product, half = 0.5;
    TRY(meta_stencil(next, grid, &box, META_3D7P, META_F64, &sum, NULL)); /* and the new sum */
    TRY(meta_axpy(next, &half, grid, &box, META_F64, META_ASYNC));        /* next += grid / 2 */
    TRY(meta_reduce(&least, next, &box, META_MIN, META_F64, NULL));
    TRY(meta_dot(&product, next, grid, &box, META_F64, NULL));
    /* END OF EXAMPLE */
    CHECK_NEAR(sum, 512, 0);
    CHECK_NEAR(least, 1.5, 0);
    CHECK_NEAR(product, 768, 0);
    {
        /* EXAMPLE: meta_reduce_boxes */
        void *const fields[2] = {grid, next};
        meta_box half_box[2] = {box, box};
        double sums[2][2]; /* of each field, in each half of the box */
        half_box[0].end[2] = half_box[1].start[2] = (box.start[2] + box.end[2]) / 2;
        TRY(meta_reduce_boxes(sums, 2, 2, fields, 2, half_box, META_SUM, META_F64, NULL));
        /* END OF EXAMPLE */
        CHECK_NEAR(sums[0][0] + sums[1][1], 256 + 384, 0);
    }
    {
        /* EXAMPLE: meta_stencil_sums */
        meta_box side[2] = {box, box}; /* the first and the last plane */
        double of_side[2], of_new;
        side[0].end[2] = box.start[2] + 1;
        side[1].start[2] = box.end[2] - 1;
        TRY(meta_stencil_sums(next, grid, &box, META_3D7P, META_F64, &of_new, of_side, 2, side,
                              NULL));
        /* END OF EXAMPLE */
        CHECK_NEAR(of_new, 512, 0);
        CHECK_NEAR(of_side[0] + of_side[1], 128, 0);
    }
    {
        /* EXAMPLE: meta_set_reproducible meta_get_reproducible */
        int was;
        double sum_again;
        TRY(meta_get_reproducible(&was));
        TRY(meta_set_reproducible(
            1)); /* the same bits on every device, with any number of threads */
        const meta_err err = meta_reduce(&sum_again, grid, &box, META_SUM, META_F64, NULL);
        TRY(meta_set_reproducible(was));
        /* END OF EXAMPLE */
        CHECK_OK(err);
        CHECK_NEAR(sum_again, 512, 0);
    }
    CHECK_OK(meta_free(grid));
    CHECK_OK(meta_free(next));
}

/* ------------------------------------------------------------------ profiling */

static void profiles_are_printed(void)
{
    void *buffer;
    const float one = 1;
    if (!CHECK_OK(meta_alloc(&buffer, 4096))) return;
    /* EXAMPLE: meta_timers_init meta_timers_print meta_timers_finalize meta_range_push
     * meta_range_pop */
    TRY(meta_timers_init());
    TRY(meta_range_push("set up"));
    TRY(meta_fill(buffer, 1024, &one, META_F32, META_ASYNC));
    TRY(meta_range_pop());
    TRY(meta_timers_print()); /* a table on standard error */
    TRY(meta_timers_finalize());
    /* END OF EXAMPLE */
    CHECK_OK(meta_free(buffer));
}

static int kernels_begun;

/* EXAMPLE: meta_set_tool meta_tool meta_activity */
static void begin(void *user, meta_activity activity, const char *name, uint64_t bytes, uint64_t id)
{
    (void)name, (void)bytes, (void)id;
    if (activity == META_ACTIVITY_KERNEL) ++*(int *)user;
}

static meta_err count_kernels(int *count)
{
    meta_tool tool = META_TOOL_INIT;
    tool.user = count;
    tool.begin = begin;
    return meta_set_tool(&tool);
}
/* END OF EXAMPLE */

static void a_tool_is_told(void)
{
    void *buffer;
    const float one = 1;
    if (!CHECK_OK(meta_alloc(&buffer, 4096))) return;
    TRY(count_kernels(&kernels_begun));
    TRY(meta_fill(buffer, 1024, &one, META_F32, NULL));
    TRY(meta_set_tool(NULL));
    CHECK_INT(kernels_begun, 1);
    CHECK_OK(meta_free(buffer));
}

/* ------------------------------------------------------------------ ready kernels */

static void linear_algebra_is_ready(void)
{
    void *x, *y;
    meta_box box;
    double sum = 0;
    if (!two_grids(&x, &y, &box)) return;
    /* EXAMPLE: meta_axpby meta_xpay meta_scale meta_multiply */
    const double a = 2, b = 3;
    TRY(meta_scale(x, &a, x, &box, META_F64, META_ASYNC));        /* x = 2 x */
    TRY(meta_axpby(y, &a, x, &b, y, &box, META_F64, META_ASYNC)); /* y = 2 x + 3 y */
    TRY(meta_xpay(y, x, &b, y, &box, META_F64, META_ASYNC));      /* y = x + 3 y */
    TRY(meta_multiply(y, x, y, &box, META_F64, META_ASYNC));      /* y = x y, cell by cell */
    /* END OF EXAMPLE */
    CHECK_OK(meta_reduce(&sum, y, &box, META_MAX, META_F64, NULL));
    CHECK_NEAR(sum, 46, 0);
    CHECK_OK(meta_free(x));
    CHECK_OK(meta_free(y));
}

static void types_are_converted(void)
{
    const meta_box box = {1, {4}, {0}, {4}};
    const double numbers[4] = {1.9, -1.9, 1e30, 2};
    int32_t found[4];
    void *real, *whole;
    if (!CHECK_OK(meta_alloc(&real, sizeof numbers)) ||
        !CHECK_OK(meta_alloc(&whole, sizeof found)) ||
        !CHECK_OK(meta_copy_h2d(real, numbers, sizeof numbers, NULL)))
        return;
    /* EXAMPLE: meta_convert */
    /* Towards zero; what is too large for an integer becomes the largest. */
    TRY(meta_convert(whole, META_I32, real, META_F64, &box, NULL));
    /* END OF EXAMPLE */
    CHECK_OK(meta_copy_d2h(found, whole, sizeof found, NULL));
    CHECK_INT(found[1], -1);
    CHECK_INT(found[2], INT32_MAX);
    CHECK_OK(meta_free(real));
    CHECK_OK(meta_free(whole));
}

static void stencils_have_weights(void)
{
    void *in, *out;
    meta_box box;
    if (!two_grids(&in, &out, &box)) return;
    /* EXAMPLE: meta_stencil_constant */
    /* The Laplacian with seven points, and in·out for conjugate gradients. */
    const double weight[7] = {-1, -1, -1, 6, -1, -1, -1};
    double product;
    TRY(meta_stencil_constant(out, in, weight, &box, META_3D7P, META_F64, &product, NULL));
    /* END OF EXAMPLE */
    CHECK_NEAR(product, 0, 0);
    void *each[7];
    for (int k = 0; k < 7; ++k) each[k] = in;
    {
        /* EXAMPLE: meta_stencil_variable */
        /* The weights of point k are an array each[k], as large as the grid. */
        const void *weights[7];
        for (int k = 0; k < 7; ++k) weights[k] = each[k];
        TRY(meta_stencil_variable(out, in, weights, &box, META_3D7P, META_F64, NULL, NULL));
        /* END OF EXAMPLE */
    }
    double most = 0;
    CHECK_OK(meta_reduce(&most, out, &box, META_MAX, META_F64, NULL));
    CHECK_NEAR(most, 7, 0);
    CHECK_OK(meta_free(in));
    CHECK_OK(meta_free(out));
}

static void boundaries_are_set(void)
{
    void *grid, *other;
    meta_box box;
    if (!two_grids(&grid, &other, &box)) return;
    /* EXAMPLE: meta_boundary meta_boundary_kind */
    /* A wall of value 0 at the low end of x, an insulated one at the high end. */
    const double cold = 0;
    TRY(meta_boundary(grid, &box, 0, META_SLAB_LOW_GHOST, 1, META_BOUNDARY_WALL, &cold, META_F64,
                      META_ASYNC));
    TRY(meta_boundary(grid, &box, 0, META_SLAB_HIGH_GHOST, 1, META_BOUNDARY_GRADIENT, NULL,
                      META_F64, META_ASYNC));
    /* END OF EXAMPLE */
    {
        /* EXAMPLE: meta_boundary_slab */
        /* The cells of the first layer of ghosts at the low end of x, and where they and the cells
         * inside are: a kernel of the program's own is called with (double *)grid + ghost and +
         * inner. */
        meta_box cells;
        int64_t ghost, inner;
        TRY(meta_boundary_slab(&cells, &ghost, &inner, &box, 0, META_SLAB_LOW_GHOST, 0, 0));
        /* END OF EXAMPLE */
        CHECK(cells.end[0] - cells.start[0] == 1);
        CHECK(ghost != inner);
    }
    CHECK_OK(meta_flush());
    CHECK_OK(meta_free(grid));
    CHECK_OK(meta_free(other));
}

static void sparse_matrices_are_multiplied(void)
{
    const int32_t start_on_host[3] = {0, 2, 3}, column_on_host[3] = {0, 1, 1};
    const double value_on_host[3] = {1, 2, 3}, x_on_host[2] = {10, 100};
    double found[2];
    void *start, *column, *value, *x, *y;
    if (!CHECK_OK(meta_alloc(&start, 64)) || !CHECK_OK(meta_alloc(&column, 64)) ||
        !CHECK_OK(meta_alloc(&value, 64)) || !CHECK_OK(meta_alloc(&x, 64)) ||
        !CHECK_OK(meta_alloc(&y, 64)))
        return;
    TRY(meta_copy_h2d(start, start_on_host, sizeof start_on_host, NULL));
    TRY(meta_copy_h2d(column, column_on_host, sizeof column_on_host, NULL));
    TRY(meta_copy_h2d(value, value_on_host, sizeof value_on_host, NULL));
    TRY(meta_copy_h2d(x, x_on_host, sizeof x_on_host, NULL));
    /* EXAMPLE: meta_csr_multiply meta_csr_check meta_csr */
    meta_csr matrix = META_CSR_INIT; /* of META_I32 and META_F64, unless changed */
    matrix.rows = 2, matrix.columns = 2, matrix.entries = 3;
    matrix.start = start; /* device buffers */
    matrix.column = column;
    matrix.value = value;
    TRY(meta_csr_check(&matrix));
    TRY(meta_csr_multiply(y, NULL, &matrix, x, NULL, NULL)); /* y = A x */
    /* END OF EXAMPLE */
    CHECK_OK(meta_copy_d2h(found, y, sizeof found, NULL));
    CHECK_NEAR(found[0], 210, 0);
    CHECK_NEAR(found[1], 300, 0);
    void *const all[] = {start, column, value, x, y};
    for (int k = 0; k < 5; ++k) CHECK_OK(meta_free(all[k]));
}

static void buffers_have_checksums(void)
{
    void *buffer;
    if (!CHECK_OK(meta_alloc(&buffer, 9)) || !CHECK_OK(meta_copy_h2d(buffer, "123456789", 9, NULL)))
        return;
    /* EXAMPLE: meta_crc32 */
    uint32_t sum;
    TRY(meta_crc32(&sum, buffer, 9, NULL)); /* as crc32() of zlib */
    printf("%08x\n", (unsigned)sum);
    /* END OF EXAMPLE */
    CHECK_U64(sum, 0xcbf43926);
    CHECK_OK(meta_free(buffer));
}

static void sums_have_prefixes(void)
{
    const int64_t numbers[4] = {3, 1, 4, 1};
    int64_t found[4];
    void *counts;
    if (!CHECK_OK(meta_alloc(&counts, sizeof numbers)) ||
        !CHECK_OK(meta_copy_h2d(counts, numbers, sizeof numbers, NULL)))
        return;
    /* EXAMPLE: meta_prefix_sum */
    TRY(meta_prefix_sum(counts, counts, 4, 0, META_I64, NULL)); /* 3 1 4 1 becomes 0 3 4 8 */
    /* END OF EXAMPLE */
    CHECK_OK(meta_copy_d2h(found, counts, sizeof found, NULL));
    CHECK_INT(found[3], 8);
    CHECK_OK(meta_free(counts));
}

TEST_DEVICE_MAIN(PROMISE(the_library_begins_and_ends), PROMISE(a_job_is_described_by_hand),
                 PROMISE(versions_agree), PROMISE(back_ends_are_listed),
                 PROMISE(variables_are_listed), PROMISE(devices_are_listed),
                 PROMISE(a_thread_changes_its_device), PROMISE(buffers_hold_what_is_copied),
                 PROMISE(grids_have_ghosts), PROMISE(a_family_meets_in_one_call),
                 PROMISE(boxes_are_copied), PROMISE(host_memory_is_pinned),
                 PROMISE(a_host_array_is_a_buffer_of_openmp), PROMISE(buffers_have_names),
                 PROMISE(a_place_is_the_callers), PROMISE(memory_is_counted),
                 PROMISE(work_is_queued), PROMISE(native_objects_are_shared),
                 PROMISE(objects_come_before_the_first_use), PROMISE(policies_are_set),
                 PROMISE(faces_are_packed), PROMISE(grids_are_computed),
                 PROMISE(profiles_are_printed), PROMISE(a_tool_is_told),
                 PROMISE(linear_algebra_is_ready), PROMISE(types_are_converted),
                 PROMISE(stencils_have_weights), PROMISE(boundaries_are_set),
                 PROMISE(sparse_matrices_are_multiplied), PROMISE(buffers_have_checksums),
                 PROMISE(sums_have_prefixes))
