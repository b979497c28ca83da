/* Writes what ran out of memory, for people and for programs. */
#include "session/exhausted.h"

#include "base/human.h"
#include "base/path.h"

#include <inttypes.h>
#include <string.h>

enum { LINES = 5, WORDS = 200 };

static void put_where(struct stet_buf *out, const struct stet_exhausted *e)
{
    if (e->program.len)
        stet_buf_printf(out, " %s %.*s", e->compiling ? "while compiling" : "in",
                        STET_FMT(e->program));
    else
        stet_buf_str(out, e->compiling ? " while compiling" : " while running");
    if (e->line)
        stet_buf_printf(out, " (%.*s:%" PRIu64 ")", STET_FMT(stet_text_path(e->file)), e->line);
}

static void put_numbers(struct stet_buf *out, const struct stet_exhausted *e)
{
    const struct stet_oom *o = &e->oom;

    if (o->missing) {
        stet_buf_str(out, e->limit ? ": at least " : ": ");
        stet_text_bytes(out, o->missing);
        stet_buf_str(out, " missing");
    }
    if (o->needed) {
        stet_buf_str(out, o->missing ? ", " : ": ");
        stet_text_bytes(out, o->needed);
        stet_buf_str(out, " needed");
    }
    if (o->available) {
        stet_buf_str(out, ", ");
        stet_text_bytes(out, o->available);
        stet_buf_str(out, o->kind == STET_OOM_PROGRAM ? " in all" : " free");
    }
    if (e->limit) {
        stet_buf_str(out, ", ");
        stet_text_bytes(out, e->limit);
        stet_buf_str(out, " in all");
    }
    if (!o->needed)
        stet_buf_printf(out, ": %.*s", (int)(e->message.len < WORDS ? e->message.len : WORDS),
                        e->message.ptr);
    stet_buf_char(out, '\n');
}

static void put_lines(struct stet_buf *out, const struct stet_exhausted *e, const char *prefix)
{
    if (!e->line_count)
        return;
    stet_buf_printf(out, "%s  largest %s\n", prefix,
                    e->whole ? "values of the program, whole arrays before the compiler's work"
                             : "buffers");
    for (size_t i = 0; i < e->line_count && i < LINES; i++) {
        const struct stet_exhausted_line *l = &e->lines[i];

        stet_buf_printf(out, "%s    ", prefix);
        stet_text_bytes(out, l->bytes);
        if (l->line)
            stet_buf_printf(out, "  %.*s:%u", STET_FMT(stet_text_path(l->file)), l->line);
        stet_buf_printf(out, "  %.*s %.*s", STET_FMT(stet_path_base(l->operation)),
                        STET_FMT(l->shape));
        if (l->count > 1)
            stet_buf_printf(out, " and %u more", l->count - 1);
        stet_buf_char(out, '\n');
    }
}

static void put_changes(struct stet_buf *out, const struct stet_exhausted *e, const char *prefix)
{
    if (!e->has_before)
        return;
    stet_buf_printf(out, "%s  since program %.12s of it, which did fit", prefix, e->before);
    if (e->before_run.len)
        stet_buf_printf(out, " in run %.*s", STET_FMT(e->before_run));
    if (e->before_temporaries) {
        stet_buf_str(out, " with ");
        stet_text_bytes(out, e->before_temporaries);
        stet_buf_str(out, " of temporaries");
    }
    if (e->before_command.len)
        stet_buf_printf(out, ": %.*s", STET_FMT(e->before_command));
    stet_buf_char(out, '\n');
    for (size_t i = 0; i < e->change_count; i++)
        stet_buf_printf(out, "%s    %.*s %.*s -> %.*s\n", prefix, STET_FMT(e->changes[i].argument),
                        STET_FMT(e->changes[i].from), STET_FMT(e->changes[i].to));
    if (e->more_changes)
        stet_buf_printf(out, "%s    and %zu more arguments\n", prefix, e->more_changes);
    if (!e->change_count)
        stet_buf_printf(out, "%s    %s\n", prefix,
                        !strcmp(e->before, e->hash)
                            ? "it is the same program; there was more free memory"
                            : "its arguments are the same; what it computes differs");
}

