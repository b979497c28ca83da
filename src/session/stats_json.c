/* Writes what a program contains as JSON. */
#include "base/json.h"
#include "explain/words.h"
#include "session/program_stats.h"

static void json_words(struct stet_json *j, const char *key, const struct stet_type *t,
                       const struct stet_attr *a)
{
    struct stet_buf text = STET_BUF_INIT;

    if (t)
        stet_words_type(&text, t);
    else if (a)
        stet_words_attr(&text, a);
    if (text.ptr)
        stet_json_string(j, key, stet_buf_as_view(&text));
    else
        stet_json_null(j, key);
    stet_buf_release(&text);
}

static void json_line(struct stet_json *j, const struct stet_loc *loc)
{
    const struct stet_loc *file = stet_loc_file(loc);

    if (!file)
        return;
    stet_json_string(j, "file", file->text);
    stet_json_uint(j, "line", file->line);
    stet_json_string(j, "function", stet_loc_function(loc));
}

static void json_interface(struct stet_json *j, const struct stet_program *p)
{
    stet_json_array(j, "arguments");
    for (uint32_t i = 0; i < p->argument_count; i++) {
        const struct stet_argument *a = &p->arguments[i];

        stet_json_object(j, NULL);
        stet_json_string(j, "name", a->name);
        json_words(j, "type", a->value->type, NULL);
        json_words(j, "sharding", NULL, a->sharding);
        stet_json_bool(j, "donated", a->donor || a->alias >= 0);
        if (a->alias >= 0)
            stet_json_int(j, "aliases_output", a->alias);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
    stet_json_array(j, "outputs");
    for (uint32_t i = 0; i < p->output_count; i++) {
        stet_json_object(j, NULL);
        stet_json_string(j, "name", p->outputs[i].name);
        json_words(j, "type", p->outputs[i].type, NULL);
        json_words(j, "sharding", NULL, p->outputs[i].sharding);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

static void json_counts(struct stet_json *j, const struct stet_session_stats *s)
{
    stet_json_object(j, "operations");
    for (uint32_t i = 0; i < s->op_kinds; i++) {
        char name[128];
        size_t n = s->ops[i].text.len < sizeof name - 1 ? s->ops[i].text.len : sizeof name - 1;

        memcpy(name, s->ops[i].text.ptr, n);
        name[n] = 0;
        stet_json_uint(j, name, s->ops[i].count);
    }
    stet_json_end_object(j);
    stet_json_array(j, "lines");
    for (uint32_t i = 0; i < s->line_count; i++) {
        stet_json_object(j, NULL);
        stet_json_string(j, "file", s->lines[i].text);
        stet_json_uint(j, "line", s->lines[i].line);
        stet_json_string(j, "function", s->lines[i].function);
        stet_json_uint(j, "operations", s->lines[i].count);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

static void json_constants(struct stet_json *j, const struct stet_session_stats *s)
{
    stet_json_array(j, "constants");
    for (uint32_t i = 0; i < s->constant_count; i++) {
        const struct stet_session_stats_constant *c = &s->constants[i];

        stet_json_object(j, NULL);
        json_words(j, "type", c->op->results[0].type, NULL);
        json_words(j, "value", NULL, c->value);
        stet_json_uint(j, "bytes", stet_attr_bytes(c->value).len);
        stet_json_uint(j, "uses", c->uses);
        if (c->user)
            json_line(j, c->user->loc);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
    stet_json_array(j, "repeats");
    for (int i = 0; i < s->repeat_count; i++) {
        stet_json_object(j, NULL);
        stet_json_uint(j, "operations", s->repeats[i].length);
        stet_json_uint(j, "times", s->repeats[i].times);
        json_line(j, s->repeats[i].first->loc);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

void stet_session_stats_json(struct stet_buf *out, const struct stet_session_stats *s)
{
    const struct stet_program *p = s->side.program;
    char hash[STET_HASH_TEXT];
    struct stet_json j;

    stet_json_init(&j, out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", "stet.show/1");
    stet_json_cstr(&j, "file", s->loaded->path);
    stet_json_cstr(&j, "format", stet_session_program_format(s->loaded));
    stet_json_string(&j, "producer", p->producer);
    stet_json_string(&j, "module", stet_op_symbol(p->module));
    stet_hash_format(s->loaded->fingerprint.key, hash);
    stet_json_cstr(&j, "key", hash);
    stet_json_uint(&j, "operation_count", p->op_count);
    json_interface(&j, p);
    json_counts(&j, s);
    json_constants(&j, s);
    stet_json_end_object(&j);
    stet_buf_char(out, '\n');
}
