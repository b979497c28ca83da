/* See member.h: the log, and the order of a tick. */
#include "pod/member.h"

#include "base/clock.h"
#include "base/mem.h"
#include "pod/member_internal.h"
#include "pod/pod_launch.h"

#include <stdio.h>
#include <stdlib.h>

void stet_pod_timing_init(struct stet_pod_timing *t, int64_t world)
{
    int64_t n = world > 1 ? world : 2;
    int64_t window = n / 2, slice = n / 4, rarely = n * 10;

    *t = (struct stet_pod_timing){
        .window = (uint32_t)(window < 50     ? 50
                             : window > 1000 ? 1000
                                             : window),
        .slice = (uint32_t)(slice < 200    ? 200
                            : slice > 1000 ? 1000
                                           : slice),
        .ask = 400,
        .again = 900,
        .grace = 1500,
        .late = 30000,
        .active = 60000,
        .rarely = (uint32_t)(rarely < 2000    ? 2000
                             : rarely > 60000 ? 60000
                                              : rarely),
    };
    t->ask += t->window;
}

enum stet_rc stet_pod_member_new(struct stet_pod_member **out, int64_t rank, int64_t world,
                                 struct stet_pod_channel *channel,
                                 const struct stet_pod_timing *timing,
                                 const struct stet_pod_host *host, struct stet_err *err)
{
    struct stet_pod_member *m = stet_mem_calloc(1, sizeof *m);

    if (!m)
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    m->rank = rank;
    m->world = world;
    m->channel = channel;
    m->timing = *timing;
    m->host = *host;
    pthread_mutex_init(&m->lock, NULL);
    for (size_t i = 0; i < STET_POD_PEERS; i++)
        m->peers[i].rank = -1;
    *out = m;
    return STET_OK;
}

void stet_pod_member_free(struct stet_pod_member *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->scope_count; i++)
        stet_mem_free(m->scopes[i].ranks);
    for (size_t i = 0; i < STET_POD_PEERS; i++) {
        stet_mem_free(m->peers[i].entries);
        stet_mem_free(m->peers[i].seen_ns);
    }
    pthread_mutex_destroy(&m->lock);
    stet_mem_free(m);
}

/* ---- scopes and entries ---- */

const struct stet_pod_scope *stet_pod_member_scope_of(const struct stet_pod_member *m,
                                                      struct stet_hash hash)
{
    for (size_t i = 0; i < m->scope_count; i++) {
        if (stet_hash_eq(m->scopes[i].hash, hash))
            return &m->scopes[i];
    }
    return NULL;
}

static bool add_scope(struct stet_pod_member *m, struct stet_hash hash, const uint32_t *ranks,
                      size_t count)
{
    struct stet_pod_scope *s = &m->scopes[m->scope_count];

    if (m->scope_count == STET_POD_SCOPES)
        return false;
    *s = (struct stet_pod_scope){.hash = hash,
                                 .ranks = stet_mem_calloc(count, sizeof *s->ranks),
                                 .count = count,
                                 .own = count};
    if (!s->ranks)
        return false;
    memcpy(s->ranks, ranks, count * sizeof *ranks);
    for (size_t i = 0; i < count; i++) {
        if (ranks[i] == m->rank)
            s->own = i;
    }
    if (s->own == count) { /* a program of others */
        stet_mem_free(s->ranks);
        return false;
    }
    m->scope_count++;
    return true;
}

struct stet_hash stet_pod_member_scope(struct stet_pod_member *m, const uint32_t *ranks,
                                       size_t count)
{
    struct stet_hash hash = stet_hash_bytes(stet_view_of(ranks, count * sizeof *ranks));
    bool known;

    pthread_mutex_lock(&m->lock);
    known = stet_pod_member_scope_of(m, hash) || add_scope(m, hash, ranks, count);
    pthread_mutex_unlock(&m->lock);
    return known ? hash : (struct stet_hash){0};
}

