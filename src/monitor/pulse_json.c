/* See pulse_json.h; docs/top.md has the keys. */
#include "monitor/pulse_json.h"

#include "monitor/rank_state.h"
#include "session/avoided.h"

static void seconds(struct stet_json *j, const char *key, uint64_t ns)
{
    stet_json_number(j, key, (double)ns / 1e9);
}

static void sum_json(struct stet_json *j, const struct stet_pulse_sum *s)
{
    stet_json_known(j, "steps", s->steps_known, s->steps);
    if (s->steps_known)
        stet_json_number(j, "steps_per_s", s->steps_rate);
    else
        stet_json_null(j, "steps_per_s");
    stet_json_uint(j, "executions", s->executions);
    stet_json_number(j, "executions_per_s", s->executions_rate);
    stet_json_uint(j, "compiles", s->compiles);
    seconds(j, "compile_s", s->compile_ns);
    stet_json_uint(j, "compiling", s->compiling);
    stet_json_uint(j, "failed", s->failed);
    stet_json_uint(j, "recompiles", s->recompiles);
    seconds(j, "wait_s", s->wait_ns);
    seconds(j, "lost_s", s->lost_ns);
    stet_json_object(j, "store");
    for (int i = STET_SERVED_MEMORY; i <= STET_SERVED_LIFTED; i++)
        stet_json_uint(j, stet_journal_served_word((enum stet_served)i), s->served[i]);
    stet_json_uint(j, "misses", s->misses);
    stet_json_end_object(j);
    stet_json_uint(j, "framework_loads", s->loads);
    stet_json_object(j, "transfer_bytes");
    for (int i = 0; i < STET_MEASURED; i++)
        stet_json_uint(j, stet_pulse_direction_name((enum stet_pulse_direction)i),
                       s->transfer_bytes[i]);
    stet_json_end_object(j);
    stet_json_object(j, "torch");
    stet_json_uint(j, "frames", s->torch_frames);
    stet_json_uint(j, "compiles", s->torch_compiles);
    seconds(j, "compile_s", s->torch_ns);
    stet_json_uint(j, "recompiles", s->torch_recompiles);
    seconds(j, "wait_s", s->torch_wait_ns);
    seconds(j, "lost_s", s->torch_lost_ns);
    stet_json_uint(j, "graph_breaks", s->torch_breaks);
    stet_json_uint(j, "limit_hits", s->torch_limits);
    stet_json_end_object(j);
}

static void process_json(struct stet_json *j, const struct stet_pulse *p, size_t i, uint64_t now_ns)
{
    const struct stet_pulse_process *q = &p->processes[i];
    bool runs = stet_pulse_runs(q);
    struct stet_rate rate = stet_ledger_steps_live_rate(&q->steps, runs ? now_ns : q->last_ns);
    struct stet_steps_answer steps = stet_ledger_steps_live_now(&q->steps);

    stet_json_object(j, NULL);
    stet_json_uint(j, "pid", q->pid);
    stet_json_known(j, "rank", q->rank >= 0, (uint64_t)q->rank);
    stet_json_cstr(j, "host", q->host);
    stet_json_bool(j, "running", runs);
    if (steps.known)
        stet_json_uint(j, "steps", steps.completed);
    else
        stet_json_null(j, "steps");
    stet_json_cstr(j, "steps_why", steps.why);
    stet_json_number(j, "steps_per_s", steps.known ? rate.steps : 0);
    stet_json_uint(j, "executions", q->executions);
    stet_json_number(j, "executions_per_s", rate.executions);
    stet_json_uint(j, "compiles", q->compiles);
    seconds(j, "compile_s", q->compile_ns);
    stet_json_bool(j, "compiling", runs && q->begun > q->compiles);
    seconds(j, "silent_s", runs && now_ns > q->last_ns ? now_ns - q->last_ns : 0);
    stet_json_uint(j, "recompiles", q->recompiles);
    seconds(j, "wait_s", q->wait_ns);
    seconds(j, "lost_s", q->lost_ns);
    stet_json_end_object(j);
}

