/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user.c
 *  The program's kernels: their registry, and what is derived from their parameters. */
#include "kernels/user.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/cache.h"
#include "kernels/kernels.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the registry, and of making states */
typedef struct kernel_list {
    meta_kernel **kernel;
    int count, room;
} kernel_list;
static kernel_list known, refused; /* those that run, and those that this library cannot run */
_Atomic uint64_t meta_user_destroyed;

/* ------------------------------------------------------------------ registry */

/* Out of memory it still runs; it is not found by its name. */
static bool add(kernel_list *list, meta_kernel *kernel)
{
    if (list->count == list->room) {
        const int more = list->room ? 2 * list->room : 32;
        meta_kernel **moved = realloc(list->kernel, (size_t)more * sizeof(meta_kernel *));
        if (!moved) return false;
        list->kernel = moved;
        list->room = more;
    }
    list->kernel[list->count++] = kernel;
    return true;
}

static void take_out(kernel_list *list, const meta_kernel *kernel)
{
    int k = 0;
    while (k < list->count && list->kernel[k] != kernel) ++k;
    if (k == list->count) return;
    memmove(&list->kernel[k], &list->kernel[k + 1],
            (size_t)(list->count - k - 1) * sizeof(meta_kernel *));
    if (--list->count > 0) return;
    free(list->kernel);
    *list = (kernel_list){0};
}

/* Even those that are too short begin with size and name. */
static bool is_named(const meta_kernel *kernel)
{
    return kernel->size >= offsetof(meta_kernel, type) && kernel->name;
}

meta_err meta_kernel_fit(const meta_kernel *kernel, char *text, size_t room)
{
    size_t byte = 0;
    const meta_sized_fit fit = meta_sized_look(kernel, META_KERNEL_LEAST, sizeof *kernel, &byte);
    const char *name = is_named(kernel) ? kernel->name : "without a name";
    if (fit == META_SIZED_FITS) return META_OK;
    if (fit == META_SIZED_NEWER)
        snprintf(text, room,
                 "kernel %s was compiled with the headers of a newer libmeta, and sets byte %zu of "
                 "its description, which version %d.%d.%d does not know: run the program with the "
                 "newer library, or compile the kernel again",
                 name, byte, META_VERSION_MAJOR, META_VERSION_MINOR, META_VERSION_PATCH);
    else if (fit == META_SIZED_UNSET)
        snprintf(text, room, "kernel %s has size %zu, more than any version: compile it again",
                 name, kernel->size);
    else
        snprintf(text, room,
                 "kernel %s has size %zu, less than the %zu of 0.2.0, the oldest headers that this "
                 "libmeta takes: compile it again",
                 name, kernel->size, META_KERNEL_LEAST);
    return fit == META_SIZED_NEWER ? META_ERR_UNSUPPORTED : META_ERR_ARGUMENT;
}

static void report(const meta_kernel *kernel)
{
    char why[META_KERNEL_MISFIT];
    if (meta_kernel_fit(kernel, why, sizeof why) != META_OK)
        meta_log(META_LOG_WARN, "%s; it cannot be run", why);
}

void meta_kernels_report_refused(void)
{
    pthread_mutex_lock(&lock);
    for (int k = 0; k < refused.count; ++k) report(refused.kernel[k]);
    pthread_mutex_unlock(&lock);
}

void meta_kernel_register(meta_kernel *kernel)
{
    char why[META_KERNEL_MISFIT];
    const bool runs = meta_kernel_fit(kernel, why, sizeof why) == META_OK;
    pthread_mutex_lock(&lock);
    const bool added = add(runs ? &known : &refused, kernel);
    pthread_mutex_unlock(&lock);
    /* Otherwise when the library starts, which reads how much is logged, and where. */
    if (!runs && (meta_started() || !added)) report(kernel);
}

static void destroy(meta_user_object *o)
{
    const meta_ops *ops = &o->device->backend->ops;
    if (ops->kernel_destroy) ops->kernel_destroy(o->device->plugin, o->kernel);
    free(o);
}

static void destroy_state(struct meta_kernel_state *state)
{
    if (!state) return;
    ++meta_user_destroyed;
    for (meta_user_object *o = state->objects, *next; o; o = next) {
        next = o->next;
        destroy(o);
    }
    destroy_state(state->twin);
    for (int k = 0; k < META_USER_FORMS; ++k) free(state->text[k]);
    pthread_mutex_destroy(&state->lock);
    free(state);
}

