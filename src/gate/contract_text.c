/* Prints the model as a file. Parsing the output gives the same model. */
#include "gate/contract.h"

#include <inttypes.h>

static void quoted(struct stet_buf *out, struct stet_view v)
{
    stet_buf_char(out, '"');
    for (size_t i = 0; i < v.len; i++) {
        if (v.ptr[i] == '"' || v.ptr[i] == '\\')
            stet_buf_char(out, '\\');
        stet_buf_char(out, (unsigned char)v.ptr[i] < ' ' ? ' ' : v.ptr[i]);
    }
    stet_buf_char(out, '"');
}

/* Without quotes if the parser reads it as one word. */
static void word(struct stet_buf *out, struct stet_view v)
{
    bool bare = v.len > 0 && !stet_view_is(v, "unset");

    for (size_t i = 0; i < v.len; i++)
        bare &= (unsigned char)v.ptr[i] > ' ' && v.ptr[i] != 0x7f && v.ptr[i] != '\\' &&
                !strchr(",(){}[]:\"#|", v.ptr[i]);
    if (bare)
        stet_buf_view(out, v);
    else
        quoted(out, v);
}

/* A name as JAX writes it needs no quotes: params['w'][0]. */
static bool is_plain_name(struct stet_view v)
{
    unsigned depth = 0;
    char quote = 0;

    if (!v.len || v.ptr[0] == '"' || v.ptr[0] == ' ' || v.ptr[v.len - 1] == ' ' ||
        v.ptr[v.len - 1] == '*' || stet_view_starts(v, "...") ||
        stet_view_starts(v, "\xe2\x80\xa6"))
        return false;
    for (size_t i = 0; i < v.len; i++) {
        char c = v.ptr[i];

        if ((unsigned char)c < ' ' || c == 0x7f)
            return false;
        if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '\'' || c == '"')
            quote = c;
        else if (c == '[')
            depth++;
        else if (c == ']' && depth)
            depth--;
        else if (!depth && strchr(":,(){}#]", c))
            return false;
    }
    return !quote && !depth;
}

static void size(struct stet_buf *out, int64_t v)
{
    if (v == INT64_MIN)
        stet_buf_char(out, '?');
    else
        stet_buf_printf(out, "%" PRId64, v);
}

/* Four or more sizes at equal distances are printed as a range. */
static bool is_series(const struct stet_dim *d)
{
    if (d->count < 4 || d->values[0] < 0)
        return false;
    for (uint32_t i = 2; i < d->count; i++)
        if (d->values[i] - d->values[i - 1] != d->values[1] - d->values[0])
            return false;
    return true;
}

static void range(struct stet_buf *out, int64_t low, int64_t high, int64_t step)
{
    stet_buf_printf(out, "%" PRId64 "..%" PRId64, low, high);
    if (step != 1)
        stet_buf_printf(out, " step %" PRId64, step);
}

void stet_gate_contract_print_dim(struct stet_buf *out, const struct stet_dim *d)
{
    if (d->kind == STET_DIM_ANY) {
        stet_buf_char(out, '*');
    } else if (d->kind == STET_DIM_RANGE) {
        range(out, d->low, d->high, d->step);
    } else if (is_series(d)) {
        range(out, d->values[0], d->values[d->count - 1], d->values[1] - d->values[0]);
    } else {
        if (d->count != 1)
            stet_buf_char(out, '{');
        for (uint32_t i = 0; i < d->count; i++) {
            stet_buf_str(out, i ? "," : "");
            size(out, d->values[i]);
        }
        if (d->count != 1)
            stet_buf_char(out, '}');
    }
}

