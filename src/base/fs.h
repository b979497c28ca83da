/* Files: mapped reading, atomic writing, folders. */
#ifndef STET_BASE_FS_H
#define STET_BASE_FS_H

#include "base/err.h"
#include "base/view.h"

/* A whole file, mapped (or read, when it can't be mapped). */
struct stet_file {
    struct stet_view bytes;
    bool mapped;
};

enum stet_rc stet_file_open(struct stet_file *f, const char *path, struct stet_err *err);
/* A copy, which nobody can change while it is looked at. */
enum stet_rc stet_file_read(struct stet_file *f, const char *path, struct stet_err *err);
/* The same of one that has no more than `most` bytes; STET_LIMIT when it has more, STET_NOT_FOUND
 * when it is not there. */
enum stet_rc stet_file_read_most(struct stet_file *f, const char *path, size_t most,
                                 struct stet_err *err);
/* The same of one that is open, from its beginning; it stays open. `path` is for the error. */
enum stet_rc stet_file_read_fd(struct stet_file *f, int fd, const char *path, struct stet_err *err);
void stet_file_close(struct stet_file *f);

/* A file in the making: beside its place under a temporary name, which is its place's with a dot,
 * the process and six letters behind it. */
struct stet_writing {
    char *temporary;
    int fd;
};

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
