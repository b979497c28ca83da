/* Parses the part of TOML that the keys need: tables, strings, lists of strings, comments. */
#include "lint/config.h"

#include "base/fs.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct parser {
    const char *p, *end, *path;
    unsigned line;
    struct stet_lint_config *c;
    struct stet_err *err;
};

static void skip_blanks(struct parser *t, bool lines)
{
    while (t->p < t->end) {
        if (*t->p == '#') {
            while (t->p < t->end && *t->p != '\n')
                t->p++;
        } else if (*t->p == ' ' || *t->p == '\t' || *t->p == '\r' || (lines && *t->p == '\n')) {
            t->line += *t->p == '\n';
            t->p++;
        } else {
            return;
        }
    }
}

static enum stet_rc fail(struct parser *t, const char *what)
{
    return stet_fail(t->err, STET_USAGE, "%s:%u: %s", t->path, t->line, what);
}

static enum stet_rc read_string(struct parser *t, char **out)
{
    char quote = *t->p++;
    const char *start = t->p;

    while (t->p < t->end && *t->p != quote && *t->p != '\n')
        t->p++;
    if (t->p == t->end || *t->p != quote)
        return fail(t, "a string that does not end");
    *out = (char *)(uintptr_t)stet_arena_copy(&t->c->arena,
                                              stet_view_of(start, (size_t)(t->p - start)))
               .ptr;
    t->p++;
    return *out ? STET_OK : stet_fail(t->err, STET_NO_MEMORY, "out of memory");
}

static enum stet_rc read_list(struct parser *t, char **list, size_t *count)
{
    if (t->p == t->end || *t->p != '[')
        return fail(t, "expected a list of strings");
    for (t->p++;;) {
        skip_blanks(t, true);
        if (t->p < t->end && *t->p == ']') {
            t->p++;
            return STET_OK;
        }
        if (t->p == t->end || (*t->p != '"' && *t->p != '\''))
            return fail(t, "expected a string or ]");
        if (*count == STET_LINT_CONFIG_LIST)
            return fail(t, "more than 64 entries");
        if (read_string(t, &list[*count]) != STET_OK)
            return t->err ? t->err->rc : STET_USAGE;
        (*count)++;
        skip_blanks(t, true);
        if (t->p < t->end && *t->p == ',')
            t->p++;
    }
}

static enum stet_rc read_key(struct parser *t, struct stet_view key)
{
    struct stet_lint_config *c = t->c;

    if (stet_view_is(key, "select"))
        return read_list(t, c->select, &c->select_count);
    if (stet_view_is(key, "ignore"))
        return read_list(t, c->ignore, &c->ignore_count);
    if (stet_view_is(key, "exclude"))
        return read_list(t, c->exclude, &c->exclude_count);
    if (stet_view_is(key, "baseline") || stet_view_is(key, "severity")) {
        if (t->p == t->end || (*t->p != '"' && *t->p != '\''))
            return fail(t, "expected a string");
        return read_string(t, stet_view_is(key, "baseline") ? &c->baseline : &c->severity);
    }
    return fail(t, "unknown key; there are select, ignore, exclude, baseline, severity");
}

static void next_line(struct parser *t)
{
    while (t->p < t->end && *t->p != '\n')
        t->p++;
}

enum stet_rc stet_lint_config_text(struct stet_lint_config *c, struct stet_view text,
                                   const char *path, struct stet_err *err)
{
    struct parser t = {text.ptr, text.ptr + text.len, path, 1, c, err};
    bool ours = false;

    *c = (struct stet_lint_config){0};
    stet_arena_init(&c->arena, 1 << 20);
    for (;;) {
        const char *start;

        skip_blanks(&t, true);
        if (t.p == t.end)
            return STET_OK;
        start = t.p;
        if (*t.p == '[') {
            next_line(&t);
            ours = stet_view_starts(stet_view_of(start, (size_t)(t.p - start)), "[tool.stet]") ||
                   stet_view_starts(stet_view_of(start, (size_t)(t.p - start)), "[tool.stet.lint]");
            continue;
        }
        if (!ours) { /* lines of other tables, whatever they contain */
            next_line(&t);
            continue;
        }
        while (t.p < t.end && *t.p != '=' && *t.p != ' ' && *t.p != '\n')
            t.p++;
        {
            struct stet_view key = stet_view_of(start, (size_t)(t.p - start));
            enum stet_rc rc;

            skip_blanks(&t, false);
            if (t.p == t.end || *t.p != '=')
                return fail(&t, "expected key = value");
            t.p++;
            skip_blanks(&t, false);
            rc = read_key(&t, key);
            if (rc != STET_OK)
                return rc;
        }
    }
}

/* The nearest pyproject.toml at or above the folder; malloc'd. */
static char *find_upwards(void)
{
    char *folder = getcwd(NULL, 0), *found = NULL;

    while (folder && *folder) {
        char *slash, *path = stet_fs_join(folder, "pyproject.toml");

        if (path && stet_fs_exists(path)) {
            found = path;
            break;
        }
        stet_mem_free(path);
        slash = strrchr(folder, '/');
        if (!slash)
            break;
        *slash = '\0';
    }
    free(folder);
    return found;
}

enum stet_rc stet_lint_config_read(struct stet_lint_config *c, const char *path,
                                   struct stet_err *err)
{
    char *found = path ? stet_mem_strdup(path) : find_upwards();
    struct stet_file f;
    enum stet_rc rc;

    *c = (struct stet_lint_config){0};
    if (!found)
        return STET_OK;
    rc = stet_file_open(&f, found, err);
    if (rc == STET_OK) {
        rc = stet_lint_config_text(c, f.bytes, found, err);
        stet_file_close(&f);
    }
    if (rc == STET_OK && c->baseline && c->baseline[0] != '/') {
        struct stet_view folder = stet_view_str(found);

        while (folder.len && folder.ptr[folder.len - 1] != '/')
            folder.len--;
        c->baseline =
            (char *)(uintptr_t)stet_arena_printf(&c->arena, "%.*s%s", STET_FMT(folder), c->baseline)
                .ptr;
    }
    stet_mem_free(found);
    if (rc != STET_OK)
        stet_lint_config_release(c);
    return rc;
}

void stet_lint_config_release(struct stet_lint_config *c)
{
    stet_arena_release(&c->arena);
    *c = (struct stet_lint_config){0};
}
