/* SPDX-License-Identifier: BSD-3-Clause */
/** @file hdf5.c
 *  HDF5 files: a dataset for each field and an attribute of the root for each attribute. Rank 0
 * makes the file with all datasets and closes it; a chunk of a dataset is a piece of the grid, has
 * its place in the file then (H5Dget_chunk_info_by_coord), and is written there like any other
 * piece. So ranks never wait in HDF5 or MPI's files for each other, and every failed write has the
 * system's reason. Files are read by HDF5, on each rank by itself, whatever their layout. */
#include "formats/formats.h"

#ifdef HAVE_HDF5

#include <hdf5.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/hdf5_memory.h"

#if !H5_VERSION_GE(1, 10, 5)
#error HDF5 1.10.5 or later is needed
#endif

/* ------------------------------------------------------------------ its errors */

/* While this library calls it, its messages do not go to the standard error stream; the first one
 * is kept, since the next call that succeeds forgets it. */
typedef struct quiet {
    H5E_auto2_t function;
    void *data;
} quiet;
static _Thread_local char said[IO_TEXT / 2];

static herr_t take_innermost(unsigned number, const H5E_error2_t *error, void *unused)
{
    (void)unused;
    if (number == 0) snprintf(said, sizeof said, "%s", error->desc ? error->desc : "");
    return 0;
}

/* HDF5's innermost function knows why. */
static herr_t keep_first(hid_t errors, void *unused)
{
    if (!*said) H5Ewalk2(errors, H5E_WALK_UPWARD, take_innermost, unused);
    return 0;
}

static quiet be_quiet(void)
{
    quiet before;
    *said = '\0';
    H5Eget_auto2(H5E_DEFAULT, &before.function, &before.data);
    H5Eset_auto2(H5E_DEFAULT, keep_first, NULL);
    return before;
}

static void be_loud(quiet before)
{
    H5Eset_auto2(H5E_DEFAULT, before.function, before.data);
}

static meta_err fail(const char *path, const char *what)
{
    return core->fail(META_ERR_FILE, "argument 'path': %s cannot be %s by HDF5: %s", path, what,
                      *said ? said : "it gives no reason");
}

/* ------------------------------------------------------------------ types */

static hid_t native_of(meta_type type)
{
    switch (type) {
    case META_F64:
        return H5T_NATIVE_DOUBLE;
    case META_F32:
        return H5T_NATIVE_FLOAT;
    case META_I64:
        return H5T_NATIVE_INT64;
    case META_U64:
        return H5T_NATIVE_UINT64;
    case META_I32:
        return H5T_NATIVE_INT32;
    case META_U32:
        return H5T_NATIVE_UINT32;
    case META_I16:
        return H5T_NATIVE_INT16;
    case META_U16:
        return H5T_NATIVE_UINT16;
    case META_I8:
        return H5T_NATIVE_INT8;
    case META_U8:
        return H5T_NATIVE_UINT8;
    default:
        return -1;
    }
}

/* libmeta's type for a type in a file, of any byte order; false if there is none. */
static bool type_of(hid_t stored, meta_type *type)
{
    static const meta_type integers[2][4] = {{META_U8, META_U16, META_U32, META_U64},
                                             {META_I8, META_I16, META_I32, META_I64}};
    const H5T_class_t class = H5Tget_class(stored);
    const size_t bytes = H5Tget_size(stored);
    if (class == H5T_FLOAT && (bytes == 4 || bytes == 8)) {
        *type = bytes == 8 ? META_F64 : META_F32;
        return true;
    }
    for (int k = 0; class == H5T_INTEGER && k < 4; ++k)
        if (bytes == (size_t)1 << k) {
            *type = integers[H5Tget_sign(stored) == H5T_SGN_2][k];
            return true;
        }
    return false;
}

