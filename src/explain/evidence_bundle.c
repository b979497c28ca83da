/* What is below a program: flags, plugin, versions. Between launches nothing else explains why an
 * equal program was compiled again. */
#include "explain/history_internal.h"

/* The last part of "option executable_build_options.debug_options.xla_…". */
static struct stet_view short_name(struct stet_view option)
{
    const char *dot = memrchr(option.ptr, '.', option.len);

    return dot ? stet_view_of(dot + 1, (size_t)(option.ptr + option.len - dot) - 1) : option;
}

/* The next word of a list of flags; empty at the end. */
static struct stet_view next_flag(struct stet_view *list)
{
    struct stet_view word = {0};

    while (list->len && *list->ptr == ' ')
        list->ptr++, list->len--;
    word.ptr = list->ptr;
    while (list->len && *list->ptr != ' ')
        list->ptr++, list->len--, word.len++;
    return word;
}

static bool has_flag(struct stet_view list, struct stet_view flag)
{
    for (struct stet_view w; (w = next_flag(&list)).len;)
        if (stet_view_eq(w, flag))
            return true;
    return false;
}

/* The first flag of `a` that `b` does not have with the same value. */
static struct stet_view only_in(struct stet_view a, struct stet_view b)
{
    for (struct stet_view w; (w = next_flag(&a)).len;)
        if (!has_flag(b, w))
            return w;
    return (struct stet_view){0};
}

static const struct stet_part *part_of(const struct stet_bundle *b, struct stet_view name)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (stet_view_eq(b->parts[i].name, name))
            return &b->parts[i];
    return NULL;
}

/* The value that a part has in one bundle and not in the other. */
static bool part_moved(struct stet_history *h, struct stet_finding *f, struct stet_view name,
                       bool flags, struct stet_view from, struct stet_view to)
{
    struct stet_view flag;

    if (stet_view_eq(from, to))
        return false;
    if (!flags) {
        stet_finding_hear(h, f, STET_ANSWER(BUNDLE_DRIFT, VALUES, CERTAIN),
                          "the same program; %.*s was %.*s and is %.*s", STET_FMT(name),
                          STET_FMT(from.len ? from : STET_VIEW("absent")),
                          STET_FMT(to.len ? to : STET_VIEW("absent")));
        f->detail = name;
        return true;
    }
    flag = only_in(to, from);
    if (!flag.len)
        flag = only_in(from, to);
    if (!flag.len)
        return false; /* the same flags in another order */
    stet_finding_hear(h, f, STET_ANSWER(OPTIONS_DRIFT, VALUES, CERTAIN),
                      "the same program; %.*s was \"%.*s\" and is \"%.*s\"", STET_FMT(name),
                      STET_FMT(from), STET_FMT(to));
    f->detail = stet_arena_printf(&h->arena, "%.*s (%.*s)", STET_FMT(flag), STET_FMT(name));
    return true;
}

static void compare_bundles(struct stet_history *h, struct stet_finding *f,
                            const struct stet_bundle *a, const struct stet_bundle *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        const struct stet_part *was = part_of(a, b->parts[i].name);

        if (part_moved(h, f, b->parts[i].name, b->parts[i].flags,
                       was ? was->value : (struct stet_view){0}, b->parts[i].value))
            return;
    }
    for (uint32_t i = 0; i < a->count; i++)
        if (!part_of(b, a->parts[i].name) && part_moved(h, f, a->parts[i].name, a->parts[i].flags,
                                                        a->parts[i].value, (struct stet_view){0}))
            return;
}

/* Frameworks fill in one option from the client's statistics; no code of the user's sets it. */
static void name_option(struct stet_finding *f, struct stet_view option)
{
    f->detail = option;
    if (stet_view_is(option, "device_memory_size"))
        f->fix_text = "XLA compiles for the memory that a process may use ({detail}): give every "
                      "launch the same kind of device and, on GPUs, the same "
                      "XLA_CLIENT_MEM_FRACTION.";
}

void stet_evidence_bundle(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_reported_change *c = stet_finding_change(f, STET_CHANGE_OPTION);
    const struct stet_sighting *s = stet_sighting_of(h, f);

    if (f->cause == STET_CAUSE_OPTIONS_DRIFT && c)
        name_option(f, short_name(c->of.name));
    if (f->facts.past && f->facts.same && s->bundle && h->sightings[f->against].bundle) {
        compare_bundles(h, f, h->sightings[f->against].bundle, s->bundle);
        f->origin = s->trigger;
    }
}