void stet_gate_contract_print_arg(struct stet_buf *out, const struct stet_clause_arg *a)
{
    if (is_plain_name(a->name)) {
        stet_buf_view(out, a->name);
        stet_buf_str(out, a->many ? "*" : "");
    } else if (!a->name.len && a->many) {
        stet_buf_char(out, '*');
    } else {
        struct stet_buf whole = STET_BUF_INIT;

        stet_buf_view(&whole, a->name);
        stet_buf_str(&whole, a->many ? "*" : "");
        quoted(out, stet_buf_as_view(&whole));
        stet_buf_release(&whole);
    }
    stet_buf_str(out, ": ");
    stet_buf_view(out, a->type);
    stet_buf_char(out, '[');
    if (a->any_shape)
        stet_buf_str(out, "...");
    for (uint32_t i = 0; i < a->rank; i++) {
        stet_buf_str(out, i ? ", " : "");
        stet_gate_contract_print_dim(out, &a->dims[i]);
    }
    stet_buf_char(out, ']');
    if (a->donated)
        stet_buf_str(out, " donated");
    if (a->sharding.len) {
        stet_buf_str(out, " sharded ");
        quoted(out, a->sharding);
    }
    if (a->layout.len) {
        stet_buf_str(out, " layout ");
        quoted(out, a->layout);
    }
}

void stet_gate_contract_print_pair(struct stet_buf *out, const char *kind,
                                   const struct stet_pair *p)
{
    stet_buf_printf(out, "%s ", kind);
    word(out, p->name);
    stet_buf_char(out, ' ');
    if (p->unset)
        stet_buf_str(out, "unset");
    else
        quoted(out, p->value);
}

static void mesh(struct stet_buf *out, const struct stet_terms *t)
{
    stet_buf_str(out, "mesh ");
    stet_buf_view(out, t->mesh.len ? t->mesh : STET_VIEW("none"));
}

static void count(struct stet_buf *out, uint64_t n, const char *what)
{
    stet_buf_printf(out, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
}

static void budgets(struct stet_buf *out, const struct stet_family *f)
{
    const char *before = f->library ? ", " : " ";

    if (f->programs != STET_NO_BUDGET) {
        stet_buf_printf(out, "%sat most ", before);
        count(out, f->programs, "program");
        if (f->graphs != STET_NO_BUDGET) {
            stet_buf_str(out, " of ");
            count(out, f->graphs, "graph");
        }
        if (f->options != STET_NO_BUDGET) {
            stet_buf_str(out, " with ");
            count(out, f->options, "set");
            stet_buf_str(out, " of options");
        }
        before = ", ";
    }
    if (f->compiles == 1)
        stet_buf_printf(out, "%scompiled once", before);
    else if (f->compiles != STET_NO_BUDGET)
        stet_buf_printf(out, "%scompiled at most %" PRIu64 " times", before, f->compiles);
}

static void kernels(struct stet_buf *out, struct stet_view calls)
{
    stet_buf_str(out, ", calls");
    if (!calls.len)
        stet_buf_str(out, " none");
    while (calls.len) {
        const char *blank = memchr(calls.ptr, ' ', calls.len);
        size_t n = blank ? (size_t)(blank - calls.ptr) : calls.len;

        stet_buf_char(out, ' ');
        quoted(out, stet_view_of(calls.ptr, n));
        n += blank != NULL;
        calls = stet_view_of(calls.ptr + n, calls.len - n);
    }
}

void stet_gate_contract_print_wait(struct stet_buf *out, uint64_t ns)
{
    if (ns % 1000000000)
        stet_buf_printf(out, "%" PRIu64 " ms", ns / 1000000);
    else
        stet_buf_printf(out, "%" PRIu64 " s", ns / 1000000000);
}

static void waiting(struct stet_buf *out, const struct stet_terms *t)
{
    stet_buf_str(out, "waited at most ");
    stet_gate_contract_print_wait(out, t->waited_ns);
}

void stet_gate_contract_print_family(struct stet_buf *out, const struct stet_family *f)
{
    const struct stet_terms *t = &f->terms;
    bool lines = f->arg_count > 2;

    word(out, f->name);
    stet_buf_char(out, '(');
    for (uint32_t i = 0; i < f->arg_count; i++) {
        stet_buf_str(out, lines ? "\n    " : i ? ", " : "");
        stet_gate_contract_print_arg(out, &f->args[i]);
        stet_buf_str(out, lines ? "," : "");
    }
    if (f->open)
        stet_buf_str(out, lines ? "\n    ..." : f->arg_count ? ", ..." : "...");
    stet_buf_str(out, lines ? "\n)" : ")");
    if (f->library)
        stet_buf_str(out, " library only");
    budgets(out, f);
    if (f->has_calls)
        kernels(out, f->calls);
    if (t->settled != STET_NO_BUDGET)
        stet_buf_printf(out, ", settled by step %" PRIu64, t->settled);
    if (t->waited_ns != STET_NO_BUDGET) {
        stet_buf_str(out, ", ");
        waiting(out, t);
    }
    if (t->has_mesh) {
        stet_buf_str(out, ", ");
        mesh(out, t);
    }
    for (uint32_t i = 0; i < t->flags.count; i++) {
        stet_buf_str(out, ", ");
        stet_gate_contract_print_pair(out, "flags", &t->flags.items[i]);
    }
    for (uint32_t i = 0; i < t->bundle.count; i++) {
        stet_buf_str(out, ", ");
        stet_gate_contract_print_pair(out, "bundle", &t->bundle.items[i]);
    }
    stet_buf_char(out, '\n');
}

void stet_gate_contract_print_frame(struct stet_buf *out, const struct stet_clause_frame *f)
{
    stet_buf_str(out, "frame ");
    word(out, f->function);
    if (f->file.len) {
        stet_buf_str(out, " in ");
        word(out, f->file);
    }
    if (f->programs != STET_NO_BUDGET) {
        stet_buf_str(out, " at most ");
        count(out, f->programs, "program");
    }
    if (f->breaks == 0)
        stet_buf_str(out, ", no graph break");
    else if (f->breaks != STET_NO_BUDGET) {
        stet_buf_str(out, ", at most ");
        stet_buf_printf(out, "%" PRIu64 " graph break%s", f->breaks, f->breaks == 1 ? "" : "s");
    }
    stet_buf_char(out, '\n');
}

void stet_gate_contract_print_torch(struct stet_buf *out, const struct stet_contract *c)
{
    const char *parts[] = {c->no_late ? "no recompile after warm-up" : NULL,
                           c->no_limit ? "no recompile limit" : NULL,
                           c->no_failure ? "no failure" : NULL};
    const char *before = "torch ";

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i]) {
            stet_buf_printf(out, "%s%s", before, parts[i]);
            before = ", ";
        }
    if (*before == ',')
        stet_buf_char(out, '\n');
}

