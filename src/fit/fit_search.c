/* See fit_search.h. */
#include "fit/fit_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is asked for ---- */

static enum stet_rc malformed(struct stet_err *err, const char *text)
{
    return stet_fail(err, STET_USAGE, "%s: not NAME=FIRST..LAST, such as batch=8..512", text);
}

static bool number(const char **at, int64_t *out)
{
    char *end;

    *out = strtoll(*at, &end, 10);
    if (end == *at || *out < 0)
        return false;
    *at = end;
    return true;
}

static bool add(struct stet_fit_search *s, int64_t value)
{
    if (s->count == STET_FIT_TRIES)
        return false;
    s->tries[s->count++] = (struct stet_fit_try){.value = value};
    return true;
}

static enum stet_rc parse_list(struct stet_fit_search *s, const char *at, const char *text,
                               struct stet_err *err)
{
    int64_t value;

    for (;; at++) {
        if (!number(&at, &value) || (*at && *at != ','))
            return malformed(err, text);
        if (!add(s, value))
            return stet_fail(err, STET_USAGE, "%s: more than %d values", text, STET_FIT_TRIES);
        if (!*at)
            return STET_OK;
    }
}

/* A sweep over a range doubles, unless it has a step. */
static enum stet_rc spread(struct stet_fit_search *s, bool stepped, const char *text,
                           struct stet_err *err)
{
    for (int64_t v = s->low; v <= s->high; v = stepped ? v + s->step : 2 * v) {
        if (!add(s, v))
            return stet_fail(err, STET_USAGE, "%s: more than %d values", text, STET_FIT_TRIES);
        if (v == 0 && !stepped)
            break;
    }
    return STET_OK;
}

enum stet_rc stet_fit_search_parse(struct stet_fit_search *s, const char *text, bool sweep,
                                   struct stet_err *err)
{
    const char *equals = strchr(text, '='), *at;
    bool stepped = false;

    *s = (struct stet_fit_search){.sweep = sweep};
    if (!equals || equals == text || equals - text >= (ptrdiff_t)sizeof s->name)
        return malformed(err, text);
    memcpy(s->name, text, (size_t)(equals - text));
    at = equals + 1;
    if (sweep && !strstr(at, ".."))
        return parse_list(s, at, text, err);
    if (!number(&at, &s->low) || strncmp(at, "..", 2) != 0)
        return malformed(err, text);
    at += 2;
    if (!number(&at, &s->high))
        return malformed(err, text);
    s->step = s->low ? s->low : 1;
    if (*at == '/') {
        at++;
        stepped = number(&at, &s->step) && s->step > 0;
        if (!stepped)
            return malformed(err, text);
    }
    if (*at || s->high < s->low)
        return malformed(err, text);
    return sweep ? spread(s, stepped, text, err) : STET_OK;
}

/* ---- one value ---- */

static void take(struct stet_fit_try *t, const struct stet_fit *fit)
{
    char how[STET_FIT_ENDED];

    t->verdict = fit->verdict;
    t->peak = fit->peak_bytes;
    t->exceeds = fit->exceeds;
    t->bound_s = fit->step_known ? fit->step_bound_s : 0;
    snprintf(t->run, sizeof t->run, "%s", fit->id);
    if (fit->status && t->verdict != STET_FIT_EXCEEDS) {
        t->verdict = STET_FIT_UNKNOWN;
        stet_fit_ended(fit, how);
        snprintf(t->failure, sizeof t->failure, "the command ended with %s", how);
    } else if (t->verdict == STET_FIT_FAILED) {
        snprintf(t->failure, sizeof t->failure, "%zu of %zu programs did not compile", fit->failed,
                 fit->count);
    }
}

/* STET_NOT_FOUND, for a value that cannot be set at all, ends the search; other failures belong to
 * the value. */
static enum stet_rc try_value(struct stet_fit_search *s, struct stet_fit_try *t,
                              const struct stet_fit_options *o, struct stet_err *err)
{
    struct stet_fit_options with = *o;
    struct stet_fit_substitute b;
    struct stet_err why = STET_ERR_INIT;
    struct stet_fit fit;
    enum stet_rc rc = stet_fit_substitute(&b, o->command, s->name, t->value, err);

    if (rc == STET_OK) {
        with.command = b.command;
        with.set = b.set[0] ? b.set : NULL;
        with.quick = with.no_history = true;
        rc = stet_fit_run(&fit, &with, &why);
        if (rc == STET_OK) {
            take(t, &fit);
        } else {
            t->verdict = STET_FIT_UNKNOWN;
            snprintf(t->failure, sizeof t->failure, "%.150s", why.text);
        }
        /* without a compiler or a topology, no value has a verdict */
        rc = rc != STET_OK && !fit.ran ? stet_fail(err, rc, "%s", why.text) : STET_OK;
        stet_fit_release(&fit);
        if (s->tell && rc == STET_OK)
            s->tell(s->context, s, t);
    }
    stet_fit_substitute_release(&b);
    return rc;
}

