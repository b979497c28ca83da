/* The doctor's report, in both formats. */
#include "cli/doctor.h"
#include "cli/run_text.h"

#include <stdio.h>

static const char *const result_words[] = {"fine", "note", "WRONG"};

static const char *state_of(const struct stet_doctor *d, size_t i)
{
    if (stet_probe_alive(&d->probes[i]))
        return d->wishes->quick ? "makes a client" : "alive";
    if (d->found.items[i].missing)
        return "not there";
    return d->wanted[i] ? "INSTALLED, NOT ALIVE" : "installed, not alive (and not needed here)";
}

static void device_text(struct stet_buf *out, const struct stet_probe_device *v)
{
    stet_buf_printf(out, "      device %d  %s", v->id, v->kind);
    if (v->has_memory) {
        stet_buf_str(out, ": ");
        stet_text_bytes(out, (uint64_t)v->in_use);
        stet_buf_str(out, " in use");
        if (v->has_limit) {
            stet_buf_str(out, " of ");
            stet_text_bytes(out, (uint64_t)v->limit);
        }
    } else {
        stet_buf_str(out, ": memory unknown");
    }
    stet_buf_char(out, '\n');
}

static void plugin_text(const struct stet_doctor *d, size_t i, struct stet_buf *out)
{
    const struct stet_found *f = &d->found.items[i];
    const struct stet_probe *p = &d->probes[i];
    const char *version = stet_probe_value(p, "platform version");

    stet_buf_printf(out, "  %s: %s\n    found by %s\n", f->path, state_of(d, i), f->by);
    for (int s = 0; s < STET_STEPS; s++) {
        const struct stet_probe_outcome *o = &p->steps[s];

        if (o->result == STET_PROBE_SKIPPED)
            continue;
        stet_buf_printf(out, "    %-14s %-8s %s\n", stet_probe_step_name((enum stet_probe_step)s),
                        stet_probe_result_name(o->result), o->detail);
        if (s == STET_STEP_API && *stet_probe_value(p, "extensions"))
            stet_buf_printf(out, "      extensions %s\n", stet_probe_value(p, "extensions"));
        if (s == STET_STEP_CLIENT && *version)
            stet_buf_printf(out, "      %s\n", version);
        for (size_t k = 0; s == STET_STEP_MEMORY && k < p->device_count; k++)
            device_text(out, &p->devices[k]);
    }
    /* A process that died says why on its standard error; one that answered has said it already. */
    if (stet_probe_broken(p) != STET_STEPS &&
        p->steps[stet_probe_broken(p)].result != STET_PROBE_FAILED && *p->noise) {
        stet_buf_str(out, "    it said\n");
        for (const char *line = p->noise; *line; line += strcspn(line, "\n"), line += *line != 0)
            stet_buf_printf(out, "      %.*s\n", (int)strcspn(line, "\n"), line);
    }
}

static void gates_text(const struct stet_doctor *d, struct stet_buf *out)
{
    const struct stet_scannable *s = &d->scan;

    stet_buf_str(out, "\nfeatures\n");
    for (size_t i = 0; i < d->gate_count; i++)
        if (d->gates[i].api)
            stet_buf_printf(out, "  %-28s here: %s\n", d->gates[i].name, d->gates[i].what);
    if (!s->looked) {
        stet_buf_str(out, "  whether your programs have the form: stet doctor --run=RUN\n");
    } else if (!s->name) {
        stet_buf_str(out, "  no program repeats a block: nothing to scan\n");
    } else {
        stet_buf_printf(out,
                        "  %s repeats one block of %u operations %u times: scanned, %u operations "
                        "become %u\n",
                        s->name, s->length, s->times, s->ops, s->ops_scanned);
        if (s->compile_s > 0) {
            stet_buf_str(out, "    its compile took ");
            stet_text_duration(out, (uint64_t)(s->compile_s * 1e9));
            stet_buf_str(out, "; by operations, about ");
            stet_text_duration(out, (uint64_t)(s->compile_s * 1e9 * s->ops_scanned / s->ops));
            stet_buf_str(out, " would be left\n");
        }
        if (s->barrier)
            stet_buf_printf(out, "    not as it is: %s\n", s->barrier);
    }
}