static bool is_begun(const void *start, int64_t bytes)
{
    static const unsigned char magic[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    return bytes >= (int64_t)sizeof magic && memcmp(start, magic, sizeof magic) == 0;
}

static meta_err check(const io_head *head)
{
    (void)head;
    return META_OK;
}

static meta_err lay_out(io_head *head, const meta_io_desc *desc)
{
    (void)desc;
    for (int f = 0; f < head->fields; ++f)
        io_grid_boxes(&head->field[f].grid, io_piece_room(head->field[f].element));
    return META_OK;
}

/* ------------------------------------------------------------------ writing */

/* HDF5's first dimension is the slowest. */
static void reverse(int ndim, const int64_t *from, hsize_t *to)
{
    for (int d = 0; d < ndim; ++d) to[d] = (hsize_t)from[ndim - 1 - d];
}

static bool find_addresses(io_field *f, hid_t set)
{
    for (int64_t k = 0; k < f->grid.pieces; ++k) {
        int64_t first[META_MAX_DIM], cells[META_MAX_DIM];
        hsize_t at[META_MAX_DIM], bytes = 0;
        haddr_t address = HADDR_UNDEF;
        unsigned filters = 0;
        io_piece_box(&f->grid, k, first, cells);
        reverse(f->grid.ndim, first, at);
        if (H5Dget_chunk_info_by_coord(set, at, &filters, &address, &bytes) < 0 ||
            address == HADDR_UNDEF)
            return false;
        f->address[k] = (int64_t)address;
    }
    return true;
}

static bool create_set(io_field *f, hid_t file)
{
    int64_t first[META_MAX_DIM], cells[META_MAX_DIM];
    hsize_t extents[META_MAX_DIM], chunk[META_MAX_DIM];
    const int ndim = f->grid.ndim;
    bool right = false;
    io_piece_box(&f->grid, 0, first, cells); /* the first one is a whole one */
    reverse(ndim, f->grid.cells, extents);
    reverse(ndim, cells, chunk);
    const hid_t space = H5Screate_simple(ndim, extents, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
    if (space >= 0 && how >= 0 && H5Pset_chunk(how, ndim, chunk) >= 0 &&
        H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY) >= 0 &&
        H5Pset_fill_time(how, H5D_FILL_TIME_NEVER) >= 0) {
        const hid_t set =
            H5Dcreate2(file, f->name, native_of(f->type), space, H5P_DEFAULT, how, H5P_DEFAULT);
        right = set >= 0 && find_addresses(f, set);
        if (set >= 0 && H5Dclose(set) < 0) right = false;
    }
    if (how >= 0) H5Pclose(how);
    if (space >= 0) H5Sclose(space);
    return right;
}

static bool create_attribute(const meta_io_attribute *a, hid_t file)
{
    const hsize_t count = (hsize_t)a->count;
    const bool is_scalar = a->text || count == 1;
    const hid_t type = a->text ? H5Tcopy(H5T_C_S1) : native_of(a->type);
    const hid_t space = is_scalar ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, NULL);
    bool right = type >= 0 && space >= 0;
    if (right && a->text)
        right = H5Tset_size(type, count + 1) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0;
    const hid_t made =
        right ? H5Acreate2(file, a->name, type, space, H5P_DEFAULT, H5P_DEFAULT) : -1;
    right = made >= 0 && H5Awrite(made, type, a->text ? a->text : a->numbers) >= 0;
    if (made >= 0 && H5Aclose(made) < 0) right = false;
    if (space >= 0) H5Sclose(space);
    if (a->text && type >= 0) H5Tclose(type);
    return right;
}

static meta_err make(io_head *head, const char *path, hid_t file)
{
    for (int f = 0; f < head->fields; ++f)
        if (!create_set(&head->field[f], file)) return fail(path, "written");
    for (int a = 0; a < head->attributes; ++a)
        if (!create_attribute(&head->attribute[a], file)) return fail(path, "written");
    return META_OK;
}

/* From 64 KiB on attributes are kept apart from what they describe, which HDF5 does since 1.8. */
static bool allow_large(const io_head *head, hid_t settings)
{
    enum { SMALL = 60000 };
    bool large = false;
    for (int k = 0; k < head->attributes; ++k) {
        const meta_io_attribute *a = &head->attribute[k];
        size_t element = 1;
        if (!a->text) core->check_type(a->type, "type", &element);
        large |= (uint64_t)a->count * element > SMALL;
    }
    return !large || H5Pset_libver_bounds(settings, H5F_LIBVER_V18, H5F_LIBVER_LATEST) >= 0;
}

