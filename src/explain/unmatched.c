/* Operations and outputs without a counterpart: those that were added or removed, and blocks that
 * are repeated more or less often, as in an unrolled Python loop. */
#include "explain/changes.h"

#include "explain/lcs.h"
#include "explain/occurrences.h"
#include "explain/words.h"

/* ---- which operations are unmatched ---- */

static bool same_operands(struct stet_side *s, const struct stet_op *a, const struct stet_op *b)
{
    bool same = a->operand_count == b->operand_count;

    for (uint32_t i = 0; same && i < a->operand_count; i++)
        same = stet_canon_source(&s->canon, stet_op_operand(a, i)) ==
               stet_canon_source(&s->canon, stet_op_operand(b, i));
    return same;
}

/* Does an operation without a line compute again what another of its block has? PyTorch/XLA shares
 * such an operation in one step and computes it twice in the next, so it is evidence of nothing. */
static bool recomputes(struct stet_side *s, const struct stet_op *op)
{
    enum { MOST_USES = 256 };
    const struct stet_value *v = op->operand_count && !op->region_count && s->exact &&
                                         !s->line[op->id] && stet_side_need_uses(s)
                                     ? stet_canon_source(&s->canon, stet_op_operand(op, 0))
                                     : NULL;

    for (uint32_t i = v ? s->use_start[v->id] : 0, n = 0;
         v && i < s->use_start[v->id + 1] && n < MOST_USES; i++, n++) {
        const struct stet_op *other = s->uses[i].op;

        if (other != op && other->parent == op->parent && s->exact[other->id] == s->exact[op->id] &&
            same_operands(s, op, other))
            return true;
    }
    return false;
}

/* An operation is reported by itself if everything around it has a counterpart. */
static bool stands_alone(struct stet_side *s, const struct stet_op *op)
{
    const struct stet_op *around;

    if (!op || !op->parent || !op->parent->parent || s->match[op->id] || !stet_side_counts(s, op))
        return false;
    around = op->parent->parent;
    return s->match[around->id] != NULL && around != s->program->module && !recomputes(s, op);
}

static bool is_alone(struct stet_side *s, const struct stet_op *op)
{
    return op && !s->match[op->id] && stet_side_counts(s, op) && op->parent &&
           op->parent->parent != s->program->module && !recomputes(s, op);
}

/* Counts operations that exist only because of unmatched arguments: those downstream of one. */
static uint32_t fed_by_arguments(struct stet_side *s)
{
    const struct stet_program *p = s->program;
    uint8_t *fed = stet_mem_calloc((size_t)p->op_count + 1, 1);
    uint32_t count = 0;

    for (uint32_t i = 0; fed && i < p->op_count; i++) {
        const struct stet_op *op = s->ops[i];

        for (uint32_t j = 0; op && j < op->operand_count && !fed[i]; j++) {
            const struct stet_value *v = stet_canon_source(&s->canon, stet_op_operand(op, j));

            fed[i] = stet_value_def(v) ? fed[stet_value_def(v)->id] : !s->value_match[v->id];
        }
        count += fed[i] && is_alone(s, op);
    }
    stet_mem_free(fed);
    return count;
}

/* A dimension that becomes or stops being 1 adds or removes the operations that sum over it or move
 * it: they follow from the shape. */
static bool follows_from_one(const struct stet_comparison *c, const struct stet_op *op)
{
    static const char *const movers[] = {"reduce",        "transpose",     "slice",
                                         "pad",           "concatenate",   "reverse",
                                         "reduce_window", "dynamic_slice", "dynamic_update_slice"};
    struct stet_view name = stet_words_mnemonic(op);

    if (!c->shape_moved && !c->rank_moved)
        return false;
    for (uint32_t i = 0; i < c->size_count; i++)
        if (c->rank_moved || c->sizes[i].from == 1 || c->sizes[i].to == 1)
            for (size_t j = 0; j < sizeof movers / sizeof *movers; j++)
                if (stet_view_is(name, movers[j]))
                    return true;
    return false;
}

/* ---- repeated blocks ---- */

static uint64_t token_of(const struct stet_side *s, uint32_t id)
{
    return stet_mix(s->place[id], s->line[id]) | 1;
}

