/* News from leaders, and the roll call: which ranks have not reached a program that all must
 * compile?
 *
 * While a job makes progress, nothing of this happens. A rank without progress looks for news of
 * its leaders now and then. A leader that is stuck for long writes a call; ranks that are at the
 * same program answer along a tree: each adds the answers of its children to its own, so that no
 * rank reads more than STET_POD_FAN messages. Then the leader asks a missing rank where it is. */
#include "pod/member_internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { CALLED = 1, ASKING = 2, DONE = 3, STUCK_MS = 2000, LEVEL_MS = 700 };

/* ---- the tree of a scope ---- */

static size_t first_child(size_t i)
{
    return i * STET_POD_FAN + 1;
}

/* How many levels are below index i. */
static uint32_t height(size_t i, size_t count)
{
    uint32_t levels = 0;

    for (size_t at = first_child(i); at < count; at = first_child(at))
        levels++;
    return levels;
}

static void here_key(char out[STET_POD_KEY], const struct stet_pod_record *r, uint32_t rank)
{
    char scope[STET_HASH_TEXT];

    stet_hash_format(r->e.scope, scope);
    snprintf(out, STET_POD_KEY, "here/%s/%llu/%u", scope, (unsigned long long)r->e.place, rank);
}

static void set_bit(struct stet_buf *bits, size_t i)
{
    bits->ptr[i / 8] = (char)((unsigned char)bits->ptr[i / 8] | 1u << i % 8);
}

static bool has_bit(const struct stet_buf *bits, size_t i)
{
    return (unsigned char)bits->ptr[i / 8] >> i % 8 & 1;
}

/* This rank's bit, and those that its children have. False when out of memory. */
static bool gather(struct stet_pod_member *m, const struct stet_pod_scope *s,
                   const struct stet_pod_record *r, struct stet_buf *bits)
{
    size_t bytes = (s->count + 7) / 8, from = first_child(s->own);
    char *room = stet_buf_reserve(bits, bytes), key[STET_POD_KEY];
    struct stet_buf message = STET_BUF_INIT;

    if (!room)
        return false;
    memset(room, 0, bytes);
    stet_buf_grew(bits, bytes);
    set_bit(bits, s->own);
    for (size_t i = from; i < from + STET_POD_FAN && i < s->count; i++) {
        struct stet_view theirs;

        here_key(key, r, s->ranks[i]);
        if (!stet_pod_member_get(m, key, STET_POD_HERE, 0, &message, &theirs) ||
            theirs.len != bytes)
            continue;
        for (size_t k = 0; k < bytes; k++)
            bits->ptr[k] = (char)((unsigned char)bits->ptr[k] | (unsigned char)theirs.ptr[k]);
    }
    stet_buf_release(&message);
    return true;
}

/* ---- ranks ---- */

static void answer(struct stet_pod_member *m, const struct stet_pod_scope *s,
                   struct stet_pod_record *r)
{
    struct stet_buf bits = STET_BUF_INIT;
    char key[STET_POD_KEY];

    if (gather(m, s, r, &bits)) {
        here_key(key, r, s->ranks[s->own]);
        stet_pod_member_put(m, key, STET_POD_HERE, stet_buf_as_view(&bits));
    }
    r->called = DONE;
    stet_buf_release(&bits);
}

/* ---- news ---- */

void stet_pod_member_announce(struct stet_pod_member *m, const char *text)
{
    char key[STET_POD_KEY];

    snprintf(key, sizeof key, "news/%lld/%llu", (long long)m->rank, (unsigned long long)m->news++);
    stet_pod_member_put(m, key, STET_POD_TEXT, stet_view_str(text));
}

/* "call <scope> <place>" */
static void hear_call(struct stet_pod_member *m, const char *text, uint64_t now)
{
    const struct stet_pod_scope *s;
    struct stet_hash scope;
    uint64_t place;

    if (strlen(text) < STET_HASH_TEXT || !stet_hash_parse(stet_view_of(text, 32), &scope))
        return;
    place = strtoull(text + 32, NULL, 10);
    s = stet_pod_member_scope_of(m, scope);
    for (uint64_t back = 1; s && back <= m->entered && back <= STET_POD_LOG; back++) {
        struct stet_pod_record *r = stet_pod_member_record(m, m->entered - back);

        if (!r || !stet_hash_eq(r->e.scope, scope) || r->e.place != place || r->called)
            continue;
        r->called = CALLED;
        r->next_call_ns = now + stet_pod_ms(height(s->own, s->count) * LEVEL_MS);
    }
}

