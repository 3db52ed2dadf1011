/* SPDX-License-Identifier: BSD-3-Clause */
/** @file cache.h
 *  Compiled code, kept from run to run and shared by the processes of a node, and how files of such
 * a folder are read and replaced.
 *
 *  Code is kept in files that belong to this user and that nobody else can write; others are not
 *  loaded. Code that was made ahead of time may belong to root as well (META_KERNEL_PATH). A file
 * is written under a temporary name and renamed, so readers see a complete one or none, and damaged
 * ones fail their checksum. Nothing here is needed for a right result: without folder, lock or room
 * on the disk, code is compiled by each process. */
#ifndef META_CACHE_H
#define META_CACHE_H

#include "base/base.h"

/* jit.c */
typedef enum meta_jit_mode { META_JIT_OFF, META_JIT_LOAD, META_JIT_ON } meta_jit_mode;
/** Read META_JIT and META_JIT_TIMEOUT. */
meta_err meta_jit_read(void);
meta_jit_mode meta_jit(void);
/** The seconds that a compiler may take. */
double meta_jit_timeout(void);

/* cache.c */
/** See meta_host.cached. Without `build`, code is only looked for: META_ERR_UNSUPPORTED if there is
 * none, of any build of the compiler. */
meta_err meta_cached_code(const meta_cached *what);
/** Write @p code to the cache as code of any build of the compiler, without loading it.
 *  @return META_ERR_UNSUPPORTED with the reason if it cannot be written */
meta_err meta_cached_put(const meta_cached *what, const void *code, size_t bytes);

/* key.c */
typedef struct meta_cache_key {
    uint64_t part[2];
    uint64_t bytes; /**< hashed so far */
} meta_cache_key;
#define META_CACHE_KEY_INIT                                                                        \
    {                                                                                              \
        {UINT64_C(0x6c69626d657461), UINT64_C(0xcbf29ce484222325)}, 0                              \
    }
void meta_cache_key_add(meta_cache_key *key, const void *bytes, size_t count);
/** Add a text with its end. */
void meta_cache_key_text(meta_cache_key *key, const char *text);
bool meta_cache_key_same(const meta_cache_key *a, const meta_cache_key *b);

/* folder.c */
/** The folders of the cache, the first being preferred. */
enum { META_CACHE_FOLDERS = 2 };
/** The path of folder @p index, which may not exist. @return false if there is none */
bool meta_cache_folder_path(int index, char *path, size_t room);
/** Open it, and create it if @p make. @return its descriptor, or -1 if it does not exist, belongs
 * to another user or can be written by one, which is logged */
int meta_cache_folder(int index, bool make);
/** Open folder @p index of META_KERNEL_PATH, which is only read. @return its descriptor; -1 if it
 * cannot be used, which is logged; -2 if the path has no such folder */
int meta_kernel_folder(int index);
/** From now on code is kept in @p folder alone, which is created where it is missing, and readable
 *  for everybody whom the umask allows: a folder for META_KERNEL_PATH is filled.
 *  @return META_ERR_UNSUPPORTED with the reason if no program would load code from it */
meta_err meta_cache_only(const char *folder);
/** Whether that is so: code that cannot be kept there is an error then. */
bool meta_cache_is_only(void);
/** The mode of its files. */
unsigned meta_cache_file_mode(void);
/** Open a folder on this node for locks. @return -1 if there is none */
int meta_lock_folder(void);
/** Create a folder of this process alone, to compile in. @p path has room for PATH_MAX.
 *  @return META_ERR_UNSUPPORTED if there is no place for one */
meta_err meta_build_folder(char *path);
/** Remove it with all that is in it. */
void meta_build_folder_remove(const char *path);
/** Remove what processes that were killed left in @p folder and nobody has written to for an hour:
 * entries that libmeta names by @p part. */
void meta_folder_sweep(int folder, const char *part);
/** Who may own files that code is loaded from; in no case may anybody else be able to write them.
 */
typedef enum meta_owners { META_THIS_USER, META_THIS_USER_OR_ROOT } meta_owners;
/** Whether code may be loaded from an open file or folder; otherwise @p reason says why not. */
bool meta_file_is_safe(int file, meta_owners owners, char *reason, size_t room);

/* file.c */
enum { META_CACHE_WHY = 384 };
/** The code with @p key in @p folder, of malloc(); NULL if there is none that is intact, in a file
 * of one of @p owners. Where there is a file that is not loaded, @p why becomes its name and the
 * reason; else it is left alone. */
void *meta_cache_read(int folder, meta_owners owners, const char *kind, const meta_cache_key *key,
                      size_t *bytes, char why[META_CACHE_WHY]);
/** Write it. @return 0, or the errno of the reason why it could not be */
int meta_cache_write(int folder, const char *kind, const meta_cache_key *key, const void *code,
                     size_t bytes);

/** All of regular file @p name of one of @p owners, of malloc() and with a '\0' behind it; NULL
 * with the @p reason, which is empty if there is no such file. @p most: bytes. */
char *meta_file_read(int folder, const char *name, meta_owners owners, size_t most, size_t *bytes,
                     char *reason, size_t room);
typedef struct meta_file_part {
    const void *bytes;
    size_t count;
} meta_file_part;
/** Write @p parts one behind the other as file @p name, or leave what is there. What processes that
 * were killed left of it goes. @return 0, or the errno of the reason why it could not be */
int meta_file_replace(int folder, const char *name, const meta_file_part *part, int parts);

/* lock.c */
/** A lock between the processes of a node; all zero: not held. */
typedef struct meta_cache_lock {
    int file; /**< 0 if not held */
    int folder;
    char name[160];
    struct meta_lock_beat *beat;
} meta_cache_lock;
/** Wait until this process may compile what has @p key. Afterwards look into the cache again.
 *  @return with or without the lock: a holder that is dead or does not move is passed by */
void meta_cache_lock_take(meta_cache_lock *lock, const meta_cache_key *key, const char *title);
/** @p kept: the result is in the cache. Otherwise those who wait no longer do so for each other. */
void meta_cache_lock_release(meta_cache_lock *lock, bool kept);

/** A lock for a file that is read, changed and replaced; all zero: not held. */
typedef struct meta_file_lock {
    int file; /**< 0 if not held */
    int folder;
    char name[160];
} meta_file_lock;
/** Wait, ten seconds at most, until no other process of the node holds the lock of @p key.
 *  @return with or without it */
void meta_file_lock_take(meta_file_lock *lock, const meta_cache_key *key);
void meta_file_lock_release(meta_file_lock *lock);

/* object.c */
/** Open a shared object whose bytes are in memory. @p name appears in lists of mapped files.
 *  @return its handle, or NULL with the @p reason */
void *meta_object_open(const char *name, const void *code, size_t bytes, char *reason, size_t room);

#endif