int64_t stet_pod_member_leader(const struct stet_pod_member *m, const struct stet_pod_entry *e)
{
    const struct stet_pod_scope *s =
        stet_pod_entry_is_joint(e) ? stet_pod_member_scope_of(m, e->scope) : NULL;

    return s ? (int64_t)s->ranks[0] : 0;
}

bool stet_pod_member_leads(const struct stet_pod_member *m)
{
    for (size_t i = 0; i < m->scope_count; i++) {
        if (!m->scopes[i].own)
            return true;
    }
    return m->rank == 0;
}

void stet_pod_member_enter(struct stet_pod_member *m, struct stet_pod_entry *e, uint64_t begin_ns)
{
    pthread_mutex_lock(&m->lock);
    e->number = m->entered++;
    for (size_t i = 0; i < m->scope_count; i++) {
        if (stet_hash_eq(m->scopes[i].hash, e->scope))
            e->place = m->scopes[i].next_place++;
    }
    m->log[e->number % STET_POD_LOG] = (struct stet_pod_record){
        .e = *e, .since_ns = begin_ns, .next_ns = begin_ns + stet_pod_ms(m->timing.window + 30)};
    pthread_mutex_unlock(&m->lock);
    atomic_store(&m->due, true);
}

struct stet_pod_record *stet_pod_member_record(struct stet_pod_member *m, uint64_t number)
{
    struct stet_pod_record *r = &m->log[number % STET_POD_LOG];
    bool there;

    pthread_mutex_lock(&m->lock);
    there = number < m->entered && r->e.number == number;
    pthread_mutex_unlock(&m->lock);
    return there ? r : NULL;
}

enum stet_pod_finding stet_pod_member_finding(struct stet_pod_member *m, uint64_t number)
{
    const struct stet_pod_record *r = &m->log[number % STET_POD_LOG];
    enum stet_pod_finding f;

    pthread_mutex_lock(&m->lock);
    f = r->e.number == number ? r->finding : 0;
    pthread_mutex_unlock(&m->lock);
    return f;
}

/* ---- messages ---- */

bool stet_pod_member_get(struct stet_pod_member *m, const char *key, enum stet_pod_message kind,
                         uint32_t wait_ms, struct stet_buf *message, struct stet_view *bytes)
{
    enum stet_rc rc;

    message->len = 0;
    if (stet_pod_channel_get(m->channel, key, wait_ms, message) != STET_OK)
        return false;
    rc = stet_pod_message_read_bytes(bytes, key, kind, stet_buf_as_view(message));
    if (rc != STET_OK)
        stet_pod_channel_damaged(m->channel, rc);
    return rc == STET_OK;
}

void stet_pod_member_put(struct stet_pod_member *m, const char *key, enum stet_pod_message kind,
                         struct stet_view bytes)
{
    struct stet_buf message = STET_BUF_INIT;

    stet_pod_message_bytes(&message, key, kind, bytes);
    if (!message.failed)
        stet_pod_channel_put(m->channel, key, stet_buf_as_view(&message));
    stet_buf_release(&message);
}

/* ---- captured bytes ---- */

/* Pieces of at most this many bytes; each begins with 'm' if more follow. The message around a
 * piece takes up to AROUND bytes. */
enum { PIECE = 384 << 10, PIECES_MOST = 64, AROUND = 64 };

static size_t piece_of(const struct stet_pod_member *m)
{
    size_t most = m->channel->kind->value_most - AROUND;

    return most < PIECE ? most : PIECE;
}

static void key_of(char out[STET_POD_KEY], struct stet_hash hash, bool options, unsigned piece)
{
    char text[STET_HASH_TEXT];

    stet_hash_format(hash, text);
    snprintf(out, STET_POD_KEY, "%s/%s/%u", options ? "options" : "program", text, piece);
}