static void rows_text(const struct stet_doctor *d, struct stet_buf *out)
{
    stet_buf_printf(out, "\nknown to break: %zu of %zu row%s fit%s\n", d->row_count,
                    d->matrix.count, d->matrix.count == 1 ? "" : "s", d->row_count == 1 ? "s" : "");
    for (size_t i = 0; i < d->row_count; i++) {
        const struct stet_row *r = d->rows[i];

        stet_buf_printf(out,
                        "  %.*s (%.*s)\n    what     %.*s\n    because  %s\n"
                        "    versions %.*s\n    evidence %.*s\n    do       %.*s\n",
                        STET_FMT(r->id), STET_FMT(r->field[STET_ROW_KIND]),
                        STET_FMT(r->field[STET_ROW_SYMPTOM]), d->why[i],
                        STET_FMT(r->field[STET_ROW_VERSIONS]),
                        STET_FMT(r->field[STET_ROW_EVIDENCE]), STET_FMT(r->field[STET_ROW_DO]));
    }
}

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

static void verdict(const struct stet_doctor *d, char *out, size_t room)
{
    size_t wrong = 0, dead = 0;

    for (size_t i = 0; i < d->check_count; i++)
        wrong += d->checks[i].result == STET_CHECK_WRONG;
    for (size_t i = 0; i < d->found.count; i++)
        dead += d->wanted[i] && !stet_probe_alive(&d->probes[i]);
    if (d->fine)
        snprintf(out, room, "all is well: %zu of %zu plugin%s alive", d->alive, d->found.count,
                 plural(d->found.count));
    else
        snprintf(out, room,
                 "%zu of %zu plugin%s alive, %zu dead; %zu check%s failed, %zu row%s fit%s",
                 d->alive, d->found.count, plural(d->found.count), dead, wrong, plural(wrong),
                 d->row_count, plural(d->row_count), d->row_count == 1 ? "s" : "");
}

void stet_doctor_text(const struct stet_doctor *d, struct stet_buf *out)
{
    char text[160];

    stet_buf_printf(out, "python  %s  %s\n", d->python.version ? d->python.version : "-",
                    d->python.executable ? d->python.executable : "none found");
    stet_buf_str(out, "\nplugins\n");
    for (size_t i = 0; i < d->found.count; i++)
        plugin_text(d, i, out);
    for (size_t i = 0; i < d->found.note_count; i++)
        stet_buf_printf(out, "  an entry point without a plugin file: %s\n", d->found.notes[i]);
    if (!d->found.count)
        stet_buf_str(out, "  none found: frameworks have only their built-in platforms\n");
    stet_buf_str(out, "\nchecks\n");
    for (size_t i = 0; i < d->check_count; i++) {
        const struct stet_check *c = &d->checks[i];

        stet_buf_printf(out, "  %-16s %-6s %s\n", c->what, result_words[c->result], c->text);
        if (c->result != STET_CHECK_FINE && *c->fix)
            stet_buf_printf(out, "  %-16s do     %s\n", "", c->fix);
    }
    gates_text(d, out);
    rows_text(d, out);
    verdict(d, text, sizeof text);
    stet_buf_printf(out, "\n%s\n", text);
}

