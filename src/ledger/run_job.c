/* Takes the records about the ranks of a job into the digest of a process. */
#include "ledger/run_job.h"

#include "base/vec.h"
#include "journal/format.h"

static struct stet_view keep(struct stet_run_digest *d, struct stet_view v)
{
    return v.len ? stet_arena_copy(&d->arena, v) : (struct stet_view){0};
}

static void on_job(struct stet_run_digest *d, struct stet_process_digest *p,
                   const struct stet_rec_job *r)
{
    p->rank = (int64_t)r->rank;
    p->world = (int64_t)r->world;
    p->job = r->job;
    p->job_event.known = true;
    p->job_event.refuses = r->refuses;
    p->job_event.channel = keep(d, r->channel);
    p->job_event.why = keep(d, r->why);
}

static void on_job_end(struct stet_run_digest *d, struct stet_process_digest *p,
                       const struct stet_rec_job_end *r)
{
    struct stet_job_event *j = &p->job_event;

    j->compared = r->compared;
    j->messages = r->puts + r->gets;
    j->bytes = r->bytes;
    j->failures = r->failures;
    j->waited_ns = r->waited_ns;
    j->open = r->open;
    j->cpu_ns = r->cpu_ns;
    j->known = true;
    if (r->why.len)
        j->why = keep(d, r->why);
}

static const struct stet_view *keep_list(struct stet_run_digest *d, struct stet_list list,
                                         size_t *count)
{
    struct stet_view *items = STET_NEW_ARRAY(&d->arena, struct stet_view, list.count + 1);

    for (size_t i = 0; items && i < list.count; i++)
        items[i] = keep(d, list.items[i]);
    *count = items ? list.count : 0;
    return items;
}

static const uint64_t *keep_numbers(struct stet_run_digest *d, struct stet_u64s list, size_t *count)
{
    uint64_t *items = STET_NEW_ARRAY(&d->arena, uint64_t, list.count + 1);

    if (items && list.count)
        memcpy(items, list.items, list.count * sizeof *items);
    *count = items ? list.count : 0;
    return items;
}

static void on_agreement(struct stet_run_digest *d, struct stet_process_digest *p, uint64_t wall,
                         const struct stet_rec_agreement *r)
{
    struct stet_agreement_event *a;

    if (!stet_vec_room(&p->agreements, &p->agreement_room, p->agreement_count,
                       sizeof *p->agreements))
        return;
    a = &p->agreements[p->agreement_count++];
    *a = (struct stet_agreement_event){
        .time_ns = wall,
        .finding = r->finding,
        .has_compile = r->index > 0,
        .compile = r->index - (r->index > 0),
        .certain = r->certain,
        .went_on = r->went_on,
        .answered = r->answered,
        .compiling = r->compiling,
        .other = (int64_t)r->other - 1,
        .name = keep(d, r->name),
        .other_name = keep(d, r->other_name),
        .ranks = r->ranks,
        .parts = r->parts,
        .other_program = r->other_program,
        .other_options = r->other_options,
        .other_at = {keep(d, r->file), keep(d, r->function), r->line},
        .program = keep(d, r->program),
        .executions = r->executions,
        .pid = r->pid,
        .host = keep(d, r->host),
        .missing_count = r->missing_count,
        .after_ns = r->after_ns,
    };
    a->flags = keep_list(d, r->flags, &a->flag_count);
    a->other_flags = keep_list(d, r->other_flags, &a->other_flag_count);
    a->like_this = keep_numbers(d, r->like_this, &a->like_this_count);
    a->like_other = keep_numbers(d, r->like_other, &a->like_other_count);
    a->missing = keep_numbers(d, r->missing, &a->missing_listed);
}

void stet_ledger_run_job(struct stet_run_digest *d, struct stet_process_digest *p,
                         const struct stet_journal_event *e)
{
    switch (e->kind) {
    case STET_REC_job:
        on_job(d, p, e->record);
        break;
    case STET_REC_agreement:
        on_agreement(d, p, e->time_ns + p->wall_minus_mono, e->record);
        break;
    case STET_REC_job_end:
        on_job_end(d, p, e->record);
        break;
    default:
        break;
    }
}
