/* What the doctor found, as JSON: schema stet.doctor/1. */
#include "base/json.h"
#include "doctor/doctor.h"

#include <stdio.h>

static void plugin_json(const struct stet_doctor *d, size_t i, struct stet_json *j)
{
    const struct stet_found *f = &d->found.items[i];
    const struct stet_probe *p = &d->probes[i];
    enum stet_probe_step broken = stet_bundle_probe_broken(p);

    stet_json_object(j, NULL);
    stet_json_cstr(j, "path", f->path);
    stet_json_cstr(j, "found_by", f->by);
    stet_json_bool(j, "alive", stet_bundle_probe_alive(p));
    stet_json_bool(j, "wanted", d->wanted[i]);
    stet_json_cstr(j, "broken", broken == STET_STEPS ? NULL : stet_bundle_probe_step_name(broken));
    stet_json_cstr(j, "build_id", f->elf.build_id);
    stet_json_cstr(j, "api", stet_bundle_probe_value(p, "api"));
    stet_json_cstr(j, "extensions", stet_bundle_probe_value(p, "extensions"));
    stet_json_cstr(j, "platform", stet_bundle_probe_value(p, "platform"));
    stet_json_cstr(j, "platform_version", stet_bundle_probe_value(p, "platform version"));
    stet_json_array(j, "steps");
    for (int s = 0; s < STET_STEPS; s++) {
        stet_json_object(j, NULL);
        stet_json_cstr(j, "step", stet_bundle_probe_step_name((enum stet_probe_step)s));
        stet_json_cstr(j, "result", stet_bundle_probe_result_name(p->steps[s].result));
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
    stet_doctor_verdict(d, text, sizeof text);
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
            stet_json_string(&j, stet_bundle_row_field_name((enum stet_row_field)f),
                             d->rows[i]->field[f]);
        stet_json_end_object(&j);
    }
    stet_json_end_array(&j);
    stet_json_end_object(&j);
    stet_buf_char(out, '\n');
}
