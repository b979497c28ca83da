/* See config_text.h. */
#include "ingest/config_text.h"

static const struct {
    const char *statement, *name;
} modules[] = {
    {"torch._inductor.config.", "inductor_config"},
    {"torch._functorch.config.", "functorch_config"},
};

/* Takes the first line from *text. False at the end. */
static bool next_line(struct stet_view *text, struct stet_view *line)
{
    size_t n = stet_view_find(*text, "\n");

    if (!text->len)
        return false;
    *line = stet_view_of(text->ptr, n);
    n += n < text->len;
    *text = stet_view_of(text->ptr + n, text->len - n);
    return true;
}

void stet_config_text_plain(struct stet_buf *out, struct stet_view script)
{
    struct stet_view line;

    while (next_line(&script, &line)) {
        for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
            size_t skip = strlen(modules[i].statement), equals;
            struct stet_view name, value;

            if (!stet_view_starts(line, modules[i].statement))
                continue;
            equals = stet_view_find(line, " = ");
            if (equals == line.len)
                continue;
            name = stet_view_of(line.ptr + skip, equals - skip);
            value = stet_view_of(line.ptr + equals + 3, line.len - equals - 3);
            stet_buf_printf(out, "%s[%.*s]=%.*s\n", modules[i].name, STET_FMT(name),
                            STET_FMT(stet_view_trim(value)));
        }
    }
}

/* ---- comparing ---- */

static void split(struct stet_view line, struct stet_view *name, struct stet_view *value)
{
    size_t equals = stet_view_find(line, "]=");

    equals += equals < line.len;
    *name = stet_view_of(line.ptr, equals);
    *value = equals < line.len ? stet_view_of(line.ptr + equals + 1, line.len - equals - 1)
                               : stet_view_of("", 0);
}

static struct stet_view value_of(struct stet_view text, struct stet_view wanted)
{
    struct stet_view line, name, value;

    while (next_line(&text, &line)) {
        split(line, &name, &value);
        if (stet_view_eq(name, wanted))
            return value;
    }
    return (struct stet_view){0};
}

size_t stet_config_text_compare(struct stet_view a, struct stet_view b,
                                struct stet_config_move *out, size_t most)
{
    struct stet_view left = a, line;
    struct stet_config_move m;
    size_t count = 0;

    for (int second = 0; second < 2; second++, left = b) {
        while (next_line(&left, &line)) {
            split(line, &m.name, &m.from);
            m.from = value_of(a, m.name);
            m.to = value_of(b, m.name);
            if (second ? m.from.ptr != NULL : stet_view_eq(m.from, m.to))
                continue;
            if (count++ < most)
                out[count - 1] = m;
        }
    }
    return count;
}