static bool count_tokens(struct stet_comparison *c, struct stet_occurrences *t)
{
    if (!stet_occurrences_init(t, (uint64_t)c->a->program->op_count + c->b->program->op_count))
        return false;
    for (int side = 0; side < 2; side++) {
        struct stet_side *s = side ? c->b : c->a;

        for (uint32_t i = 0; i < s->program->op_count; i++) {
            if (!s->ops[i] || !stet_side_counts(s, s->ops[i]) || !s->ops[i]->parent ||
                s->ops[i]->parent->parent == s->program->module)
                continue; /* a function's operations are counted instead */
            if (side)
                stet_occurrence_of(t, token_of(s, i))->in_b++;
            else
                stet_occurrence_of(t, token_of(s, i))->in_a++;
        }
    }
    return true;
}

/* Without locations only the order shows it: each unmatched operation repeats the one `period`
 * before or after it. */
static bool is_periodic(struct stet_side *s, uint32_t first, uint32_t last)
{
    for (uint32_t period = 1; period <= last - first + 1 && period < 4096; period++) {
        bool before = first >= period, after = (uint64_t)last + period < s->program->op_count;

        for (uint32_t i = first; i <= last && (before || after); i++) {
            before = before && s->own[i] == s->own[i - period];
            after = after && s->own[i] == s->own[i + period];
        }
        if (before || after)
            return true;
    }
    return false;
}

/* Forward pass, backward pass and update each have their own turn: runs of unmatched operations
 * with nothing relevant between them. A few operations beside similar ones are not a loop. */
static bool runs_are_periodic(const struct stet_comparison *c, struct stet_side *s)
{
    enum { FEWEST = 8 };
    uint32_t first = 0, last = 0, run = 0, all = 0, periodic = 0;

    for (uint32_t i = 0; i <= s->program->op_count; i++) {
        const struct stet_op *op = i < s->program->op_count ? s->ops[i] : NULL;

        if (op && stands_alone(s, op) && !follows_from_one(c, op)) {
            first = run++ ? first : i;
            last = i;
        } else if (run && (!op || (stet_side_counts(s, op) && !is_alone(s, op)))) {
            all += run;
            periodic += is_periodic(s, first, last) ? run : 0;
            run = 0;
        }
    }
    return all >= FEWEST && (uint64_t)periodic * 20 >= (uint64_t)all * 19;
}

struct repeat {
    struct stet_side *side; /* the one that has more */
    const struct stet_op *first;
    uint32_t count, from, to;
};

/* By lines: the number of operations of a line differs, and the surplus repeats what is there
 * already. Which copies are unmatched does not matter: the last turn may be matched with what
 * follows the loop. */
static bool counts_differ_alone(const struct stet_occurrences *t, bool more_in_b)
{
    uint64_t same = 0, other = 0;

    for (uint32_t i = 0; i <= t->mask; i++) {
        const struct stet_occurrence *n = &t->slots[i];
        uint32_t apart = n->in_a > n->in_b ? n->in_a - n->in_b : n->in_b - n->in_a;

        if (n->in_a && n->in_b && (n->in_b > n->in_a) == more_in_b)
            same += apart;
        else
            other += apart;
    }
    return same && same >= other * 19;
}

/* Are the unmatched operations more of the same? */
static bool more_of_the_same(const struct stet_comparison *c, struct stet_occurrences *t,
                             struct repeat *r)
{
    uint32_t twins = 0, located = 0, last = 0, fewest = UINT32_MAX;

    r->first = NULL;
    for (uint32_t i = 0; i < r->side->program->op_count; i++) {
        struct stet_occurrence *n;

        if (!stands_alone(r->side, r->side->ops[i]) || follows_from_one(c, r->side->ops[i]))
            continue;
        n = stet_occurrence_of(t, token_of(r->side, i));
        r->first = r->first ? r->first : r->side->ops[i];
        last = i;
        r->count++;
        located += r->side->line[i] != 0;
        if (!n->in_a || !n->in_b || n->in_a == n->in_b)
            continue;
        twins++;
        if (n->in_a + n->in_b < fewest) {
            fewest = n->in_a + n->in_b;
            r->from = n->in_a;
            r->to = n->in_b;
        }
    }
    if (!r->count || !twins)
        return false;
    if (located * 2 >= r->count && counts_differ_alone(t, r->side == c->b))
        return true;
    if ((uint64_t)twins * 20 < (uint64_t)r->count * 19)
        return false;
    return located * 2 >= r->count || is_periodic(r->side, r->first->id, last) ||
           runs_are_periodic(c, r->side);
}

