/* SPDX-License-Identifier: BSD-3-Clause */
/** @file blocks.c
 *  File I/O of the global grid: each rank reads or writes its own block. */
#include "config.h"

#include "blocks.h"

#include <string.h>

#include "failure.h"
#include "watch.h"

/* All ranks at once, but not with Open MPI, whose 4.1.4 often leaves a part of the cells unread
 * when three ranks read blocks of 4-byte cells together. */
#ifdef OPEN_MPI
#define FILE_READ  MPI_File_read
#define FILE_WRITE MPI_File_write
#else
#define FILE_READ  MPI_File_read_all
#define FILE_WRITE MPI_File_write_all
#endif

/* ROMIO takes what stands before a colon for the name of a file system. */
bool blocks_has_colon(const char *option, const char *path)
{
    if (strchr(path, ':') == NULL) return false;
    failure_note("%s %s: MPI cannot open files with a colon in their name or folder", option, path);
    return true;
}

int64_t blocks_variable_bytes(const problem *p, number type)
{
    return p->global[0] * p->global[1] * p->global[2] * (int64_t)number_size(type);
}

static MPI_Datatype element(const blocks *b)
{
    return b->type == NUMBER_F64 ? MPI_DOUBLE : MPI_FLOAT;
}

static void make_types(blocks *b)
{
    int global[3], memory[3], mine[3], in_global[3], in_memory[3];
    for (int d = 0; d < 3; ++d) {
        const int c = 2 - d;
        global[c] = (int)b->p->global[d];
        memory[c] = (int)b->p->size[d];
        mine[c] = (int)(b->p->own.end[d] - b->p->own.start[d]);
        in_global[c] = (int)b->p->first[d];
        in_memory[c] = (int)b->p->own.start[d];
    }
    MPI_Type_create_subarray(3, global, mine, in_global, MPI_ORDER_C, element(b), &b->in_file);
    MPI_Type_create_subarray(3, memory, mine, in_memory, MPI_ORDER_C, element(b), &b->in_memory);
    MPI_Type_commit(&b->in_file);
    MPI_Type_commit(&b->in_memory);
}

static void free_types(blocks *b)
{
    MPI_Type_free(&b->in_file);
    MPI_Type_free(&b->in_memory);
}

/* What is wrong, without the names of functions that MPI puts before it. */
static const char *reason_of(int error, char *text)
{
    static const struct {
        int class;
        const char *text;
    } reasons[] = {{MPI_ERR_NO_SPACE, "no space left on the disk"},
                   {MPI_ERR_QUOTA, "the quota is exceeded"},
                   {MPI_ERR_NO_SUCH_FILE, "there is no such file"},
                   {MPI_ERR_ACCESS, "permission denied"},
                   {MPI_ERR_READ_ONLY, "the file system is read-only"}};
    static const char other[] = "Other I/O error ";
    int class, length;
    MPI_Error_class(error, &class);
    for (size_t k = 0; k < sizeof reasons / sizeof *reasons; ++k)
        if (class == reasons[k].class) return reasons[k].text;
    MPI_Error_string(error, text, &length);
    while (length > 0 && strchr(" \n", text[length - 1]) != NULL) text[--length] = '\0';
    char *line = strrchr(text, '\n'), *reason = strrchr(text, ':');
    if (reason == NULL || (line != NULL && line > reason)) reason = line;
    reason = reason == NULL ? text : reason + 1;
    while (*reason == ' ') ++reason;
    return strncmp(reason, other, sizeof other - 1) == 0 ? reason + sizeof other - 1 : reason;
}

static void note_mpi(const blocks *b, const char *what, int error)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    if (error == MPI_SUCCESS) return;
    failure_note("%s cannot be %s: %s", b->path, what, reason_of(error, text));
}

bool blocks_open(blocks *b, const char *name, int mode)
{
    make_types(b);
    watch_begin("a file is opened");
    note_mpi(b, "opened", MPI_File_open(b->p->cart, name, mode, MPI_INFO_NULL, &b->file));
    watch_end();
    if (!failure_agree(b->p->cart)) return true;
    free_types(b);
    return false;
}

static void view_variable(blocks *b, int variable)
{
    const MPI_Offset at = blocks_variable_bytes(b->p, b->type) * variable;
    note_mpi(b, "viewed",
             MPI_File_set_view(b->file, at, element(b), b->in_file, "native", MPI_INFO_NULL));
}

static void note_short(const blocks *b, const char *what, MPI_Status *status)
{
    int count;
    MPI_Get_count(status, b->in_memory, &count);
    if (count != 1) failure_note("%s cannot be %s to its end", b->path, what);
}

void blocks_read(blocks *b, int variable, void *cells)
{
    MPI_Status status;
    watch_begin("a file is read");
    view_variable(b, variable);
    const int error = FILE_READ(b->file, cells, 1, b->in_memory, &status);
    watch_end();
    note_mpi(b, "read", error);
    if (error == MPI_SUCCESS) note_short(b, "read", &status);
}

void blocks_write(blocks *b, int variable, const void *cells)
{
    MPI_Status status;
    watch_begin("a file is written");
    view_variable(b, variable);
    const int error = FILE_WRITE(b->file, cells, 1, b->in_memory, &status);
    watch_end();
    note_mpi(b, "written", error);
    if (error == MPI_SUCCESS) note_short(b, "written", &status);
}

/* MPICH's collective reading does not say how much there was. What was cut off before it was read
 * is still not there afterwards. */
static void note_shorter(const blocks *b)
{
    const int64_t end = blocks_variable_bytes(b->p, b->type) * b->p->variables;
    MPI_Offset size = 0;
    note_mpi(b, "looked at", MPI_File_get_size(b->file, &size));
    if (size < end) failure_note("%s became shorter while it was read", b->path);
}

void blocks_close(blocks *b, bool written)
{
    watch_begin("a file is closed");
    if (!written) note_shorter(b);
    if (written) note_mpi(b, "written", MPI_File_sync(b->file));
    note_mpi(b, "closed", MPI_File_close(&b->file));
    watch_end();
    free_types(b);
}