static meta_err write_pages(const io_pages *pages, const char *path, const char *partial)
{
    int file;
    META_TRY(io_file_open(partial, true, &file));
    return io_file_close(path, &file, io_pages_write(pages, path, file));
}

static meta_err begin(io_head *head, const char *path, const char *partial)
{
    for (int f = 0; f < head->fields; ++f) {
        io_field *field = &head->field[f];
        field->address = calloc((size_t)field->grid.pieces, sizeof *field->address);
        if (!field->address) return io_no_memory((uint64_t)field->grid.pieces * 8);
    }
    io_pages pages;
    const quiet before = be_quiet();
    const bool ready = io_pages_open(&pages) && allow_large(head, pages.settings);
    const hid_t file = ready ? H5Fcreate(partial, H5F_ACC_TRUNC, H5P_DEFAULT, pages.settings) : -1;
    meta_err error = file >= 0 ? make(head, path, file) : fail(path, "written");
    if (file >= 0 && H5Fclose(file) < 0 && error == META_OK) error = fail(path, "written");
    if (error == META_OK) error = write_pages(&pages, path, partial);
    io_pages_close(&pages);
    be_loud(before);
    return error;
}

static meta_err beside(const io_head *head, const char *path, const meta_io_desc *desc)
{
    return io_xdmf_write(head, path, desc);
}

/* ------------------------------------------------------------------ reading a head */

typedef struct loading {
    io_head *head;
    meta_err error;
} loading;

/* "has elements of a type that is not read: WHICH". */
static void name_type(hid_t stored, char why[IO_WHY])
{
    static const char *const names[H5T_NCLASSES] = {
        [H5T_INTEGER] = "integers",  [H5T_FLOAT] = "floats",         [H5T_TIME] = "times",
        [H5T_STRING] = "strings",    [H5T_BITFIELD] = "bits",        [H5T_OPAQUE] = "opaque",
        [H5T_COMPOUND] = "compound", [H5T_REFERENCE] = "references", [H5T_ENUM] = "an enumeration",
        [H5T_VLEN] = "lists",        [H5T_ARRAY] = "arrays"};
    const H5T_class_t class = H5Tget_class(stored);
    snprintf(why, IO_WHY, "has elements of a type that is not read: %s of %zu bytes",
             class >= 0 && class < H5T_NCLASSES && names[class] ? names[class] : "another",
             H5Tget_size(stored));
}

/* The extents of a dataset that can be a field, or why it cannot. */
static bool fits_field(hid_t space, hid_t stored, io_grid *grid, meta_type *type, char why[IO_WHY])
{
    hsize_t extents[META_MAX_DIM];
    grid->ndim = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
    if (grid->ndim < 1 || grid->ndim > META_MAX_DIM ||
        H5Sget_simple_extent_dims(space, extents, NULL) != grid->ndim) {
        snprintf(why, IO_WHY, "has %d dimensions: fields have 1 to %d", grid->ndim, META_MAX_DIM);
        return false;
    }
    for (int d = 0; d < grid->ndim; ++d) {
        const hsize_t extent = extents[grid->ndim - 1 - d];
        grid->cells[d] = (int64_t)extent;
        if (extent >= 1 && extent <= INT64_MAX) continue;
        snprintf(why, IO_WHY, "has %llu elements along dimension %d", (unsigned long long)extent,
                 d);
        return false;
    }
    if (stored >= 0 && type_of(stored, type)) return true;
    name_type(stored, why);
    return false;
}

/* A dataset: a field, or left out. */
static void load_set(loading *l, const char *name, hid_t set)
{
    char why[IO_WHY];
    io_grid grid = {.ndim = 0};
    meta_type type = META_F64;
    const hid_t space = H5Dget_space(set), stored = H5Dget_type(set);
    if (!fits_field(space, stored, &grid, &type, why)) {
        l->error = io_head_leave_out(l->head, IO_FIELD, name, why);
    } else {
        l->error = io_head_add_field(l->head, name, type, grid.ndim, grid.cells);
        if (l->error == META_OK) {
            io_field *f = &l->head->field[l->head->fields - 1];
            io_grid_boxes(&f->grid, io_piece_room(f->element));
        }
    }
    if (space >= 0) H5Sclose(space);
    if (stored >= 0) H5Tclose(stored);
}

