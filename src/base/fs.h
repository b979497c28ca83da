/* Files: reading, atomic writing, folders. */
#ifndef STET_BASE_FS_H
#define STET_BASE_FS_H

#include "base/err.h"
#include "base/hash.h"
#include "base/view.h"

/* The content of a file, in memory of its own: a file that is cut short or whose disk goes away
 * while it is looked at can't end the process, as it would under a mapping (base/mapped.h). */
struct stet_file {
    struct stet_view bytes;
};

/* Reads all of it; pipes and devices up to 2 GiB. A file that changes meanwhile is given as the
 * single reads found it. STET_NOT_FOUND when there is none. */
enum stet_rc stet_file_open(struct stet_file *f, const char *path, struct stet_err *err);
/* The same from `from` on; nothing when the file ends before. */
enum stet_rc stet_file_open_from(struct stet_file *f, const char *path, uint64_t from,
                                 struct stet_err *err);
/* The same of a regular file of at most `most` bytes. Anything else is STET_LIMIT, also one that
 * grows beyond `most` while it is read. Never blocks on a pipe or a device. */
enum stet_rc stet_file_open_small(struct stet_file *f, const char *path, size_t most,
                                  struct stet_err *err);
/* Reads all of a file that is open, from its beginning; it stays open. `path` is for the error. */
enum stet_rc stet_file_read_fd(struct stet_file *f, int fd, const char *path, struct stet_err *err);
void stet_file_close(struct stet_file *f);
/* The hash of all bytes of a regular file, read piece by piece. */
enum stet_rc stet_file_hash(const char *path, struct stet_hash *out, struct stet_err *err);

/* A file in the making: beside its place under a temporary name, which is its place's with
 * `.<process>-<8 hex>.<6 letters>` behind it; the digits say in which boot of which machine, and in
 * which process namespace, there is such a process. */
struct stet_writing {
    char *temporary;
    int fd;
};

/* What such a name tells of its writer. */
enum stet_writer {
    STET_WRITER_NONE, /* it is no temporary name */
    STET_WRITER_ALIVE,
    STET_WRITER_DEAD,
    STET_WRITER_ELSEWHERE, /* on another machine or in another container: can't be told */
};

enum stet_writer stet_fs_writer_of(const char *name);
/* Removes the temporary files in a folder whose writers died: at once when that is known, of others
 * after an hour without a write (of living ones after a day: the number may be another's). Only
 * names for which `ours` is true are looked at. Returns how many were removed. */
size_t stet_fs_sweep(const char *folder, bool (*ours)(const char *name));

enum stet_rc stet_fs_begin(struct stet_writing *w, const char *path, struct stet_err *err);
/* Renamed into its place when all went well so far (`rc`), removed when not. Mode 0 means for its
 * owner alone. Always ends `w`; returns the first failure. */
enum stet_rc stet_fs_end(struct stet_writing *w, const char *path, bool sync, unsigned mode,
                         enum stet_rc rc, struct stet_err *err);

/* Written beside the target under a temporary name, synced, then renamed over it. */
enum stet_rc stet_fs_write(const char *path, struct stet_view bytes, struct stet_err *err);
/* The same without the sync: whole whatever happens to this process, but a machine that goes down
 * may leave it empty or torn, so the bytes should carry a checksum. */
enum stet_rc stet_fs_write_unsynced(const char *path, struct stet_view bytes, struct stet_err *err);
/* The same, readable for whom the umask allows, where the others are the owner's alone. */
enum stet_rc stet_fs_write_shared(const char *path, struct stet_view bytes, struct stet_err *err);
/* mkdir -p with mode 0700 for what is made. */
enum stet_rc stet_fs_mkdirs(const char *path, struct stet_err *err);
/* The same with another mode, whatever the umask. */
enum stet_rc stet_fs_mkdirs_as(const char *path, unsigned mode, struct stet_err *err);
bool stet_fs_exists(const char *path);
/* Is it a file of bytes, and neither a link nor a pipe, a device or a folder? For folders that come
 * from somebody else: opening a pipe waits for its writer, and a link leads anywhere. */
bool stet_fs_is_plain(const char *path);
/* write(2) until all is out; -1 and errno on failure. */
int stet_fs_write_all(int fd, const void *bytes, size_t n);
/* a/b in a malloc'd string (stet_mem_free), or NULL. */
char *stet_fs_join(const char *a, const char *b);
/* "NFS", "Lustre", …: the kind of network filesystem that a folder lies on; NULL when it is local
 * or not there. */
const char *stet_fs_network(const char *folder);

#endif
