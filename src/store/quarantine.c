/* Writes, counts and removes the strikes and notes of entries. intercept/load_watch.c has the
 * signal handlers and the deadline check. */
#include "store/quarantine.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONG_NS UINT64_C(10000000000)

static void folder_of(const struct stet_store *s, char out[PATH_MAX + 16])
{
    snprintf(out, PATH_MAX + 16, "%s/quarantine", s->folder);
}

void stet_store_quarantine_place(const struct stet_store *s, struct stet_hash key,
                                 struct stet_strike_place *out)
{
    char name[STET_HASH_TEXT];

    stet_hash_format(key, name);
    snprintf(out->note, sizeof out->note, "%s/quarantine/%s.strike-1", s->folder, name);
    out->folder = (size_t)(strrchr(out->note, '/') - out->note);
    out->group = s->group;
}

static char *number_of(struct stet_strike_place *p)
{
    return p->note + strlen(p->note) - 1;
}

bool stet_store_quarantine_strike(struct stet_strike_place *p, const char *why, size_t n)
{
    char *number = number_of(p);
    int fd = -1;

    p->note[p->folder] = '\0'; /* the store itself exists: an entry was read from it */
    if (mkdir(p->note, 0700) == 0 && p->group)
        chmod(p->note, 02770);
    p->note[p->folder] = '/';
    for (int i = 0; i < STET_STORE_STRIKES && fd < 0; i++) {
        *number = (char)('1' + i);
        fd = open(p->note, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    }
    if (fd < 0)
        return false;
    if (write(fd, why, n) < 0) { /* its existence is enough */
    }
    close(fd);
    return true;
}

static bool is_of(const char *name, const char key[STET_HASH_TEXT])
{
    return !strncmp(name, key, 32) && name[32] == '.';
}

unsigned stet_store_quarantine_count(const struct stet_store *s, struct stet_hash key)
{
    char folder[PATH_MAX + 16], name[STET_HASH_TEXT];
    unsigned n = 0;
    struct dirent *e;
    DIR *d;

    folder_of(s, folder);
    stet_hash_format(key, name);
    d = opendir(folder);
    while (d && (e = readdir(d)))
        n += is_of(e->d_name, name);
    if (d)
        closedir(d);
    return n;
}

bool stet_store_quarantine_condemned(const struct stet_store *s, struct stet_hash key)
{
    struct stet_strike_place p;

    stet_store_quarantine_place(s, key, &p);
    for (int i = STET_STORE_STRIKES; i > 0; i--) {
        *number_of(&p) = (char)('0' + i);
        if (!stet_fs_exists(p.note))
            return false;
    }
    return true;
}

void stet_store_quarantine_clear(const struct stet_store *s, struct stet_hash key)
{
    char folder[PATH_MAX + 16], name[STET_HASH_TEXT];
    struct dirent *e;
    int fd;
    DIR *d;

    folder_of(s, folder);
    stet_hash_format(key, name);
    d = opendir(folder);
    fd = d ? dirfd(d) : -1;
    while (fd >= 0 && (e = readdir(d))) {
        if (is_of(e->d_name, name))
            unlinkat(fd, e->d_name, 0);
    }
    if (d)
        closedir(d);
}

uint64_t stet_store_quarantine_patience_ns(const struct stet_store *s, uint64_t compile_ns)
{
    if (s->load_ms)
        return s->load_ms * 1000000u;
    return compile_ns > LONG_NS / 2 && compile_ns < UINT64_MAX / 4 ? 2 * compile_ns : LONG_NS;
}

void stet_store_quarantine_failed(const struct stet_store *s, struct stet_hash key,
                                  struct stet_view why)
{
    char path[PATH_MAX + 96], folder[PATH_MAX + 16], name[STET_HASH_TEXT];

    if (s->read_only)
        return;
    folder_of(s, folder);
    stet_hash_format(key, name);
    snprintf(path, sizeof path, "%s/%s.failed", folder, name); /* the last reason will do */
    if (stet_store_mkdirs(s, folder, NULL) == STET_OK)
        stet_store_write_note(s, path, why);
    stet_store_remove(s, key, NULL);
}