static herr_t visit_link(hid_t root, const char *name, const H5L_info_t *info, void *with)
{
    loading *l = with;
    if (strlen(name) >= META_IO_NAME_BYTES) return 0;
    if (info->type != H5L_TYPE_HARD) {
        l->error = io_head_leave_out(l->head, IO_FIELD, name, "is a link, which is not followed");
        return l->error == META_OK ? 0 : 1;
    }
    const hid_t object = H5Oopen(root, name, H5P_DEFAULT);
    if (object < 0) return -1;
    if (H5Iget_type(object) == H5I_DATASET) load_set(l, name, object);
    else l->error = io_head_leave_out(l->head, IO_FIELD, name, "is no dataset: a group or a type");
    H5Oclose(object);
    return l->error == META_OK ? 0 : 1;
}

static bool load_text(hid_t attribute, hid_t type, char **text)
{
    const hid_t memory = H5Tcopy(H5T_C_S1);
    bool right = memory >= 0 && H5Tset_cset(memory, H5Tget_cset(type)) >= 0;
    if (right && H5Tis_variable_str(type) > 0) {
        char *given = NULL;
        right = H5Tset_size(memory, H5T_VARIABLE) >= 0 && H5Aread(attribute, memory, &given) >= 0;
        *text = right ? strdup(given ? given : "") : NULL;
        if (given) H5free_memory(given);
    } else if (right) {
        const size_t bytes = H5Tget_size(type) + 1;
        *text = calloc(1, bytes);
        right = *text && H5Tset_size(memory, bytes) >= 0 && H5Aread(attribute, memory, *text) >= 0;
    }
    if (memory >= 0) H5Tclose(memory);
    return right && *text;
}

/* An attribute that libmeta can describe, or left out. */
static bool load_attribute(loading *l, const char *name, hid_t attribute)
{
    const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    const hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    meta_io_attribute a = {.name = name, .type = META_U8, .count = (int64_t)count};
    char *text = NULL;
    void *numbers = NULL;
    size_t element = 1;
    bool right = type >= 0 && space >= 0, fits = false;
    if (right && count == 1 && H5Tget_class(type) == H5T_STRING) {
        right = load_text(attribute, type, &text);
        a.text = text;
        fits = true;
    } else if (right && count >= 1 && type_of(type, &a.type)) {
        core->check_type(a.type, "type", &element);
        numbers = malloc((size_t)count * element);
        right = numbers && H5Aread(attribute, native_of(a.type), numbers) >= 0;
        a.numbers = numbers;
        fits = true;
    }
    if (right && fits) {
        l->error = io_head_add_attribute(l->head, &a);
    } else if (right) {
        char why[IO_WHY];
        if (H5Tget_class(type) == H5T_STRING)
            snprintf(why, sizeof why, "has %lld strings, of which only one is read",
                     (long long)count);
        else if (count < 1) snprintf(why, sizeof why, "is empty");
        else name_type(type, why);
        l->error = io_head_leave_out(l->head, IO_ATTRIBUTE, name, why);
    }
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    free(text);
    free(numbers);
    return right;
}

static herr_t visit_attribute(hid_t root, const char *name, const H5A_info_t *info, void *with)
{
    loading *l = with;
    (void)info;
    if (strlen(name) >= META_IO_NAME_BYTES) return 0;
    const hid_t attribute = H5Aopen(root, name, H5P_DEFAULT);
    if (attribute < 0) return -1;
    const bool right = load_attribute(l, name, attribute);
    H5Aclose(attribute);
    return !right ? -1 : l->error == META_OK ? 0 : 1;
}

static hid_t open_file(const char *path)
{
    return H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
}

