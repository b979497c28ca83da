/* Installed distributions, from their dist-info folders: version, content, origin, entry points. */
#include "bundle/interpreter.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/mem.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { NAME_MAX_LEN = 128, LINES_MAX = 200000 };

static const struct {
    const char *pattern;
    enum stet_group group;
} kinds[] = {
#define FRAMEWORK(name)
#define KIND(pattern, group) {pattern, STET_GROUP_##group},
#define COMMIT(distribution, file, variable)
#include "bundle/packages.def"
#undef FRAMEWORK
#undef KIND
};

static const char *const frameworks[] = {
#define FRAMEWORK(name) name,
#define KIND(pattern, group)
#include "bundle/packages.def"
#undef FRAMEWORK
#undef KIND
#undef COMMIT
};

static const struct {
    const char *name, *file, *variable;
} commits[] = {
#define FRAMEWORK(name)
#define KIND(pattern, group)
#define COMMIT(distribution, file, variable) {distribution, file, variable},
#include "bundle/packages.def"
#undef FRAMEWORK
#undef KIND
#undef COMMIT
};

struct distribution {
    char name[NAME_MAX_LEN]; /* normalised */
    char version[NAME_MAX_LEN];
    bool needs_framework;
    char folder[PATH_MAX]; /* …/NAME.dist-info */
    const char *site;
};

static struct stet_view next_line(struct stet_view *text)
{
    const char *end = text->len ? memchr(text->ptr, '\n', text->len) : NULL;
    size_t n = end ? (size_t)(end - text->ptr) : text->len;
    struct stet_view line = stet_view_of(text->ptr, n);

    n += end != NULL;
    *text = stet_view_of(text->ptr + n, text->len - n);
    while (line.len && strchr(" \t\r", line.ptr[line.len - 1]))
        line.len--;
    return line;
}

static void normalise(char out[NAME_MAX_LEN], struct stet_view name)
{
    size_t n = 0;

    for (size_t i = 0; i < name.len && n + 1 < NAME_MAX_LEN; i++) {
        char c = name.ptr[i];

        if (c == '-' || c == '.' || c == '_')
            c = '_';
        if (c == '_' && n && out[n - 1] == '_')
            continue;
        out[n++] = (char)tolower((unsigned char)c);
    }
    out[n] = 0;
}

/* "Requires-Dist: jax>=0.4 ; extra == 'gpu'" */
static bool needs_framework(struct stet_view requirement)
{
    char name[NAME_MAX_LEN];
    size_t n = 0;

    while (requirement.len && *requirement.ptr == ' ')
        requirement = stet_view_of(requirement.ptr + 1, requirement.len - 1);
    while (n < requirement.len &&
           (isalnum((unsigned char)requirement.ptr[n]) || strchr("-_.", requirement.ptr[n])))
        n++;
    normalise(name, stet_view_of(requirement.ptr, n));
    for (size_t i = 0; i < sizeof frameworks / sizeof *frameworks; i++)
        if (!strcmp(name, frameworks[i]))
            return true;
    return false;
}

static bool read_metadata(struct distribution *d)
{
    char path[PATH_MAX + 16];
    struct stet_file f;
    struct stet_view text;

    snprintf(path, sizeof path, "%s/METADATA", d->folder);
    if (stet_file_open(&f, path, NULL) != STET_OK)
        return false;
    text = f.bytes;
    while (text.len) {
        bool folded = *text.ptr == ' ' || *text.ptr == '\t'; /* it continues the header before it */
        struct stet_view line = next_line(&text);

        if (folded)
            continue;
        if (!line.len) /* the description follows */
            break;
        if (stet_view_starts(line, "Name: "))
            normalise(d->name, stet_view_of(line.ptr + 6, line.len - 6));
        else if (stet_view_starts(line, "Version: "))
            snprintf(d->version, sizeof d->version, "%.*s", (int)(line.len - 9), line.ptr + 9);
        else if (stet_view_starts(line, "Requires-Dist: "))
            d->needs_framework |= needs_framework(stet_view_of(line.ptr + 15, line.len - 15));
    }
    stet_file_close(&f);
    return d->name[0] != 0;
}

static enum stet_group group_of(const struct distribution *d)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (stet_bundle_glob(kinds[i].pattern, stet_view_str(d->name)))
            return kinds[i].group;
    return d->needs_framework ? STET_GROUP_package : STET_GROUP_other;
}

/* path,sha256=…,size. Files that an installer adds or rewrites are not the wheel's: scripts with
 * the environment's own path, bytecode, its notes. */
