/* Prints the doctor's report in both formats. */
#include "cli/doctor_print.h"

#include "base/human.h"
#include "base/json.h"
#include "base/text.h"

#include <stdio.h>

static const char *const result_words[] = {"fine", "note", "WRONG"};

static const char *state_of(const struct stet_doctor *d, size_t i)
{
    if (stet_bundle_probe_alive(&d->probes[i]))
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
    const char *version = stet_bundle_probe_value(p, "platform version");

    stet_buf_printf(out, "  %s: %s%s\n    found by %s\n", f->path, state_of(d, i),
                    strstr(f->path, "/libstet_cpu.so") ? " (Stet's own CPU backend)" : "", f->by);
    for (int s = 0; s < STET_STEPS; s++) {
        const struct stet_probe_outcome *o = &p->steps[s];

        if (o->result == STET_PROBE_SKIPPED)
            continue;
        stet_buf_printf(out, "    %-14s %-8s %s\n",
                        stet_bundle_probe_step_name((enum stet_probe_step)s),
                        stet_bundle_probe_result_name(o->result), o->detail);
        if (s == STET_STEP_API && *stet_bundle_probe_value(p, "extensions"))
            stet_buf_printf(out, "      extensions %s\n", stet_bundle_probe_value(p, "extensions"));
        if (s == STET_STEP_CLIENT && *version)
            stet_buf_printf(out, "      %s\n", version);
        for (size_t k = 0; s == STET_STEP_MEMORY && k < p->device_count; k++)
            device_text(out, &p->devices[k]);
    }
    /* A process that died has its reason on standard error. The reason of one that answered is
     * already printed. */
    if (stet_bundle_probe_broken(p) != STET_STEPS &&
        p->steps[stet_bundle_probe_broken(p)].result != STET_PROBE_FAILED && *p->noise) {
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
        stet_buf_str(out, "  whether your programs have this form: stet doctor --run=RUN\n");
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

void stet_cli_doctor_text(const struct stet_doctor *d, struct stet_buf *out)
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
        const struct stet_doctor_finding *c = &d->checks[i];

        stet_buf_printf(out, "  %-16s %-6s %s\n", c->what, result_words[c->result], c->text);
        if (c->result != STET_DOCTOR_FINE && *c->fix)
            stet_buf_printf(out, "  %-16s do     %s\n", "", c->fix);
    }
    gates_text(d, out);
    rows_text(d, out);
    stet_doctor_verdict(d, text, sizeof text);
    stet_buf_printf(out, "\n%s\n", text);
}