static void launch(struct stet_buf *out, const struct stet_terms *t)
{
    if (t->settled != STET_NO_BUDGET)
        stet_buf_printf(out, "settled by step %" PRIu64 "\n", t->settled);
    if (t->waited_ns != STET_NO_BUDGET) {
        waiting(out, t);
        stet_buf_char(out, '\n');
    }
    if (t->has_mesh) {
        mesh(out, t);
        stet_buf_char(out, '\n');
    }
    for (uint32_t i = 0; i < t->flags.count; i++) {
        stet_gate_contract_print_pair(out, "flags", &t->flags.items[i]);
        stet_buf_char(out, '\n');
    }
    for (uint32_t i = 0; i < t->bundle.count; i++) {
        stet_gate_contract_print_pair(out, "bundle", &t->bundle.items[i]);
        stet_buf_char(out, '\n');
    }
}

void stet_gate_contract_print(struct stet_buf *out, const struct stet_contract *c)
{
    stet_buf_printf(out, "stet contract %d\n", STET_CONTRACT_VERSION);
    if (c->made_on.len) {
        stet_buf_str(out, "made on ");
        word(out, c->made_on);
        stet_buf_str(out, c->on_cpu ? " backend\n" : "\n");
    }
    launch(out, &c->terms);
    for (uint32_t i = 0; i < c->family_count; i++) {
        stet_buf_char(out, '\n');
        stet_gate_contract_print_family(out, &c->families[i]);
    }
    if (c->frame_count || c->no_limit || c->no_late || c->no_failure)
        stet_buf_char(out, '\n');
    for (uint32_t i = 0; i < c->frame_count; i++)
        stet_gate_contract_print_frame(out, &c->frames[i]);
    stet_gate_contract_print_torch(out, c);
}
