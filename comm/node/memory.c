/* SPDX-License-Identifier: BSD-3-Clause */
/** @file memory.c
 *  Memory shared with other processes of the user: a file in memory, which the others open through
 *  the file table of its maker in /proc. A key in its first page tells it from another file that
 *  the same entry may stand for, as after a restart or in another container. */
#include "node/node.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD = 4096 }; /* bytes before what is shared: the key's page */

static meta_err failed(const char *what, uint64_t bytes)
{
    return core->fail(META_ERR_NO_MEMORY, "%s of %" PRIu64 " bytes shared on the node: %s", what,
                      bytes, strerror(errno));
}

static meta_err map(comm_memory *m, size_t bytes, bool touched)
{
    void *at = mmap(NULL, HEAD + bytes, PROT_READ | PROT_WRITE,
                    MAP_SHARED | (touched ? MAP_POPULATE : 0), m->file, 0);
    if (at == MAP_FAILED) return failed("mmap()", bytes);
    m->at = (char *)at + HEAD;
    m->bytes = bytes;
    return META_OK;
}

/* With pages for all of it, near this process; and it stays as long as it is. */
static meta_err fill(comm_memory *m, size_t bytes)
{
    errno = posix_fallocate(m->file, 0, (off_t)(HEAD + bytes));
    if (errno) return failed("posix_fallocate()", bytes);
    if (fcntl(m->file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return failed("F_ADD_SEALS", bytes);
    return map(m, bytes, true);
}

meta_err comm_memory_make(size_t bytes, comm_memory *made, comm_memory_name *name)
{
    *made = COMM_NO_MEMORY;
    memset(name, 0, sizeof *name);
    made->file = memfd_create("libmeta", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (made->file < 0) return failed("memfd_create()", bytes);
    meta_err error = fill(made, bytes);
    if (error == META_OK && getrandom(&name->key, sizeof name->key, 0) != sizeof name->key)
        error = failed("getrandom()", bytes);
    if (error != META_OK) {
        comm_memory_close(made);
        return error;
    }
    memcpy(made->at - HEAD, &name->key, sizeof name->key);
    name->bytes = bytes;
    name->process = getpid();
    name->file = made->file;
    return META_OK;
}

static meta_err open_file(const comm_memory_name *name, comm_memory *m)
{
    char path[64];
    struct stat found;
    snprintf(path, sizeof path, "/proc/%" PRId64 "/fd/%" PRId32, name->process, name->file);
    m->file = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (m->file < 0 || fstat(m->file, &found) != 0) return failed(path, name->bytes);
    errno = ESTALE; /* or it is another file */
    return S_ISREG(found.st_mode) && (uint64_t)found.st_size == HEAD + name->bytes
               ? META_OK
               : failed(path, name->bytes);
}

meta_err comm_memory_open(const comm_memory_name *name, comm_memory *opened)
{
    uint64_t key = 0;
    *opened = COMM_NO_MEMORY;
    if (name->bytes == 0)
        return core->fail(META_ERR_NO_MEMORY, "the other rank has no memory that can be shared");
    meta_err error = open_file(name, opened);
    if (error == META_OK) error = map(opened, (size_t)name->bytes, true);
    if (error == META_OK) memcpy(&key, opened->at - HEAD, sizeof key);
    errno = ESTALE;
    if (error == META_OK && key != name->key) error = failed("the key", name->bytes);
    if (error != META_OK) comm_memory_close(opened);
    return error;
}

void comm_memory_close_file(comm_memory *memory)
{
    if (memory->file >= 0) close(memory->file);
    memory->file = -1;
}

void comm_memory_close(comm_memory *memory)
{
    comm_memory_close_file(memory);
    if (memory->at) munmap(memory->at - HEAD, HEAD + memory->bytes);
    *memory = COMM_NO_MEMORY;
}