static void plugin_json(const struct stet_doctor *d, size_t i, struct stet_json *j)
{
    const struct stet_found *f = &d->found.items[i];
    const struct stet_probe *p = &d->probes[i];
    enum stet_probe_step broken = stet_probe_broken(p);

    stet_json_object(j, NULL);
    stet_json_cstr(j, "path", f->path);
    stet_json_cstr(j, "found_by", f->by);
    stet_json_bool(j, "alive", stet_probe_alive(p));
    stet_json_bool(j, "wanted", d->wanted[i]);
    stet_json_cstr(j, "broken", broken == STET_STEPS ? NULL : stet_probe_step_name(broken));
    stet_json_cstr(j, "build_id", f->elf.build_id);
    stet_json_cstr(j, "api", stet_probe_value(p, "api"));
    stet_json_cstr(j, "extensions", stet_probe_value(p, "extensions"));
    stet_json_cstr(j, "platform", stet_probe_value(p, "platform"));
    stet_json_cstr(j, "platform_version", stet_probe_value(p, "platform version"));
    stet_json_array(j, "steps");
    for (int s = 0; s < STET_STEPS; s++) {
        stet_json_object(j, NULL);
        stet_json_cstr(j, "step", stet_probe_step_name((enum stet_probe_step)s));
        stet_json_cstr(j, "result", stet_probe_result_name(p->steps[s].result));
        stet_json_cstr(j, "detail", p->steps[s].detail);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
    stet_json_array(j, "devices");
    for (size_t k = 0; k < p->device_count; k++) {
        const struct stet_probe_device *v = &p->devices[k];

        stet_json_object(j, NULL);
        stet_json_int(j, "id", v->id);
        stet_json_cstr(j, "kind", v->kind);
        stet_json_cstr(j, "text", v->text);
        if (v->has_memory)
            stet_json_int(j, "bytes_in_use", v->in_use);
        if (v->has_limit)
            stet_json_int(j, "bytes_limit", v->limit);
        if (v->has_peak)
            stet_json_int(j, "peak_bytes_in_use", v->peak);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
    stet_json_cstr(j, "said", p->noise);
    stet_json_end_object(j);
}

static void gates_json(const struct stet_doctor *d, struct stet_json *j)
{
    const struct stet_scannable *s = &d->scan;

    stet_json_array(j, "features");
    for (size_t i = 0; i < d->gate_count; i++) {
        stet_json_object(j, NULL);
        stet_json_cstr(j, "name", d->gates[i].name);
        stet_json_cstr(j, "api", d->gates[i].api);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
    if (!s->looked) {
        stet_json_null(j, "scan");
        return;
    }
    stet_json_object(j, "scan");
    stet_json_cstr(j, "program", s->name);
    stet_json_uint(j, "times", s->times);
    stet_json_uint(j, "block", s->length);
    stet_json_uint(j, "operations", s->ops);
    stet_json_uint(j, "operations_scanned", s->ops_scanned);
    if (s->compile_s > 0)
        stet_json_number(j, "compile_s", s->compile_s);
    stet_json_cstr(j, "barrier", s->barrier);
    stet_json_end_object(j);
}

void stet_doctor_json(const struct stet_doctor *d, struct stet_buf *out)
{
    struct stet_json j;
    char text[160];

    stet_json_init(&j, out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", "stet.doctor/1");
    stet_json_bool(&j, "ok", d->fine);
    verdict(d, text, sizeof text);
    stet_json_cstr(&j, "verdict", text);
    stet_json_cstr(&j, "python", d->python.executable);
    stet_json_array(&j, "plugins");
    for (size_t i = 0; i < d->found.count; i++)
        plugin_json(d, i, &j);
    stet_json_end_array(&j);
    stet_json_array(&j, "checks");
    for (size_t i = 0; i < d->check_count; i++) {
        static const char *const words[] = {"fine", "note", "wrong"};

        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "what", d->checks[i].what);
        stet_json_cstr(&j, "result", words[d->checks[i].result]);
        stet_json_cstr(&j, "text", d->checks[i].text);
        stet_json_cstr(&j, "fix", d->checks[i].fix);
        stet_json_end_object(&j);
    }
    stet_json_end_array(&j);
    gates_json(d, &j);
    stet_json_array(&j, "rows");
    for (size_t i = 0; i < d->row_count; i++) {
        stet_json_object(&j, NULL);
        stet_json_string(&j, "id", d->rows[i]->id);
        stet_json_cstr(&j, "because", d->why[i]);
        stet_json_cstr(&j, "source", d->rows[i]->source);
        for (int f = 0; f < STET_ROW_DETECT; f++)
            stet_json_string(&j, stet_row_field_name((enum stet_row_field)f), d->rows[i]->field[f]);
        stet_json_end_object(&j);
    }
    stet_json_end_array(&j);
    stet_json_end_object(&j);
    stet_buf_char(out, '\n');
}
