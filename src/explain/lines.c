/* How sure a line to edit is by where it is: an argument is not decided inside of what is compiled,
 * a call of a jitted function only passes it on, and a line that returns a value or puts it into a
 * list may have got it from another. `tests/truth/written/run.py --kinds` prints how often each
 * kind of line was right. */
#include "explain/history_internal.h"

static bool is_waiting(const struct stet_sighting *s, uint64_t line)
{
    for (size_t i = 0; i < s->lines.count; i++)
        if (stet_place_hash(s->lines.items[i].file, (uint32_t)s->lines.items[i].line) == line)
            return true;
    return false;
}

bool stet_lines_note(struct stet_history *h)
{
    for (; h->judge->jitted_next < h->sighting_count; h->judge->jitted_next++) {
        const struct stet_sighting *s = &h->sightings[h->judge->jitted_next];

        if (s->past || s->eager)
            continue;
        if (s->trigger.line &&
            !stet_map_put(&h->judge->jitted,
                          stet_place_hash(s->trigger.file, s->trigger.line) ^ s->process, 1))
            return false;
        for (uint32_t i = 0; i < s->traits->line_count; i++)
            if (!is_waiting(s, s->traits->lines[i]) &&
                !stet_map_put(&h->judge->jitted, s->traits->lines[i] ^ s->process, 1))
                return false;
    }
    return true;
}

/* Is the line in a jitted program of the process, or the innermost that waits for one? */
static bool is_jitted(const struct stet_history *h, uint32_t process, const struct stet_place *at)
{
    return stet_map_get(&h->judge->jitted, stet_place_hash(at->file, at->line) ^ process) !=
           STET_MAP_NONE;
}

/* Are the two values of an argument only known to be two objects? */
static bool is_unseen(const struct stet_finding *f)
{
    for (uint32_t i = 0; i < f->moved_count; i++)
        if (f->moved[i].static_argument && f->cause == STET_CAUSE_STATIC_ARGUMENT)
            return !f->moved[i].numeric && !f->moved[i].flag &&
                   stet_view_eq(f->moved[i].from, f->moved[i].to);
    return false;
}

/* Is the cause about a value that came from outside of the program? */
static bool is_given(enum stet_cause cause)
{
    return stet_cause_is(cause,
                         STET_CAUSE_OF_ARGUMENT | STET_CAUSE_HAS_VARIABLE | STET_CAUSE_MAY_COUNT);
}

/* A branch on what a line reads back is a value-branch, even if the copy was not seen. */
static bool may_read(struct stet_history *h, const struct stet_finding *f)
{
    return f->cause == STET_CAUSE_HIDDEN_BRANCH &&
           stet_python_line_reads(&h->sources, f->source.file, (uint32_t)f->source.line);
}

void stet_lines_weigh(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);

    if (!f->source.line || f->source_sure < STET_SURE_CERTAIN)
        return;
    if (may_read(h, f) ||
        (is_given(f->cause) &&
         (is_jitted(h, s->process, &f->source) || is_unseen(f) ||
          !stet_python_line_assigns(&h->sources, f->source.file, f->source.line))))
        f->source_sure = STET_SURE_LIKELY;
}

struct stet_place stet_lines_place(struct stet_history *h, const struct stet_python_made *made)
{
    return (struct stet_place){.file = stet_arena_copy(&h->arena, made->file),
                               .function = stet_arena_copy(&h->arena, made->function),
                               .line = made->line};
}
