/* Pairs of programs for the tests of lifting. */
#ifndef TESTS_LIFT_HELP_H
#define TESTS_LIFT_HELP_H

#include "program_help.h"

#include "lift/lift.h"

struct pair {
    struct stet_buf text[2];
    struct stet_program program[2];
};

/* Replaces @1 by the first word of `values`, and so on. */
static inline void fill(struct stet_buf *out, const char *text, const char *values)
{
    char words[4][64] = {"", "", "", ""};

    sscanf(values, "%63s %63s %63s %63s", words[0], words[1], words[2], words[3]);
    for (; *text; text++) {
        if (text[0] == '@' && text[1] >= '1' && text[1] <= '4')
            stet_buf_str(out, words[*++text - '1']);
        else
            stet_buf_char(out, *text);
    }
}

static inline bool read_pair(struct pair *p, const char *first, const char *from,
                             const char *second, const char *to)
{
    *p = (struct pair){0};
    fill(&p->text[0], first, from);
    fill(&p->text[1], second, to);
    return read_program(&p->program[0], stet_buf_as_view(&p->text[0])) &&
           read_program(&p->program[1], stet_buf_as_view(&p->text[1]));
}

static inline void release_pair(struct pair *p)
{
    for (int i = 0; i < 2; i++) {
        stet_program_release(&p->program[i]);
        stet_buf_release(&p->text[i]);
    }
}

/* The text of the lifted program; the number of arguments, or -1 with the reason. */
static inline int lift(const struct pair *p, struct stet_buf *out, struct stet_err *why)
{
    struct stet_lift_match match;
    struct stet_lift_plan plan;
    int arguments = -1;

    if (stet_lift_refuses(&p->program[0], why) != STET_OK ||
        stet_lift_match(&match, &p->program[0], &p->program[1], why) != STET_OK)
        return -1;
    if (stet_lift_plan_make(&plan, &match, NULL, why) == STET_OK) {
        if (stet_lift_write(out, &p->program[0], &p->program[1], &match, &plan, why) == STET_OK)
            arguments = (int)plan.argument_count;
        stet_lift_plan_release(&plan);
    }
    stet_lift_match_release(&match);
    return arguments;
}

#endif