static void count_alone(struct stet_side *s, uint32_t *alone, uint32_t *named)
{
    *alone = *named = 0;
    for (uint32_t i = 0; i < s->program->op_count; i++) {
        *alone += is_alone(s, s->ops[i]);
        *named += stands_alone(s, s->ops[i]);
    }
}

static void say_repeat(struct stet_comparison *c, const struct repeat *r)
{
    uint32_t times = r->from < r->to ? r->to - r->from : r->from - r->to;
    uint32_t block = r->count / (times ? times : 1);

    c->out->repeat_to = r->to;
    stet_explain_change_add(
        c,
        &(struct stet_change){
            .kind = STET_CHANGE_REPEAT,
            .facet = STET_NO_FACET,
            .follows = STET_NO_FACET,
            .of = {.index = block},
            .from = stet_explain_change_text(c, "%u time%s", r->from, r->from == 1 ? "" : "s"),
            .to = stet_explain_change_text(c, "%u time%s", r->to, r->to == 1 ? "" : "s")},
        r->side == c->a ? r->first : NULL, r->side == c->b ? r->first : NULL);
}

/* True if everything unmatched on the larger side is one more turn of a loop. */
static bool find_repeat(struct stet_comparison *c, uint32_t named_a, uint32_t named_b,
                        struct repeat *r)
{
    struct stet_occurrences t;
    bool found = false;

    *r = (struct repeat){.side = named_a > named_b ? c->a : c->b};
    if (!named_a && !named_b)
        return false;
    if ((named_a < named_b ? named_a : named_b) * 4 > (named_a > named_b ? named_a : named_b))
        return false;
    if (stet_side_need_signatures(c->a) && stet_side_need_signatures(c->b) && count_tokens(c, &t)) {
        found = more_of_the_same(c, &t, r);
        stet_mem_free(t.slots);
    }
    if (found)
        say_repeat(c, r);
    return found;
}

/* ---- reporting ---- */

/* Custom calls and comparisons are distinguished by more than their names. */
static struct stet_change_subject subject_of(struct stet_comparison *c, const struct stet_op *op)
{
    static const struct {
        const char *name, *mark;
    } parts[] = {{"call_target_name", "@"},
                 {"custom_call_target", "@"},
                 {"comparison_direction", ""},
                 {"direction", ""}};
    struct stet_change_subject of = {.in = stet_words_mnemonic(op)};

    for (size_t i = 0; i < sizeof parts / sizeof *parts && !of.target.len; i++) {
        const struct stet_attr *a = stet_op_attr(op, parts[i].name);

        if (a && stet_attr_text(a).len)
            of.target =
                stet_explain_change_text(c, "%s%.*s", parts[i].mark, STET_FMT(stet_attr_text(a)));
    }
    return of;
}

static void say_alone(struct stet_comparison *c, struct stet_side *s, const struct repeat *repeat)
{
    bool came = s == c->b;

    for (uint32_t i = 0; i < s->program->op_count; i++) {
        const struct stet_op *op = s->ops[i];
        const struct stet_type *result = op && op->result_count ? op->results[0].type : NULL;
        struct stet_view type = {0}, none = {0};
        unsigned follows = STET_NO_FACET;

        if (!stands_alone(s, op) || (repeat && repeat->side == s))
            continue;
        if (follows_from_one(c, op))
            follows = c->rank_moved ? STET_FACET_RANKS : STET_FACET_SHAPES;
        type =
            result ? stet_explain_change_type(c, result) : stet_explain_change_text(c, "no result");
        stet_explain_change_add(
            c,
            &(struct stet_change){.kind = came ? STET_CHANGE_OP_CAME : STET_CHANGE_OP_WENT,
                                  .facet = STET_NO_FACET,
                                  .follows = follows,
                                  .of = subject_of(c, op),
                                  .data = came ? stet_explain_change_types(NULL, result)
                                               : stet_explain_change_types(result, NULL),
                                  .from = came ? none : type,
                                  .to = came ? type : none},
            came ? NULL : op, came ? op : NULL);
    }
}