void stet_session_remedies_text(struct stet_buf *out, const struct stet_remedy *advice,
                                size_t count, const char *prefix)
{
    for (const struct stet_remedy *a = advice; a < advice + count; a++) {
        stet_buf_printf(out, "%ssaves at most ", prefix);
        stet_text_bytes(out, a->saves);
        stet_buf_printf(out, ": %s", stet_remedy_text(a->kind));
        if (a->line)
            stet_buf_printf(out, " (largest from %.*s:%u)", STET_FMT(stet_text_path(a->file)),
                            a->line);
        else if (a->name.len)
            stet_buf_printf(out, " (%.*s%s)", STET_FMT(a->name), a->count > 1 ? ", …" : "");
        stet_buf_char(out, '\n');
    }
}

void stet_session_exhausted_text(struct stet_buf *out, const struct stet_exhausted_list *l,
                                 const char *prefix)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct stet_exhausted *e = &l->items[i];

        stet_buf_printf(out, "%s%s", prefix,
                        e->oom.kind == STET_OOM_SCRATCH ? "a kernel ran out of vector memory"
                                                        : "out of memory");
        put_where(out, e);
        put_numbers(out, e);
        put_lines(out, e, prefix);
        put_changes(out, e, prefix);
        for (size_t k = 0; k < e->advice_count; k++) {
            stet_buf_printf(out, "%s  ", prefix);
            stet_session_remedies_text(out, &e->advice[k], 1, "");
        }
    }
}

/* ---- JSON ---- */

void stet_session_remedies_json(struct stet_json *j, const struct stet_remedy *advice, size_t count)
{
    stet_json_array(j, "advice");
    for (const struct stet_remedy *a = advice; a < advice + count; a++) {
        stet_json_object(j, NULL);
        stet_json_cstr(j, "what", stet_remedy_word(a->kind));
        stet_json_uint(j, "saves_bytes", a->saves);
        stet_json_cstr(j, "text", stet_remedy_text(a->kind));
        stet_json_string(j, "file", a->file);
        stet_json_known(j, "line", a->line != 0, a->line);
        stet_json_string(j, "argument", a->name);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

static void one_json(struct stet_json *j, const struct stet_exhausted *e)
{
    stet_json_object(j, NULL);
    stet_json_cstr(j, "during", e->compiling ? "compile" : "execute");
    stet_json_string(j, "program", e->program);
    stet_json_cstr(j, "hash", e->hash[0] ? e->hash : NULL);
    stet_json_uint(j, "pid", e->pid);
    stet_json_uint(j, "times", e->times);
    stet_json_known(j, "needed_bytes", e->oom.needed != 0, e->oom.needed);
    stet_json_known(j, "available_bytes", e->oom.available != 0, e->oom.available);
    stet_json_known(j, "missing_bytes", e->oom.missing != 0, e->oom.missing);
    stet_json_known(j, "limit_bytes", e->limit != 0, e->limit);
    stet_json_string(j, "file", e->file);
    stet_json_known(j, "line", e->line != 0, e->line);
    stet_json_array(j, "largest");
    for (size_t i = 0; i < e->line_count; i++) {
        stet_json_object(j, NULL);
        stet_json_uint(j, "bytes", e->lines[i].bytes);
        stet_json_string(j, "file", e->lines[i].file);
        stet_json_uint(j, "line", e->lines[i].line);
        stet_json_string(j, "operation", e->lines[i].operation);
        stet_json_string(j, "shape", e->lines[i].shape);
        stet_json_uint(j, "count", e->lines[i].count);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
    stet_json_bool(j, "largest_before_compiling", e->whole);
    stet_json_cstr(j, "since", e->has_before ? e->before : NULL);
    stet_json_told(j, "since_run", e->before_run);
    stet_json_array(j, "changes");
    for (size_t i = 0; i < e->change_count; i++) {
        stet_json_object(j, NULL);
        stet_json_string(j, "argument", e->changes[i].argument);
        stet_json_told(j, "from", e->changes[i].from);
        stet_json_string(j, "to", e->changes[i].to);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
    stet_session_remedies_json(j, e->advice, e->advice_count);
    stet_json_string(j, "message", e->message);
    stet_json_end_object(j);
}

void stet_session_exhausted_json(struct stet_json *j, const struct stet_exhausted_list *l)
{
    stet_json_array(j, "out_of_memory");
    for (size_t i = 0; i < l->count; i++)
        one_json(j, &l->items[i]);
    stet_json_end_array(j);
}