static void give(struct stet_pod_member *m, struct stet_hash hash, bool options)
{
    struct stet_buf bytes = STET_BUF_INIT, piece = STET_BUF_INIT, message = STET_BUF_INIT;
    size_t most = piece_of(m) - 1, at = 0;
    char key[STET_POD_KEY];

    if (stet_hash_is_zero(hash) || !m->host.captured(m->host.context, hash, options, &bytes) ||
        bytes.len > most * PIECES_MOST) {
        stet_buf_release(&bytes);
        return;
    }
    for (unsigned i = 0; at < bytes.len || i == 0; i++) {
        size_t n = bytes.len - at < most ? bytes.len - at : most;
        enum stet_rc rc;

        piece.len = message.len = 0;
        stet_buf_char(&piece, at + n < bytes.len ? 'm' : 'l');
        stet_buf_add(&piece, bytes.ptr + at, n);
        key_of(key, hash, options, i);
        stet_pod_message_bytes(&message, key, STET_POD_PIECE, stet_buf_as_view(&piece));
        rc = piece.failed || message.failed
                 ? STET_NO_MEMORY
                 : stet_pod_channel_put(m->channel, key, stet_buf_as_view(&message));
        if (rc != STET_OK) /* or another rank gave it already */
            break;
        at += n;
    }
    stet_buf_release(&message);
    stet_buf_release(&piece);
    stet_buf_release(&bytes);
}

void stet_pod_member_give(struct stet_pod_member *m, const struct stet_pod_entry *e)
{
    give(m, e->bytes, false);
    give(m, e->option_bytes, true);
}

static bool take(struct stet_pod_member *m, struct stet_hash hash, bool options, uint32_t wait_ms)
{
    struct stet_buf whole = STET_BUF_INIT, message = STET_BUF_INIT;
    bool more = true, done = false;
    struct stet_view piece;
    char key[STET_POD_KEY];

    if (stet_hash_is_zero(hash))
        return false;
    if (m->host.captured(m->host.context, hash, options, &whole)) {
        stet_buf_release(&whole);
        return true;
    }
    for (unsigned i = 0; more && i < PIECES_MOST; i++) {
        key_of(key, hash, options, i);
        if (!stet_pod_member_get(m, key, STET_POD_PIECE, wait_ms, &message, &piece) || !piece.len)
            break;
        more = piece.ptr[0] == 'm';
        stet_buf_add(&whole, piece.ptr + 1, piece.len - 1);
        done = !more && !whole.failed;
    }
    if (done)
        m->host.keep(m->host.context, hash, options, stet_buf_as_view(&whole));
    stet_buf_release(&message);
    stet_buf_release(&whole);
    return done;
}

bool stet_pod_member_take(struct stet_pod_member *m, const struct stet_pod_entry *e,
                          uint32_t wait_ms)
{
    bool program = take(m, e->bytes, false, wait_ms);

    take(m, e->option_bytes, true, program ? wait_ms : 0);
    return program;
}

/* ---- a tick ---- */

void stet_pod_member_last(struct stet_pod_member *m)
{
    atomic_store(&m->stopped, false);
    if (m->doubled)
        return;
    if (!atomic_load(&m->channel->given_up) && stet_pod_member_leads(m) && m->entered)
        stet_pod_member_hear(m, m->rank, &m->reports);
    stet_pod_member_tell(m, true);
}

void stet_pod_member_stop(struct stet_pod_member *m)
{
    atomic_store(&m->stopped, true);
}

static uint32_t until(uint64_t now, uint64_t at)
{
    return at > now ? (uint32_t)((at - now) / 1000000 + 1) : 0;
}

/* When the earliest open entry is to be looked at again. */
static uint32_t next_look(struct stet_pod_member *m, uint64_t now)
{
    uint32_t soonest = 60000;

    for (uint64_t n = m->open; n < m->entered; n++) {
        const struct stet_pod_record *r = stet_pod_member_record(m, n);
        uint32_t ms = r && !r->finding ? until(now, r->next_ns) : soonest;

        soonest = ms < soonest ? ms : soonest;
    }
    return soonest;
}