void meta_kernel_unregister(meta_kernel *kernel)
{
    struct meta_kernel_state *state = NULL;
    pthread_mutex_lock(&lock);
    take_out(&known, kernel);
    take_out(&refused, kernel);
    if (kernel->size >= META_KERNEL_LEAST) {
        state = kernel->state;
        kernel->state = NULL;
    }
    pthread_mutex_unlock(&lock);
    destroy_state(state);
}

meta_err meta_kernel_find(const char *name, meta_type type, meta_kernel **kernel)
{
    META_ENTER();
    if (!name) return meta_fail(META_ERR_ARGUMENT, "argument 'name' is NULL");
    if (!kernel) return meta_fail(META_ERR_ARGUMENT, "argument 'kernel' is NULL");
    meta_kernel *found = NULL;
    char why[META_KERNEL_MISFIT];
    meta_err misfit = META_OK;
    bool named = false;
    pthread_mutex_lock(&lock);
    for (int k = 0; k < known.count && !found; ++k) {
        if (strcmp(known.kernel[k]->name, name) != 0) continue;
        named = true;
        if (known.kernel[k]->type == type) found = known.kernel[k];
    }
    for (int k = 0; k < refused.count && !named; ++k)
        if (is_named(refused.kernel[k]) && strcmp(refused.kernel[k]->name, name) == 0)
            misfit = meta_kernel_fit(refused.kernel[k], why, sizeof why);
    pthread_mutex_unlock(&lock);
    if (misfit != META_OK) return meta_fail(misfit, "argument 'name': %s", why);
    if (!found && named)
        return meta_fail(META_ERR_ARGUMENT,
                         "argument 'type' is %s, for which kernel %s was not compiled: see "
                         "META_KERNEL_TYPES",
                         meta_element_name((uint32_t)type), name);
    if (!found)
        return meta_fail(META_ERR_ARGUMENT,
                         "argument 'name' is \"%s\", and the program has no such kernel; one of "
                         "its files must define META_KERNELS_HERE and include the kernel's",
                         name);
    *kernel = found;
    return META_OK;
}

/* The kernels of meta_library.h, which are registered like the program's but not listed as its own.
 */
static bool is_ready_made(const meta_kernel *kernel)
{
    return strncmp(kernel->name, "meta_", 5) == 0;
}

meta_err meta_kernel_count(int *found)
{
    META_ENTER();
    if (!found) return meta_fail(META_ERR_ARGUMENT, "argument 'count' is NULL");
    pthread_mutex_lock(&lock);
    *found = 0;
    for (int k = 0; k < known.count; ++k) *found += !is_ready_made(known.kernel[k]);
    pthread_mutex_unlock(&lock);
    return META_OK;
}

meta_err meta_kernel_at(int index, meta_kernel **kernel)
{
    META_ENTER();
    if (!kernel) return meta_fail(META_ERR_ARGUMENT, "argument 'kernel' is NULL");
    meta_kernel *found = NULL;
    int own = 0;
    pthread_mutex_lock(&lock);
    for (int k = 0; k < known.count; ++k) {
        if (is_ready_made(known.kernel[k])) continue;
        if (own++ == index) found = known.kernel[k];
    }
    pthread_mutex_unlock(&lock);
    if (!found) return meta_fail(META_ERR_ARGUMENT, "argument 'index' is %d of %d", index, own);
    *kernel = found;
    return META_OK;
}

meta_kernel *meta_user_ready(int index)
{
    meta_kernel *found = NULL;
    pthread_mutex_lock(&lock);
    for (int k = 0; k < known.count && !found; ++k)
        if (is_ready_made(known.kernel[k]) && index-- == 0) found = known.kernel[k];
    pthread_mutex_unlock(&lock);
    return found;
}

void meta_user_each_beside(const meta_kernel *kernel, void (*function)(const meta_kernel *, void *),
                           void *with)
{
    pthread_mutex_lock(&lock);
    for (const meta_kernel *last = NULL, *next;; last = next) {
        next = NULL;
        for (int k = 0; k < known.count; ++k)
            if (known.kernel[k]->type == kernel->type && known.kernel[k]->text &&
                (!last || strcmp(known.kernel[k]->name, last->name) > 0) &&
                (!next || strcmp(known.kernel[k]->name, next->name) < 0) &&
                strcmp(known.kernel[k]->text, kernel->text) == 0)
                next = known.kernel[k];
        if (!next) break;
        function(next, with);
    }
    pthread_mutex_unlock(&lock);
}

