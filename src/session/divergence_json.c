/* Writes a difference between ranks as JSON. */
#include "session/account.h"
#include "session/divergence.h"

#include "base/json.h"

static const char *finding_word(uint64_t finding)
{
    return finding == STET_AGREEMENT_DIFFERS ? "differs"
           : finding == STET_AGREEMENT_LATE  ? "late"
                                             : "missing";
}

static void ranks_json(struct stet_json *j, const char *key, const uint64_t *ranks, size_t count)
{
    stet_json_array(j, key);
    for (size_t i = 0; i < count && i < STET_DIVERGENCE_RANKS; i++)
        stet_json_uint(j, NULL, ranks[i]);
    stet_json_end_array(j);
}

static void job_json(struct stet_json *j, const struct stet_divergence *d)
{
    char job[STET_HASH_TEXT];

    stet_hash_format(d->job, job);
    stet_json_told(j, "job",
                   stet_hash_is_zero(d->job) ? (struct stet_view){0} : stet_view_str(job));
    stet_json_known(j, "pid", d->pid > 0, d->pid);
}

static void causes_json(struct stet_json *j, const struct stet_divergence *d)
{
    stet_json_cstr(j, "class", d->explained ? stet_cause_id(d->pair.cause) : "unknown");
    stet_json_array(j, "also");
    for (uint32_t i = 0; d->explained && i < d->pair.also.count; i++)
        stet_json_cstr(j, NULL, stet_cause_id(d->pair.also.items[i]));
    stet_json_end_array(j);
    stet_json_array(j, "changes");
    for (size_t i = 0; d->explained && i < d->pair.change_count; i++)
        stet_account_json_change(j, &d->pair.changes[i]);
    stet_json_end_array(j);
    stet_json_bool(j, "reordered", d->reordered);
    stet_recompile_line_json(j, "origin", &d->pair.origin);
    stet_recompile_line_json(j, "source", &d->pair.source);
}

void stet_divergence_json(struct stet_json *j, const struct stet_divergence *d)
{
    stet_json_object(j, NULL);
    stet_json_cstr(j, "finding", finding_word(d->finding));
    stet_json_cstr(j, "lane", stet_journal_lane_word(d->torch ? STET_LANE_TORCH : STET_LANE_XLA));
    job_json(j, d);
    stet_json_bool(j, "certain", d->certain);
    stet_json_known(j, "rank", d->rank >= 0, (uint64_t)d->rank);
    stet_json_known(j, "other", d->other >= 0, (uint64_t)d->other);
    stet_json_bool(j, "odd_known", d->odd_known);
    stet_json_told(j, "function", d->function.len ? d->function : (struct stet_view){0});
    stet_json_told(j, "other_function",
                   d->other_function.len ? d->other_function : (struct stet_view){0});
    stet_json_uint(j, "ranks", d->ranks);
    if (d->finding == STET_AGREEMENT_DIFFERS) {
        stet_json_bool(j, "went_on", d->went_on);
        stet_json_bool(j, "alone", d->alone);
        causes_json(j, d);
        stet_recompile_line_json(j, "trigger", &d->trigger);
        stet_recompile_line_json(j, "other_trigger", &d->other_trigger);
        stet_json_cstr(j, "fix", stet_divergence_fix(d));
        ranks_json(j, "like_rank", d->like_rank, d->like_rank_count);
        ranks_json(j, "like_other", d->like_other, d->like_other_count);
    } else {
        stet_recompile_line_json(j, "trigger", &d->trigger);
        ranks_json(j, "missing", d->missing, d->missing_listed);
        stet_json_uint(j, "missing_count", d->missing_count);
        stet_json_bool(j, "answered", d->answered);
        stet_json_told(j, "last_program", d->program.len ? d->program : (struct stet_view){0});
        stet_json_uint(j, "executions", d->executions);
    }
    stet_recompile_line_json(j, "other_at", &d->other_at);
    stet_json_number(j, "after_s", (double)d->after_ns / 1e9);
    stet_json_end_object(j);
}