static bool is_wheels_own(struct stet_view line)
{
    const char *hash = memmem(line.ptr, line.len, ",sha256=", 8);
    struct stet_view path = stet_view_of(line.ptr, hash ? (size_t)(hash - line.ptr) : 0);

    return hash && !stet_view_starts(line, "../") && !stet_view_starts(line, "\"") &&
           !stet_view_ends(path, ".pyc") && !stet_view_ends(path, "/INSTALLER") &&
           !stet_view_ends(path, "/REQUESTED") && !stet_view_ends(path, "/direct_url.json");
}

/* Does the file still have the size that RECORD gives? */
static bool size_moved(const char *site, struct stet_view line)
{
    const char *hash = memmem(line.ptr, line.len, ",sha256=", 8);
    const char *comma = memrchr(line.ptr, ',', line.len);
    char path[PATH_MAX];
    struct stat s;

    if (!hash || comma <= hash || comma + 1 == line.ptr + line.len)
        return false;
    if (snprintf(path, sizeof path, "%s/%.*s", site, (int)(hash - line.ptr), line.ptr) >= PATH_MAX)
        return false;
    return stat(path, &s) != 0 || s.st_size != strtoll(comma + 1, NULL, 10);
}

/* The sum of the lines' hashes, because the installer chooses their order. */
static void read_record(const struct distribution *d, struct stet_inventory *v)
{
    char path[PATH_MAX + 16], text[STET_HASH_TEXT], first[256] = "";
    struct stet_hash sum = {0};
    struct stet_file f;
    struct stet_view rest;
    size_t moved = 0, lines = 0;

    snprintf(path, sizeof path, "%s/RECORD", d->folder);
    if (stet_file_open(&f, path, NULL) != STET_OK)
        return;
    rest = f.bytes;
    while (rest.len && lines++ < LINES_MAX) {
        struct stet_view line = next_line(&rest);
        struct stet_hash h;

        if (!is_wheels_own(line))
            continue;
        h = stet_hash_bytes(line);
        sum.hi += h.hi;
        sum.lo += h.lo;
        if (!size_moved(d->site, line))
            continue;
        if (!moved++) {
            const char *comma = memchr(line.ptr, ',', line.len);

            snprintf(first, sizeof first, "%.*s", (int)(comma - line.ptr), line.ptr);
        }
    }
    stet_file_close(&f);
    stet_hash_format(sum, text);
    stet_bundle_inventory_put(v, STET_GROUP_wheel, stet_view_str(d->name), stet_view_str(text));
    if (moved)
        stet_bundle_inventory_putf(v, STET_GROUP_patch, d->name,
                                   "%zu file%s whose size differs from its RECORD: %s%s", moved,
                                   moved == 1 ? "" : "s", first, moved > 1 ? ", …" : "");
}

/* PEP 610: installed from a folder (editable: its code may change at any time) or a commit. */
static void read_origin(const struct distribution *d, struct stet_inventory *v)
{
    char path[PATH_MAX + 32];
    struct stet_file f;
    const char *commit;

    snprintf(path, sizeof path, "%s/direct_url.json", d->folder);
    if (stet_file_open(&f, path, NULL) != STET_OK)
        return;
    commit = memmem(f.bytes.ptr, f.bytes.len, "\"commit_id\"", 11);
    if (memmem(f.bytes.ptr, f.bytes.len, "\"editable\": true", 16) ||
        memmem(f.bytes.ptr, f.bytes.len, "\"editable\":true", 15))
        stet_bundle_inventory_putf(
            v, STET_GROUP_patch, d->name,
            "installed in place (editable): its files may have changed since");
    if (commit) {
        struct stet_view rest =
            stet_view_of(commit + 11, (size_t)(f.bytes.ptr + f.bytes.len - commit) - 11);
        const char *open = memchr(rest.ptr, '"', rest.len);

        if (open) {
            size_t n = 0, left = (size_t)(rest.ptr + rest.len - open) - 1;

            while (n < left && isxdigit((unsigned char)open[1 + n]))
                n++;
            stet_bundle_inventory_put(v, STET_GROUP_commit, stet_view_str(d->name),
                                      stet_view_of(open + 1, n));
        }
    }
    stet_file_close(&f);
}

/* name: str = '…' at the start of a line. */
static bool assigned(struct stet_view text, const char *name, struct stet_view *out)
{
    while (text.len) {
        struct stet_view line = next_line(&text);
        size_t n = strlen(name);
        const char *equals, *open, *close;
        char quote;

        if (!stet_view_starts(line, name) || line.len == n || !strchr(" :=", line.ptr[n]))
            continue;
        equals = memchr(line.ptr, '=', line.len);
        if (!equals)
            continue;
        for (open = equals; open < line.ptr + line.len && *open != '"' && *open != '\''; open++)
            continue;
        if (open == line.ptr + line.len)
            continue;
        quote = *open++;
        close = memchr(open, quote, (size_t)(line.ptr + line.len - open));
        if (!close || close == open)
            continue;
        *out = stet_view_of(open, (size_t)(close - open));
        return true;
    }
    return false;
}

