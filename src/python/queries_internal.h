/* Shared by the files that answer the questions of queries.h. No other file includes it. */
#ifndef STET_PYTHON_QUERIES_INTERNAL_H
#define STET_PYTHON_QUERIES_INTERNAL_H

#include "python/queries.h"
#include "python/value_flow.h"

/* A question about one place of a module. */
struct stet_python_question {
    struct stet_python_frame frame;
    struct stet_python_flow flow;
};

static inline struct stet_python_flow *stet_python_ask(struct stet_python_question *q,
                                                       struct stet_python_sources *s,
                                                       const struct stet_python_module *m)
{
    q->frame = (struct stet_python_frame){.module = m};
    q->flow = (struct stet_python_flow){.sources = s, .frame = &q->frame, .position = -1};
    return &q->flow;
}

/* Walks the nodes of a statement's own part in order: begin with *n = 0. */
static inline bool stet_python_own_next(const struct stet_python_module *m,
                                        stet_python_ref statement, stet_python_ref *n)
{
    *n = *n ? *n + 1 : statement;
    return statement && *n < m->ast.count &&
           m->ast.nodes[*n].start < stet_python_own_end(m, statement);
}

/* The condition of an if, elif, while or match; 0 for other statements. */
stet_python_ref stet_python_condition_of(const struct stet_python_module *m,
                                         stet_python_ref statement);
/* A walk over the conditions that decide whether a statement runs. */
struct stet_python_conditions {
    const struct stet_python_module *module;
    bool loops; /* that of a loop counts */
    /* A condition before the statement that leaves the block: */
    enum { PY_LEAVING_DECIDES, PY_LEAVING_DECIDES_ALONE, PY_LEAVING_IS_RARE } leaving;
    /* Is this condition, of an if, elif, while or match, one that the question is about? */
    bool (*rests)(const struct stet_python_conditions *c, stet_python_ref statement);
    void *context;
};

/* Walks upwards from a statement to its function: conditions around it, earlier branches of the
 * same if, and conditions before it that leave the block. */
bool stet_python_conditions_around(const struct stet_python_conditions *c,
                                   stet_python_ref statement);
bool stet_python_statement_reads(struct stet_python_flow *x, stet_python_ref statement,
                                 unsigned depth);
/* Is the call one of an array library's, or a method of an object that is not the project's? */
const struct stet_python_array *stet_python_array_call(struct stet_python_flow *x,
                                                       stet_python_ref call);
/* The function of a file by name: the one around `line` where several have it. */
stet_python_ref stet_python_find_function(const struct stet_python_module *m, struct stet_view name,
                                          uint32_t line);

/* The name of the function around a node, as Python writes it. */
struct stet_view stet_python_function_name(const struct stet_python_module *m, stet_python_ref n);
/* The function whose code begins at a line: decorators come first. 0 for none. */
stet_python_ref stet_python_function_at(const struct stet_python_module *m, uint32_t line);

/* Finds what the function around a node runs. */
void stet_python_reach_around(struct stet_python_sources *s, const struct stet_python_module *m,
                              stet_python_ref n, struct stet_python_reach *out);
/* Returns what flows into the numbers that a statement passes to an operation of a program. */
struct stet_python_value stet_python_numbers_given(struct stet_python_flow *x,
                                                   stet_python_ref statement,
                                                   struct stet_view operation);

#endif
