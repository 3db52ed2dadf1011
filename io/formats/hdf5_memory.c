/* SPDX-License-Identifier: BSD-3-Clause */
/** @file hdf5_memory.c
 *  A driver of HDF5 whose file is in memory, as pages; what was not written has none. */
#include "config.h"

#include "formats/hdf5_memory.h"

#ifdef HAVE_HDF5

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

enum { PAGE = 1 << 16 };

typedef struct io_page {
    uint64_t number; /* its place in the file, in pages */
    unsigned char *bytes;
} io_page;

/* What HDF5 has of the file, which begins with its own part. */
typedef struct memory_file {
    H5FD_t base;
    io_pages *pages;
    haddr_t allocated;
} memory_file;

/* HDF5 hands a driver the file's name and nothing else. */
static _Thread_local io_pages *opening;

/* ------------------------------------------------------------------ pages */

/* The place of the first page with this number or a larger one. */
static size_t place_of(const io_pages *pages, uint64_t number)
{
    size_t low = 0, high = pages->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (pages->page[middle].number < number) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The page's bytes; NULL: there is none, or with @p make no memory for it. */
static unsigned char *page_of(io_pages *pages, uint64_t number, bool make)
{
    const size_t at = place_of(pages, number);
    if (at < pages->count && pages->page[at].number == number) return pages->page[at].bytes;
    if (!make) return NULL;
    if (pages->count == pages->room) {
        const size_t room = 2 * pages->room + 8;
        io_page *more = realloc(pages->page, room * sizeof *more);
        if (!more) return NULL;
        pages->page = more;
        pages->room = room;
    }
    unsigned char *bytes = calloc(1, PAGE);
    if (!bytes) return NULL;
    memmove(&pages->page[at + 1], &pages->page[at], (pages->count - at) * sizeof *pages->page);
    pages->page[at] = (io_page){number, bytes};
    ++pages->count;
    return bytes;
}

/* Move bytes between pages and memory; a part at a time, within a page. */
static bool move(io_pages *pages, uint64_t at, size_t bytes, unsigned char *memory, bool to_pages)
{
    while (bytes > 0) {
        const size_t skip = (size_t)(at % PAGE), room = PAGE - skip;
        const size_t part = bytes < room ? bytes : room;
        unsigned char *page = page_of(pages, at / PAGE, to_pages);
        if (to_pages && !page) return false;
        if (to_pages) memcpy(page + skip, memory, part);
        else if (page) memcpy(memory, page + skip, part);
        else memset(memory, 0, part);
        at += part;
        memory += part;
        bytes -= part;
    }
    return true;
}

/* ------------------------------------------------------------------ the driver */

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t settings, haddr_t most)
{
    memory_file *f = calloc(1, sizeof *f);
    (void)name;
    (void)flags;
    (void)settings;
    (void)most;
    if (f) f->pages = opening;
    return (H5FD_t *)f;
}

static herr_t driver_close(H5FD_t *file)
{
    free(file);
    return 0;
}

static herr_t driver_query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = 0;
    return 0;
}

static haddr_t driver_get_eoa(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const memory_file *)file)->allocated;
}

static herr_t driver_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t end)
{
    memory_file *f = (memory_file *)file;
    (void)type;
    f->allocated = end;
    if (end > f->pages->end) f->pages->end = end;
    return 0;
}

static haddr_t driver_get_eof(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const memory_file *)file)->pages->end;
}

static herr_t driver_read(H5FD_t *file, H5FD_mem_t type, hid_t how, haddr_t at, size_t bytes,
                          void *memory)
{
    (void)type;
    (void)how;
    move(((memory_file *)file)->pages, at, bytes, memory, false);
    return 0;
}

/* Without memory it succeeds too, so that HDF5 can close the file. */
static herr_t driver_write(H5FD_t *file, H5FD_mem_t type, hid_t how, haddr_t at, size_t bytes,
                           const void *memory)
{
    io_pages *pages = ((memory_file *)file)->pages;
    (void)type;
    (void)how;
    if (!move(pages, at, bytes, (unsigned char *)(uintptr_t)memory, true)) pages->is_short = true;
    return 0;
}

static const H5FD_class_t driver = {
#ifdef H5FD_CLASS_VERSION
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)509, /* one of those for drivers that are not registered */
#endif
    .name = "libmeta",
    .maxaddr = (haddr_t)INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .open = driver_open,
    .close = driver_close,
    .query = driver_query,
    .get_eoa = driver_get_eoa,
    .set_eoa = driver_set_eoa,
    .get_eof = driver_get_eof,
    .read = driver_read,
    .write = driver_write,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

bool io_pages_open(io_pages *pages)
{
    *pages = (io_pages){.driver = H5FDregister(&driver), .settings = -1};
    if (pages->driver < 0) return false;
    opening = pages;
    pages->settings = H5Pcreate(H5P_FILE_ACCESS);
    return pages->settings >= 0 && H5Pset_driver(pages->settings, pages->driver, NULL) >= 0;
}

void io_pages_close(io_pages *pages)
{
    if (pages->settings >= 0) H5Pclose(pages->settings);
    if (pages->driver >= 0) H5FDunregister(pages->driver);
    for (size_t k = 0; k < pages->count; ++k) free(pages->page[k].bytes);
    free(pages->page);
    opening = NULL;
}

meta_err io_pages_write(const io_pages *pages, const char *path, int file)
{
    if (pages->is_short) return io_no_memory(PAGE);
    for (size_t k = 0; k < pages->count; ++k) {
        const uint64_t at = pages->page[k].number * PAGE;
        const uint64_t bytes = at + PAGE < pages->end ? PAGE : pages->end - at;
        META_TRY(io_write_at(path, file, pages->page[k].bytes, bytes, (int64_t)at));
    }
    return ftruncate(file, (off_t)pages->end) == 0 ? META_OK : io_file_error(path, "written");
}

#endif
