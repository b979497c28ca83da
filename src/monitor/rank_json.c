/* Writes the ranks of a run as JSON. */
#include "base/json.h"
#include "monitor/rank_hang.h"

static void place_json(struct stet_json *j, const char *key, const char *file, const char *function,
                       uint64_t line)
{
    if (!line) {
        stet_json_null(j, key);
        return;
    }
    stet_json_object(j, key);
    stet_json_cstr(j, "file", file);
    stet_json_uint(j, "line", line);
    stet_json_cstr(j, "function", function);
    stet_json_end_object(j);
}

void stet_monitor_rank_json(struct stet_json *j, const struct stet_rank_state *s)
{
    bool there = s->kind != STET_RANK_MISSING;

    stet_json_object(j, NULL);
    stet_json_known(j, "rank", s->rank >= 0, (uint64_t)s->rank);
    stet_json_known(j, "pid", there, s->pid);
    stet_json_cstr(j, "host", there ? s->host : NULL);
    stet_json_cstr(j, "kind", stet_monitor_rank_word(s->kind));
    stet_json_uint(j, "looked_at_s_ago", s->seen_s);
    stet_json_cstr(j, "blocked_for", s->blocked_in);
    place_json(j, "line", s->file, s->function, s->line);
    place_json(j, "innermost", s->inner_file, s->inner_function, s->inner_line);
    stet_json_bool(j, "line_is_now", s->now);
    stet_json_cstr(j, "why_not_now", s->why_not[0] ? s->why_not : NULL);
    stet_json_told(j, "program", s->program);
    stet_json_uint(j, "program_runs", s->runs);
    stet_json_told(j, "finished_program", s->finished);
    stet_json_known(j, "pending_executions", s->finished_known, s->pending_count);
    stet_json_told(j, "pending_program", s->pending);
    stet_json_known(j, "pending_ns", s->pending_count, s->pending_ns);
    stet_json_uint(j, "ranks_behind", s->behind);
    stet_json_known(j, "behind_rank", s->behind, (uint64_t)s->behind_rank);
    stet_json_known(j, "behind_runs", s->behind, s->behind_runs);
    stet_json_bool(j, "counts_are_lower_bounds", s->at_least);
    stet_json_uint(j, "executions", s->executions);
    stet_json_known(j, "steps", s->steps_known, s->steps);
    stet_json_uint(j, "wait_ns", s->wait_ns);
    stet_json_uint(j, "memory_bytes", s->memory);
    stet_json_uint(j, "memory_peak_bytes", s->memory_peak);
    stet_json_known(j, "age_ns", there, s->age_ns);
    stet_json_known(j, "compiling_ns", s->kind == STET_RANK_COMPILING, s->open_ns);
    stet_json_end_object(j);
}

void stet_monitor_ranks_json_parts(struct stet_json *j, const struct stet_rank_states *s)
{
    struct stet_rank_hang hang;

    stet_monitor_rank_hang(&hang, s);
    stet_json_object(j, "hang");
    stet_json_cstr(j, "kind",
                   !hang.found   ? NULL
                   : hang.behind ? "collective"
                   : hang.all    ? "all"
                                 : stet_monitor_rank_word(hang.kind));
    stet_json_array(j, "ranks");
    for (size_t i = 0; hang.found && i < hang.count && i < STET_HANG_RANKS; i++)
        stet_json_int(j, NULL, hang.ranks[i]);
    stet_json_end_array(j);
    stet_json_uint(j, "waiting", hang.found ? hang.waiting : 0);
    stet_json_told(j, "program",
                   hang.found && hang.program.len ? hang.program : (struct stet_view){0});
    stet_json_end_object(j);
    stet_json_array(j, "ranks");
    for (size_t i = 0; i < s->count; i++)
        stet_monitor_rank_json(j, &s->items[i]);
    stet_json_end_array(j);
}

void stet_monitor_ranks_json(struct stet_buf *out, const struct stet_monitor_attach *a,
                             const struct stet_rank_states *s)
{
    struct stet_json j;

    stet_json_init(&j, out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", "stet.ranks/1");
    stet_json_cstr(&j, "run", a->id);
    stet_json_bool(&j, "running", a->running);
    stet_json_known(&j, "world", s->world > 0, (uint64_t)s->world);
    stet_monitor_ranks_json_parts(&j, s);
    stet_json_end_object(&j);
    stet_buf_char(out, '\n');
}
