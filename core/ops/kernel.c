/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel.c
 *  Running a kernel of the program's own: its arguments become an operation. */
#include "auto/auto.h"
#include "memory/shape.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* An operation of a kernel of the program's, with its arrays. */
typedef struct user_operation {
    meta_operation op;
    meta_operand operand[META_KERNEL_ARRAYS];
    void *object[META_KERNEL_ARRAYS];
    meta_operand result[META_KERNEL_PARAMETERS];
    meta_result where[META_KERNEL_PARAMETERS];
    uint64_t *value;              /* words */
    meta_i64 start[META_MAX_DIM]; /* of the box */
    union {
        meta_space space;
        char bytes[offsetof(meta_space, layout) + META_KERNEL_ARRAYS * sizeof(meta_layout)];
    } in;
} user_operation;

static void begin(user_operation *u, const struct meta_kernel_state *s, const meta_box *box)
{
    meta_operation *op = &u->op;
    meta_face cells;
    op->operand = u->operand;
    op->object = u->object;
    op->space = &u->in.space;
    op->result = u->result;
    op->where = u->where;
    meta_face_of_box(&cells, box);
    meta_operation_init(op, &s->desc, s->kernel->type, u->value, &cells);
    for (int d = 0; d < box->ndim; ++d) u->start[d] = box->start[d];
    op->call.start = u->start;
    /* Bodies see the strides of all dimensions that they can reach along. */
    for (uint32_t k = 0; k < s->desc.operands; ++k)
        memset(meta_operation_layout(op, k), 0, sizeof(meta_layout));
}

/* An array that is accessed anywhere lies from its address to the end of its buffer. */
static meta_err set_whole(meta_operation *op, uint32_t k, const void *ptr, const char *name)
{
    meta_operand *o = &op->operand[k];
    const meta_type type = meta_operation_type(op, k);
    o->name = name;
    o->is_grid = false;
    META_TRY(meta_resolve(ptr, 1, type, name, &o->span));
    o->start = o->low = 0;
    o->high = (int64_t)(o->span.room / meta_element_bytes(type)) - 1;
    return META_OK;
}

/* A number on the device is an operand of one element. */
static meta_err set_scalar(meta_operation *op, uint32_t k, const void *ptr, const char *name)
{
    meta_operand *o = &op->operand[k];
    char text[1024];
    o->name = name;
    o->is_grid = false;
    o->start = o->low = o->high = 0;
    const meta_err error = meta_resolve(ptr, 1, meta_operation_type(op, k), name, &o->span);
    if (error != META_ERR_POINTER) return error;
    snprintf(text, sizeof text,
             "%s; kernel %s reads this SCALAR on the device: a number of the host's is a VALUE",
             meta_last_error(), op->call.desc->name);
    return meta_fail_as(error, text);
}

/* Whether the array at @p ptr goes by its grid's extents. */
static bool is_grid(const void *ptr, const meta_box *box, meta_type type, const char *name)
{
    meta_span span;
    return meta_span_at(ptr, name, &span) == META_OK && span.shape &&
           meta_shape_counts(span.shape, box, type);
}

/* An array whose shape is not the box's: the box of its own elements, of extent 1 along dimensions
 * that it lacks. */
static meta_err box_of_array(const meta_kernel *kernel, const meta_kernel_parameter *p,
                             const void *ptr, meta_type type, const meta_box *box, meta_box *array)
{
    const uint32_t all = (UINT32_C(1) << box->ndim) - 1;
    if (p->dropped) {
        const bool is_plane = (p->dropped & (p->dropped - 1)) == 0;
        const int d = __builtin_ctz(is_plane ? p->dropped : ~p->dropped);
        if ((~p->dropped & all) == 0 || d >= box->ndim)
            return meta_fail(META_ERR_ARGUMENT,
                             "argument 'box' has %d dimensions, but array '%s' of kernel %s is "
                             "%s(%d), which takes %d",
                             box->ndim, p->name, kernel->name, is_plane ? "PLANE" : "LINE", d,
                             is_plane && d == 0 ? 2 : d + 1);
    }
    *array = *box;
    for (int d = 0; d < box->ndim; ++d) {
        if (p->dropped >> d & 1) {
            array->start[d] = 0;
            array->end[d] = array->size[d] = 1;
            continue;
        }
        if (d < META_KERNEL_DIMS) array->size[d] += p->grown[d];
        if (box->end[d] > array->size[d] && is_grid(ptr, box, type, p->name)) {
            *array = *box;
            return META_OK;
        }
        if (box->end[d] > array->size[d])
            return meta_fail(META_ERR_BOUNDS,
                             "argument 'box', dimension %d: [%" PRId64 ", %" PRId64
                             ") leaves array '%s' of kernel %s, which has %" PRId64
                             " elements there, %d fewer than the box's array",
                             d, box->start[d], box->end[d], p->name, kernel->name, array->size[d],
                             -p->grown[d]);
    }
    return meta_box_check(array, "box"); /* its elements may be too many */
}

