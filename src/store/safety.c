/* See safety.h. */
#include "store/safety.h"

#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LINKS_MAX = 40 };

/* ---- owners ---- */

/* Numbers with anything between them. Names would need the host's user database, which may be on
 * the network. */
static void read_owners(struct stet_store *s)
{
    const char *at = getenv("STET_STORE_OWNERS");

    while (at && *at && s->owner_count < STET_STORE_OWNERS_MAX) {
        char *end;
        unsigned long uid = strtoul(at, &end, 10);

        if (end != at && uid <= UINT32_MAX)
            s->owners[s->owner_count++] = (uint32_t)uid;
        at = end + (*end != '\0');
    }
}

static bool is_trusted(const struct stet_store *s, uid_t uid)
{
    if (uid == geteuid() || uid == 0)
        return true;
    for (size_t i = 0; i < s->owner_count; i++) {
        if (s->owners[i] == uid)
            return true;
    }
    return false;
}

static bool in_group(gid_t group)
{
    int n = getgroups(0, NULL);
    gid_t *groups = n > 0 ? stet_mem_alloc((size_t)n * sizeof *groups) : NULL;
    bool in = group == getegid();

    n = groups ? getgroups(n, groups) : 0;
    for (int i = 0; i < n && !in; i++)
        in = groups[i] == group;
    stet_mem_free(groups);
    return in;
}

static enum stet_rc refuse(struct stet_err *err, const char *path, const struct stat *st,
                           const char *why)
{
    return stet_fail(err, STET_REFUSED,
                     "%.120s: %s (owner %u, group %u, mode %04o; you are user %u), and files "
                     "there are loaded as code",
                     path, why, (unsigned)st->st_uid, (unsigned)st->st_gid,
                     (unsigned)(st->st_mode & 07777), (unsigned)geteuid());
}

enum stet_rc stet_store_safety_file(const struct stet_store *s, const struct stat *st,
                                    const char *path, struct stet_err *err)
{
    bool of_group = s->group && st->st_gid == s->gid;

    if (st->st_mode & S_IWOTH)
        return refuse(err, path, st, "anyone can write there");
    if (!is_trusted(s, st->st_uid) && !of_group && !(s->read_only && st->st_uid == s->owner))
        return refuse(err, path, st, "belongs to another user");
    if ((st->st_mode & S_IWGRP) && !of_group)
        return refuse(err, path, st, "its group can write there");
    return STET_OK;
}

/* ---- the path to the folder ---- */

/* The resolved path so far, and the rest. */
struct way {
    char done[PATH_MAX], rest[PATH_MAX];
    unsigned links;
    bool too_long;
};

/* Moves the next name of `rest` to `done`; false if there is none, or no room for it. */
static bool step(struct way *w)
{
    size_t skip = strspn(w->rest, "/"), n = strcspn(w->rest + skip, "/"), len = strlen(w->done);
    char *name = w->rest + skip, *slash;

    if (!n)
        return false;
    if (n == 2 && !memcmp(name, "..", 2)) {
        slash = strrchr(w->done, '/');
        if (slash)
            *slash = '\0';
    } else if (len + n + 2 > sizeof w->done) {
        w->too_long = true;
        return false;
    } else if (n != 1 || *name != '.') {
        w->done[len] = '/';
        memcpy(w->done + len + 1, name, n);
        w->done[len + 1 + n] = '\0';
    }
    memmove(w->rest, name + n, strlen(name + n) + 1);
    return true;
}

/* `done` is a link: its target goes before the rest. */
static bool follow(struct way *w)
{
    char target[PATH_MAX];
    ssize_t n = readlink(w->done, target, sizeof target - 1);
    size_t rest = strlen(w->rest);

    if (n < 0 || ++w->links > LINKS_MAX || (size_t)n + rest + 2 > sizeof w->rest)
        return false;
    memmove(w->rest + n + 1, w->rest, rest + 1);
    w->rest[n] = '/';
    memcpy(w->rest, target, (size_t)n);
    if (*target == '/')
        w->done[0] = '\0';
    else
        *strrchr(w->done, '/') = '\0';
    return true;
}

/* A component that is not the last. A user who can write there can replace what follows, unless the
 * sticky bit is set. */
static enum stet_rc check_passage(const char *path, const struct stat *st, struct stet_err *err)
{
    return (st->st_mode & S_IWOTH) && !(st->st_mode & S_ISVTX)
               ? refuse(err, path, st, "anyone can replace what is in this folder")
               : STET_OK;
}

/* The path to a library: the owner, and a group that may write, count in every component. */
static enum stet_rc check_strictly(const struct stet_store *s, const char *path,
                                   const struct stat *st, struct stet_err *err)
{
    if (!is_trusted(s, st->st_uid))
        return refuse(err, path, st, "belongs to another user");
    if ((st->st_mode & S_IWOTH) && !(S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX)))
        return refuse(err, path, st, "anyone can write there");
    if ((st->st_mode & S_IWGRP) && !(st->st_mode & S_ISVTX) && st->st_gid &&
        st->st_gid != getegid())
        return refuse(err, path, st, "its group can write there");
    return STET_OK;
}

