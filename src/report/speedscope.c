/* Writes speedscope's JSON. Frames are shared by all profiles, so the samples are written first
 * into a buffer of their own. */
#include "report/export.h"

#include <stdio.h>

struct scope {
    const struct stet_report_run *r;
    struct stet_intern frames; /* file, line and function of each */
    struct stet_json j;        /* writes the frames */
};

static void add_frame(struct scope *s, struct stet_buf *sample, const struct stet_frame *f)
{
    struct stet_buf key = STET_BUF_INIT;
    uint32_t known = s->frames.count, at;

    stet_buf_printf(&key, "%llu:", (unsigned long long)f->line);
    stet_buf_view(&key, f->file);
    stet_buf_char(&key, '\0');
    stet_buf_view(&key, f->function);
    at = stet_intern_add(&s->frames, stet_buf_as_view(&key));
    stet_buf_release(&key);
    if (at == known) {
        stet_json_object(&s->j, NULL);
        stet_json_string(&s->j, "name", f->function);
        if (f->file.len)
            stet_json_string(&s->j, "file", f->file);
        if (f->line)
            stet_json_uint(&s->j, "line", f->line);
        stet_json_end_object(&s->j);
    }
    stet_buf_printf(sample, "%s%u", sample->len > 1 ? "," : "", at);
}

/* A sample begins at the outermost line; the last frame names the compile and its cause. */
static void add_sample(struct scope *s, struct stet_buf *sample, const struct stet_report_event *e)
{
    struct stet_buf name = STET_BUF_INIT;

    sample->len = 0;
    stet_buf_char(sample, '[');
    for (size_t i = e->stack.count; i-- > 0;)
        add_frame(s, sample, &e->stack.items[i]);
    if (!e->stack.count)
        add_frame(s, sample, &(struct stet_frame){.function = STET_VIEW("line not known")});
    stet_buf_view(&name, stet_report_event_function(s->r, e));
    stet_buf_printf(&name, ": %s", stet_report_event_cause(s->r, e));
    add_frame(s, sample, &(struct stet_frame){.function = stet_buf_as_view(&name)});
    stet_buf_char(sample, ']');
    stet_buf_release(&name);
}

static void add_profile(struct scope *s, struct stet_json *j, uint32_t process)
{
    struct stet_buf name = STET_BUF_INIT, sample = STET_BUF_INIT, weights = STET_BUF_INIT;
    uint64_t total = 0;

    stet_report_process_name(&name, &s->r->processes[process]);
    stet_json_object(j, NULL);
    stet_json_cstr(j, "type", "sampled");
    stet_json_string(j, "name", stet_buf_as_view(&name));
    stet_json_cstr(j, "unit", "nanoseconds");
    stet_json_uint(j, "startValue", 0);
    stet_json_array(j, "samples");
    for (size_t i = 0; i < s->r->event_count; i++) {
        const struct stet_report_event *e = &s->r->events[i];

        if (e->process != process)
            continue;
        add_sample(s, &sample, e);
        stet_json_raw(j, NULL, stet_buf_as_view(&sample));
        stet_buf_printf(&weights, "%s%llu", weights.len ? "," : "[",
                        (unsigned long long)e->wait_ns);
        total += e->wait_ns;
    }
    stet_json_end_array(j);
    stet_buf_str(&weights, weights.len ? "]" : "[]");
    stet_json_raw(j, "weights", stet_buf_as_view(&weights));
    stet_json_uint(j, "endValue", total);
    stet_json_end_object(j);
    j->out->failed |= name.failed || sample.failed || weights.failed;
    stet_buf_release(&name);
    stet_buf_release(&sample);
    stet_buf_release(&weights);
}

void stet_report_speedscope(struct stet_buf *out, const struct stet_report_run *r)
{
    struct stet_buf frames = STET_BUF_INIT;
    struct scope s = {.r = r};
    struct stet_json j;

    stet_intern_init(&s.frames, (size_t)256 << 20);
    stet_json_init(&s.j, &frames);
    stet_json_array(&s.j, NULL);
    stet_json_init(&j, out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
    stet_json_cstr(&j, "exporter", "stet");
    stet_json_cstr(&j, "name", r->run->command);
    stet_json_uint(&j, "activeProfileIndex", 0);
    stet_json_array(&j, "profiles");
    for (uint32_t i = 0; i < r->process_count; i++)
        add_profile(&s, &j, i);
    stet_json_end_array(&j);
    stet_json_end_array(&s.j);
    stet_json_object(&j, "shared");
    stet_json_raw(&j, "frames", stet_buf_as_view(&frames));
    stet_json_end_object(&j);
    stet_json_end_object(&j);
    stet_buf_char(out, '\n');
    out->failed |= frames.failed || s.frames.failed;
    stet_intern_release(&s.frames);
    stet_buf_release(&frames);
}