static meta_err set_shaped(meta_operation *op, uint32_t k, const void *ptr, const meta_box *box,
                           const meta_kernel *kernel, const meta_kernel_parameter *p)
{
    meta_box array;
    META_TRY(box_of_array(kernel, p, ptr, meta_operation_type(op, k), box, &array));
    META_TRY(meta_operand_set_array(op, k, ptr, &array, p->dropped, p->name));
    for (int d = 0; d < box->ndim; ++d)
        if (p->dropped >> d & 1) meta_operation_layout(op, k)->stride[d] = 0;
    return META_OK;
}

/* Turn the arguments into operands, values and results. */
static meta_err fill_in(user_operation *u, const meta_kernel *kernel, const meta_box *box,
                        const void *const *arguments)
{
    const struct meta_kernel_state *s = kernel->state;
    uint32_t array = 0, word = 0;
    for (uint32_t n = 0; n < kernel->parameters; ++n) {
        const meta_kernel_parameter *p = &kernel->parameter[n];
        void *argument = (void *)(uintptr_t)arguments[n];
        if (meta_parameter_is_result(p)) {
            META_TRY(meta_operation_result(&u->op, argument, p->name));
        } else if (!meta_parameter_is_array(p)) {
            const uint32_t words = meta_parameter_words(p);
            if (!argument)
                return meta_fail(META_ERR_ARGUMENT, "kernel %s: value '%s' is NULL", kernel->name,
                                 p->name);
            u->value[word + words - 1] = 0;
            memcpy(&u->value[word], argument, p->bytes);
            word += words;
        } else if (p->kind == META_PARAMETER_SCALAR) {
            META_TRY(set_scalar(&u->op, array++, argument, p->name));
        } else if (p->reach == META_PARAMETER_WHOLE) {
            META_TRY(set_whole(&u->op, array++, argument, p->name));
        } else if (__builtin_expect(s->is_shaped[n], 0)) {
            META_TRY(set_shaped(&u->op, array++, argument, box, kernel, p));
        } else {
            META_TRY(meta_operand_set_array(&u->op, array++, argument, box, 0, p->name));
        }
    }
    for (uint32_t d = 0; d < META_KERNEL_DIMS; ++d)
        u->value[s->desc.values - META_KERNEL_DIMS + d] =
            (int)d < box->ndim ? (uint64_t)box->start[d] : 0;
    return META_OK;
}

/* A program has many kernels with an array of that name. */
static meta_err fail_in_call(meta_err error, const meta_kernel *kernel)
{
    char text[2048], called[160];
    snprintf(called, sizeof called, "kernel %.100s", kernel->name);
    if (strstr(meta_last_error(), called)) return error;
    snprintf(text, sizeof text, "%s, in a call of %s for %s", meta_last_error(), called,
             meta_element_name((uint32_t)kernel->type));
    return meta_fail_as(error, text);
}

/* Results of a kernel that runs for no cell. */
static meta_err give_nothing(const meta_kernel *kernel, const void *const *arguments,
                             meta_event *done)
{
    static const meta_op op[] = {[META_PARAMETER_SUM] = META_SUM,
                                 [META_PARAMETER_MIN] = META_MIN,
                                 [META_PARAMETER_MAX] = META_MAX,
                                 [META_PARAMETER_MIN_AT] = META_MIN,
                                 [META_PARAMETER_MAX_AT] = META_MAX};
    for (uint32_t n = 0; n < kernel->parameters; ++n) {
        const meta_kernel_parameter *p = &kernel->parameter[n];
        void *result = (void *)(uintptr_t)arguments[n];
        if (!meta_parameter_is_result(p)) continue;
        if (p->kind == META_PARAMETER_MIN_AT || p->kind == META_PARAMETER_MAX_AT)
            META_TRY(
                meta_extreme_of_nothing(result, p->name, op[p->kind], (meta_type)p->type, NULL));
        else
            META_TRY(
                meta_result_of_nothing(result, p->name, op[p->kind], (meta_type)p->type, NULL));
    }
    return meta_submit_nothing(done);
}

static meta_err open_first(meta_kernel *kernel)
{
    char why[META_KERNEL_MISFIT];
    const meta_err misfit = meta_kernel_fit(kernel, why, sizeof why);
    if (misfit != META_OK) return meta_fail(misfit, "argument 'kernel': %s", why);
    if (!kernel->name || !kernel->parameter)
        return meta_fail(META_ERR_ARGUMENT, "argument 'kernel' has no name or no parameters");
    return meta_user_open(kernel);
}

