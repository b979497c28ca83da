/* Fits a command for several values of one of its arguments or environment variables: the largest
 * that fits, by bisection, or all of a list. Each value is fitted without generating code where the
 * compiler can do that. */
#ifndef STET_FIT_FIT_SEARCH_H
#define STET_FIT_FIT_SEARCH_H

#include "fit/fit.h"

enum { STET_FIT_TRIES = 64 };

struct stet_fit_try {
    int64_t value;
    enum stet_fit_verdict verdict;
    uint64_t peak, exceeds;
    double bound_s; /* of a step; 0 if not known */
    char run[64];
    char failure[160]; /* why there is no verdict, or empty */
};

struct stet_fit_search {
    char name[64];
    int64_t low, high, step;                   /* of a search */
    bool sweep;                                /* the values of `tries` are given */
    struct stet_fit_try tries[STET_FIT_TRIES]; /* in the order in which they were made */
    size_t count;
    bool found;
    int64_t value; /* the largest that fits */
    /* Called after each try; may be NULL. */
    void (*tell)(void *context, const struct stet_fit_search *s, const struct stet_fit_try *t);
    void *context;
};

/* "batch=8..512": multiples of 8; "batch=8..512/16": from 8 by 16; for a sweep also
 * "batch=8,16,32", and a range doubles. STET_USAGE with what is wrong. */
enum stet_rc stet_fit_search_parse(struct stet_fit_search *s, const char *text, bool sweep,
                                   struct stet_err *err);
/* Fits the tries. A search stops with STET_NOT_FOUND when the command has no such argument. */
enum stet_rc stet_fit_search_run(struct stet_fit_search *s, const struct stet_fit_options *o,
                                 struct stet_err *err);

/* Fits the value that was found with everything that was asked for. If its code, which a search
 * does not generate, is too much, the next smaller value is taken. *fitted: there is a fit, which
 * the caller releases. */
enum stet_rc stet_fit_search_settle(struct stet_fit_search *s, const struct stet_fit_options *o,
                                    struct stet_fit *fit, bool *fitted, struct stet_err *err);

/* A command in which the value is set: an argument (--NAME 3, --NAME=3, NAME=3, {NAME}) or, if it
 * has none, an environment variable. */
struct stet_fit_substitute {
    struct stet_arena arena;
    char **command;
    const char *set[2]; /* NAME=value; NULL-terminated */
};

enum stet_rc stet_fit_substitute(struct stet_fit_substitute *b, char *const *command,
                                 const char *name, int64_t value, struct stet_err *err);
void stet_fit_substitute_release(struct stet_fit_substitute *b);

/* Writes the tries as stet.fitsearch/1, with the fit of the value that was found; `fit` may be
 * NULL. */
void stet_fit_search_json(struct stet_buf *out, const struct stet_fit_search *s,
                          const struct stet_fit *fit);

#endif
