/* Derives classes from changes: a class is named only if it has the required evidence. */
#include "explain/diff.h"

enum stet_cause stet_diff_change_cause(enum stet_change_kind kind, unsigned facet,
                                       struct stet_view op)
{
    static const enum stet_cause by_facet[STET_FACETS] = {
        [STET_FACET_CONSTANTS] = STET_CAUSE_BAKED_CONSTANT,
        [STET_FACET_SLICES] = STET_CAUSE_SLICE_START,
        [STET_FACET_SHAPES] = STET_CAUSE_SHAPE_DRIFT,
        [STET_FACET_RANKS] = STET_CAUSE_RANK_CHANGE,
        [STET_FACET_AXES] = STET_CAUSE_GRAPH_CHANGE,
        [STET_FACET_DTYPES] = STET_CAUSE_DTYPE_CHANGE,
        [STET_FACET_SHARDINGS] = STET_CAUSE_SHARDING_CHANGE,
        [STET_FACET_DONATION] = STET_CAUSE_DONATION_CHANGE,
        [STET_FACET_LAYOUTS] = STET_CAUSE_LAYOUT_CHANGE,
        [STET_FACET_ATTRIBUTES] = STET_CAUSE_GRAPH_CHANGE,
        [STET_FACET_OPTIONS] = STET_CAUSE_OPTIONS_DRIFT,
    };

    switch (kind) {
    case STET_CHANGE_ARGUMENT_CAME:
    case STET_CHANGE_ARGUMENT_WENT:
        return STET_CAUSE_OPTIONAL_KEY;
    case STET_CHANGE_REPEAT:
        return STET_CAUSE_PYTHON_LOOP;
    case STET_CHANGE_OP_CAME:
    case STET_CHANGE_OP_WENT:
        if (stet_view_ends(op, ".custom_call") || stet_view_ends(op, ".custom-call"))
            return facet == STET_NO_FACET ? STET_CAUSE_KERNEL_FALLBACK : STET_CAUSE_SHARDING_CHANGE;
        if (facet == STET_FACET_DTYPES || facet == STET_FACET_SHARDINGS)
            return by_facet[facet];
        return STET_CAUSE_GRAPH_CHANGE;
    case STET_CHANGE_TYPE:
        return facet == STET_FACET_RANKS ? STET_CAUSE_GRAPH_CHANGE : by_facet[facet];
    default:
        return facet == STET_NO_FACET ? STET_CAUSE_GRAPH_CHANGE : by_facet[facet];
    }
}

/* Is it on a line where something was matched with an operation of another line? */
static bool misplaced(const struct stet_diff *d, const struct stet_change *c)
{
    for (uint32_t i = 0; i < d->change_count; i++)
        if (d->changes[i].line_in_a && d->changes[i].line == c->line &&
            stet_view_eq(d->changes[i].file, c->file))
            return true;
    return false;
}

/* Returns the cause for which a change is evidence in this diff. */
static enum stet_cause evidence(const struct stet_diff *d, const struct stet_change *c)
{
    if (c->follows != STET_NO_FACET)
        return STET_CAUSE_NONE;
    switch (c->kind) {
    case STET_CHANGE_ARGUMENT_CAME:
    case STET_CHANGE_ARGUMENT_WENT: /* one more layer brings its own arguments */
    case STET_CHANGE_OUTPUT_CAME:
    case STET_CHANGE_OUTPUT_WENT:
        if (d->repeat_to)
            return STET_CAUSE_NONE;
        return stet_diff_change_cause(c->kind, c->facet, c->op);
    default:
        /* An operation behind the loop is matched with one of its turns: this is not a change, only
         * another place. */
        if (d->repeat_to && c->kind != STET_CHANGE_REPEAT && (c->line_in_a || misplaced(d, c)))
            return STET_CAUSE_NONE;
        return stet_diff_change_cause(c->kind, c->facet, c->op);
    }
}

struct facts {
    uint32_t seen[STET_CAUSES];
    bool of_arguments[STET_CAUSES]; /* some of the evidence is an argument's */
};

