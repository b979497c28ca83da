/* What a leader does: publish its log, answer ranks that ask, read reports of ranks that differ. */
#include "pod/member_internal.h"

#include <stdio.h>

/* The first ranks of a scope leave a hash of each program, so that a rank that differs from its
 * leader can find out which of the two is alone. */
static void be_witness(struct stet_pod_member *m, const struct stet_pod_entry *e)
{
    const struct stet_pod_scope *s = stet_pod_member_scope_of(m, e->scope);
    char key[STET_POD_KEY], scope[STET_HASH_TEXT], text[STET_HASH_TEXT];

    if (!s || s->count < 3 || s->own == 0 || s->own > STET_POD_WITNESSES + 1)
        return;
    stet_hash_format(s->hash, scope);
    stet_hash_format(e->part[STET_POD_PROGRAM], text);
    snprintf(key, sizeof key, "key/%s/%llu/%lld", scope, (unsigned long long)e->place,
             (long long)m->rank);
    stet_pod_member_put(m, key, STET_POD_TEXT, stet_view_str(text));
}

static void take_counts(struct stet_pod_member *m, struct stet_pod_batch *b)
{
    for (size_t i = 0; i < m->scope_count && i < STET_POD_COUNTS; i++)
        b->counts[b->count_count++] = (struct stet_pod_count){
            m->scopes[i].hash, m->host.executions(m->host.context, m->scopes[i].hash)};
}

/* Readers compare environments by their hash; the texts are for the one that differs. */
static void give_flags(struct stet_pod_member *m)
{
    char flags[STET_POD_FLAGS] = "", key[STET_POD_KEY];

    if (m->flags_given)
        return;
    m->flags_given = true;
    m->host.flags(m->host.context, flags);
    snprintf(key, sizeof key, "flags/%lld", (long long)m->rank);
    stet_pod_member_put(m, key, STET_POD_TEXT, stet_view_str(flags));
}

void stet_pod_member_publish(struct stet_pod_member *m)
{
    struct stet_pod_batch *b = &m->scratch;
    struct stet_buf bytes = STET_BUF_INIT;
    uint64_t from = m->published;
    enum stet_rc rc = STET_NO_MEMORY;
    char key[STET_POD_KEY];

    memset(b, 0, sizeof *b);
    b->rank = m->rank;
    b->number = m->batches;
    while (m->published < m->entered && b->entry_count < STET_POD_BATCH_ENTRIES) {
        const struct stet_pod_record *r = stet_pod_member_record(m, m->published++);

        if (!r)
            continue;
        if (stet_pod_member_leader(m, &r->e) == m->rank)
            b->entries[b->entry_count++] = r->e;
        else
            be_witness(m, &r->e);
    }
    m->host.describe(m->host.context, &b->state);
    take_counts(m, b);
    snprintf(key, sizeof key, "log/%lld/%llu", (long long)m->rank, (unsigned long long)m->batches);
    stet_pod_message_batch(&bytes, key, b);
    if (!bytes.failed)
        rc = stet_pod_channel_put(m->channel, key, stet_buf_as_view(&bytes));
    stet_buf_release(&bytes);
    if (rc != STET_OK && rc != STET_REFUSED) { /* readers wait for this number: again, later */
        m->published = from;
        return;
    }
    m->batches++;
    if (b->entry_count)
        give_flags(m);
}

/* Is there something to publish, and has it waited long enough? */
static bool is_time(struct stet_pod_member *m, uint64_t now)
{
    for (uint64_t n = m->published; n < m->entered; n++) {
        const struct stet_pod_record *r = stet_pod_member_record(m, n);

        if (r)
            return now >= r->since_ns + stet_pod_ms(m->timing.window);
    }
    return false;
}

static bool is_asked(struct stet_pod_member *m)
{
    struct stet_buf message = STET_BUF_INIT;
    struct stet_view unused;
    char key[STET_POD_KEY];
    bool asked;

    snprintf(key, sizeof key, "ask/%lld/%llu", (long long)m->rank, (unsigned long long)m->batches);
    asked = stet_pod_member_get(m, key, STET_POD_TEXT, 0, &message, &unused);
    stet_buf_release(&message);
    return asked;
}

