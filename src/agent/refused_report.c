/* What `stet run` prints when a run has ended: entries that were rejected and how to accept them,
 * and tiers that did not answer. Runs are distinguished by their id, because an agent outlives
 * them. */
#include "agent/internal.h"

#include <stdio.h>

/* With the lock: the report of this run, or the least recently used one, cleared. */
static struct stet_report *find(struct stet_agent *a, struct stet_view run)
{
    struct stet_report *oldest = &a->reports[0];

    for (size_t i = 0; i < STET_REPORTS; i++) {
        struct stet_report *r = &a->reports[i];

        if (r->used && stet_view_is(run, r->run)) {
            r->used = ++a->report_uses;
            return r;
        }
        if (r->used < oldest->used)
            oldest = r;
    }
    *oldest = (struct stet_report){.used = ++a->report_uses};
    snprintf(oldest->run, sizeof oldest->run, "%.*s", STET_FMT(run));
    return oldest;
}

void stet_agent_report_asked(struct stet_agent *a, const char *run)
{
    pthread_mutex_lock(&a->lock);
    find(a, stet_view_str(run))->asked++;
    pthread_mutex_unlock(&a->lock);
}

void stet_agent_report_tier(struct stet_agent *a, const char *run, size_t tier, bool answered)
{
    struct stet_report *r;

    pthread_mutex_lock(&a->lock);
    r = find(a, stet_view_str(run));
    r->answered[tier] += answered;
    r->failed[tier] += !answered;
    pthread_mutex_unlock(&a->lock);
}

void stet_agent_report_refused(struct stet_agent *a, const char *run, enum stet_refusal why,
                               const struct stet_public *signer)
{
    struct stet_report *r;
    size_t i = 0;

    pthread_mutex_lock(&a->lock);
    r = find(a, stet_view_str(run));
    while (signer && i < r->signer_count &&
           memcmp(r->signers[i].bytes, signer->bytes, sizeof signer->bytes) != 0)
        i++;
    if (signer && i < STET_REPORT_SIGNERS) {
        r->signers[i] = *signer;
        r->refused_of[i]++;
        r->signer_count += i == r->signer_count;
    } else {
        r->refused[why]++;
    }
    pthread_mutex_unlock(&a->lock);
}

static void count(struct stet_buf *out, unsigned n, const char *one, const char *many)
{
    stet_buf_printf(out, "%u %s", n, n == 1 ? one : many);
}

static void refused_lines(const struct stet_report *r, struct stet_buf *out)
{
    static const char *const what[] = {
#define REFUSAL(id, word, what) what,
#include "agent/refusals.def"
#undef REFUSAL
    };
    char name[STET_PUBLIC_TEXT];

    for (size_t i = 0; i < r->signer_count; i++) {
        stet_trust_public_format(&r->signers[i], name);
        count(out, r->refused_of[i], "entry was", "entries were");
        stet_buf_printf(out,
                        " refused: signed by %s, which this user does not trust; to trust: "
                        "stet cache key trust %s\n",
                        name, name);
    }
    for (size_t i = 0; i < STET_REFUSALS; i++) {
        if (!r->refused[i])
            continue;
        count(out, r->refused[i], "entry was", "entries were");
        stet_buf_printf(out, " refused: %s\n", what[i]);
    }
}

static void tier_lines(struct stet_agent *a, const struct stet_report *r, struct stet_buf *out)
{
    for (size_t i = 0; i < a->tiers.count; i++) {
        struct stet_tier *t = &a->tiers.items[i];
        char error[160];

        if (!r->failed[i] || r->failed[i] < r->answered[i])
            continue;
        pthread_mutex_lock(&t->lock);
        memcpy(error, t->last_error, sizeof error);
        pthread_mutex_unlock(&t->lock);
        stet_buf_printf(out, "%.*s did not serve ", STET_FMT(t->shown));
        count(out, r->failed[i], "program", "programs");
        stet_buf_printf(out, ": %s\n", error[0] ? error : "no answer in time");
    }
}

void stet_agent_report_write(struct stet_agent *a, struct stet_view run, struct stet_buf *out)
{
    struct stet_keyring *keys = stet_agent_keyring_take(a);
    const struct stet_trust *trust = stet_agent_keyring_trust(keys);
    struct stet_report *r, copy;

    pthread_mutex_lock(&a->lock);
    r = find(a, run);
    copy = *r;
    *r = (struct stet_report){0};
    pthread_mutex_unlock(&a->lock);
    if (a->tiers.count && copy.asked && !trust->anyone && !trust->count)
        stet_buf_str(out, "nothing was shared: this user has no key and trusts none; to make one: "
                          "stet cache key new\n");
    else
        refused_lines(&copy, out);
    tier_lines(a, &copy, out);
    stet_agent_keyring_put(a, keys);
}
