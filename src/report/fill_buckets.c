/* The curves of the functions whose sizes varied, as `stet buckets` prints them. */
#include "report/fill.h"

#include "session/run_sizes.h"

/* Each compile's program is read, which takes about a millisecond. */
enum { COMPILES_MOST = 2048, FUNCTIONS_MOST = 12 };

static void write_function(struct stet_json *j, const struct stet_size_function *f)
{
    struct stet_buckets_wish wish = {.cost = f->cost};
    struct stet_buckets_curve c;
    struct stet_buckets_set today;

    if (stet_buckets_make(&c, f->shapes, f->program_count, f->rank, &wish, NULL) != STET_OK)
        return;
    today = stet_session_sizes_today(f, &c);
    stet_session_sizes_json(j, f, NULL, &c, today.dims ? &today : NULL);
    stet_buckets_release(&c);
}

enum stet_rc stet_report_buckets(struct stet_report_run *r, const struct stet_run_digest *d,
                                 struct stet_session_programs *shelf, struct stet_err *err)
{
    struct stet_run_sizes s;
    struct stet_json j;
    enum stet_rc rc;
    int shown = 0;

    if (!d->compiles || d->compiles > COMPILES_MOST)
        return STET_OK;
    stet_session_sizes_init(&s);
    rc = stet_session_sizes_add(&s, d, r->run->folder, shelf, err);
    if (rc == STET_OK)
        rc = stet_session_sizes_finish(&s, err);
    stet_json_init(&j, &r->buckets);
    stet_json_array(&j, NULL);
    for (size_t i = 0; rc == STET_OK && i < s.count && shown < FUNCTIONS_MOST; i++) {
        if (!s.functions[i].rank || s.functions[i].rank > STET_BUCKETS_RANK)
            continue;
        write_function(&j, &s.functions[i]);
        shown++;
    }
    stet_json_end_array(&j);
    stet_session_sizes_release(&s);
    return rc;
}
