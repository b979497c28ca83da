/* The table of rules, and the helpers that several rules share. */
#include "lint/rules.h"

#include <pthread.h>
#include <stdlib.h>

const struct lint_rule lint_rule_table[LINT_RULES] = {
#define RULE(name, code, trap, severity, events, title, why, fix)                                  \
    [LINT_RULE_##name] = {code, trap, title, why, fix, LINT_SEV_##severity, events, rule_##name},
#include "lint/rules.def"
#undef RULE
};

enum { EVENTS = 12 };

/* The rules of each event, ending with LINT_RULES. Names are read too often to call every rule. */
static uint8_t rules_on[EVENTS][LINT_RULES + 1];
static pthread_once_t rules_once = PTHREAD_ONCE_INIT;

static void sort_rules(void)
{
    for (unsigned e = 0; e < EVENTS; e++) {
        unsigned count = 0;

        for (unsigned r = 0; r < LINT_RULES; r++) {
            if (lint_rule_table[r].events >> e & 1)
                rules_on[e][count++] = (uint8_t)r;
        }
        rules_on[e][count] = LINT_RULES;
    }
}

void lint_rules_prepare(void)
{
    pthread_once(&rules_once, sort_rules);
}

void lint_rules(struct stet_flow_walk *w, enum stet_flow_event event, stet_python_ref n)
{
    for (const uint8_t *r = rules_on[__builtin_ctz((unsigned)event)]; *r != LINT_RULES; r++)
        lint_rule_table[*r].run(w, n);
}

/* Does this byte belong to the character before it? */
static bool continues(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* The end of the blanks and comments that begin here; `broken` tells whether a line ends there. */
static size_t skip_blanks(struct stet_view text, size_t at, bool *broken)
{
    bool comment = false;

    for (; at < text.len; at++) {
        char c = text.ptr[at];

        comment = c != '\n' && (comment || c == '#');
        *broken |= c == '\n';
        if (!comment && c != ' ' && c != '\n' && c != '\r' && c != '\t')
            break;
    }
    return at;
}

/* Copies a piece of source without comments, line breaks and the blanks around them:
 * `x  # all\n    .cpu()` becomes `x.cpu()`. */
static void put_on_one_line(struct stet_buf *out, struct stet_view text)
{
    char quote = 0;

    for (size_t i = 0, end; i < text.len; i = end) {
        bool broken = false;
        char c = text.ptr[i];

        end = quote ? i : skip_blanks(text, i, &broken);
        if (end == i) {
            quote = quote == c ? 0 : !quote && (c == '"' || c == '\'') ? c : quote;
            stet_buf_char(out, c == '\n' ? ' ' : c);
            end++;
        } else if (!broken || (out->len && !strchr("([{", out->ptr[out->len - 1]) &&
                               end < text.len && !strchr(".)]}", text.ptr[end]))) {
            stet_buf_char(out, ' ');
        }
    }
}

struct stet_view lint_quote(const struct stet_flow_walk *w, stet_python_ref n)
{
    enum { MOST = 60, HEAD = 38, TAIL = 20 };
    struct stet_view v = stet_python_text(w->ast, n);
    struct stet_buf line = STET_BUF_INIT;
    size_t head = HEAD, tail;

    if (v.len <= MOST && !memchr(v.ptr, '\n', v.len))
        return v;
    put_on_one_line(&line, v.len > 4096 ? stet_view_of(v.ptr, 4096) : v);
    if (line.failed || line.len <= MOST) {
        v = stet_arena_copy(&w->out->arena, stet_buf_as_view(&line));
        stet_buf_release(&line);
        return v;
    }
    tail = line.len - TAIL;
    while (head && continues(line.ptr[head]))
        head--;
    while (tail < line.len && continues(line.ptr[tail]))
        tail++;
    v = stet_arena_printf(&w->out->arena, "%.*s…%.*s", (int)head, line.ptr, (int)(line.len - tail),
                          line.ptr + tail);
    stet_buf_release(&line);
    return v;
}
