/* The store on disk: a folder of entries by key, shared by processes and machines.
 *
 *   <folder>/entries/<2 hex>/<32 hex>.stet     entries; written under a temporary name and renamed
 *   <folder>/programs/<2 hex>/<32 hex>         maps bytes to programs: a hint (alias.c)
 *   <folder>/files/<32 hex>                    hashes of files that are part of keys (files.c)
 *   <folder>/orders/<32 hex>                   the programs a command needed: a hint (order.h)
 *   <folder>/lifts/<32 hex>                    how a family was lifted: a hint (lift_note.h)
 *   <folder>/quarantine/<32 hex>.<what>        failed loads, a small text each
 *
 * There is no index and no lock: names are keys of the content, a rename is atomic, and a reader
 * treats a damaged or missing file as absent. The caller owns the struct; it holds no open file. */
#ifndef STET_STORE_STORE_H
#define STET_STORE_STORE_H

#include "store/entry.h"

#include <limits.h>

/* This many crashed or hung loads condemn an entry. */
#define STET_STORE_STRIKES 2

/* Users in STET_STORE_OWNERS. */
#define STET_STORE_OWNERS_MAX 8

struct stet_store {
    char folder[PATH_MAX]; /* absolute, without links */
    bool read_only;
    bool group; /* the folder is set-group-id and the group may write: files belong to that group */
    uint32_t owner, gid;                    /* of the folder */
    uint32_t owners[STET_STORE_OWNERS_MAX]; /* users who are trusted in addition to this one and
                                             * root */
    size_t owner_count;
    uint64_t load_ms;                     /* STET_STORE_LOAD_MS, or 0 */
    struct stet_entry_unpacker *unpacker; /* for its entries; set by the owner, may be NULL */
};

/* STET_LIMIT if the path is too long, STET_REFUSED if other users may write there (safety.h). The
 * folder need not exist: it is created, for this user alone, when something is put. */
enum stet_rc stet_store_open(struct stet_store *s, const char *folder, struct stet_err *err);
/* $STET_STORE if it is a path, else $XDG_CACHE_HOME/stet/store, else ~/.cache/stet/store; free with
 * stet_mem_free. */
char *stet_store_default(struct stet_err *err);

void stet_store_path(const struct stet_store *s, struct stet_hash key, char out[PATH_MAX + 64]);
/* Opens an entry's file: a descriptor, or -1 with the reason in `rc`. STET_NOT_FOUND if it does not
 * exist, STET_REFUSED if other users may have written it. Its content is not read. */
int stet_store_open_entry(const struct stet_store *s, struct stet_hash key, enum stet_rc *rc,
                          struct stet_err *err);
/* Opens the entry of this key and checks that its components give the key. */
enum stet_rc stet_store_get(const struct stet_store *s, struct stet_hash key,
                            struct stet_entry_file *out, struct stet_err *err);
/* Marks an entry as used now: the least recently used are removed first. */
void stet_store_touch(const struct stet_store *s, struct stet_hash key);
/* On disk and synced when it returns STET_OK. Readers see all of it or nothing. */
enum stet_rc stet_store_put(const struct stet_store *s, const struct stet_kept *e, uint64_t *bytes,
                            struct stet_err *err);
/* The same for the bytes of an entry, which were checked (stet_store_entry_read) and have this key.
 */
enum stet_rc stet_store_put_bytes(const struct stet_store *s, struct stet_hash key,
                                  struct stet_view bytes, struct stet_err *err);
enum stet_rc stet_store_remove(const struct stet_store *s, struct stet_hash key,
                               struct stet_err *err);

/* Folders and small files with the modes of the store's folder. STET_REFUSED if other users may
 * write to an existing folder. */
enum stet_rc stet_store_mkdirs(const struct stet_store *s, const char *path, struct stet_err *err);
enum stet_rc stet_store_write_note(const struct stet_store *s, const char *path,
                                   struct stet_view bytes);

/* What a folder listing gives for an entry. */
struct stet_stored {
    struct stet_hash key;
    uint64_t bytes;
    int64_t used_ns; /* CLOCK_REALTIME of its last use */
};

struct stet_stored_list {
    struct stet_stored *items; /* least recently used first */
    size_t count;
    uint64_t bytes;
    size_t foreign; /* files that are not entries: left alone */
};

enum stet_rc stet_store_list(const struct stet_store *s, struct stet_stored_list *out,
                             struct stet_err *err);
void stet_store_list_release(struct stet_stored_list *l);
/* Finds the only key with this prefix; STET_NOT_FOUND, or STET_USAGE when there are several. */
enum stet_rc stet_store_find(const struct stet_store *s, const char *prefix, struct stet_hash *key,
                             struct stet_err *err);

struct stet_store_gc {
    uint64_t max_bytes; /* 0: no limit */
    uint64_t max_age_s; /* 0: no limit */
    size_t removed, left;
    uint64_t removed_bytes, left_bytes;
    size_t temporaries; /* of writers that died */
};

/* The default limit of a store: 20 GiB, or a tenth of a file system of `capacity` bytes if that is
 * less (0: unknown). */
uint64_t stet_store_usual_limit(uint64_t capacity);
/* <key>.stet with the suffix of stet_fs_begin: an entry that is being written. */
bool stet_store_is_temporary(const char *name);
/* Removes the least recently used entries until the limits hold; also without limits, files of dead
 * writers and old notes. */
enum stet_rc stet_store_gc(const struct stet_store *s, struct stet_store_gc *gc,
                           struct stet_err *err);

/* The hash of a file's content, cached in the store's folder under its path, inode, size and times.
 * STET_NOT_FOUND if the file does not exist. */
enum stet_rc stet_store_file_hash(const struct stet_store *s, const char *path,
                                  struct stet_hash *out, struct stet_err *err);

/* The program of these bytes, by their hash and the version of the fingerprint, if they were seen
 * before. A hint: compare the bytes before using it. */
bool stet_store_alias(const struct stet_store *s, struct stet_hash bytes, unsigned version,
                      struct stet_hash *program);
void stet_store_alias_set(const struct stet_store *s, struct stet_hash bytes, unsigned version,
                          struct stet_hash program);
/* Removes those, orders (order.h) and lifts (lift_note.h) that were not used for this long, or for
 * a month; and strikes and notes of entries, after a month. */
void stet_store_hints_gc(const struct stet_store *s, uint64_t max_age_s);

#endif