static void devices_json(struct stet_json *j, const struct stet_pulse *p)
{
    stet_json_array(j, "devices");
    for (size_t i = 0; i < p->device_count; i++) {
        const struct stet_pulse_device *d = &p->devices[i];

        stet_json_object(j, NULL);
        stet_json_string(j, "platform", stet_pulse_platform(p, d));
        stet_json_uint(j, "device", d->device);
        stet_json_uint(j, "pid", p->processes[d->process].pid);
        stet_json_known(j, "rank", p->processes[d->process].rank >= 0,
                        (uint64_t)p->processes[d->process].rank);
        stet_json_uint(j, "bytes", d->in_use);
        stet_json_uint(j, "peak_bytes", d->peak);
        stet_json_uint(j, "limit_bytes", d->limit);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

static void families_json(struct stet_json *j, const struct stet_pulse *p)
{
    stet_json_array(j, "families");
    for (size_t i = 0; i < p->family_count; i++) {
        const struct stet_pulse_family *f = &p->families[i];
        char hash[STET_HASH_TEXT];

        stet_hash_format(f->skeleton, hash);
        stet_json_object(j, NULL);
        stet_json_cstr(j, "family", hash);
        stet_json_cstr(j, "name", f->name);
        stet_json_uint(j, "programs", f->programs);
        stet_json_uint(j, "compiles", f->compiles);
        seconds(j, "compile_s", f->compile_ns);
        seconds(j, "wait_s", f->wait_ns);
        stet_json_uint(j, "grown_ns", f->grown_ns);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

static void causes_json(struct stet_json *j, const struct stet_pulse *p)
{
    stet_json_array(j, "causes");
    for (size_t i = 0; i < p->cause_count; i++) {
        const struct stet_pulse_cause *c = &p->causes[i];

        stet_json_object(j, NULL);
        stet_json_cstr(j, "lane", stet_journal_lane_word(c->lane));
        stet_json_known(j, "rank", c->rank >= 0, (uint64_t)c->rank);
        stet_json_cstr(j, "class", stet_cause_id(c->cause));
        stet_json_cstr(j, "function", *c->function ? c->function : NULL);
        stet_json_cstr(j, "file", c->line ? c->file : NULL);
        stet_json_uint(j, "line", c->line);
        stet_json_cstr(j, "what", c->what);
        stet_json_uint(j, "times", c->times);
        seconds(j, "wait_s", c->wait_ns);
        seconds(j, "cost_s", c->cost_ns);
        stet_json_uint(j, "last_ns", c->last_ns);
        stet_json_cstr(j, "fix", c->fix);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

static void avoided_json(struct stet_json *j, const struct stet_run_digest *d)
{
    struct stet_avoided avoided;

    stet_avoided_make(&avoided, d);
    stet_avoided_sort(&avoided);
    stet_avoided_json(j, &avoided);
    stet_avoided_release(&avoided);
}

void stet_pulse_json(struct stet_buf *out, const struct stet_monitor_attach *a, uint64_t now_ns,
                     const struct stet_rank_states *still)
{
    const struct stet_pulse *p = a->pulse;
    struct stet_pulse_sum all = stet_pulse_add_up(p, STET_ALL_RANKS, now_ns);
    struct stet_buf outcome = STET_BUF_INIT;
    struct stet_json j;

    stet_json_init(&j, out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", "stet.top/1");
    stet_json_cstr(&j, "run", a->run.id);
    stet_json_cstr(&j, "command", a->run.command);
    stet_json_cstr(&j, "host", a->run.host);
    stet_json_bool(&j, "running", a->running);
    stet_ledger_run_outcome(&outcome, &a->run);
    stet_json_string(&j, "outcome", stet_buf_as_view(&outcome));
    stet_json_uint(&j, "started_ns", a->run.started_ns);
    stet_json_uint(&j, "now_ns", now_ns);
    sum_json(&j, &all);
    stet_json_uint(&j, "programs", p->programs);
    stet_json_bool(&j, "explains", p->explains);
    stet_json_uint(&j, "damaged_bytes", p->damage.bytes);
    stet_json_array(&j, "processes");
    for (size_t i = 0; i < p->process_count; i++)
        if (p->processes[i].used)
            process_json(&j, p, i, now_ns);
    stet_json_end_array(&j);
    devices_json(&j, p);
    families_json(&j, p);
    causes_json(&j, p);
    if (p->digest)
        avoided_json(&j, p->digest);
    if (still && still->count)
        stet_monitor_ranks_json_parts(&j, still);
    stet_json_end_object(&j);
    stet_buf_char(out, '\n');
    stet_buf_release(&outcome);
}