static void gather(const struct stet_diff *d, struct facts *f)
{
    for (uint32_t i = 0; i < d->change_count; i++) {
        enum stet_cause r = evidence(d, &d->changes[i]);

        if (r == STET_CAUSE_NONE)
            continue;
        f->seen[r] += d->changes[i].count;
        f->of_arguments[r] |= d->changes[i].kind == STET_CHANGE_ARGUMENT;
    }
}

/* A changed structure explains what follows from it, and is itself explained by arguments. */
static void reduce(const struct stet_diff *d, struct facts *f)
{
    bool structure = false;

    for (unsigned c = STET_CAUSE_NONE + 1; c < STET_CAUSES; c++)
        structure |= f->seen[c] && stet_cause_is((enum stet_cause)c, STET_CAUSE_IS_STRUCTURE);
    if (structure && !d->same_skeleton) {
        if (!f->of_arguments[STET_CAUSE_SHAPE_DRIFT])
            f->seen[STET_CAUSE_SHAPE_DRIFT] = 0;
        if (!f->of_arguments[STET_CAUSE_DTYPE_CHANGE])
            f->seen[STET_CAUSE_DTYPE_CHANGE] = 0;
    }
    if (f->seen[STET_CAUSE_RANK_CHANGE] || f->of_arguments[STET_CAUSE_DTYPE_CHANGE] ||
        f->seen[STET_CAUSE_KERNEL_FALLBACK])
        f->seen[STET_CAUSE_GRAPH_CHANGE] = 0;
    if (f->seen[STET_CAUSE_OPTIONAL_KEY] && !d->ops_unexplained)
        f->seen[STET_CAUSE_GRAPH_CHANGE] = 0;
    if (f->seen[STET_CAUSE_RANK_CHANGE])
        f->seen[STET_CAUSE_SHAPE_DRIFT] = 0;
    if (f->seen[STET_CAUSE_OPTIONAL_KEY]) /* the added arguments are donated, or not */
        f->seen[STET_CAUSE_DONATION_CHANGE] = 0;
}

static void set_follows(struct stet_diff *d)
{
    bool primary[STET_FACETS + 1] = {false}, ranks = false, shapes = false, dtypes = false;

    for (unsigned f = 0; f < STET_FACETS; f++)
        d->follows[f] = STET_NO_FACET;
    for (uint32_t i = 0; i < d->change_count; i++) {
        const struct stet_change *c = &d->changes[i];

        if (c->follows == STET_NO_FACET)
            primary[c->facet] = true;
        else if (c->facet < STET_FACETS)
            d->follows[c->facet] = (uint8_t)c->follows;
        ranks |= c->facet == STET_FACET_RANKS && c->follows == STET_NO_FACET;
        shapes |= c->facet == STET_FACET_SHAPES && c->follows == STET_NO_FACET;
        dtypes |= c->facet == STET_FACET_DTYPES && c->follows == STET_NO_FACET;
    }
    for (unsigned f = 0; f < STET_FACETS; f++) {
        if (!(d->moved >> f & 1) || primary[f] || d->follows[f] == f) {
            d->follows[f] = STET_NO_FACET;
        } else if (d->follows[f] == STET_NO_FACET) {
            unsigned cause = ranks    ? STET_FACET_RANKS
                             : shapes ? STET_FACET_SHAPES
                             : dtypes ? STET_FACET_DTYPES
                                      : (unsigned)STET_NO_FACET;

            if (cause != f)
                d->follows[f] = (uint8_t)cause;
        }
    }
}

void stet_diff_classify(struct stet_diff *d)
{
    struct facts f = {{0}, {false}};

    gather(d, &f);
    if (d->moved >> STET_FACET_OPTIONS & 1)
        f.seen[STET_CAUSE_OPTIONS_DRIFT]++;
    reduce(d, &f);
    set_follows(d);
    d->cause = STET_CAUSE_NONE;
    d->also_count = 0;
    for (unsigned r = STET_CAUSE_NONE + 1; r < STET_CAUSES; r++) {
        if (!f.seen[r])
            continue;
        if (d->cause == STET_CAUSE_NONE)
            d->cause = (enum stet_cause)r;
        else
            d->also[d->also_count++] = (enum stet_cause)r;
    }
    if (d->cause == STET_CAUSE_NONE)
        d->cause = d->same_key ? STET_CAUSE_IDENTICAL : STET_CAUSE_UNKNOWN;
}
