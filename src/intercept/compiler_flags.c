/* Splits words as XLA does (xla/parse_flags_from_env.cc) and reads flag files as Abseil does
 * (absl/flags/parse.cc). */
#include "intercept/compiler_flags.h"

#include "base/fs.h"
#include "base/mem.h"
#include "base/vec.h"
#include "decode/options.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { DEPTH = 8, FILES = 64, FILE_MOST = 1 << 20, WORDS_MOST = 1 << 16 };

static const char blanks[] = " \t\r\n\v\f";

struct word {
    struct stet_view text, name, value; /* --name=value */
    struct stet_view group;             /* of equal ones the order counts */
    size_t order;
    bool has_value;
};

struct flags {
    struct stet_arena arena; /* the words' texts */
    struct word *words;
    size_t count, room;
    unsigned depth, files; /* of flag files */
    bool ordered;          /* by a syntax that is not known here */
    enum stet_outcome why;
    struct stet_file_watch *watch;
};

static void take_words(struct flags *f, struct stet_view text);

/* Abseil accepts --noname for --name=false, and others accept - for _ in names. */
static struct stet_view group_of(struct flags *f, struct stet_view name)
{
    size_t skip = stet_view_starts(name, "no") ? 2 : 0;
    struct stet_view group =
        stet_arena_copy(&f->arena, stet_view_of(name.ptr + skip, name.len - skip));

    for (size_t i = 0; group.ptr && i < group.len; i++) {
        if (group.ptr[i] == '-')
            ((char *)(uintptr_t)group.ptr)[i] = '_';
    }
    return group;
}

static void push(struct flags *f, struct word word)
{
    if (!stet_vec_grow(&f->words, &f->room, f->count, 1, sizeof *f->words, WORDS_MOST)) {
        f->why = STET_OUTCOME_NO_MEMORY;
        return;
    }
    word.group = group_of(f, word.name);
    word.order = f->count;
    f->words[f->count++] = word;
}

/* ---- flags that refer to others ---- */

/* A small regular file: reading from a pipe would take data that the compiler wants to read. */
static bool read_small(struct flags *f, struct stet_view name, struct stet_view *out)
{
    struct stet_file file;
    char path[PATH_MAX];
    struct stat st;
    bool ok;

    if (!name.len || name.len >= sizeof path)
        return false;
    memcpy(path, name.ptr, name.len);
    path[name.len] = '\0';
    stet_intercept_file_watch_add(f->watch, path);
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > FILE_MOST ||
        stet_file_open(&file, path, NULL) != STET_OK)
        return false;
    *out = stet_arena_copy(&f->arena, file.bytes);
    ok = out->ptr && !memchr(out->ptr, 0, out->len);
    stet_file_close(&file);
    return ok;
}

static struct stet_view trimmed(struct stet_view v)
{
    while (v.len && strchr(blanks, *v.ptr))
        v = stet_view_of(v.ptr + 1, v.len - 1);
    while (v.len && strchr(blanks, v.ptr[v.len - 1]))
        v.len--;
    return v;
}

static void take_word(struct flags *f, struct stet_view text);

/* A line is a flag, blanks in its value included. */
static void take_lines(struct flags *f, struct stet_view text)
{
    while (text.len && !f->why) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t n = end ? (size_t)(end - text.ptr) : text.len;
        struct stet_view line = trimmed(stet_view_of(text.ptr, n));

        if (line.len && *line.ptr != '#')
            take_word(f, line);
        n += end != NULL;
        text = stet_view_of(text.ptr + n, text.len - n);
    }
}

static void take_file(struct flags *f, struct stet_view name)
{
    struct stet_view text;

    if (f->depth == DEPTH || f->files++ == FILES || !read_small(f, name, &text)) {
        f->why = STET_OUTCOME_FLAGS_UNREADABLE;
        return;
    }
    f->depth++;
    take_lines(f, text);
    f->depth--;
}

/* Each file of a list, by commas. */
static void take_files(struct flags *f, struct stet_view list)
{
    for (bool more = true; more && !f->why;) {
        const char *comma = list.len ? memchr(list.ptr, ',', list.len) : NULL;
        size_t n = comma ? (size_t)(comma - list.ptr) : list.len;

        take_file(f, stet_view_of(list.ptr, n));
        more = comma != NULL;
        list = stet_view_of(list.ptr + n + more, list.len - n - more);
    }
}

/* ---- words ---- */

/* True for a flag file whose name is the next word, in a syntax that is not XLA's. Also true for
 * variables that are in no list, and so were not read when the plugin may have read them. */
static bool stands_for_others(struct stet_view name)
{
    return stet_view_is(name, "flagfile") || stet_view_is(name, "fromenv") ||
           stet_view_is(name, "tryfromenv");
}

static void take_word(struct flags *f, struct stet_view text)
{
    struct word w = {.text = text, .name = text};
    const char *equals;

    if (*text.ptr != '-')
        f->ordered = true;
    while (w.name.len && *w.name.ptr == '-')
        w.name = stet_view_of(w.name.ptr + 1, w.name.len - 1);
    equals = w.name.len ? memchr(w.name.ptr, '=', w.name.len) : NULL;
    w.has_value = equals != NULL;
    if (equals) {
        w.value = stet_view_of(equals + 1, (size_t)(w.name.ptr + w.name.len - equals) - 1);
        w.name.len = (size_t)(equals - w.name.ptr);
    }
    if (stet_view_is(w.name, "flagfile") && w.has_value)
        take_files(f, w.value);
    else if (stands_for_others(w.name))
        f->why = STET_OUTCOME_FLAGS_UNREADABLE;
    else
        push(f, w);
}