/* This rank's entry that a report is about: the one that has the leader's program. */
static bool own_entry(struct stet_pod_member *m, const struct stet_pod_report *p,
                      struct stet_pod_entry *out, uint64_t *since_ns)
{
    uint64_t first = m->entered > STET_POD_LOG ? m->entered - STET_POD_LOG : 0;

    for (uint64_t n = m->entered; stet_pod_entry_exists(&p->theirs) && n-- > first;) {
        struct stet_pod_record *r = stet_pod_member_record(m, n);

        if (!r || !stet_hash_eq(r->e.scope, p->theirs.scope) ||
            !stet_hash_eq(r->e.part[STET_POD_PROGRAM], p->theirs.part[STET_POD_PROGRAM]))
            continue;
        pthread_mutex_lock(&m->lock);
        r->finding = STET_POD_DIFFERS;
        pthread_mutex_unlock(&m->lock);
        *out = r->e;
        *since_ns = r->since_ns;
        return true;
    }
    return false;
}

static void hear(struct stet_pod_member *m, int64_t leader, const struct stet_pod_report *p)
{
    enum { FETCH_MS = 500 };
    uint64_t now = stet_pod_member_now(m), since = now;
    struct stet_pod_verdict v = {.finding = STET_POD_DIFFERS,
                                 .certain = p->certain,
                                 .went_on = p->went_on,
                                 .other = p->rank,
                                 .theirs = p->own,
                                 .state = p->state,
                                 .witness = {-1, -1}};

    if (own_entry(m, p, &v.own, &since) && leader == m->rank)
        stet_pod_member_give(m, &v.own);
    stet_pod_member_take(m, &p->own, FETCH_MS);
    v.after_ns = now - since;
    memcpy(v.flags, p->flags, sizeof v.flags);
    stet_pod_member_say(m, &v);
}

void stet_pod_member_hear(struct stet_pod_member *m, int64_t leader, uint64_t *next)
{
    struct stet_buf bytes = STET_BUF_INIT;
    struct stet_pod_report report;
    char key[STET_POD_KEY];
    enum stet_rc rc;

    for (int i = 0; i < STET_POD_HEARD && !atomic_load(&m->stopped); i++) {
        bytes.len = 0;
        snprintf(key, sizeof key, "differs/%lld/%llu", (long long)leader,
                 (unsigned long long)*next);
        if (stet_pod_channel_get(m->channel, key, 0, &bytes) != STET_OK)
            break;
        ++*next;
        rc = stet_pod_message_read_report(&report, key, stet_buf_as_view(&bytes));
        if (rc == STET_OK && (report.rank < 0 || report.rank >= m->world))
            rc = STET_BAD_INPUT;
        if (rc != STET_OK)
            stet_pod_channel_damaged(m->channel, rc);
        else if (report.rank != m->rank)
            hear(m, leader, &report);
    }
    stet_buf_release(&bytes);
}

void stet_pod_member_lead(struct stet_pod_member *m, uint64_t now)
{
    bool leads = stet_pod_member_leads(m);
    uint64_t before;

    if (is_time(m, now)) {
        if (leads) {
            stet_pod_member_publish(m);
        } else {
            while (m->published < m->entered) {
                const struct stet_pod_record *r = stet_pod_member_record(m, m->published++);

                if (r)
                    be_witness(m, &r->e);
            }
        }
    }
    if (!leads || (m->looked_ns && now < m->looked_ns + stet_pod_ms(200)))
        return;
    m->looked_ns = now;
    if (is_asked(m))
        stet_pod_member_publish(m);
    before = m->reports;
    stet_pod_member_hear(m, m->rank, &m->reports);
    if (m->reports != before)
        stet_pod_member_announce(m, "differ"); /* ranks that wait will want to know */
}
