/* Writes the curve of a function's sizes as JSON, for `stet buckets` and the report. */
#include "session/run_sizes.h"

#include "base/json.h"

static void set_json(struct stet_json *j, const char *key, const struct stet_buckets_curve *c,
                     const struct stet_buckets_set *s, bool bound)
{
    stet_json_object(j, key);
    stet_json_uint(j, "programs", s->count + s->beyond);
    stet_json_number(j, "steps", s->steps);
    if (bound)
        stet_json_number(j, "steps_at_least", s->bound);
    stet_json_number(j, "total", s->total);
    stet_json_number(j, "padding", s->padding);
    stet_json_array(j, "sizes");
    for (uint32_t i = 0; i < s->count; i++) {
        if (c->rank == 1) {
            stet_json_int(j, NULL, s->dims[i]);
            continue;
        }
        stet_json_array(j, NULL);
        for (unsigned d = 0; d < c->rank; d++)
            stet_json_int(j, NULL, s->dims[i * c->rank + d]);
        stet_json_end_array(j);
    }
    stet_json_end_array(j);
    stet_json_end_object(j);
}

static void places_json(struct stet_json *j, const struct stet_size_function *f)
{
    stet_json_array(j, "dimensions");
    for (uint32_t i = 0; f && i < f->place_count; i++) {
        stet_json_object(j, NULL);
        stet_json_string(j, "argument", f->places[i].argument);
        stet_json_uint(j, "dim", f->places[i].dim);
        stet_json_uint(j, "axis", f->places[i].axis);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

void stet_session_sizes_json(struct stet_json *j, const struct stet_size_function *f,
                             const char *lengths, const struct stet_buckets_curve *c,
                             const struct stet_buckets_set *today)
{
    static const char *const forms[] = {[STET_BUCKETS_ANY] = "any",
                                        [STET_BUCKETS_POWERS] = "powers-of-two",
                                        [STET_BUCKETS_MULTIPLES] = "multiples"};
    int64_t step;

    stet_json_object(j, NULL);
    stet_json_told(j, "function", f ? f->name : (struct stet_view){0});
    stet_json_cstr(j, "lengths", lengths);
    places_json(j, f);
    stet_json_uint(j, "sizes", c->shape_count);
    stet_json_number(j, "runs", c->runs);
    stet_json_bool(j, "counted", lengths || !f || !f->uncounted);
    stet_json_bool(j, "dynamic", f && f->dynamic);
    stet_json_cstr(j, "unit", c->cost.seconds ? "s" : "elements");
    stet_json_number(j, "program_cost", c->cost.program);
    stet_json_object(j, "step_cost");
    stet_json_number(j, "fixed", c->cost.fixed);
    stet_json_number(j, "linear", c->cost.linear);
    stet_json_number(j, "square", c->cost.square);
    stet_json_number(j, "error", c->cost.error);
    stet_json_end_object(j);
    stet_json_cstr(j, "form", forms[stet_buckets_form(c, &step)]);
    stet_json_bool(j, "short_last", f && f->short_last && !lengths);
    stet_json_uint(j, "best", c->sets[c->best].count);
    stet_json_array(j, "curve");
    for (uint32_t i = 0; i < c->count; i++)
        set_json(j, NULL, c, &c->sets[i], true);
    stet_json_end_array(j);
    if (today)
        set_json(j, "today", c, today, false);
    else
        stet_json_null(j, "today");
    stet_json_end_object(j);
}
