/* Finds files by path, and the imports beside them. */
#include "python/sources.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { MOST_BYTES = 48 << 20, LEVELS_UP = 3 };

void stet_python_sources_release(struct stet_python_sources *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        stet_python_module_close(s->modules[i]);
        stet_mem_free(s->modules[i]);
    }
    if (s->snippet)
        stet_python_module_close(s->snippet);
    stet_mem_free(s->snippet);
    stet_arena_release(&s->snippet_text);
    stet_map_release(&s->by_path);
    stet_map_release(&s->absent);
    stet_map_release(&s->answers);
    STET_VEC_RELEASE(&s->reads);
    stet_map_release(&s->made_answers);
    STET_VEC_RELEASE(&s->made);
    STET_VEC_RELEASE(&s->ways.stops);
    stet_python_parser_free(s->parser);
    *s = (struct stet_python_sources){0};
}

static struct stet_python_module *add(struct stet_python_sources *s, struct stet_view path)
{
    struct stet_python_module *m = stet_mem_calloc(1, sizeof *m);

    if (!m)
        return NULL;
    if (!stet_python_module_open(m, path) ||
        !stet_map_put(&s->by_path, stet_map_text(path), s->count)) {
        stet_python_module_close(m);
        stet_mem_free(m);
        return NULL;
    }
    s->bytes += m->file.bytes.len;
    return s->modules[s->count++] = m;
}

/* The module of a file, parsed or not; NULL when there are too many. */
static struct stet_python_module *find(struct stet_python_sources *s, struct stet_view path)
{
    uint32_t at;

    if (!path.len || path.len >= PATH_MAX || *path.ptr == '<')
        return NULL;
    at = stet_map_get(&s->by_path, stet_map_text(path));
    if (at != STET_MAP_NONE)
        return s->modules[at];
    return s->count < STET_PYTHON_FILES && s->bytes < MOST_BYTES ? add(s, path) : NULL;
}

static bool parse(struct stet_python_sources *s, struct stet_python_module *m,
                  struct stet_view text)
{
    s->parser = s->parser ? s->parser : stet_python_parser_new();
    if (!m->tried && s->parser && !stet_python_module_parse(m, s->parser, text))
        m->parsed = false;
    return m->parsed;
}

const struct stet_python_module *stet_python_open(struct stet_python_sources *s,
                                                  struct stet_view path)
{
    struct stet_python_module *m = find(s, path);

    return m && parse(s, m, m->file.bytes) ? m : NULL;
}

struct stet_view stet_python_line_text(struct stet_python_sources *s, struct stet_view path,
                                       uint32_t line)
{
    const struct stet_python_module *m = find(s, path);
    const char *at = m ? m->file.bytes.ptr : NULL, *end = at ? at + m->file.bytes.len : NULL;

    for (; at && at < end && line > 1; line--) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    if (!at || at >= end || !line)
        return (struct stet_view){0};
    end = memchr(at, '\n', (size_t)(end - at)) ? memchr(at, '\n', (size_t)(end - at)) : end;
    return stet_view_trim(stet_view_of(at, (size_t)(end - at)));
}

const struct stet_python_module *stet_python_snippet(struct stet_python_sources *s,
                                                     struct stet_view text)
{
    bool opens = text.len && text.ptr[text.len - 1] == ':';
    struct stet_view whole;

    if (stet_view_starts(text, "elif "))
        text = stet_view_of(text.ptr + 2, text.len - 2);
    if (!s->snippet)
        s->snippet = stet_mem_calloc(1, sizeof *s->snippet);
    else
        stet_python_module_close(s->snippet);
    stet_arena_release(&s->snippet_text);
    stet_arena_init(&s->snippet_text, 1 << 16);
    whole =
        stet_arena_printf(&s->snippet_text, "%.*s%s", STET_FMT(text), opens ? "\n    pass\n" : "");
    return s->snippet && whole.ptr && parse(s, s->snippet, whole) ? s->snippet : NULL;
}

/* ---- imports ---- */

/* `folder`/a/b.py or `folder`/a/b/__init__.py for "a.b". */
static const struct stet_python_module *try_module(struct stet_python_sources *s,
                                                   struct stet_view folder, struct stet_view dotted)
{
    static const char *const ends[] = {".py", "/__init__.py"};
    char path[PATH_MAX];