/* A process that inherited the variables of a rank is not that rank: the first one that comes is.
 */
static bool is_own_rank(struct stet_pod_member *m)
{
    char key[STET_POD_KEY], text[STET_POD_CLAIM];

    if (m->claimed)
        return !m->doubled;
    m->claimed = true;
    snprintf(key, sizeof key, "rank/%lld", (long long)m->rank);
    stet_pod_launch_claim(text);
    m->doubled = stet_pod_channel_put(m->channel, key, stet_view_str(text)) == STET_REFUSED;
    if (m->doubled)
        stet_pod_launch_contest(m->channel, m->rank);
    else
        m->host.joined(m->host.context, m->channel->job);
    return !m->doubled;
}

void stet_pod_member_say(struct stet_pod_member *m, const struct stet_pod_verdict *v)
{
    bool contested = stet_pod_launch_is_contested(m->channel, m->rank) ||
                     stet_pod_launch_is_contested(m->channel, v->other);

    for (size_t i = 0; i < v->missing_count && i < STET_POD_MISSED; i++)
        contested = contested || stet_pod_launch_is_contested(m->channel, v->missing[i]);
    m->contested = m->contested || contested;
    if (!contested)
        m->host.verdict(m->host.context, v);
}

uint64_t stet_pod_member_open(struct stet_pod_member *m)
{
    uint64_t open = 0;

    for (uint64_t n = m->open; n < m->entered; n++) {
        const struct stet_pod_record *r = stet_pod_member_record(m, n);

        open += r && !r->finding;
    }
    return open;
}

bool stet_pod_member_was_here(struct stet_pod_member *m, int64_t rank)
{
    struct stet_buf unused = STET_BUF_INIT;
    char key[STET_POD_KEY];
    bool was;

    snprintf(key, sizeof key, "rank/%lld", (long long)rank);
    was = stet_pod_channel_get(m->channel, key, 0, &unused) == STET_OK;
    stet_buf_release(&unused);
    return was;
}

const char *stet_pod_member_apart(const struct stet_pod_member *m)
{
    return m->doubled     ? "another process has this rank"
           : m->contested ? "two processes claim to be the same rank: one may be of an earlier "
                            "launch"
           : m->unshared ? "a rank that must compile the same does not answer in this channel: not "
                           "all ranks share it"
                         : NULL;
}

uint32_t stet_pod_member_tick(struct stet_pod_member *m)
{
    uint64_t now = stet_pod_member_now(m);
    uint32_t wait, look;
    bool active;

    if (!is_own_rank(m) || atomic_load(&m->channel->given_up))
        return 60000;
    if (atomic_exchange(&m->due, false))
        m->last_enter_ns = now;
    active = m->last_enter_ns && now < m->last_enter_ns + stet_pod_ms(m->timing.active);
    wait = active ? 250 : 2000;
    if (stet_pod_member_leads(m)) {
        if (!m->looked_ns || now >= m->looked_ns + stet_pod_ms(wait) || m->published < m->entered)
            stet_pod_member_lead(m, now);
        if (m->published < m->entered)
            wait = m->timing.window < wait ? m->timing.window : wait;
    } else {
        if (m->published < m->entered)
            stet_pod_member_lead(m, now); /* a witness */
        wait = stet_pod_member_listen(m, now);
    }
    stet_pod_member_follow(m, now);
    look = stet_pod_member_call(m, stet_pod_member_now(m));
    wait = look < wait ? look : wait;
    look = next_look(m, stet_pod_member_now(m));
    wait = look < wait ? look : wait;
    look = stet_pod_member_tell(m, false);
    wait = look < wait ? look : wait;
    return wait > 20 ? wait : 20;
}