/* "ask 35 38": these ranks publish their state. */
static void hear_question(struct stet_pod_member *m, const char *text)
{
    char *end;

    for (const char *at = text; *at; at = end) {
        long long rank = strtoll(at, &end, 10);

        if (end == at)
            return;
        if (rank == m->rank) {
            stet_pod_member_publish(m);
            return;
        }
    }
}

static void read_news(struct stet_pod_member *m, struct stet_pod_peer *p, uint64_t now)
{
    struct stet_buf message = STET_BUF_INIT;
    struct stet_view bytes;
    char key[STET_POD_KEY], text[96];

    for (int i = 0; i < STET_POD_HEARD && !atomic_load(&m->stopped); i++) {
        snprintf(key, sizeof key, "news/%lld/%llu", (long long)p->rank,
                 (unsigned long long)p->news);
        if (!stet_pod_member_get(m, key, STET_POD_TEXT, 0, &message, &bytes))
            break;
        p->news++;
        snprintf(text, sizeof text, "%.*s", STET_FMT(bytes));
        if (!strncmp(text, "call ", 5))
            hear_call(m, text + 5, now);
        else if (!strncmp(text, "ask ", 4))
            hear_question(m, text + 4);
        else if (!strcmp(text, "differ"))
            stet_pod_member_hear(m, p->rank, &p->reports);
    }
    stet_buf_release(&message);
}

uint32_t stet_pod_member_listen(struct stet_pod_member *m, uint64_t now)
{
    uint64_t progress = m->host.executions(m->host.context, (struct stet_hash){0}) + m->entered;

    if (progress != m->progress) {
        m->progress = progress;
        m->progress_ns = now;
    }
    if (now < m->progress_ns + stet_pod_ms(STUCK_MS) ||
        now < m->rarely_ns + stet_pod_ms(m->timing.rarely))
        return m->timing.rarely / 2;
    m->rarely_ns = now;
    for (size_t i = 0; i < m->scope_count; i++) {
        struct stet_pod_peer *p = stet_pod_member_peer(m, (int64_t)m->scopes[i].ranks[0]);
        bool read = false;

        for (size_t k = 0; k < i; k++)
            read |= m->scopes[k].ranks[0] == m->scopes[i].ranks[0];
        if (p && !read && p->rank != m->rank)
            read_news(m, p, now);
    }
    return m->timing.rarely;
}

/* ---- the leader ---- */

/* Could it have answered? Only the first ones are looked at. */
static bool is_expected(struct stet_pod_member *m, int64_t rank, uint64_t found)
{
    return m->channel->reach != STET_POD_REACH_SOME || found >= STET_POD_MISSED ||
           stet_pod_member_was_here(m, rank);
}

static void count_missing(struct stet_pod_member *m, const struct stet_pod_scope *s,
                          const struct stet_pod_record *r, struct stet_pod_verdict *v)
{
    struct stet_buf bits = STET_BUF_INIT;

    bool known = gather(m, s, r, &bits);

    v->missing_count = 0;
    for (size_t i = 0; known && i < s->count; i++) {
        if (has_bit(&bits, i) || !is_expected(m, (int64_t)s->ranks[i], v->missing_count))
            continue;
        if (v->missing_count < STET_POD_MISSED)
            v->missing[v->missing_count] = (int64_t)s->ranks[i];
        v->missing_count++;
    }
    stet_buf_release(&bits);
}

/* Asks the first missing rank where it is. It reads the news rarely. */
static void ask_missing(struct stet_pod_member *m, struct stet_pod_record *r, uint64_t now)
{
    struct stet_pod_peer *p = stet_pod_member_peer(m, m->call.missing[0]);
    char text[32];

    r->called = ASKING;
    r->next_call_ns = now + stet_pod_ms(m->timing.rarely + STUCK_MS);
    if (!p)
        return;
    while (stet_pod_member_read(m, p, 0)) /* what it has published before */
        continue;
    snprintf(text, sizeof text, "ask %lld", (long long)m->call.missing[0]);
    stet_pod_member_announce(m, text);
}