/* Leaves the resolved path in `done`, up to the first component that does not exist. Owners of
 * folders on the path count only if `strict`: a store that they substitute would still be theirs
 * and be rejected. */
static enum stet_rc walk(const struct stet_store *s, struct way *w, bool strict,
                         struct stet_err *err)
{
    enum stet_rc rc = STET_OK;
    bool crowded = false; /* every user may create things in the folder before */
    struct stat st;

    while (rc == STET_OK && step(w)) {
        if (lstat(*w->done ? w->done : "/", &st) != 0)
            return STET_OK; /* errors are found when it is used */
        if (S_ISLNK(st.st_mode)) {
            /* elsewhere its owner cannot change it, and may be the unmapped root of a container */
            if (crowded && !is_trusted(s, st.st_uid))
                return refuse(err, w->done, &st, "a link of another user");
            if (!follow(w))
                return stet_fail(err, STET_REFUSED, "%.120s: a link that leads nowhere", w->done);
            continue;
        }
        crowded = (st.st_mode & S_IWOTH) != 0;
        if (strict)
            rc = check_strictly(s, w->done, &st, err);
        else if (w->rest[strspn(w->rest, "/")])
            rc = check_passage(w->done, &st, err);
    }
    if (rc != STET_OK)
        return rc;
    return w->too_long ? stet_fail(err, STET_LIMIT, "%.120s: path too long", w->done) : STET_OK;
}

/* The absolute path of `folder`, which need not exist. */
static bool begin(struct way *w, const char *folder)
{
    char here[PATH_MAX] = "";

    *w = (struct way){0};
    return (*folder == '/' || getcwd(here, sizeof here)) &&
           snprintf(w->rest, sizeof w->rest, "%s/%s", here, folder) < (int)sizeof w->rest;
}

/* ---- the folder and its content ---- */

enum stet_rc stet_store_safety_folder(const struct stet_store *s, const char *path,
                                      struct stet_err *err)
{
    struct stat st;

    if (lstat(path, &st) != 0)
        return errno == ENOENT ? STET_NOT_FOUND : STET_OK; /* nothing can be opened in it either */
    if (!S_ISDIR(st.st_mode))
        return refuse(err, path, &st, "not a folder");
    return stet_store_safety_file(s, &st, path, err);
}

static enum stet_rc check_inside(const struct stet_store *s, struct stet_err *err)
{
    static const char *const names[] = {"entries", "programs", "files",
                                        "orders",  "lifts",    "quarantine"};
    char path[PATH_MAX + 16];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", s->folder, names[i]);
        if (stet_store_safety_folder(s, path, err) == STET_REFUSED)
            return STET_REFUSED;
    }
    return STET_OK;
}

enum stet_rc stet_store_safety_open(struct stet_store *s, const char *folder, struct stet_err *err)
{
    struct stat st;
    struct way w;
    enum stet_rc rc;

    if (!begin(&w, folder))
        return stet_fail(err, STET_LIMIT, "%s: path too long", folder);
    read_owners(s);
    rc = walk(s, &w, false, err);
    if (rc != STET_OK)
        return rc;
    if (snprintf(s->folder, sizeof s->folder, "%s%s", w.done, w.rest) >= (int)sizeof s->folder)
        return stet_fail(err, STET_LIMIT, "%s: path too long", folder);
    if (lstat(s->folder, &st) != 0)
        return STET_OK; /* created when something is put, and checked then */
    s->owner = st.st_uid;
    s->gid = st.st_gid;
    s->group = (st.st_mode & S_ISGID) && (st.st_mode & S_IWGRP) && in_group(st.st_gid) &&
               (is_trusted(s, st.st_uid) || s->read_only);
    rc = stet_store_safety_folder(s, s->folder, err);
    return rc == STET_REFUSED ? rc : check_inside(s, err);
}

enum stet_rc stet_store_safety_library(const struct stet_store *s, const char *path,
                                       struct stet_err *err)
{
    struct way w;

    return begin(&w, path) ? walk(s, &w, true, err)
                           : stet_fail(err, STET_LIMIT, "%s: path too long", path);
}

enum stet_rc stet_store_safety_way(const struct stet_store *s, const char *path,
                                   struct stet_err *err)
{
    size_t at = strlen(s->folder);
    char part[PATH_MAX + 64];

    if (strlen(path) >= sizeof part || strncmp(path, s->folder, at) != 0)
        return stet_fail(err, STET_LIMIT, "%s: not in the store", path);
    while (true) {
        enum stet_rc rc;

        memcpy(part, path, at);
        part[at] = '\0';
        rc = stet_store_safety_folder(s, part, err);
        if (rc != STET_OK || !path[at])
            return rc == STET_REFUSED ? rc : STET_OK;
        at += 1 + strcspn(path + at + 1, "/");
    }
}
