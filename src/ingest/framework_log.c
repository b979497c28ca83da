/* Reads line by line; a line is recognised by its content, whatever a logging format put before
 * it. */
#include "ingest/framework_log.h"

#include "base/fs.h"

#include <stdlib.h>

enum { MOST_FUNCTIONS = 1024, MOST_MISSES = 16384, MOST_GRAPHS = 1024, WHY_LINES = 12 };
enum { WHY_LONGEST = 300 }; /* bytes of a line */

void stet_framework_log_init(struct stet_framework_log *l)
{
    *l = (struct stet_framework_log){0};
    stet_arena_init(&l->arena, (size_t)64 << 20);
}

void stet_framework_log_release(struct stet_framework_log *l)
{
    stet_arena_release(&l->arena);
    *l = (struct stet_framework_log){0};
}

/* ---- pieces of a line ---- */

static bool next_line(struct stet_view *rest, struct stet_view *line)
{
    const char *end;

    if (!rest->len)
        return false;
    end = memchr(rest->ptr, '\n', rest->len);
    *line = stet_view_of(rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len);
    *rest =
        stet_view_of(rest->ptr + line->len + (end != NULL), rest->len - line->len - (end != NULL));
    if (line->len && line->ptr[line->len - 1] == '\r')
        line->len--;
    return true;
}

/* What follows `phrase` in a line. */
static bool after(struct stet_view line, const char *phrase, struct stet_view *out)
{
    size_t n = strlen(phrase);
    const char *at = line.len ? memmem(line.ptr, line.len, phrase, n) : NULL;

    if (!at)
        return false;
    *out = stet_view_of(at + n, (size_t)(line.ptr + line.len - at) - n);
    return true;
}

static struct stet_view before(struct stet_view v, const char *phrase)
{
    const char *at = v.len ? memmem(v.ptr, v.len, phrase, strlen(phrase)) : NULL;

    return at ? stet_view_of(v.ptr, (size_t)(at - v.ptr)) : v;
}

/* "… in 0.0074 sec" as nanoseconds; false without. */
static bool seconds(struct stet_view v, uint64_t *ns)
{
    struct stet_view rest;
    char text[32];
    double s;

    if (!after(v, " in ", &rest))
        return false;
    for (struct stet_view more = rest; after(more, " in ", &more);)
        rest = more;
    rest = before(rest, " sec");
    if (!rest.len || rest.len >= sizeof text)
        return false;
    memcpy(text, rest.ptr, rest.len);
    text[rest.len] = '\0';
    s = strtod(text, NULL);
    *ns = s > 0 && s < 1e9 ? (uint64_t)(s * 1e9) : 0;
    return true;
}

/* "jit(step)" and "pjit step" are of the function step. */
static struct stet_view function_of(struct stet_view v)
{
    struct stet_view inner;

    v = stet_view_trim(v);
    if (v.len > 2 && v.ptr[v.len - 1] == ')' && after(v, "(", &inner) && inner.len)
        return stet_view_of(inner.ptr, inner.len - 1);
    return v;
}

/* file.py:44 or file.py:44:8 */
static void place(struct stet_view v, struct stet_view *file, uint64_t *line)
{
    uint64_t numbers[2] = {0, 0};
    size_t end = v.len;
    int count = 0;

    while (count < 2) {
        uint64_t value = 0, unit = 1;
        size_t at = end;

        while (at && v.ptr[at - 1] >= '0' && v.ptr[at - 1] <= '9' && unit < 1000000000) {
            value += unit * (uint64_t)(v.ptr[at - 1] - '0');
            unit *= 10;
            at--;
        }
        if (at == end || !at || v.ptr[at - 1] != ':')
            break;
        numbers[count++] = value;
        end = at - 1;
    }
    *file = stet_view_of(v.ptr, end);
    *line = count ? numbers[count - 1] : 0;
}

/* ---- JAX_LOG_COMPILES ---- */

