/* See mapped.h. */
#include "base/mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static enum stet_rc map(struct stet_mapped *m, int fd, const char *path, struct stet_err *err)
{
    struct stat st;
    void *p;

    if (fstat(fd, &st) != 0)
        return stet_fail_errno(err, "%s: cannot stat", path);
    if (!S_ISREG(st.st_mode) || st.st_size == 0)
        return stet_fail(err, STET_BAD_INPUT, "%s: empty, or not a file", path);
    p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return stet_fail_errno(err, "%s: cannot map", path);
    m->bytes = stet_view_of(p, (size_t)st.st_size);
    return STET_OK;
}

enum stet_rc stet_mapped_open(struct stet_mapped *m, const char *path, struct stet_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    enum stet_rc rc;

    *m = (struct stet_mapped){0};
    if (fd < 0) {
        bool none = errno == ENOENT;

        stet_fail_errno(err, "%s: cannot open", path);
        return none ? STET_NOT_FOUND : STET_IO;
    }
    rc = map(m, fd, path, err);
    close(fd);
    return rc;
}

void stet_mapped_close(struct stet_mapped *m)
{
    if (m->bytes.ptr)
        munmap((void *)(uintptr_t)m->bytes.ptr, m->bytes.len);
    *m = (struct stet_mapped){0};
}
