/* SPDX-License-Identifier: BSD-3-Clause */
/** @file formats.h
 *  What a file has in front of its data, and how each format stores it. The data itself is written
 * and read in pieces, each at a place of its own. */
#ifndef META_IO_FORMATS_H
#define META_IO_FORMATS_H

#include <stdio.h>

#include "files/files.h"
#include "files/queue.h"
#include "grid/grid.h"

/** A field in a file. */
typedef struct io_field {
    char *name;
    meta_type type;
    size_t element;
    io_grid grid;
    bool reversed;    /**< in the file the last dimension is the fastest; pieces are runs there */
    int64_t offset;   /**< of the data in bytes, where pieces lie one behind the other; else -1 */
    int64_t *address; /**< of each piece otherwise; NULL where only the format's library knows */
    int64_t sums;     /**< of the checksums of pieces, 8 bytes each; -1: there are none */
} io_field;

/** All that a file has but its data. */
typedef struct io_head {
    int fields, attributes;
    int64_t
        end;  /**< of what was laid out so far, where places follow from what was written before */
    int axis; /**< of a picture: the dimension along which a plane is cut; -1: the grid is one */
    int64_t plane; /**< of a picture: which one */
    io_field *field;
    meta_io_attribute *attribute; /**< with memory of its own */
    char *left_out; /**< io_head_leave_out(): kind and name on a line, why on the next; or NULL */
} io_head;

/* table.c */
/** Copy descriptions; only grid.ndim, cells and count are set of grids. */
meta_err io_head_copy(io_head *head, int fields, const meta_io_field *field, int attributes,
                      const meta_io_attribute *attribute);
/** Add one; the memory is copied. */
meta_err io_head_add_field(io_head *head, const char *name, meta_type type, int ndim,
                           const int64_t *cells);
meta_err io_head_add_attribute(io_head *head, const meta_io_attribute *attribute);
/** What is left out: a field or an attribute. */
typedef enum io_kind { IO_FIELD = 'f', IO_ATTRIBUTE = 'a' } io_kind;
/** The file has one called @p name, which is not read: @p why, as "is of a compound type". */
meta_err io_head_leave_out(io_head *head, io_kind kind, const char *name, const char *why);
enum { IO_WHY = 96 };
/** Whether the file has one that was left out, and why. */
bool io_head_left_out(const io_head *head, io_kind kind, const char *name, char why[IO_WHY]);
void io_head_free(io_head *head);
/** The head as bytes, a multiple of 8, to be freed; NULL: no memory. */
void *io_head_encode(const io_head *head, int64_t *bytes);
/** The same back; false where they are no head, or no memory is left for it. */
bool io_head_decode(io_head *head, const void *bytes, int64_t count);

/* xml.c */
void io_xml_text(FILE *to, const char *text);
/** The attribute "time"; false if there is none that is a number. */
bool io_head_time(const io_head *head, double *time);

/** A file that is being written, for formats that write pieces themselves. */
typedef struct io_writer {
    const io_ranks *ranks;
    io_head *head;
    const char *path;
    int file;
    io_queue *queue;  /**< NULL: it is written at once */
    int64_t *lengths; /**< room for a number of each rank */
    uint64_t *sizes;  /**< rank 0: of a field's blocks, behind three numbers about them; or NULL */
    int64_t blocks;   /**< rank 0: how many of them were written */
    bool in_step;     /**< false: ranks can agree on nothing any more */
} io_writer;

/** A file that is open for reading on this rank. */
typedef struct io_source {
    const char *path;
    const io_head *head;
    int file;      /**< -1: not open yet */
    void *library; /**< of the format's library, NULL: not open yet */
} io_source;

/** A format. Functions that rank 0 alone calls are marked so. */
typedef struct io_format {
    meta_io_format format;
    const char *name;
    bool is_there;   /**< in this build */
    const char *why; /**< not, otherwise: what is to be installed */
    /** Whether the bytes at the beginning of a file are of this format. */
    bool (*is_begun)(const void *start, int64_t bytes);
    /** Whether the format can store the head; local. */
    meta_err (*check)(const io_head *head);
    /** Lay out the file: pieces, offsets and checksums. */
    meta_err (*lay_out)(io_head *head, const meta_io_desc *desc);
    /** Rank 0: write what stands before the data to the file @p partial, which is there and empty;
     * sets addresses. */
    meta_err (*begin)(io_head *head, const char *path, const char *partial);
    /** Write piece @p k of field @p f, on every rank in each round of pieces: @p k is -1 where this
     * one has none; NULL: each at its place. begin_field() and end_field(): rank 0, before and
     * behind. */
    meta_err (*write)(io_writer *writer, int f, int64_t k, const void *data, size_t bytes);
    meta_err (*begin_field)(io_writer *writer, int f);
    meta_err (*end_field)(io_writer *writer, int f);
    /** Rank 0: write one plane of field 0 instead of the field; NULL: the whole field is written.
     */
    meta_err (*write_plane)(io_writer *writer, const io_grid *plane, const void *cells,
                            const meta_io_desc *desc);
    /** Rank 0, when all data is on the disk: what makes the file complete; NULL: it is. */
    meta_err (*seal)(const io_head *head, const char *path, int file, int64_t number,
                     const meta_io_desc *desc);
    /** Rank 0, when the file has its name: the files beside it; NULL: none. */
    meta_err (*beside)(const io_head *head, const char *path, const meta_io_desc *desc);
    /** Rank 0: read the head of a file; NULL: the format is only written. */
    meta_err (*load)(io_head *head, const char *path, int file, int64_t *number);
    /** Read a piece of field @p f by a library; NULL: it lies at its offset. */
    meta_err (*read)(io_source *source, int f, int64_t k, void *data);
    /** Close what read() opened. */
    void (*close)(io_source *source);
} io_format;

/* formats.c */
/** NULL: there is no such format. */
const io_format *io_format_of(meta_io_format format);
/** META_ERR_UNSUPPORTED where this build does not have it. */
meta_err io_format_check(const io_format *format);

extern const io_format io_checkpoint, io_hdf5, io_npy, io_png, io_vtk; /* a file each */

/* series.c */
/** Add a file of VTK to the series @p series, with its time. */
meta_err io_series_add(const char *series, const char *path, double time);

/* xdmf.c */
/** Write PATH.xmf, which describes the HDF5 file @p path. */
meta_err io_xdmf_write(const io_head *head, const char *path, const meta_io_desc *desc);

#endif
