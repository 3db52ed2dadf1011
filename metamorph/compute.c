/* SPDX-License-Identifier: BSD-3-Clause */
/** @file compute.c
 *  Reductions, which add to what is there; the stencil, sparse matrices and checksums. */
#include "inside.h"

#include "meta_library.h"

/* ------------------------------------------------------------------ boxes */

/* The half-open box of inclusive bounds. */
static metamorph_err box_of(const char *function, const meta_dim3 *size, const meta_dim3 *start,
                            const meta_dim3 *end, meta_box *box)
{
    if (!size || !start || !end)
        return metamorph_refuse(function, "%s is NULL",
                                !size    ? "array_size"
                                : !start ? "array_start"
                                         : "array_end");
    box->ndim = 3;
    for (int d = 0; d < 3; ++d) {
        const size_t cells = (*size)[d], first = (*start)[d], last = (*end)[d];
        if (cells < 1 || cells > INT64_MAX)
            return metamorph_refuse(function, "array_size[%d] is %zu: it must be at least 1", d,
                                    cells);
        if (last >= cells)
            return metamorph_refuse(
                function,
                "array_end[%d] is %zu and array_size[%d] is %zu: the end is the last "
                "index of the box, so at most %zu",
                d, last, d, cells, cells - 1);
        if (first > last)
            return metamorph_refuse(function,
                                    "array_start[%d] is %zu, behind array_end[%d], which is %zu", d,
                                    first, d, last);
        box->size[d] = (int64_t)cells;
        box->start[d] = (int64_t)first;
        box->end[d] = (int64_t)last + 1;
    }
    return 0;
}

/* ------------------------------------------------------------------ reductions */

/* An element on each of the devices that reductions were made on last. Work on a device is executed
 * in order, so one is enough. */
static struct scratch {
    meta_mode mode;
    int index;
    void *element;
} scratches[16];
enum { SCRATCHES = sizeof scratches / sizeof *scratches };
static int next_scratch;

void metamorph_free_scratch(void)
{
    for (int k = 0; k < SCRATCHES; ++k) {
        if (scratches[k].element) meta_free(scratches[k].element);
        scratches[k].element = NULL;
    }
}

/* That of the current device. */
static meta_err scratch_here(void **element)
{
    meta_mode mode;
    int index;
    meta_err err = meta_get_acc(&index, &mode);
    if (err != META_OK) return err;
    for (int k = 0; k < SCRATCHES; ++k)
        if (scratches[k].element && scratches[k].mode == mode && scratches[k].index == index) {
            *element = scratches[k].element;
            return META_OK;
        }
    struct scratch *here = &scratches[next_scratch];
    if (here->element && (err = meta_free(here->element)) != META_OK) return err;
    here->element = NULL;
    if ((err = meta_alloc(element, sizeof(double))) != META_OK) return err;
    meta_label(*element, "sum of MetaMorph's reductions");
    *here = (struct scratch){mode, index, *element};
    next_scratch = (next_scratch + 1) % SCRATCHES;
    return META_OK;
}

/* The number one of @p type. */
static const void *one_of(meta_type type)
{
    static const double one_f64 = 1;
    static const float one_f32 = 1;
    static const int64_t one = 1; /* of any integer type: the low bytes come first */
    if (type == META_F64) return &one_f64;
    return type == META_F32 ? (const void *)&one_f32 : &one;
}

/* The sum, or with @p other the dot product, of a box is added to the element at @p result. */
static meta_err add_sum(void *result, const void *data, const void *other, const meta_box *box,
                        meta_type type, meta_event *done)
{
    static const meta_box element = {1, {1}, {0}, {1}};
    void *sum;
    meta_err err = scratch_here(&sum);
    if (err != META_OK) return err;
    err = other ? meta_dot(sum, data, other, box, type, META_ASYNC)
                : meta_reduce(sum, data, box, META_SUM, type, META_ASYNC);
    return err == META_OK ? meta_axpy(result, one_of(type), sum, &element, type, done) : err;
}

/* What both reductions do: the product of @p data and @p other is summed, or @p data alone. */
static metamorph_err reduce(const char *function, bool is_product, const void *data,
                            const void *other, const meta_dim3 *size, const meta_dim3 *start,
                            const meta_dim3 *end, void *result, meta_type_id type, bool async,
                            meta_callback *call, metamorph_event *ret_event)
{
    metamorph_queued queued;
    meta_type as;
    meta_box box;
    if (box_of(function, size, start, end, &box) || metamorph_type_of(function, type, &as))
        return -1;
    if (is_product && !other) return metamorph_refuse(function, "data2 is NULL");
    metamorph_begin(&queued, async, call, ret_event);
    return metamorph_end(function, add_sum(result, data, other, &box, as, queued.done), &queued,
                         call, ret_event);
}

metamorph_err metamorph_dotProd(meta_dim3 *grid_size, meta_dim3 *block_size, void *data1,
                                void *data2, meta_dim3 *array_size, meta_dim3 *array_start,
                                meta_dim3 *array_end, void *reduction_var, meta_type_id type,
                                meta_bool async, meta_callback *call, metamorph_event *ret_event)
{
    (void)grid_size;
    (void)block_size;
    return reduce("meta_dotProd", true, data1, data2, array_size, array_start, array_end,
                  reduction_var, type, async, call, ret_event);
}

