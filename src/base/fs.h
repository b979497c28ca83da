/* Files: reading whole files, writing atomically, creating folders. Readers own the bytes that they
 * return. Writers create a temporary file beside the target and rename it, so that another process
 * never sees a partial file. */
#ifndef STET_BASE_FS_H
#define STET_BASE_FS_H

#include "base/err.h"
#include "base/hash.h"
#include "base/view.h"

/* The content of a file, read into its own memory. With a mapping (base/mapped.h), a file that is
 * truncated or a disk that disappears while it is read would kill the process; here it cannot. */
struct stet_file {
    struct stet_view bytes;
};

/* Reads the whole file; pipes and devices up to 2 GiB. If the file changes meanwhile, the content
 * is what the single reads returned. STET_NOT_FOUND if the file does not exist. */
enum stet_rc stet_file_open(struct stet_file *f, const char *path, struct stet_err *err);
/* The same, starting at offset `from`; empty if the file is shorter. */
enum stet_rc stet_file_open_from(struct stet_file *f, const char *path, uint64_t from,
                                 struct stet_err *err);
/* The same for a regular file of at most `most` bytes. Anything else is STET_LIMIT, including a
 * file that grows beyond `most` while it is read. Never blocks on a pipe or a device. */
enum stet_rc stet_file_open_small(struct stet_file *f, const char *path, size_t most,
                                  struct stet_err *err);
/* Reads all of an open file from its beginning. The file stays open. `path` is for the error
 * message. */
enum stet_rc stet_file_read_fd(struct stet_file *f, int fd, const char *path, struct stet_err *err);
void stet_file_close(struct stet_file *f);
/* Hashes all bytes of a regular file, without holding them all in memory. */
enum stet_rc stet_file_hash(const char *path, struct stet_hash *out, struct stet_err *err);

/* A file that is being written. It is beside its target, under the target's name followed by
 * `.<process>-<8 hex>.<6 letters>`. The digits identify the machine, its boot and the process
 * namespace in which the process id is valid. */
struct stet_writing {
    char *temporary;
    int fd;
};

/* What the name of a temporary file shows about its writer. */
enum stet_writer {
    STET_WRITER_NONE, /* not the name of a temporary file */
    STET_WRITER_ALIVE,
    STET_WRITER_DEAD,
    STET_WRITER_ELSEWHERE, /* on another machine or in another container; unknown */
};

enum stet_writer stet_fs_writer_of(const char *name);
/* Removes temporary files in a folder whose writers are dead. A file of a known dead writer is
 * removed at once. A file of an unknown writer is removed after an hour without a write, and of a
 * living process after a day, because its process id may have been reused. Only names for which
 * `ours` returns true are examined. Returns how many were removed. */
size_t stet_fs_sweep(const char *folder, bool (*ours)(const char *name));

enum stet_rc stet_fs_begin(struct stet_writing *w, const char *path, struct stet_err *err);
/* Renames the file to its target if `rc` and all writes succeeded, and removes it otherwise. Mode 0
 * means 0600. Always ends `w`; returns the first failure. */
enum stet_rc stet_fs_end(struct stet_writing *w, const char *path, bool sync, unsigned mode,
                         enum stet_rc rc, struct stet_err *err);

/* Writes a temporary file beside the target, syncs it, and renames it over the target. */
enum stet_rc stet_fs_write(const char *path, struct stet_view bytes, struct stet_err *err);
/* The same without the sync. A crash of this process cannot damage the file. A crash of the machine
 * may leave it empty or torn, so its content needs a checksum. */
enum stet_rc stet_fs_write_unsynced(const char *path, struct stet_view bytes, struct stet_err *err);
/* The same, with the permissions of the umask; the other functions create files for the owner
 * alone. */
enum stet_rc stet_fs_write_shared(const char *path, struct stet_view bytes, struct stet_err *err);
/* mkdir -p; creates folders with mode 0700. */
enum stet_rc stet_fs_mkdirs(const char *path, struct stet_err *err);
/* The same with another mode, independent of the umask. */
enum stet_rc stet_fs_mkdirs_as(const char *path, unsigned mode, struct stet_err *err);
bool stet_fs_exists(const char *path);
/* Is it a regular file, not a link, pipe, device or folder? For folders that another user or
 * machine wrote: opening a pipe would block, and a link can lead anywhere. */
bool stet_fs_is_plain(const char *path);
/* write(2) until everything is written; -1 and errno on failure. */
int stet_fs_write_all(int fd, const void *bytes, size_t n);
/* May this process write a file of this many bytes? A larger one would raise SIGXFSZ, which kills
 * it. */
bool stet_fs_fits(size_t n);
/* a/b in a malloc'd string (stet_mem_free), or NULL. */
char *stet_fs_join(const char *a, const char *b);
/* The kind of network file system that contains a folder ("NFS", "Lustre", …); NULL if it is local
 * or does not exist. */
const char *stet_fs_network(const char *folder);

/* The size of all files in a folder; 0 when there is no such folder. */
uint64_t stet_fs_tree_bytes(const char *path);
/* Removes a folder and everything in it; links are removed, not followed. 0 when all of it is gone.
 */
int stet_fs_remove_tree(const char *path);

#endif