static struct stet_log_function *function(struct stet_framework_log *l, struct stet_view name)
{
    for (size_t i = 0; i < l->function_count; i++)
        if (stet_view_eq(l->functions[i].name, name))
            return &l->functions[i];
    if (!l->functions)
        l->functions = STET_NEW_ARRAY(&l->arena, struct stet_log_function, MOST_FUNCTIONS);
    if (!l->functions || l->function_count == MOST_FUNCTIONS) {
        l->left_out++;
        return NULL;
    }
    l->functions[l->function_count].name = stet_arena_copy(&l->arena, name);
    return &l->functions[l->function_count++];
}

static bool take_times(struct stet_framework_log *l, struct stet_view line)
{
    static const struct {
        const char *phrase, *until;
        size_t count, ns;
    } kinds[] = {
        {"Finished tracing + transforming ", " for ", offsetof(struct stet_log_function, traces),
         offsetof(struct stet_log_function, trace_ns)},
        {"Finished tracing ", " for ", offsetof(struct stet_log_function, traces),
         offsetof(struct stet_log_function, trace_ns)},
        {"Finished jaxpr to MLIR module conversion ", " in ",
         offsetof(struct stet_log_function, lowerings),
         offsetof(struct stet_log_function, lower_ns)},
        {"Finished XLA compilation of ", " in ", offsetof(struct stet_log_function, compiles),
         offsetof(struct stet_log_function, compile_ns)},
    };
    struct stet_view rest;
    uint64_t ns;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct stet_log_function *f;

        if (!after(line, kinds[i].phrase, &rest) || !seconds(rest, &ns))
            continue;
        f = function(l, function_of(before(rest, kinds[i].until)));
        if (f) {
            ++*(uint64_t *)((char *)f + kinds[i].count);
            *(uint64_t *)((char *)f + kinds[i].ns) += ns;
        }
        return true;
    }
    return false;
}

/* ---- JAX_EXPLAIN_CACHE_MISSES ---- */

/* "step id=14 defined at /train.py:2" or "for step defined at /train.py:2" */
static struct stet_view defined(struct stet_view line)
{
    struct stet_view name, rest;

    if (!after(line, " defined at ", &rest))
        return (struct stet_view){0};
    name = stet_view_trim(before(before(line, " defined at "), " id="));
    if (stet_view_starts(name, "for "))
        name = stet_view_of(name.ptr + 4, name.len - 4);
    return name;
}

static bool take_miss(struct stet_framework_log *l, struct stet_view line, struct stet_view *rest)
{
    struct stet_view at, caller, more, whole = {0};
    struct stet_log_miss m = {0};

    if (!after(line, "TRACING CACHE MISS at ", &at))
        return false;
    if (after(at, " (", &caller))
        m.caller = stet_arena_copy(&l->arena, before(caller, ")"));
    place(before(at, " ("), &m.file, &m.line);
    m.file = stet_arena_copy(&l->arena, m.file);
    more = *rest;
    for (int n = 0; next_line(&more, &line) && line.len && (*line.ptr == ' ' || *line.ptr == '\t');
         *rest = more) {
        struct stet_view text = stet_view_trim(line), name = defined(line);

        m.first |= stet_view_starts(text, "never seen function");
        if (name.len && !m.function.len) {
            m.function = stet_arena_copy(&l->arena, name);
            continue;
        }
        if (stet_view_starts(text, "all previously seen cache keys") ||
            stet_view_starts(text, "never seen function") || n++ >= WHY_LINES)
            continue;
        text.len = text.len < WHY_LONGEST ? text.len : WHY_LONGEST;
        whole = whole.len ? stet_arena_printf(&l->arena, "%.*s%s%.*s", STET_FMT(whole),
                                              whole.ptr[whole.len - 1] == ':' ? " " : "; ",
                                              STET_FMT(text))
                          : stet_arena_copy(&l->arena, text);
    }
    m.why = m.first && !whole.len ? STET_VIEW("never seen function") : whole;
    if (!l->misses)
        l->misses = STET_NEW_ARRAY(&l->arena, struct stet_log_miss, MOST_MISSES);
    if (l->misses && l->miss_count < MOST_MISSES)
        l->misses[l->miss_count++] = m;
    else
        l->left_out++;
    return true;
}

