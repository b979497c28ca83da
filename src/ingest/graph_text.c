/* See graph_text.h. */
#include "ingest/graph_text.h"

#include "base/hash.h"

#include <stdlib.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The end of "]cuda:3" at `i`, which is the bracket; `keep` is where the number begins. */
static size_t device_end(struct stet_view t, size_t i, size_t *keep)
{
    size_t at = i + 1;

    while (at < t.len && is_letter(t.ptr[at]))
        at++;
    if (at == i + 1 || at + 1 >= t.len || t.ptr[at] != ':' || !is_digit(t.ptr[at + 1]))
        return 0;
    *keep = at;
    at++;
    while (at < t.len && is_digit(t.ptr[at]))
        at++;
    return at;
}

/* The same for "index=3" and "index = 3". */
static size_t index_end(struct stet_view t, size_t i, size_t *keep)
{
    static const char word[] = "index";
    size_t at = i + sizeof word - 1;

    if (t.len - i < sizeof word || memcmp(t.ptr + i, word, sizeof word - 1) != 0)
        return 0;
    while (at < t.len && (t.ptr[at] == ' ' || t.ptr[at] == '='))
        at++;
    *keep = at;
    if (at >= t.len || !is_digit(t.ptr[at]))
        return 0;
    while (at < t.len && is_digit(t.ptr[at]))
        at++;
    return at;
}

void stet_graph_text_plain(struct stet_buf *out, struct stet_view t)
{
    for (size_t i = 0; i < t.len;) {
        size_t keep = i, end = t.ptr[i] == ']'   ? device_end(t, i, &keep)
                               : t.ptr[i] == 'i' ? index_end(t, i, &keep)
                                                 : 0;

        if (end) {
            stet_buf_add(out, t.ptr + i, keep - i);
            i = end;
        } else {
            stet_buf_char(out, t.ptr[i++]);
        }
    }
}

/* ---- items ---- */

struct cursor {
    struct stet_view rest; /* lines */
    struct stet_view arguments;
    struct stet_view file, function;
    uint64_t line;
};

static struct stet_view cut(struct stet_view *rest, char at)
{
    const char *end = rest->len ? memchr(rest->ptr, at, rest->len) : NULL;
    size_t n = end ? (size_t)(end - rest->ptr) : rest->len;
    struct stet_view part = stet_view_of(rest->ptr, n);

    *rest = stet_view_of(rest->ptr + n + (end != NULL), rest->len - n - (end != NULL));
    return part;
}

/* "L_x_" is Dynamo's name of the local variable x. */
static struct stet_view own_name(struct stet_view name)
{
    if (stet_view_starts(name, "L_") && name.len > 3 && name.ptr[name.len - 1] == '_')
        return stet_view_of(name.ptr + 2, name.len - 3);
    return name;
}

/* `L_x_: "f32[4, 3]cpu", L_y_: "i64[]cpu"` */
static bool next_argument(struct cursor *c, struct stet_graph_item *out)
{
    while (c->arguments.len) {
        struct stet_view name = stet_view_trim(cut(&c->arguments, ':'));

        cut(&c->arguments, '"');
        *out = (struct stet_graph_item){
            .argument = true, .name = own_name(name), .text = cut(&c->arguments, '"')};
        cut(&c->arguments, ',');
        if (name.len && out->text.ptr)
            return true;
    }
    return false;
}

/* "# File: train.py:6 in f, code: y = torch.tanh(x)" */
static bool take_place(struct cursor *c, struct stet_view line)
{
    static const char mark[] = "# File: ";
    struct stet_view rest;
    size_t colon;

    if (!stet_view_starts(line, mark))
        return false;
    rest = stet_view_of(line.ptr + sizeof mark - 1, line.len - (sizeof mark - 1));
    colon = stet_view_find(rest, " in ");
    c->file = stet_view_of(rest.ptr, colon);
    rest = stet_view_of(rest.ptr + colon, rest.len - colon);
    c->line = 0;
    while (c->file.len && is_digit(c->file.ptr[c->file.len - 1]))
        c->file.len--;
    if (c->file.len && c->file.ptr[c->file.len - 1] == ':') {
        c->line = strtoull(c->file.ptr + c->file.len, NULL, 10);
        c->file.len--;
    }
    if (rest.len > 4) {
        rest = stet_view_of(rest.ptr + 4, rest.len - 4);
        c->function = cut(&rest, ',');
    }
    return true;
}

/* `mul: "f32[4, 3]cpu" = l_x_ * 1.5;  l_x_ = None`: the right side, up to what is dropped after it.
 */
static bool take_operation(const struct cursor *c, struct stet_view line,
                           struct stet_graph_item *out)
{
    size_t equals = stet_view_find(line, " = "), end;