void stet_explain_compare_unmatched(struct stet_comparison *c)
{
    uint32_t named_a, named_b;
    struct repeat repeat;
    bool repeated;

    if (c->all_matched)
        return;
    count_alone(c->a, &c->out->ops_went, &named_a);
    count_alone(c->b, &c->out->ops_came, &named_b);
    if (!c->out->ops_went && !c->out->ops_came)
        return;
    c->out->ops_unexplained =
        c->out->ops_went - fed_by_arguments(c->a) + c->out->ops_came - fed_by_arguments(c->b);
    repeated = find_repeat(c, named_a, named_b, &repeat);
    say_alone(c, c->a, repeated ? &repeat : NULL);
    say_alone(c, c->b, repeated ? &repeat : NULL);
}

/* ---- outputs ---- */

static void output_keys(struct stet_side *s, bool in_b, const struct stet_op *end, uint64_t *keys)
{
    for (uint32_t i = 0; i < end->operand_count; i++) {
        const struct stet_value *v = stet_canon_source(&s->canon, stet_op_operand(end, i));
        uint32_t id;

        if (stet_value_def(v)) {
            id = s->match[stet_value_def(v)->id]
                     ? (in_b ? s->match[stet_value_def(v)->id]->id : stet_value_def(v)->id)
                     : UINT32_MAX - i - (in_b ? 1u << 30 : 0);
            keys[i] = stet_mix(stet_mix(5, id), v->index);
        } else {
            const struct stet_value *other = s->value_match[v->id];

            id = other ? (in_b ? other->id : v->id) : UINT32_MAX - i - (in_b ? 1u << 30 : 0);
            keys[i] = stet_mix(6, id);
        }
    }
}

static void say_output(struct stet_comparison *c, bool came, uint32_t i)
{
    const struct stet_program *p = came ? c->b->program : c->a->program;
    struct stet_view name = {0}, none = {0}, type = {0};

    if (i < p->output_count) {
        name = p->outputs[i].name;
        type = stet_explain_change_type(c, p->outputs[i].type);
    }
    if (!name.len)
        name = stet_explain_change_text(c, "#%u", i);
    stet_explain_change_add(
        c,
        &(struct stet_change){.kind = came ? STET_CHANGE_OUTPUT_CAME : STET_CHANGE_OUTPUT_WENT,
                              .facet = STET_NO_FACET,
                              .follows = STET_NO_FACET,
                              .of = {.name = name},
                              .from = came ? none : type,
                              .to = came ? type : none,
                              .line_of_a = !came},
        NULL, NULL);
}

static const struct stet_op *end_of(const struct stet_program *p)
{
    const struct stet_block *b;

    if (!p->entry || !p->entry->region_count || !stet_op_region(p->entry, 0)->block_count)
        return NULL;
    b = stet_op_region(p->entry, 0)->blocks[0];
    return b->op_count ? b->ops[b->op_count - 1] : NULL;
}

/* Only when their number differs; otherwise they are compared as operands of the return. */
void stet_explain_compare_outputs(struct stet_comparison *c)
{
    const struct stet_op *a = end_of(c->a->program), *b = end_of(c->b->program);
    uint64_t *keys;
    uint32_t *pair, at = 0;

    if (!a || !b || a->operand_count == b->operand_count)
        return;
    keys = stet_mem_calloc((size_t)a->operand_count + b->operand_count + 1, sizeof *keys);
    pair = stet_mem_calloc((size_t)a->operand_count + 1, sizeof *pair);
    if (keys && pair) {
        output_keys(c->a, false, a, keys);
        output_keys(c->b, true, b, keys + a->operand_count);
        if (!stet_lcs(keys, a->operand_count, keys + a->operand_count, b->operand_count, pair))
            memset(pair, 0xff, a->operand_count * sizeof *pair);
        for (uint32_t i = 0; i < a->operand_count; i++) {
            if (pair[i] == STET_LCS_NONE) {
                say_output(c, false, i);
                continue;
            }
            while (at < pair[i])
                say_output(c, true, at++);
            at++;
        }
        while (at < b->operand_count)
            say_output(c, true, at++);
    }
    stet_mem_free(keys);
    stet_mem_free(pair);
}