metamorph_err metamorph_reduce(meta_dim3 *grid_size, meta_dim3 *block_size, void *data,
                               meta_dim3 *array_size, meta_dim3 *array_start, meta_dim3 *array_end,
                               void *reduction_var, meta_type_id type, meta_bool async,
                               meta_callback *call, metamorph_event *ret_event)
{
    (void)grid_size;
    (void)block_size;
    return reduce("meta_reduce", false, data, NULL, array_size, array_start, array_end,
                  reduction_var, type, async, call, ret_event);
}

/* ------------------------------------------------------------------ the stencil */

metamorph_err metamorph_stencil_3d7p(meta_dim3 *grid_size, meta_dim3 *block_size, void *indata,
                                     void *outdata, meta_dim3 *array_size, meta_dim3 *array_start,
                                     meta_dim3 *array_end, meta_type_id type, meta_bool async,
                                     meta_callback *call, metamorph_event *ret_event)
{
    static const char function[] = "meta_stencil_3d7p";
    metamorph_queued queued;
    meta_type as;
    meta_box box;
    (void)grid_size;
    (void)block_size;
    if (box_of(function, array_size, array_start, array_end, &box) ||
        metamorph_type_of(function, type, &as))
        return -1;
    for (int d = 0; d < 3; ++d) { /* within the bounds, which are ghost cells */
        ++box.start[d];
        if (--box.end[d] < box.start[d]) box.end[d] = box.start[d];
    }
    metamorph_begin(&queued, async, call, ret_event);
    return metamorph_end(function,
                         meta_stencil(outdata, indata, &box, META_3D7P, as, NULL, queued.done),
                         &queued, call, ret_event);
}

/* ------------------------------------------------------------------ sparse matrices and checksums
 */

/* How many elements of @p bytes there are from @p ptr to the end of its buffer. */
static meta_err elements_at(const void *ptr, size_t bytes, int64_t *count)
{
    meta_pointer_desc desc = META_POINTER_DESC_INIT;
    const meta_err err = meta_pointer_info(ptr, &desc);
    if (err == META_OK) *count = (int64_t)((desc.bytes - desc.offset) / bytes);
    return err;
}

metamorph_err metamorph_csr(meta_dim3 *grid_size, meta_dim3 *block_size, size_t global_size,
                            void *csr_ap, void *csr_aj, void *csr_ax, void *x_loc, void *y_loc,
                            meta_type_id type, meta_bool async, meta_callback *call,
                            metamorph_event *ret_event)
{
    static const char function[] = "meta_csr";
    metamorph_queued queued;
    meta_csr matrix = META_CSR_INIT;
    int64_t values;
    size_t bytes = 0;
    (void)grid_size;
    (void)block_size;
    if (metamorph_type_of(function, type, &matrix.value_type)) return -1;
    if (global_size > INT32_MAX)
        return metamorph_refuse(function, "global_size is %zu: at most 2^31 - 1", global_size);
    matrix.rows = (int64_t)global_size;
    matrix.start = csr_ap;
    matrix.column = csr_aj;
    matrix.value = csr_ax;
    /* MetaMorph is not told how long the arrays are: as long as their buffers. */
    meta_err err = meta_type_size(matrix.value_type, &bytes);
    if (err == META_OK) err = elements_at(csr_aj, sizeof(int), &matrix.entries);
    if (err == META_OK) err = elements_at(csr_ax, bytes, &values);
    if (err == META_OK) err = elements_at(x_loc, bytes, &matrix.columns);
    if (err != META_OK) return metamorph_report(function, err);
    if (values < matrix.entries) matrix.entries = values;
    if (matrix.columns > INT32_MAX) matrix.columns = INT32_MAX;
    metamorph_begin(&queued, async, call, ret_event);
    return metamorph_end(
        function,
        meta_csr_multiply(y_loc, NULL, &matrix, x_loc, one_of(matrix.value_type), queued.done),
        &queued, call, ret_event);
}

metamorph_err metamorph_crc(meta_dim3 *grid_size, meta_dim3 *block_size, void *dev_input,
                            int page_size, int num_words, int numpages, void *dev_output,
                            meta_type_id type, meta_bool async, meta_callback *call,
                            metamorph_event *ret_event)
{
    static const char function[] = "meta_crc";
    metamorph_queued queued;
    meta_err err = META_OK;
    (void)grid_size;
    (void)block_size;
    (void)type;
    if (page_size < 0 || num_words < 0 || numpages < 0)
        return metamorph_refuse(function,
                                "page_size is %d, num_words %d, numpages %d: none may be negative",
                                page_size, num_words, numpages);
    metamorph_begin(&queued, async, call, ret_event);
    for (int page = 0; page < numpages && err == META_OK; ++page)
        err = meta_crc32((uint32_t *)dev_output + page,
                         (const char *)dev_input + 4 * (int64_t)page * num_words, (size_t)page_size,
                         page + 1 < numpages && queued.done ? META_ASYNC : queued.done);
    return metamorph_end(function, err, &queued, call, ret_event);
}