static void tell_missing(struct stet_pod_member *m, struct stet_pod_record *r, uint64_t now)
{
    struct stet_pod_peer *p = stet_pod_member_peer(m, m->call.missing[0]);

    if (p && stet_pod_member_read(m, p, m->timing.slice)) {
        m->call.answered = true;
        m->call.state = p->state;
    }
    m->call.after_ns = now - r->since_ns;
    r->called = DONE;
    stet_pod_member_say(m, &m->call);
}

static void lead_call(struct stet_pod_member *m, const struct stet_pod_scope *s,
                      struct stet_pod_record *r, uint64_t now)
{
    char text[96], scope[STET_HASH_TEXT];

    if (!r->called) {
        stet_hash_format(r->e.scope, scope);
        snprintf(text, sizeof text, "call %s %llu", scope, (unsigned long long)r->e.place);
        stet_pod_member_announce(m, text);
        r->called = CALLED;
        r->next_call_ns =
            now + stet_pod_ms(m->timing.rarely + (height(0, s->count) + 1) * LEVEL_MS + STUCK_MS);
        return;
    }
    if (r->called == ASKING) {
        tell_missing(m, r, now);
        return;
    }
    m->call = (struct stet_pod_verdict){.finding = STET_POD_MISSING,
                                        .certain = true,
                                        .own = r->e,
                                        .other = -1,
                                        .witness = {-1, -1},
                                        .scope_size = s->count};
    count_missing(m, s, r, &m->call);
    if (!m->call.missing_count)
        r->called = DONE;
    else
        ask_missing(m, r, now);
}

/* ---- all ---- */

/* Notes when a scope last moved. True if it stands still. */
static bool is_stuck(struct stet_pod_member *m, struct stet_pod_scope *s, uint64_t now)
{
    uint64_t runs = m->host.executions(m->host.context, s->hash) + s->next_place;

    if (runs != s->runs) {
        s->runs = runs;
        s->moved_ns = now;
    }
    return now >= s->moved_ns + stet_pod_ms(STUCK_MS);
}

/* The last entry of a scope, if it is in the log. */
static struct stet_pod_record *last_of(struct stet_pod_member *m, const struct stet_pod_scope *s)
{
    uint64_t first = m->entered > STET_POD_LOG ? m->entered - STET_POD_LOG : 0;

    for (uint64_t n = m->entered; n-- > first;) {
        struct stet_pod_record *r = stet_pod_member_record(m, n);

        if (r && stet_hash_eq(r->e.scope, s->hash))
            return r;
    }
    return NULL;
}

static uint32_t until(uint64_t now, uint64_t at)
{
    return at > now ? (uint32_t)((at - now) / 1000000 + 1) : 0;
}

static uint32_t call_scope(struct stet_pod_member *m, struct stet_pod_scope *s, uint64_t now)
{
    struct stet_pod_record *r = last_of(m, s);
    uint64_t begin;

    if (!r || r->called == DONE || r->finding == STET_POD_DIFFERS)
        return UINT32_MAX;
    if (s->own) {
        if (r->called != CALLED)
            return UINT32_MAX;
        if (now < r->next_call_ns)
            return until(now, r->next_call_ns);
        answer(m, s, r);
        return UINT32_MAX;
    }
    begin = r->since_ns + stet_pod_ms(m->timing.late);
    if (!is_stuck(m, s, now))
        return until(now, begin) + 250;
    if (now < begin || now < r->next_call_ns)
        return until(now, begin > r->next_call_ns ? begin : r->next_call_ns);
    lead_call(m, s, r, now);
    return until(now, r->next_call_ns);
}

uint32_t stet_pod_member_call(struct stet_pod_member *m, uint64_t now)
{
    uint32_t soonest = UINT32_MAX;

    for (size_t i = 0; i < m->scope_count && !atomic_load(&m->stopped); i++) {
        uint32_t ms = m->scopes[i].count > 1 ? call_scope(m, &m->scopes[i], now) : UINT32_MAX;

        soonest = ms < soonest ? ms : soonest;
    }
    return soonest;
}