static meta_err open_kernel(meta_kernel *kernel)
{
    if (!kernel) return meta_fail(META_ERR_ARGUMENT, "argument 'kernel' is NULL");
    if (__builtin_expect(kernel->size < META_KERNEL_LEAST ||
                             !__atomic_load_n(&kernel->state, __ATOMIC_ACQUIRE),
                         0))
        return open_first(kernel);
    return META_OK;
}

/* Floating numbers are added to arrays in any order. */
static meta_err check_reproducible(const meta_kernel *kernel)
{
    for (uint32_t n = 0; n < kernel->parameters; ++n) {
        const meta_kernel_parameter *p = &kernel->parameter[n];
        if (meta_parameter_is_real_addition(p))
            return meta_fail(META_ERR_UNSUPPORTED,
                             "kernel %s: cells add to '%s' in any order, and reproducible sums are "
                             "on (META_REPRODUCIBLE): add whole numbers (multiples of a small "
                             "unit, as int64_t), or let each cell gather what it receives",
                             kernel->name, p->name);
    }
    return META_OK;
}

meta_err meta_user_run_flat(meta_kernel *kernel, const meta_box *box, const meta_box *given,
                            const void *const *arguments, meta_event *done)
{
    const bool reproducible = meta_is_reproducible();
    struct meta_kernel_state *state;
    user_operation u;
    META_TRY(open_kernel(kernel));
    const meta_err wrong_box = meta_box_check(box, "box");
    if (wrong_box != META_OK) return fail_in_call(wrong_box, kernel);
    if (!arguments) return meta_fail(META_ERR_ARGUMENT, "argument 'arguments' is NULL");
    if (meta_box_empty(box)) return give_nothing(kernel, arguments, done);
    if (reproducible) META_TRY(check_reproducible(kernel));
    META_TRY(meta_user_state(kernel, reproducible, &state));
    u.value = __builtin_alloca(state->desc.values * sizeof *u.value); /* up to 32 KiB */
    begin(&u, state, box);
    u.op.given = given;
    const meta_err error = fill_in(&u, kernel, box, arguments);
    if (error != META_OK) return fail_in_call(error, kernel);
    if (__builtin_expect(u.op.uneven, 0))
        return meta_user_run_flat(kernel, given, NULL, arguments, done);
    for (uint32_t k = 0; k < u.op.results; ++k) meta_exact_forget(meta_result_address(&u.op, k), 1);
    return state->exact_sums > 0 ? meta_run_exact(&u.op, done) : meta_run(&u.op, done);
}

meta_err meta_user_run(meta_kernel *kernel, const meta_box *box, const void *const *arguments,
                       meta_event *done)
{
    return meta_user_run_flat(kernel, box, NULL, arguments, done);
}

meta_err meta_kernel_run(meta_kernel *kernel, const meta_box *box, const void *const *arguments,
                         meta_event *done)
{
    META_ENTER();
    return meta_user_run(kernel, box, arguments, done);
}

meta_err meta_user_prepare(meta_kernel *kernel, meta_device *device)
{
    struct meta_kernel_state *state;
    meta_plugin_kernel *object;
    META_TRY(open_kernel(kernel));
    if (meta_is_reproducible()) META_TRY(check_reproducible(kernel));
    META_TRY(meta_user_state(kernel, meta_is_reproducible(), &state));
    if (device->backend->mode == META_AUTO)
        return meta_auto_prepare(&state->desc, (uint32_t)kernel->type);
    return meta_user_object_of(device, &state->desc, &object);
}

meta_err meta_kernel_prepare(meta_kernel *kernel)
{
    meta_device *device;
    META_ENTER();
    META_TRY(open_kernel(kernel));
    META_TRY(meta_device_current(&device));
    return meta_user_prepare(kernel, device);
}

meta_err meta_kernel_reach(meta_kernel *kernel, int low[META_MAX_DIM], int high[META_MAX_DIM])
{
    META_ENTER();
    META_TRY(open_kernel(kernel));
    if (!low || !high)
        return meta_fail(META_ERR_ARGUMENT, "argument '%s' is NULL", low ? "high" : "low");
    for (uint32_t n = 0; n < kernel->parameters; ++n) {
        const meta_kernel_parameter *p = &kernel->parameter[n];
        if (!meta_parameter_is_array(p)) continue;
        for (int d = 0; d < META_KERNEL_DIMS; ++d) { /* 0 of others than IN and ADD */
            const int behind = p->high[d] - p->grown[d];
            if (p->dropped >> d & 1) continue;
            if (low[d] < p->low[d]) low[d] = p->low[d];
            if (high[d] < behind) high[d] = behind;
        }
    }
    return META_OK;
}