static void read_commits(const struct stet_bundle_python *p, struct stet_inventory *v)
{
    for (size_t i = 0; i < sizeof commits / sizeof *commits; i++) {
        struct stet_view value;
        char path[PATH_MAX];
        struct stet_file f;

        if (!stet_bundle_python_file(p, commits[i].file, path, sizeof path) ||
            stet_file_open(&f, path, NULL) != STET_OK)
            continue;
        if (assigned(f.bytes, commits[i].variable, &value))
            stet_bundle_inventory_put(v, STET_GROUP_commit, stet_view_str(commits[i].name), value);
        stet_file_close(&f);
    }
}

/* The local part of a version records what a builder changed: 2.9.0+cu128.git1a2b3c4. */
static void read_local_version(const struct distribution *d, struct stet_inventory *v)
{
    const char *plus = strchr(d->version, '+'), *dev = strstr(d->version, ".dev");

    if (plus || dev)
        stet_bundle_inventory_putf(v, STET_GROUP_commit, d->name, "%s", plus ? plus + 1 : dev + 1);
}

static void take(const char *site, const char *name, struct stet_inventory *v)
{
    struct distribution d = {.site = site};
    enum stet_group g;

    if (snprintf(d.folder, sizeof d.folder, "%s/%s", site, name) >= (int)sizeof d.folder ||
        !read_metadata(&d))
        return;
    g = group_of(&d);
    /* Python imports the first one on sys.path. */
    if (stet_bundle_inventory_get(v, STET_GROUP_package, stet_view_str(d.name)) ||
        stet_bundle_inventory_get(v, STET_GROUP_compiler, stet_view_str(d.name)) ||
        stet_bundle_inventory_get(v, STET_GROUP_other, stet_view_str(d.name)))
        return;
    stet_bundle_inventory_put(v, g, stet_view_str(d.name), stet_view_str(d.version));
    if (g == STET_GROUP_other)
        return;
    read_local_version(&d, v);
    read_record(&d, v);
    read_origin(&d, v);
}

static int is_dist_info(const struct dirent *e)
{
    return stet_view_ends(stet_view_str(e->d_name), ".dist-info");
}

void stet_bundle_python_packages(const struct stet_bundle_python *p, struct stet_inventory *v)
{
    if (p->executable)
        stet_bundle_inventory_putf(v, STET_GROUP_python, "executable", "%s", p->executable);
    if (!p->version)
        return;
    stet_bundle_inventory_putf(v, STET_GROUP_python, "version", "%s", p->version);
    stet_bundle_inventory_putf(v, STET_GROUP_python, "implementation", "%s", p->implementation);
    stet_bundle_inventory_putf(v, STET_GROUP_python, "prefix", "%s", p->prefix);
    for (size_t i = 0; i < p->path_count; i++) {
        struct dirent **names;
        int n = scandir(p->paths[i], &names, is_dist_info, alphasort);

        for (int k = 0; k < n; k++) {
            take(p->paths[i], names[k]->d_name, v);
            free(names[k]);
        }
        if (n >= 0)
            free(names);
    }
    read_commits(p, v);
}

static void points_of(const char *path, const char *group, stet_entry_point *give, void *arg)
{
    struct stet_file f;
    struct stet_view text;
    bool ours = false;

    if (stet_file_open(&f, path, NULL) != STET_OK)
        return;
    text = f.bytes;
    while (text.len) {
        struct stet_view line = next_line(&text);
        const char *equals = line.len ? memchr(line.ptr, '=', line.len) : NULL;
        size_t n = strlen(group);

        if (line.len && *line.ptr == '[') {
            ours = line.len == n + 2 && !memcmp(line.ptr + 1, group, n);
        } else if (ours && equals) {
            struct stet_view name = stet_view_of(line.ptr, (size_t)(equals - line.ptr));
            struct stet_view target = stet_view_of(equals + 1, line.len - name.len - 1);

            while (name.len && name.ptr[name.len - 1] == ' ')
                name.len--;
            while (target.len && *target.ptr == ' ')
                target = stet_view_of(target.ptr + 1, target.len - 1);
            give(arg, name, target);
        }
    }
    stet_file_close(&f);
}

void stet_bundle_python_entry_points(const struct stet_bundle_python *p, const char *group,
                                     stet_entry_point *give, void *arg)
{
    for (size_t i = 0; i < p->path_count; i++) {
        struct dirent **names;
        int n = scandir(p->paths[i], &names, is_dist_info, alphasort);

        for (int k = 0; k < n; k++) {
            char path[PATH_MAX];

            if (snprintf(path, sizeof path, "%s/%s/entry_points.txt", p->paths[i],
                         names[k]->d_name) < (int)sizeof path)
                points_of(path, group, give, arg);
            free(names[k]);
        }
        if (n >= 0)
            free(names);
    }
}
