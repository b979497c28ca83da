/* stet torch caches: prints the lookups in torch's caches, and why they missed. */
#include "session/torch_lane.h"

#include "base/human.h"
#include "ingest/cache_key.h"

#include <inttypes.h>

static const char *cache_of(const struct stet_torch_key *k)
{
    return k->aot ? "autograd" : "inductor";
}

/* Inductor's misses are explained by components. AOTAutograd's come from the same graph and
 * settings. */
static bool is_told(const struct stet_torch *t, const struct stet_torch_key *k)
{
    if (k->run.len || (k->got != STET_CACHE_MISS && k->got != STET_CACHE_BYPASS))
        return false;
    return !k->aot || k->got == STET_CACHE_BYPASS ||
           t->compiles[k->compile].fx_cache != STET_CACHE_MISS;
}

static void who(const struct stet_torch *t, const struct stet_torch_key *k, struct stet_buf *out)
{
    const struct stet_torch_compile *c = &t->compiles[k->compile];
    const struct stet_torch_frame *f = &t->frames[c->frame];

    stet_buf_printf(out, "%.*s  ", STET_FMT(stet_text_function(f->code.function)));
    stet_session_torch_text_place(&f->code, out);
    stet_buf_printf(out, "  compile #%u: %s cache, ", c->number, cache_of(k));
}

static void against(const struct stet_torch *t, const struct stet_torch_key *nearest,
                    struct stet_buf *out)
{
    if (nearest->run.len)
        stet_buf_printf(out, "run %.*s", STET_FMT(nearest->run));
    else
        stet_buf_printf(out, "compile #%u of %.*s in this run",
                        t->compiles[nearest->compile].number,
                        STET_FMT(stet_text_function(
                            t->frames[t->compiles[nearest->compile].frame].code.function)));
}

static void one_line(struct stet_view v, struct stet_buf *out)
{
    for (size_t i = 0; i < v.len; i++) {
        bool blank = v.ptr[i] == '\n' || v.ptr[i] == ' ';

        if (!blank || (out->len && out->ptr[out->len - 1] != ' '))
            stet_buf_char(out, blank ? ' ' : v.ptr[i]);
    }
}

static void key_text(const struct stet_torch *t, uint32_t at, struct stet_buf *out)
{
    const struct stet_torch_key *k = &t->torch_keys[at];
    struct stet_cache_why why;

    who(t, k, out);
    if (k->got == STET_CACHE_BYPASS) {
        stet_buf_str(out, "bypassed\n      ");
        one_line(k->bypass, out);
        stet_buf_printf(out, "\n      fix: %s\n", stet_torch_bypass_fix(k->bypass));
        return;
    }
    stet_buf_str(out, "missed\n      ");
    stet_torch_cache_why(t, at, &why);
    if (k->aot && !why.gone) {
        stet_buf_str(out, "only its own key changed: torch does not record its components\n");
        return;
    }
    stet_torch_cache_words(&why, out);
    stet_buf_char(out, '\n');
    if (!why.nearest)
        return;
    stet_buf_str(out, "      nearest: ");
    against(t, why.nearest, out);
    if (why.count)
        stet_buf_printf(out, "\n      fix: %s", stet_torch_cache_fix(why.moves[0].name));
    stet_buf_char(out, '\n');
}

static void count_keys(const struct stet_torch *t, uint32_t counts[2][STET_CACHE_EARLIER + 1])
{
    for (size_t i = 0; i < t->torch_key_count; i++) {
        if (!t->torch_keys[i].run.len)
            counts[t->torch_keys[i].aot][t->torch_keys[i].got]++;
    }
}

void stet_session_torch_caches_text(const struct stet_torch *t, struct stet_buf *out)
{
    uint32_t counts[2][STET_CACHE_EARLIER + 1] = {0};
    bool any = false;

    count_keys(t, counts);
    for (int aot = 1; aot >= 0; aot--) {
        const uint32_t *n = counts[aot];

        if (n[STET_CACHE_MISS] + n[STET_CACHE_BYPASS] + n[STET_CACHE_SAME] +
                n[STET_CACHE_EARLIER] ==
            0)
            continue;
        stet_buf_printf(out, "%s: %u from earlier runs, %u from this run, %u missed, %u bypassed\n",
                        aot ? "autograd cache" : "inductor cache", n[STET_CACHE_EARLIER],
                        n[STET_CACHE_SAME], n[STET_CACHE_MISS], n[STET_CACHE_BYPASS]);
        any = true;
    }
    if (!any)
        stet_buf_str(out, "torch's caches were not used\n");
    for (uint32_t i = 0; i < t->torch_key_count; i++) {
        if (is_told(t, &t->torch_keys[i]))
            key_text(t, i, out);
    }
}

static void why_json(const struct stet_torch *t, uint32_t at, struct stet_json *j)
{
    struct stet_cache_why why;

    stet_torch_cache_why(t, at, &why);
    if (!why.nearest) {
        stet_json_null(j, "nearest");
    } else {
        stet_json_object(j, "nearest");
        stet_json_string(j, "key", why.nearest->id);
        if (why.nearest->run.len)
            stet_json_string(j, "run", why.nearest->run);
        else
            stet_json_uint(j, "compile", t->compiles[why.nearest->compile].number);
        stet_json_end_object(j);
    }
    stet_json_bool(j, "entry_gone", why.gone);
    stet_json_bool(j, "compared_in_part", why.part);
    stet_json_uint(j, "moved_count", why.count);
    stet_json_array(j, "moved");
    for (size_t i = 0; i < why.count && i < STET_CACHE_MOVES; i++) {
        stet_json_object(j, NULL);
        stet_json_string(j, "component", why.moves[i].name);
        stet_json_string(j, "from", why.moves[i].from);
        stet_json_string(j, "to", why.moves[i].to);
        stet_json_cstr(j, "fix", stet_torch_cache_fix(why.moves[i].name));
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

void stet_session_torch_caches_json(const struct stet_torch *t, struct stet_json *j)
{
    stet_json_array(j, "caches");
    for (uint32_t i = 0; i < t->torch_key_count; i++) {
        const struct stet_torch_key *k = &t->torch_keys[i];
        const struct stet_torch_frame *f;

        if (k->run.len)
            continue;
        f = &t->frames[t->compiles[k->compile].frame];
        stet_json_object(j, NULL);
        stet_json_cstr(j, "cache", cache_of(k));
        stet_json_cstr(j, "result", stet_torch_cache_name(k->got));
        stet_json_string(j, "key", k->id);
        stet_session_torch_json_place(j, "code", &f->code);
        stet_json_int(j, "frame", f->id);
        stet_json_uint(j, "compile", t->compiles[k->compile].number);
        if (k->got == STET_CACHE_BYPASS) {
            stet_json_string(j, "bypass_reason", k->bypass);
            stet_json_cstr(j, "fix", stet_torch_bypass_fix(k->bypass));
        }
        if (k->got == STET_CACHE_MISS)
            why_json(t, i, j);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}