static meta_err load(io_head *head, const char *path, int file, int64_t *number)
{
    loading l = {head, META_OK};
    meta_err error = META_OK;
    (void)file;
    (void)number;
    const quiet before = be_quiet();
    const hid_t opened = open_file(path);
    if (opened < 0 || H5Literate(opened, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_link, &l) < 0 ||
        H5Aiterate2(opened, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_attribute, &l) < 0)
        error = fail(path, opened < 0 ? "opened" : "read");
    if (opened >= 0) H5Fclose(opened);
    be_loud(before);
    return error == META_OK ? l.error : error;
}

/* ------------------------------------------------------------------ reading a piece */

typedef struct reading {
    hid_t file, set;
    int field; /* that the set is of; -1: none */
} reading;

static meta_err open_library(io_source *source)
{
    if (source->library) return META_OK;
    reading *r = malloc(sizeof *r);
    if (!r) return io_no_memory(sizeof *r);
    *r = (reading){open_file(source->path), -1, -1};
    source->library = r;
    return r->file >= 0 ? META_OK : fail(source->path, "opened");
}

static bool select_set(reading *r, const io_field *field, int f)
{
    if (r->field == f) return true;
    if (r->field >= 0) H5Dclose(r->set);
    r->set = H5Dopen2(r->file, field->name, H5P_DEFAULT);
    r->field = r->set >= 0 ? f : -1;
    return r->set >= 0;
}

/* The set may have become another one meanwhile. */
static bool has_extents(hid_t space, const io_grid *grid)
{
    hsize_t wanted[META_MAX_DIM], found[META_MAX_DIM];
    reverse(grid->ndim, grid->cells, wanted);
    return H5Sget_simple_extent_ndims(space) == grid->ndim &&
           H5Sget_simple_extent_dims(space, found, NULL) == grid->ndim &&
           memcmp(found, wanted, (size_t)grid->ndim * sizeof *found) == 0;
}

static bool read_box(reading *r, const io_field *field, int64_t k, void *data)
{
    int64_t first[META_MAX_DIM], cells[META_MAX_DIM];
    hsize_t start[META_MAX_DIM], count[META_MAX_DIM];
    const int ndim = field->grid.ndim;
    io_piece_box(&field->grid, k, first, cells);
    reverse(ndim, first, start);
    reverse(ndim, cells, count);
    const hid_t there = H5Dget_space(r->set), here = H5Screate_simple(ndim, count, NULL);
    const bool right = there >= 0 && here >= 0 && has_extents(there, &field->grid) &&
                       H5Sselect_hyperslab(there, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                       H5Dread(r->set, native_of(field->type), here, there, H5P_DEFAULT, data) >= 0;
    if (here >= 0) H5Sclose(here);
    if (there >= 0) H5Sclose(there);
    return right;
}

static meta_err read_piece(io_source *source, int f, int64_t k, void *data)
{
    const io_field *field = &source->head->field[f];
    const quiet before = be_quiet();
    meta_err error = open_library(source);
    if (error == META_OK &&
        !(select_set(source->library, field, f) && read_box(source->library, field, k, data)))
        error = fail(source->path, "read");
    be_loud(before);
    return error;
}

static void close_library(io_source *source)
{
    reading *r = source->library;
    if (!r) return;
    const quiet before = be_quiet();
    if (r->field >= 0) H5Dclose(r->set);
    if (r->file >= 0) H5Fclose(r->file);
    be_loud(before);
    free(r);
    source->library = NULL;
}

const io_format io_hdf5 = {.format = META_IO_HDF5,
                           .name = "META_IO_HDF5",
                           .is_there = true,
                           .is_begun = is_begun,
                           .check = check,
                           .lay_out = lay_out,
                           .begin = begin,
                           .beside = beside,
                           .load = load,
                           .read = read_piece,
                           .close = close_library};

#else

#include <string.h>

static bool is_begun(const void *start, int64_t bytes)
{
    return bytes >= 4 && memcmp(start, "\x89HDF", 4) == 0;
}

const io_format io_hdf5 = {
    .format = META_IO_HDF5,
    .name = "META_IO_HDF5",
    .is_there = false,
    .why = "install HDF5 1.10.5 or later for its MPI (Debian: libhdf5-mpich-dev "
           "or libhdf5-openmpi-dev), and configure and build anew",
    .is_begun = is_begun};

#endif