meta_kernel *meta_user_of_text(const char *text, const char *name, meta_type type, bool *has_name)
{
    meta_kernel *found = NULL;
    pthread_mutex_lock(&lock);
    for (int k = 0; k < known.count && !found; ++k) {
        if (!known.kernel[k]->text || strcmp(known.kernel[k]->text, text) != 0 ||
            (name && strcmp(known.kernel[k]->name, name) != 0))
            continue;
        if (has_name) *has_name = true;
        if (!name || known.kernel[k]->type == type) found = known.kernel[k];
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* ------------------------------------------------------------------ what parameters say */

static bool is_grown(const meta_kernel_parameter *p)
{
    for (int d = 0; d < META_KERNEL_DIMS; ++d)
        if (p->grown[d] != 0) return true;
    return false;
}

static meta_err check_shape(const meta_kernel *k, const meta_kernel_parameter *p)
{
    const uint32_t all = (UINT32_C(1) << META_MAX_DIM) - 1;
    if (p->dropped > all || p->dropped == all)
        return meta_fail(META_ERR_ARGUMENT,
                         "kernel %s: array %s is a LINE() or PLANE() of a dimension that no box "
                         "has: give 0 to %d",
                         k->name, p->name, META_MAX_DIM - 1);
    if (p->dropped && p->kind != META_PARAMETER_IN && p->kind != META_PARAMETER_ADD)
        return meta_fail(META_ERR_ARGUMENT,
                         "kernel %s: array %s is written, so it cannot be a LINE() or PLANE(): "
                         "many cells would write the same element",
                         k->name, p->name);
    if (p->reach == META_PARAMETER_WHOLE && (p->dropped || is_grown(p)))
        return meta_fail(META_ERR_ARGUMENT,
                         "kernel %s: array %s is WHOLE, which has any shape: take out LINE(), "
                         "PLANE() or GROWN()",
                         k->name, p->name);
    return META_OK;
}

static meta_err check(const meta_kernel *k, const meta_kernel_parameter *p)
{
    const bool is_value = p->kind == META_PARAMETER_VALUE;
    if (p->kind > META_PARAMETER_MAX_AT)
        return meta_fail(META_ERR_ARGUMENT, "kernel %s: parameter %s is of kind %u, which is none",
                         k->name, p->name, (unsigned)p->kind);
    if (!is_value && p->type >= META_TYPE_COUNT)
        return meta_fail(META_ERR_TYPE,
                         "kernel %s: parameter %s is of %s, but an array, a scalar or a result is "
                         "of double, float, int64_t, uint64_t, int32_t or uint32_t",
                         k->name, p->name, p->type_name);
    if (is_value && (p->bytes == 0 || p->bytes > META_KERNEL_VALUE))
        return meta_fail(META_ERR_ARGUMENT, "kernel %s: value %s has %u bytes, but at most %d pass",
                         k->name, p->name, (unsigned)p->bytes, META_KERNEL_VALUE);
    return meta_parameter_is_array(p) ? check_shape(k, p) : META_OK;
}

static meta_err describe(struct meta_kernel_state *s)
{
    static const uint32_t access[] = {[META_PARAMETER_OUT] = META_ACCESS_OUT,
                                      [META_PARAMETER_INOUT] = META_ACCESS_INOUT,
                                      [META_PARAMETER_IN] = META_ACCESS_IN,
                                      [META_PARAMETER_ADD] = META_ACCESS_ADD,
                                      [META_PARAMETER_SCALAR] = META_ACCESS_IN};
    static const uint32_t passes[] = {[META_PARAMETER_OUT] = 1,
                                      [META_PARAMETER_INOUT] = 2,
                                      [META_PARAMETER_IN] = 1,
                                      [META_PARAMETER_ADD] = 2,
                                      [META_PARAMETER_SCALAR] = 0};
    static const uint32_t reach[] = {[META_PARAMETER_CELL] = META_REACH_POINT,
                                     [META_PARAMETER_STAR] = META_REACH_STAR,
                                     [META_PARAMETER_BOX] = META_REACH_BOX,
                                     [META_PARAMETER_WHOLE] = META_REACH_WHOLE};
    static const uint32_t combine[] = {[META_PARAMETER_SUM] = META_COMBINE_sum,
                                       [META_PARAMETER_MIN] = META_COMBINE_min,
                                       [META_PARAMETER_MAX] = META_COMBINE_max,
                                       [META_PARAMETER_MIN_AT] = META_COMBINE_min_at,
                                       [META_PARAMETER_MAX_AT] = META_COMBINE_max_at};
    const meta_kernel *kernel = s->kernel;
    meta_kernel_desc *desc = &s->desc;
    *desc = (meta_kernel_desc){.size = sizeof *desc,
                               .number = UINT32_MAX,
                               .name = kernel->name,
                               .family = META_FAMILY_USER,
                               .types = UINT32_C(1) << kernel->type,
                               .operand = s->operand,
                               .result = s->result};
    if (kernel->parameters > META_KERNEL_PARAMETERS)
        return meta_fail(META_ERR_ARGUMENT,
                         "kernel %s has %u parameters, but at most %d are possible", kernel->name,
                         (unsigned)kernel->parameters, META_KERNEL_PARAMETERS);
    for (uint32_t n = 0; n < kernel->parameters; ++n) {
        const meta_kernel_parameter *p = &kernel->parameter[n];
        META_TRY(check(kernel, p));
        if (meta_parameter_is_result(p)) {
            const bool is_exact = s->exact_sums > 0 && meta_parameter_is_real_sum(p);
            s->result[desc->results++] = (meta_result_desc){
                is_exact ? (uint32_t)META_COMBINE_exact : combine[p->kind], p->type};
        } else if (!meta_parameter_is_array(p)) {
            desc->values += meta_parameter_words(p);
        } else {
            if (desc->operands == META_KERNEL_ARRAYS)
                return meta_fail(META_ERR_ARGUMENT,
                                 "kernel %s has more than %d arrays and scalars, which is the most",
                                 kernel->name, META_KERNEL_ARRAYS);
            meta_operand_desc *o = &s->operand[desc->operands++];
            *o = (meta_operand_desc){
                .access = access[p->kind], .reach = reach[p->reach % 4], .own_type = 1 + p->type};
            if (p->kind == META_PARAMETER_SCALAR) o->reach = META_REACH_ONE;
            for (int d = 0; d < META_KERNEL_DIMS; ++d) {
                o->low[d] = p->dropped >> d & 1 ? 0 : p->low[d];
                o->high[d] = p->dropped >> d & 1 ? 0 : p->high[d];
            }
            if (p->dropped) s->has_dropped = true;
            else s->bytes += p->bytes * passes[p->kind];
            s->is_shaped[n] = p->dropped || is_grown(p);
        }
    }
    if (desc->operands == 0)
        return meta_fail(META_ERR_ARGUMENT, "kernel %s has no array or scalar", kernel->name);
    if (kernel->team) META_TRY(meta_team_check(kernel));
    desc->values += META_KERNEL_DIMS; /* the box's start */
    s->checked = *desc;
    s->checked.number = META_USER_CHECKED_NUMBER;
    /* The program's arrays alone decide how a launch is divided, and so the order of additions. */
    s->operand[s->checked.operands++] = (meta_operand_desc){
        .access = META_ACCESS_IN, .reach = META_REACH_WHOLE, .own_type = 1 + META_I64};
    snprintf(s->label, sizeof s->label, "%s %s", kernel->name,
             meta_element_name((uint32_t)kernel->type));
    return META_OK;
}

uint64_t meta_user_bytes(const meta_call *call)
{
    const struct meta_kernel_state *s = meta_user_of(call->desc);
    const meta_space *space = call->space;
    uint64_t bytes = s->bytes * (uint64_t)space->rows * (uint64_t)space->extent[0];
    for (uint32_t n = 0; s->has_dropped && n < s->kernel->parameters; ++n) {
        const meta_kernel_parameter *p = &s->kernel->parameter[n];
        uint64_t elements = 1;
        if (!meta_parameter_is_array(p) || !p->dropped) continue;
        for (meta_i64 d = 0; d < space->ndim; ++d)
            if (!(p->dropped >> d & 1)) elements *= (uint64_t)space->extent[d];
        bytes +=
            (p->kind == META_PARAMETER_ADD ? 2 : 1) * p->bytes * elements; /* and read before */
    }
    return bytes;
}

static meta_err make_state(meta_kernel *kernel, uint32_t exact_sums,
                           struct meta_kernel_state **made)
{
    struct meta_kernel_state *s = calloc(1, sizeof *s);
    meta_cache_key text = META_CACHE_KEY_INIT;
    if (!s)
        return meta_fail(META_ERR_NO_MEMORY, "the host has no memory for kernel %s", kernel->name);
    s->kernel = kernel;
    s->exact_sums = exact_sums;
    meta_cache_key_text(&text, kernel->text);
    s->identity = text.part[0];
    const meta_err error = describe(s);
    if (error != META_OK) return free(s), error;
    pthread_mutex_init(&s->lock, NULL);
    *made = s;
    return META_OK;
}

meta_err meta_user_open(meta_kernel *kernel)
{
    struct meta_kernel_state *made = NULL;
    meta_err error = META_OK;
    pthread_mutex_lock(&lock);
    if (!kernel->state) error = make_state(kernel, 0, &made);
    if (made) __atomic_store_n(&kernel->state, made, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    return error;
}

meta_err meta_user_state(const meta_kernel *kernel, bool reproducible,
                         struct meta_kernel_state **state)
{
    struct meta_kernel_state *own = kernel->state, *made = NULL;
    meta_err error = META_OK;
    uint32_t sums = 0;
    *state = own;
    if (!reproducible) return META_OK;
    if ((made = atomic_load_explicit(&own->twin, memory_order_acquire)))
        return *state = made, META_OK;
    for (uint32_t n = 0; n < kernel->parameters; ++n)
        sums += meta_parameter_is_real_sum(&kernel->parameter[n]) != 0;
    if (sums == 0) return META_OK;
    pthread_mutex_lock(&lock);
    made = own->twin;
    if (!made) error = make_state(own->kernel, sums, &made);
    if (made) atomic_store_explicit(&own->twin, made, memory_order_release);
    pthread_mutex_unlock(&lock);
    if (error == META_OK) *state = made;
    return error;
}

/* ------------------------------------------------------------------ objects */

/* What the device runs. */
static meta_plugin_kernel *find(struct meta_kernel_state *s, const meta_device *device)
{
    for (meta_user_object *o = atomic_load_explicit(&s->objects, memory_order_acquire); o;
         o = o->next)
        if (o->device == device && !o->is_beside) return o->kernel;
    return NULL;
}

static meta_plugin_kernel *find_form(struct meta_kernel_state *s, const meta_device *device,
                                     uint32_t form)
{
    for (meta_user_object *o = s->objects; o; o = o->next)
        if (o->device == device && o->form == form) return o->kernel;
    return NULL;
}

/* Back ends of other makers get what the program wrote, unless they say that they know the text
 * that checks. META_AUTO may choose any. */
bool meta_user_is_checked(const meta_device *device)
{
    const meta_mode mode = device->backend->mode;
    return meta_check_on && (mode == META_OPENCL || mode == META_CUDA || mode == META_HIP ||
                             mode == META_AUTO || device->backend->ops.checks & META_CHECKS_TEXT);
}

/* Where nothing checks what kernels access, the log says so: once for each back end, as it leaves
 * out what it has said. */
static void tell_unchecked(const meta_device *device)
{
    const meta_backend *backend = device->backend;
    if (!meta_check_on || meta_user_is_checked(device) || backend->mode == META_OPENMP ||
        backend->ops.checks & META_CHECKS_CPU)
        return;
    meta_log(META_LOG_WARN,
             "META_CHECK: the back end %s does not check what kernels of programs access: an AT() "
             "beyond the declared reach, and a GET() or SHARED() beyond the array, are not found "
             "there. All else is checked",
             backend->name);
}

uint32_t meta_user_form(const struct meta_kernel_state *s, const meta_device *device)
{
    return (meta_user_is_checked(device) ? META_USER_CHECKED : 0u) |
           (meta_user_has_native(s->kernel, device->backend->mode) ? META_USER_NATIVE : 0u);
}

/* Up to ABI 2.4 a value had 64 bytes at most, and a text took all words one by one. */
static bool has_large_values(const struct meta_kernel_state *s, meta_mode mode)
{
    enum { MOST = 64 };
    for (uint32_t n = 0; n < s->kernel->parameters; ++n) {
        const meta_kernel_parameter *p = &s->kernel->parameter[n];
        if (p->kind == META_PARAMETER_VALUE && p->bytes > MOST) return true;
    }
    return meta_words_in_memory(&s->desc) &&
           (mode == META_OPENCL || mode == META_CUDA || mode == META_HIP);
}

/* What a back end of an older version does not know, or would get wrong. */
static meta_err check_backend(const struct meta_kernel_state *s, const meta_device *device)
{
    const unsigned minor = device->backend->plugin->abi_minor;
    const char *what = minor < 1 ? "kernels of programs" : NULL;
    int since = minor < 1 ? 1 : 2;
    for (uint32_t k = 0; k < s->desc.results && minor < 2; ++k)
        if (meta_has_place(s->result[k].combine)) what = "MIN_AT and MAX_AT";
    if (s->kernel->team && minor < 2) what = "teams";
    if (s->exact_sums > 0 && minor < 2) what = "reproducible sums";
    if (!what && minor < 5 && has_large_values(s, device->backend->mode)) {
        what = "values of more than 64 bytes, or 512 together,";
        since = 5;
    }
    if (!what) return META_OK;
    return meta_fail(META_ERR_UNSUPPORTED,
                     "kernel %s: %s need a back end of plug-in ABI 2.%d, and %s is of 2.%u: "
                     "rebuild it",
                     s->kernel->name, what, since, device->backend->name, minor);
}

/* With the state's lock held. */
static meta_err make(struct meta_kernel_state *s, meta_device *device, uint32_t form,
                     bool is_beside)
{
    meta_kernel_source source = {.size = sizeof source,
                                 .desc = form & META_USER_CHECKED ? &s->checked : &s->desc,
                                 .type = (uint32_t)s->kernel->type,
                                 .user = s->kernel,
                                 .is_checked = meta_check_on};
    META_TRY(check_backend(s, device));
    if (meta_user_is_unoptimized(s->kernel) && device->backend->mode == META_OPENMP)
        meta_user_warn_unoptimized();
    if (!s->text[form] && s->kernel->text) {
        s->text[form] = meta_user_text(s, form);
        if (!s->text[form])
            return meta_fail(META_ERR_NO_MEMORY, "the host has no memory for the text of kernel %s",
                             s->kernel->name);
    }
    source.text = s->text[form];
    meta_user_object *o = calloc(1, sizeof *o);
    if (!o)
        return meta_fail(META_ERR_NO_MEMORY, "the host has no memory for kernel %s",
                         s->kernel->name);
    const meta_err error = device->backend->ops.kernel_create(device->plugin, &source, &o->kernel);
    if (error != META_OK) return free(o), error;
    tell_unchecked(device);
    o->device = device;
    o->form = form;
    o->is_beside = is_beside;
    o->next = s->objects;
    atomic_store_explicit(&s->objects, o, memory_order_release);
    return META_OK;
}

meta_err meta_user_object_of(meta_device *device, const meta_kernel_desc *desc,
                             meta_plugin_kernel **object)
{
    struct meta_kernel_state *s = meta_user_of(desc);
    meta_err error = META_OK;
    if ((*object = find(s, device))) return META_OK;
    pthread_mutex_lock(&s->lock);
    if (!(*object = find(s, device))) {
        error = make(s, device, meta_user_form(s, device), false);
        *object = error == META_OK ? find(s, device) : NULL;
    }
    pthread_mutex_unlock(&s->lock);
    return error;
}

meta_err meta_user_object_as(meta_device *device, struct meta_kernel_state *s, uint32_t form,
                             meta_plugin_kernel **object)
{
    meta_err error = META_OK;
    pthread_mutex_lock(&s->lock);
    if (!find_form(s, device, form)) error = make(s, device, form, true);
    *object = find_form(s, device, form);
    pthread_mutex_unlock(&s->lock);
    return error;
}

static void close_objects(struct meta_kernel_state *s, const meta_device *device)
{
    meta_user_object *kept = NULL;
    for (meta_user_object *o = s->objects, *next; o; o = next) {
        next = o->next;
        if (o->device == device) {
            destroy(o);
        } else {
            o->next = kept;
            kept = o;
        }
    }
    s->objects = kept;
}

void meta_user_close(meta_device *device)
{
    pthread_mutex_lock(&lock);
    for (int k = 0; k < known.count; ++k)
        for (struct meta_kernel_state *s = known.kernel[k]->state; s; s = s->twin)
            close_objects(s, device);
    pthread_mutex_unlock(&lock);
}
