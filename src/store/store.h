/* The store on disk: a folder of entries by key, shared by processes and machines.
 *
 *   <folder>/entries/<2 hex>/<32 hex>.stet     entries; written whole under another name, renamed
 *   <folder>/programs/<2 hex>/<32 hex>         which program some bytes are: a hint (alias.c)
 *   <folder>/files/<32 hex>                    what files hold that are part of keys (files.c)
 *   <folder>/orders/<32 hex>                   what a command asked for: a hint (order.h)
 *   <folder>/quarantine/<32 hex>.<what>        loads that went wrong, a small text each
 *
 * There is no index and no lock: names are contents' keys, a rename is atomic, and whoever finds a
 * file damaged or gone treats it as absent. */
#ifndef STET_STORE_STORE_H
#define STET_STORE_STORE_H

#include "store/entry.h"

#include <limits.h>

/* So many loads of an entry that crashed or never ended condemn it. */
#define STET_STORE_STRIKES 2

/* Users in STET_STORE_OWNERS. */
#define STET_STORE_OWNERS_MAX 8

struct stet_store {
    char folder[PATH_MAX]; /* absolute, without links */
    bool read_only;
    bool group;          /* the folder is set-group-id and the group may write: files are its */
    uint32_t owner, gid; /* of the folder */
    uint32_t owners[STET_STORE_OWNERS_MAX]; /* users who are trusted beside this one and root */
    size_t owner_count;
    uint64_t load_ms; /* STET_STORE_LOAD_MS, or 0 */
};

/* STET_LIMIT when the path is too long, STET_REFUSED when others may write there (safety.h). It
 * need not be there yet: then it is made, for this user alone, when something is put. */
enum stet_rc stet_store_open(struct stet_store *s, const char *folder, struct stet_err *err);
/* $STET_STORE when it is a path, else $XDG_CACHE_HOME/stet/store, else ~/.cache/stet/store; to be
 * freed with stet_mem_free. */
char *stet_store_default(struct stet_err *err);

void stet_store_path(const struct stet_store *s, struct stet_hash key, char out[PATH_MAX + 64]);
/* An entry's file, open: a descriptor, or -1 and why in `rc`. STET_NOT_FOUND when there is none,
 * STET_REFUSED when others may have written it. What is in it is not looked at. */
int stet_store_open_entry(const struct stet_store *s, struct stet_hash key, enum stet_rc *rc,
                          struct stet_err *err);
/* The entry of this key, open; its key is the one asked for. */
enum stet_rc stet_store_get(const struct stet_store *s, struct stet_hash key,
                            struct stet_entry_file *out, struct stet_err *err);
/* Marks an entry as used now: the least recently used go first. */
void stet_store_touch(const struct stet_store *s, struct stet_hash key);
/* On disk, and synced, when it returns STET_OK. Readers see all of it or nothing. */
enum stet_rc stet_store_put(const struct stet_store *s, const struct stet_kept *e, uint64_t *bytes,
                            struct stet_err *err);
/* The same of an entry's bytes, which were checked (stet_entry_read) and have this key. */
enum stet_rc stet_store_put_bytes(const struct stet_store *s, struct stet_hash key,
                                  struct stet_view bytes, struct stet_err *err);
enum stet_rc stet_store_remove(const struct stet_store *s, struct stet_hash key,
                               struct stet_err *err);

/* Folders and small files with the modes that go with the store's folder. STET_REFUSED when others
 * may write to a folder that was there. */
enum stet_rc stet_store_mkdirs(const struct stet_store *s, const char *path, struct stet_err *err);
enum stet_rc stet_store_write_note(const struct stet_store *s, const char *path,
                                   struct stet_view bytes);

/* What a folder listing tells of an entry. */
struct stet_stored {
    struct stet_hash key;
    uint64_t bytes;
    int64_t used_ns; /* CLOCK_REALTIME of its last use */
};

struct stet_stored_list {
    struct stet_stored *items; /* least recently used first */
    size_t count;
    uint64_t bytes;
    size_t foreign; /* files that are no entries: left alone */
};

enum stet_rc stet_store_list(const struct stet_store *s, struct stet_stored_list *out,
                             struct stet_err *err);
void stet_stored_list_release(struct stet_stored_list *l);

struct stet_store_gc {
    uint64_t max_bytes; /* 0: no limit */
    uint64_t max_age_s; /* 0: no limit */
    size_t removed, left;
    uint64_t removed_bytes, left_bytes;
    size_t temporaries; /* of writers that died */
};

/* The limit of a store for which none was set: 20 GiB, or a tenth of a file system of `capacity`
 * bytes when that is less (0: not known). */
uint64_t stet_store_usual_limit(uint64_t capacity);
/* <key>.stet and what stet_fs_begin puts behind: an entry in the making. */
bool stet_store_is_temporary(const char *name);
/* Removes the least recently used until the limits hold; what dead writers left, and old notes,
 * also without limits. */
enum stet_rc stet_store_gc(const struct stet_store *s, struct stet_store_gc *gc,
                           struct stet_err *err);

/* The hash of a file's content, remembered in the store's folder under its path, inode, size and
 * times. STET_NOT_FOUND when there is no such file. */
enum stet_rc stet_store_file_hash(const struct stet_store *s, const char *path,
                                  struct stet_hash *out, struct stet_err *err);

/* Which program these bytes are, by their hash and the version of the fingerprint, when they were
 * seen before. A hint: compare the bytes before believing it. */
bool stet_store_alias(const struct stet_store *s, struct stet_hash bytes, unsigned version,
                      struct stet_hash *program);
void stet_store_alias_set(const struct stet_store *s, struct stet_hash bytes, unsigned version,
                          struct stet_hash program);
/* Removes those, and orders (order.h), made or used longer ago than this, or than a month; and what
 * is known against entries, after a month. */
void stet_store_hints_gc(const struct stet_store *s, uint64_t max_age_s);

#endif
