/* Functions of modules that need the values of tensors in many lines: searches, samplers, code that
 * packs batches. They work on the host, and are not compiled line by line. Each is one finding, and
 * what only they call is not examined: who keeps them out of compiled code keeps that out, too. */
#include "lint/linking.h"
#include "lint/rules.h"

#include "base/mem.h"

void rule_host_function(struct stet_flow_walk *w, stet_python_ref n)
{
    stet_python_ref name = stet_python_field(w->ast, n, PY_FIELD_NAME);

    if (name && lint_lines_cutting(w, w->fn) >= LINT_HOST_LINES)
        lint_report(w, LINT_RULE_host_function, name, FLOW_MODULE, LINT_ANY, 0,
                    "%.*s needs the values of tensors", STET_FMT(w->out->fns[w->fn].name));
}

/* The lines of one function that cut the graph. */
struct cuts {
    uint32_t count, lines[6];
    uint32_t last;
};

enum { MOST_LISTED = 6 };

static struct stet_view words(struct lint_linking *l, const struct stet_flow_fn *f,
                              const struct cuts *c)
{
    struct stet_buf out = STET_BUF_INIT;
    struct stet_view text;

    stet_buf_printf(&out, "%.*s needs the values of tensors in %u lines: ", STET_FMT(f->name),
                    c->count);
    for (uint32_t i = 0; i < c->count && i < MOST_LISTED; i++)
        stet_buf_printf(&out, "%s%u", i ? ", " : "", c->lines[i]);
    if (c->count > MOST_LISTED)
        stet_buf_str(&out, ", …");
    text = stet_arena_copy(l->arena, stet_buf_as_view(&out));
    l->failed |= out.failed || !text.ptr;
    stet_buf_release(&out);
    return text;
}

/* Only modules: a user who compiles a function in this source wants to know each line. */
static bool is_of_module(const struct lint_linking *l, uint32_t file, uint32_t fn)
{
    return l->linked.states[file][fn].lanes == FLOW_MODULE;
}

static void count_cuts(const struct lint_linking *l, uint32_t file, struct cuts *cuts)
{
    const struct lint_summary *s = &l->files[file];

    for (uint32_t i = 0; i < s->candidate_count; i++) {
        const struct lint_candidate *c = &s->candidates[i];
        struct cuts *of = &cuts[c->fn];

        if (!lint_cuts_graph(c) || c->line == of->last || !is_of_module(l, file, c->fn) ||
            !lint_holds(l, file, c))
            continue;
        if (of->count < MOST_LISTED)
            of->lines[of->count] = c->line;
        of->last = c->line;
        of->count++;
    }
}

static bool has_candidate(const struct lint_summary *s)
{
    for (uint32_t i = 0; i < s->candidate_count; i++)
        if (s->candidates[i].rule == LINT_RULE_host_function)
            return true;
    return false;
}

static bool find_in_file(struct lint_linking *l, uint32_t file)
{
    const struct lint_summary *s = &l->files[file];
    struct lint_hosts *h = &l->hosts[file];
    struct cuts *cuts = stet_mem_calloc(s->code.fn_count + 1, sizeof *cuts);
    bool found = false;

    h->stops = stet_mem_calloc(s->code.fn_count + 1, sizeof *h->stops);
    h->text = stet_mem_calloc(s->code.fn_count + 1, sizeof *h->text);
    l->failed |= !cuts || !h->stops || !h->text;
    if (!l->failed)
        count_cuts(l, file, cuts);
    for (uint32_t i = 0; i < s->candidate_count && !l->failed; i++) {
        uint32_t fn = s->candidates[i].fn;

        if (s->candidates[i].rule != LINT_RULE_host_function || cuts[fn].count < LINT_HOST_LINES)
            continue;
        h->stops[fn] = found = true;
        h->text[fn] = words(l, &s->code.fns[fn], &cuts[fn]);
    }
    stet_mem_free(cuts);
    return found;
}

bool lint_hosts_find(struct lint_linking *l)
{
    bool found = false;

    l->hosts = stet_mem_calloc(l->file_count + 1, sizeof *l->hosts);
    l->failed |= !l->hosts;
    for (uint32_t f = 0; f < l->file_count && !l->failed; f++)
        if (has_candidate(&l->files[f]))
            found |= find_in_file(l, f);
    return found && !l->failed;
}

void lint_hosts_release(struct lint_linking *l)
{
    for (size_t f = 0; l->hosts && f < l->file_count; f++) {
        stet_mem_free(l->hosts[f].stops);
        stet_mem_free(l->hosts[f].text);
    }
    stet_mem_free(l->hosts);
    l->hosts = NULL;
}