/* ---- PT_XLA_DEBUG ---- */

static struct stet_log_graph *graph(struct stet_framework_log *l, const struct stet_log_graph *like)
{
    for (size_t i = 0; i < l->graph_count; i++)
        if (l->graphs[i].line == like->line && stet_view_eq(l->graphs[i].file, like->file) &&
            stet_view_eq(l->graphs[i].cause, like->cause))
            return &l->graphs[i];
    if (!l->graphs)
        l->graphs = STET_NEW_ARRAY(&l->arena, struct stet_log_graph, MOST_GRAPHS);
    if (!l->graphs || l->graph_count == MOST_GRAPHS) {
        l->left_out++;
        return NULL;
    }
    l->graphs[l->graph_count] =
        (struct stet_log_graph){.cause = stet_arena_copy(&l->arena, like->cause),
                                .file = stet_arena_copy(&l->arena, like->file),
                                .caller = stet_arena_copy(&l->arena, like->caller),
                                .line = like->line};
    return &l->graphs[l->graph_count++];
}

/* "  main (/tmp/train.py:8)" */
static void take_frame(struct stet_log_graph *g, struct stet_view frame)
{
    struct stet_view at;

    if (g->line || !after(frame, " (", &at) || memmem(at.ptr, at.len, "-packages/", 10))
        return;
    g->caller = stet_view_trim(before(frame, " ("));
    place(before(at, ")"), &g->file, &g->line);
}

static bool take_graph(struct stet_framework_log *l, struct stet_view line, struct stet_view *rest)
{
    bool compiles = false;
    struct stet_log_graph g = {0}, *found;
    const char *kind = "Execution Analysis: ";
    struct stet_view text;
    enum { NOTHING, CAUSE, FRAMES } in = CAUSE;

    if (after(line, "Post Compilation Analysis: ", &text))
        return false;
    if (after(line, "Compilation Analysis: Compilation Cause", &text)) {
        compiles = true;
        kind = "Compilation Analysis: ";
    } else if (!after(line, "Execution Analysis: Execution Cause", &text)) {
        return false;
    }
    while (next_line(rest, &line) && after(line, kind, &text) && !stet_view_starts(text, "==")) {
        if (stet_view_starts(text, "Python Frame"))
            in = FRAMES;
        else if (stet_view_starts(text, "Graph Info"))
            in = NOTHING;
        else if (in == CAUSE && !g.cause.len)
            g.cause = stet_view_trim(text);
        else if (in == FRAMES)
            take_frame(&g, text);
    }
    found = graph(l, &g);
    if (found)
        ++*(compiles ? &found->compilations : &found->executions);
    return true;
}

/* ---- all of it ---- */

enum stet_rc stet_framework_log_read(struct stet_framework_log *l, struct stet_view text,
                                     struct stet_err *err)
{
    struct stet_view line;

    while (next_line(&text, &line) && !l->arena.failed)
        if (!take_times(l, line) && !take_miss(l, line, &text))
            take_graph(l, line, &text);
    return l->arena.failed ? stet_fail(err, STET_NO_MEMORY, "out of memory for a framework's log")
                           : STET_OK;
}

enum stet_rc stet_framework_log_open(struct stet_framework_log *l, const char *path, uint64_t from,
                                     struct stet_err *err)
{
    struct stet_file file;
    enum stet_rc rc = stet_file_open_from(&file, path, from, err);

    if (rc != STET_OK)
        return rc;
    rc = stet_framework_log_read(l, file.bytes, err);
    stet_file_close(&file);
    return rc;
}