static void note(struct stet_fit_search *s, const struct stet_fit_try *t)
{
    if (t->verdict == STET_FIT_FITS && (!s->found || t->value > s->value)) {
        s->found = true;
        s->value = t->value;
    }
}

/* Of a search: the value at place `k`. False when the search must stop. */
static enum stet_rc fits(struct stet_fit_search *s, int64_t k, const struct stet_fit_options *o,
                         bool *out, struct stet_err *err)
{
    struct stet_fit_try *t;
    enum stet_rc rc;

    if (!add(s, s->low + k * s->step))
        return stet_fail(err, STET_LIMIT, "more than %d tries", STET_FIT_TRIES);
    t = &s->tries[s->count - 1];
    rc = try_value(s, t, o, err);
    *out = rc == STET_OK && t->verdict == STET_FIT_FITS;
    if (rc == STET_OK)
        note(s, t);
    if (rc == STET_OK && t->verdict != STET_FIT_FITS && t->verdict != STET_FIT_EXCEEDS)
        return stet_fail(err, STET_UNSUPPORTED, "%s=%lld has no verdict: %s", s->name,
                         (long long)t->value, t->failure);
    return rc;
}

static enum stet_rc bisect(struct stet_fit_search *s, const struct stet_fit_options *o,
                           struct stet_err *err)
{
    int64_t good = 0, bad = (s->high - s->low) / s->step;
    enum stet_rc rc;
    bool fine;

    rc = fits(s, good, o, &fine, err);
    if (rc != STET_OK || !fine || bad == 0)
        return rc;
    rc = fits(s, bad, o, &fine, err);
    while (rc == STET_OK && !fine && bad - good > 1) {
        int64_t middle = good + (bad - good) / 2;
        bool half = false;

        rc = fits(s, middle, o, &half, err);
        if (half)
            good = middle;
        else
            bad = middle;
    }
    return rc;
}

enum stet_rc stet_fit_search_run(struct stet_fit_search *s, const struct stet_fit_options *o,
                                 struct stet_err *err)
{
    if (!s->sweep)
        return bisect(s, o, err);
    for (size_t i = 0; i < s->count; i++) {
        enum stet_rc rc = try_value(s, &s->tries[i], o, err);

        if (rc != STET_OK)
            return rc;
        note(s, &s->tries[i]);
    }
    return STET_OK;
}

/* The try of this value; a new one if it was not tried. NULL if there are too many. */
static struct stet_fit_try *try_of(struct stet_fit_search *s, int64_t value)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->tries[i].value == value)
            return &s->tries[i];
    }
    return add(s, value) ? &s->tries[s->count - 1] : NULL;
}

/* Fits one value as `o` says. */
static enum stet_rc fit_value(const struct stet_fit_search *s, const struct stet_fit_options *o,
                              struct stet_fit *fit, struct stet_err *err)
{
    struct stet_fit_options with = *o;
    struct stet_fit_substitute b;
    enum stet_rc rc = stet_fit_substitute(&b, o->command, s->name, s->value, err);

    if (rc == STET_OK) {
        with.command = b.command;
        with.set = b.set[0] ? b.set : NULL;
        rc = stet_fit_run(fit, &with, err);
        if (rc != STET_OK)
            stet_fit_release(fit);
    }
    stet_fit_substitute_release(&b);
    return rc;
}

enum stet_rc stet_fit_search_settle(struct stet_fit_search *s, const struct stet_fit_options *o,
                                    struct stet_fit *fit, bool *fitted, struct stet_err *err)
{
    *fitted = false;
    while (s->found) {
        struct stet_fit_try *t;
        enum stet_rc rc = fit_value(s, o, fit, err);

        if (rc != STET_OK)
            return rc;
        t = try_of(s, s->value);
        if (t)
            take(t, fit);
        if (fit->verdict != STET_FIT_EXCEEDS) {
            *fitted = true;
            return STET_OK;
        }
        stet_fit_release(fit);
        s->value -= s->step;
        s->found = s->value >= s->low;
    }
    return STET_OK;
}
