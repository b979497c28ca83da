/* stet.fitsearch/1: the tries of a search or a sweep as JSON. Schemas only grow. */
#include "fit/fit_search.h"

#include "base/json.h"

void stet_fit_search_json(struct stet_buf *out, const struct stet_fit_search *s,
                          const struct stet_fit *fit)
{
    struct stet_buf inner = STET_BUF_INIT;
    struct stet_json j;

    stet_json_init(&j, out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", "stet.fitsearch/1");
    stet_json_cstr(&j, "name", s->name);
    stet_json_known(&j, "found", s->found, (uint64_t)s->value);
    stet_json_array(&j, "tried");
    for (size_t i = 0; i < s->count; i++) {
        const struct stet_fit_try *t = &s->tries[i];

        stet_json_object(&j, NULL);
        stet_json_int(&j, "value", t->value);
        stet_json_cstr(&j, "verdict", stet_fit_verdict_word(t->verdict));
        stet_json_uint(&j, "peak_bytes", t->peak);
        stet_json_uint(&j, "exceeds_bytes", t->exceeds);
        stet_json_number(&j, "bound_s", t->bound_s);
        stet_json_cstr(&j, "run", t->run);
        stet_json_cstr(&j, "failure", t->failure[0] ? t->failure : NULL);
        stet_json_end_object(&j);
    }
    stet_json_end_array(&j);
    if (fit) {
        stet_fit_json(&inner, fit);
        stet_json_raw(&j, "fit", stet_buf_as_view(&inner));
        out->failed |= inner.failed;
    } else {
        stet_json_null(&j, "fit");
    }
    stet_json_end_object(&j);
    stet_buf_char(out, '\n');
    stet_buf_release(&inner);
}