    for (size_t e = 0; e < 2; e++) {
        int n =
            snprintf(path, sizeof path, "%.*s/%.*s%s", STET_FMT(folder), STET_FMT(dotted), ends[e]);

        if (n < 0 || (size_t)n >= sizeof path)
            return NULL;
        for (size_t i = folder.len + 1; i < folder.len + 1 + dotted.len; i++)
            path[i] = path[i] == '.' ? '/' : path[i];
        if (stet_map_get(&s->by_path, stet_map_text(stet_view_str(path))) != STET_MAP_NONE ||
            access(path, R_OK) == 0)
            return stet_python_open(s, stet_view_str(path));
    }
    return NULL;
}

static struct stet_view folder_of(struct stet_view path)
{
    const char *slash = path.len ? memrchr(path.ptr, '/', path.len) : NULL;

    return slash ? stet_view_of(path.ptr, (size_t)(slash - path.ptr)) : STET_VIEW(".");
}

/* The longest part of "a.b.c" that is a module of the folder; *rest is what follows. */
static const struct stet_python_module *longest(struct stet_python_sources *s,
                                                struct stet_view folder, struct stet_view dotted,
                                                struct stet_view *rest)
{
    struct stet_view part = dotted;

    while (part.len) {
        const struct stet_python_module *m = try_module(s, folder, part);
        const char *dot;

        if (m) {
            size_t skip = part.len + (part.len < dotted.len);

            *rest = stet_view_of(dotted.ptr + skip, dotted.len - skip);
            return m;
        }
        dot = memrchr(part.ptr, '.', part.len);
        part.len = dot ? (size_t)(dot - part.ptr) : 0;
    }
    return NULL;
}

static const struct stet_python_module *find_import(struct stet_python_sources *s,
                                                    const struct stet_python_module *from,
                                                    struct stet_view folder,
                                                    struct stet_view dotted, struct stet_view *rest)
{
    bool relative = dotted.len && *dotted.ptr == '.';
    const struct stet_python_module *m = NULL;

    if (relative)
        dotted = stet_view_of(dotted.ptr + 1, dotted.len - 1);
    while (relative && dotted.len && *dotted.ptr == '.') {
        folder = folder_of(folder);
        dotted = stet_view_of(dotted.ptr + 1, dotted.len - 1);
    }
    if (relative)
        return longest(s, folder, dotted, rest);
    for (int up = 0; !m && up <= LEVELS_UP && folder.len > 1; up++) {
        m = longest(s, folder, dotted, rest);
        folder = folder_of(folder);
    }
    return m == from ? NULL : m;
}

/* Imports of installed packages are not found beside the project. The search asks the file system
 * for dozens of paths, so its failure is remembered. */
const struct stet_python_module *stet_python_import(struct stet_python_sources *s,
                                                    const struct stet_python_module *from,
                                                    struct stet_view dotted, struct stet_view *rest)
{
    struct stet_view folder = from->path ? folder_of(stet_view_str(from->path)) : STET_VIEW("");
    const struct stet_python_module *m;
    uint64_t key;

    if (!s || !folder.len)
        return NULL;
    key = stet_hash_mix(stet_hash_bytes(folder), stet_hash_bytes(dotted)).lo;
    if (stet_map_get(&s->absent, key) != STET_MAP_NONE)
        return NULL;
    m = find_import(s, from, folder, dotted, rest);
    if (!m)
        stet_map_put(&s->absent, key, 0);
    return m;
}

void stet_python_open_imports(struct stet_python_sources *s)
{
    for (; s->imported < s->count; s->imported++) {
        const struct stet_python_module *m = s->modules[s->imported];
        struct stet_view rest;

        if (!stet_python_is_own(m))
            continue;
        for (uint32_t i = 1; i < m->ast.names.count; i++)
            if (m->imports[i].len)
                stet_python_import(s, m, m->imports[i], &rest);
        for (size_t i = 0; i < m->stars.count; i++)
            stet_python_import(s, m, m->stars.items[i], &rest);
    }
}