    if (!c->line || equals == line.len)
        return false;
    line = stet_view_of(line.ptr + equals + 3, line.len - equals - 3);
    end = stet_view_find(line, ";  ");
    *out = (struct stet_graph_item){.text = stet_view_of(line.ptr, end),
                                    .file = c->file,
                                    .function = c->function,
                                    .line = c->line};
    return out->text.len > 0;
}

static bool next_item(struct cursor *c, struct stet_graph_item *out)
{
    if (next_argument(c, out))
        return true;
    while (c->rest.len) {
        struct stet_view line = stet_view_trim(cut(&c->rest, '\n'));

        if (stet_view_starts(line, "def forward(self")) {
            cut(&line, ',');
            c->arguments = line;
            if (next_argument(c, out))
                return true;
        } else if (!take_place(c, line) && take_operation(c, line, out)) {
            return true;
        }
    }
    return false;
}

/* ---- comparing ---- */

static struct cursor begin(struct stet_view text)
{
    return (struct cursor){.rest = text};
}

static bool find_argument(struct stet_view text, struct stet_view name, struct stet_graph_item *out)
{
    struct cursor c = begin(text);

    while (next_item(&c, out)) {
        if (out->argument && stet_view_eq(out->name, name))
            return true;
        if (!out->argument)
            break;
    }
    return false;
}

/* The first argument of `a` that `b` has in another form, or not at all. */
static bool argument_differs(struct stet_view a, struct stet_view b, struct stet_graph_item *in_a,
                             struct stet_graph_item *in_b)
{
    struct cursor c = begin(a);

    while (next_item(&c, in_a) && in_a->argument) {
        *in_b = (struct stet_graph_item){0};
        if (!find_argument(b, in_a->name, in_b)) {
            *in_b = (struct stet_graph_item){0};
            return true;
        }
        if (!stet_view_eq(in_a->text, in_b->text))
            return true;
    }
    return false;
}

static bool next_operation(struct cursor *c, struct stet_graph_item *out)
{
    bool any;

    do
        any = next_item(c, out);
    while (any && out->argument);
    if (!any)
        *out = (struct stet_graph_item){0};
    return any;
}

/* A hash of all items that does not depend on their order, nor on the names of values. */
static uint64_t sum_of(struct stet_view text)
{
    struct cursor c = begin(text);
    struct stet_graph_item item;
    uint64_t sum = 0;

    while (next_item(&c, &item)) {
        struct stet_hash h = stet_hash_bytes(item.argument ? item.text : item.file);

        h = stet_hash_mix_u64(h, item.line);
        for (size_t i = 0; !item.argument && i < item.text.len; i++) { /* its shape */
            char k = item.text.ptr[i];

            if (!is_letter(k) && !is_digit(k))
                h = stet_hash_mix_u64(h, (unsigned char)k);
        }
        sum += h.lo;
    }
    return sum;
}

static bool same_but_for_numbers(struct stet_view a, struct stet_view b)
{
    size_t i = 0, k = 0;

    for (;;) {
        while (i < a.len && ((a.ptr[i] >= '0' && a.ptr[i] <= '9') || a.ptr[i] == '.'))
            i++;
        while (k < b.len && ((b.ptr[k] >= '0' && b.ptr[k] <= '9') || b.ptr[k] == '.'))
            k++;
        if (i == a.len || k == b.len)
            return i == a.len && k == b.len;
        if (a.ptr[i++] != b.ptr[k++])
            return false;
    }
}

static void settle(struct stet_graph_difference *d)
{
    const struct stet_graph_item *at = d->b.line ? &d->b : &d->a;

    d->file = at->file;
    d->function = at->function;
    d->line = at->line;
}

bool stet_graph_text_compare(struct stet_view a, struct stet_view b,
                             struct stet_graph_difference *out)
{
    struct cursor in_a = begin(a), in_b = begin(b);
    bool more_a, more_b;

    *out = (struct stet_graph_difference){0};
    if (argument_differs(a, b, &out->a, &out->b))
        return true;
    if (argument_differs(b, a, &out->b, &out->a))
        return true;
    do {
        more_a = next_operation(&in_a, &out->a);
        more_b = next_operation(&in_b, &out->b);
        /* Another path or line of the same operation is not compiled. */
        if (more_a != more_b || (more_a && !stet_view_eq(out->a.text, out->b.text))) {
            out->numbers = more_a && more_b && out->a.line == out->b.line &&
                           stet_view_eq(out->a.file, out->b.file) &&
                           same_but_for_numbers(out->a.text, out->b.text);
            out->reordered = !out->numbers && sum_of(a) == sum_of(b);
            settle(out);
            return true;
        }
    } while (more_a && more_b);
    return false;
}

bool stet_graph_text_communicates(struct stet_view text)
{
    static const char *const words[] = {"_c10d_functional", "c10d.",          "all_reduce",
                                        "all_gather",       "reduce_scatter", "all_to_all"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (stet_view_contains(text, words[i]))
            return true;
    }
    return false;
}
