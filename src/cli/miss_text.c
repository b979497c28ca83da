/* See miss_text.h. */
#include "cli/miss_text.h"

#include "base/human.h"

#include <inttypes.h>

static bool alike(const struct stet_miss *a, const struct stet_miss *b)
{
    return stet_view_eq(a->word, b->word) && a->has_moved == b->has_moved && a->moved == b->moved &&
           stet_view_eq(a->detail, b->detail) &&
           ((a->has_moved && a->moved == STET_COMPONENT_PROGRAM) ||
            (stet_view_eq(a->from, b->from) && stet_view_eq(a->to, b->to)));
}

static void say(struct stet_buf *out, const struct stet_miss *m, size_t times)
{
    char key[STET_HASH_TEXT];
    bool hashes = m->moved == STET_COMPONENT_PROGRAM || m->moved == STET_COMPONENT_OPTIONS;

    stet_buf_printf(out, "  %zu x %.*s%s: ", times, STET_FMT(m->name),
                    times > 1 ? " and others" : "");
    if (!m->has_moved) {
        stet_buf_printf(out, "%.*s\n", STET_FMT(m->word));
        return;
    }
    stet_buf_printf(out, "%s moved", stet_store_component_name(m->moved));
    if (m->detail.len)
        stet_buf_printf(out, " (%.*s)", STET_FMT(m->detail));
    else if (!hashes)
        stet_buf_printf(out, ": %.*s -> %.*s", m->from.len ? (int)m->from.len : 4,
                        m->from.len ? m->from.ptr : "none", m->to.len ? (int)m->to.len : 4,
                        m->to.len ? m->to.ptr : "none");
    stet_hash_format(m->nearest, key);
    stet_buf_printf(out, "; nearest entry %.12s\n", key);
}

/* True when the lookup itself worked and no entry was near. */
static bool is_new(const struct stet_miss *m)
{
    return !m->has_moved && m->outcome == STET_OUTCOME_MISS;
}

void stet_cli_misses_text(const struct stet_misses *m, struct stet_buf *out)
{
    size_t fresh = 0, told = 0;

    for (size_t i = 0; i < m->count; i++)
        fresh += is_new(&m->items[i]);
    if ((!m->count || fresh == m->count) && !m->places.elsewhere)
        return;
    stet_buf_printf(out, "\nthe store served %" PRIu64 " of ", m->served);
    stet_text_count(out, m->compiles, "compile");
    for (size_t i = 0; i < m->places.places; i++)
        stet_buf_printf(out, "%s%" PRIu64 " from %.*s", i ? ", " : ": ", m->places.count[i],
                        STET_FMT(m->places.name[i]));
    stet_buf_str(out, m->count ? "; of the others\n" : "\n");
    if (fresh)
        stet_buf_printf(out, "  %zu x never compiled before\n", fresh);
    for (size_t i = 0; i < m->count; i++) {
        const struct stet_miss *one = &m->items[i];
        size_t times = 1;
        bool before = is_new(one);

        for (size_t k = 0; k < i && !before; k++)
            before = alike(&m->items[k], one);
        for (size_t k = i + 1; k < m->count && !before; k++)
            times += alike(one, &m->items[k]);
        if (!before && told++ < 20)
            say(out, one, times);
    }
}