/* Up to the space that ends it; spaces in quotes after the '=' belong to it. */
static size_t word_length(struct stet_view text)
{
    size_t n = 0;

    while (n < text.len && !strchr(blanks, text.ptr[n])) {
        char quote = n && text.ptr[n - 1] == '=' ? text.ptr[n] : 0;

        n++;
        if (quote != '"' && quote != '\'')
            continue;
        for (; n < text.len && text.ptr[n] != quote; n++)
            n += text.ptr[n] == '\\';
        n++;
    }
    return n < text.len ? n : text.len;
}

static void take_words(struct flags *f, struct stet_view text)
{
    if (text.len && (memchr(text.ptr, '"', text.len) || memchr(text.ptr, '\'', text.len) ||
                     memchr(text.ptr, '\\', text.len)))
        f->ordered = true;
    for (text = trimmed(text); text.len && !f->why; text = trimmed(text)) {
        size_t n = word_length(text);

        take_word(f, stet_view_of(text.ptr, n));
        text = stet_view_of(text.ptr + n, text.len - n);
    }
}

/* ---- in order ---- */

static int by_group(const void *a, const void *b)
{
    const struct word *x = a, *y = b;
    int order = stet_view_cmp(x->group, y->group);

    return order ? order : x->order < y->order ? -1 : 1;
}

/* true, 3, -1.5e9: values that cannot add up. */
static bool is_scalar(const struct word *w)
{
    static const char *const words[] = {"true", "false", "True", "False", "yes", "no"};
    size_t i = 0;

    if (!w->has_value)
        return true;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        if (stet_view_is(w->value, words[k]))
            return true;
    }
    if (i < w->value.len && strchr("+-", w->value.ptr[i]))
        i++;
    if (i == w->value.len || !strchr("0123456789.", w->value.ptr[i]))
        return false;
    while (i < w->value.len && strchr("0123456789.abcdefABCDEFxX+-", w->value.ptr[i]))
        i++;
    return i == w->value.len;
}

/* Where the next group begins, and whether only its last word counts. */
static size_t group_end(const struct flags *f, size_t first, bool *last_counts)
{
    size_t i = first;

    *last_counts = true;
    for (; i < f->count && stet_view_eq(f->words[i].group, f->words[first].group); i++)
        *last_counts &=
            is_scalar(&f->words[i]) && stet_view_eq(f->words[i].name, f->words[first].name);
    return i;
}

static enum stet_outcome put_word(struct stet_buf *out, const struct word *w,
                                  struct stet_file_watch *watch)
{
    if (!w->has_value) {
        stet_named_text(out, w->text);
        return STET_OUTCOME_NONE;
    }
    stet_named_text(out, stet_view_of(w->text.ptr, (size_t)(w->value.ptr - w->text.ptr)));
    return stet_named_value(out, w->name, w->value, watch);
}

static enum stet_outcome put_words(struct flags *f, struct stet_buf *out, const char *variable)
{
    enum stet_outcome why = STET_OUTCOME_NONE;
    bool any = false, last_counts = false;

    for (size_t i = 0, end = 0; i < f->count && !why; i++) {
        const struct word *w = &f->words[i];

        if (!f->ordered && i == end)
            end = group_end(f, i, &last_counts);
        if ((w->has_value || !f->ordered) && stet_options_dropped(w->name))
            continue;
        if (!f->ordered && last_counts && i + 1 < end)
            continue;
        if (any)
            stet_buf_char(out, ' ');
        else
            stet_buf_printf(out, "%s%s=", out->len ? "; " : "", variable);
        any = true;
        why = put_word(out, w, f->watch);
    }
    return why;
}

static enum stet_outcome put_value(struct stet_buf *out, const char *variable,
                                   struct stet_view value, struct stet_file_watch *w)
{
    stet_buf_printf(out, "%s%s=", out->len ? "; " : "", variable);
    return stet_named_value(out, stet_view_str(variable), value, w);
}

enum stet_outcome stet_compiler_flags(struct stet_buf *out, const struct stet_variable *variable,
                                      struct stet_view value, struct stet_file_watch *w)
{
    struct flags f = {.watch = w};
    struct stet_view first = trimmed(value);

    if (variable->form == STET_FORM_VALUE)
        return put_value(out, variable->name, value, w);
    if (!first.len)
        return STET_OUTCOME_NONE;
    stet_arena_init(&f.arena, (size_t)16 << 20);
    if (variable->form == STET_FORM_FILE && *first.ptr != '-') {
        if (read_small(&f, value, &first))
            take_words(&f, first);
        else
            f.why = STET_OUTCOME_FLAGS_UNREADABLE;
    } else {
        take_words(&f, value);
    }
    if (!f.ordered && f.count)
        qsort(f.words, f.count, sizeof *f.words, by_group);
    if (!f.why)
        f.why = put_words(&f, out, variable->name);
    if (!f.why && (f.arena.failed || out->failed))
        f.why = STET_OUTCOME_NO_MEMORY;
    stet_mem_free(f.words);
    stet_arena_release(&f.arena);
    return f.why;
}
