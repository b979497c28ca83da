/* What a rank does with the logs of its leaders: read them, compare, report. */
#include "pod/member_internal.h"

#include "base/mem.h"

#include <stdio.h>

/* ---- the log of a leader ---- */

static void flags_key(char out[STET_POD_KEY], int64_t rank)
{
    snprintf(out, STET_POD_KEY, "flags/%lld", (long long)rank);
}

struct stet_pod_peer *stet_pod_member_peer(struct stet_pod_member *m, int64_t rank)
{
    struct stet_pod_peer *free_one = NULL;

    for (size_t i = 0; i < STET_POD_PEERS; i++) {
        if (m->peers[i].rank == rank)
            return &m->peers[i];
        if (m->peers[i].rank < 0 && !free_one)
            free_one = &m->peers[i];
    }
    if (!free_one)
        return NULL;
    free_one->entries = stet_mem_calloc(STET_POD_LOG, sizeof *free_one->entries);
    free_one->seen_ns = stet_mem_calloc(STET_POD_LOG, sizeof *free_one->seen_ns);
    if (!free_one->entries || !free_one->seen_ns) {
        stet_mem_free(free_one->entries);
        stet_mem_free(free_one->seen_ns);
        free_one->entries = NULL;
        free_one->seen_ns = NULL;
        return NULL;
    }
    free_one->rank = rank;
    return free_one;
}

static uint64_t count_in(const struct stet_pod_count *counts, uint32_t n, struct stet_hash scope)
{
    for (uint32_t i = 0; i < n; i++) {
        if (stet_hash_eq(counts[i].scope, scope))
            return counts[i].executions;
    }
    return 0;
}

static void apply(struct stet_pod_peer *p, const struct stet_pod_batch *b, uint64_t now)
{
    bool moved = b->entry_count > 0 || !p->known;

    for (uint32_t i = 0; i < b->entry_count; i++) {
        p->entries[p->entry_count % STET_POD_LOG] = b->entries[i];
        p->seen_ns[p->entry_count % STET_POD_LOG] = now;
        p->entry_count++;
    }
    for (uint32_t i = 0; i < b->count_count; i++)
        moved |= count_in(p->counts, p->count_count, b->counts[i].scope) != b->counts[i].executions;
    memcpy(p->counts, b->counts, sizeof p->counts);
    p->count_count = b->count_count;
    p->state = b->state;
    p->known = true;
    p->read_ns = now;
    if (moved)
        p->moved_ns = now;
}

bool stet_pod_member_read(struct stet_pod_member *m, struct stet_pod_peer *p, uint32_t wait_ms)
{
    struct stet_buf bytes = STET_BUF_INIT;
    char key[STET_POD_KEY];
    bool any = false;
    enum stet_rc rc;

    do {
        bytes.len = 0;
        snprintf(key, sizeof key, "log/%lld/%llu", (long long)p->rank, (unsigned long long)p->next);
        rc = stet_pod_channel_get(m->channel, key, any ? 0 : wait_ms, &bytes);
        p->awaited |= rc == STET_NOT_FOUND;
        if (rc != STET_OK)
            break;
        rc = stet_pod_message_read_batch(&m->scratch, key, stet_buf_as_view(&bytes));
        if (rc == STET_OK && m->scratch.rank != p->rank)
            rc = STET_BAD_INPUT;
        if (rc != STET_OK) {
            stet_pod_channel_damaged(m->channel, rc);
            break;
        }
        p->next++;
        p->alive |= p->awaited;
        p->awaited = false;
        any = true;
        apply(p, &m->scratch, stet_pod_member_now(m));
    } while (!atomic_load(&m->stopped) && m->scratch.entry_count == STET_POD_BATCH_ENTRIES);
    stet_buf_release(&bytes);
    return any;
}

void stet_pod_member_ask(struct stet_pod_member *m, struct stet_pod_peer *p, uint64_t now)
{
    char key[STET_POD_KEY];

    if (p->asked == p->next + 1)
        return;
    p->asked = p->next + 1;
    p->asked_ns = now;
    snprintf(key, sizeof key, "ask/%lld/%llu", (long long)p->rank, (unsigned long long)p->next);
    stet_pod_member_put(m, key, STET_POD_TEXT, STET_VIEW("?"));
}

/* ---- comparing ---- */

static bool same(const struct stet_pod_member *m, const struct stet_pod_entry *a,
                 const struct stet_pod_entry *b)
{
    for (size_t i = 0; i < STET_POD_PARTS; i++) {
        if (!m->skip[i] && !stet_hash_eq(a->part[i], b->part[i]))
            return false;
    }
    return true;
}

/* The leader's entry at this place of the scope, or NULL. */
static const struct stet_pod_entry *at_place(const struct stet_pod_peer *p,
                                             const struct stet_pod_entry *e, uint64_t *seen_ns)
{
    uint64_t first = p->entry_count > STET_POD_LOG ? p->entry_count - STET_POD_LOG : 0;

    for (uint64_t i = p->entry_count; i-- > first;) {
        const struct stet_pod_entry *x = &p->entries[i % STET_POD_LOG];

        if (stet_hash_eq(x->scope, e->scope) && x->place == e->place) {
            *seen_ns = p->seen_ns[i % STET_POD_LOG];
            return x;
        }
    }
    return NULL;
}

static bool peer_has(const struct stet_pod_member *m, const struct stet_pod_peer *p,
                     const struct stet_pod_entry *e)
{
    uint64_t first = p->entry_count > STET_POD_LOG ? p->entry_count - STET_POD_LOG : 0;

    for (uint64_t i = p->entry_count; i-- > first;) {
        const struct stet_pod_entry *x = &p->entries[i % STET_POD_LOG];

        if (stet_hash_eq(x->scope, e->scope) && same(m, x, e))
            return true;
    }
    return false;
}

static bool own_has(struct stet_pod_member *m, const struct stet_pod_entry *e)
{
    uint64_t first = m->entered > STET_POD_LOG ? m->entered - STET_POD_LOG : 0;

    for (uint64_t n = m->entered; n-- > first;) {
        const struct stet_pod_record *r = stet_pod_member_record(m, n);

        if (r && stet_hash_eq(r->e.scope, e->scope) && same(m, &r->e, e))
            return true;
    }
    return false;
}

/* The leader's last entry of the same function and scope, else of the scope. */
static const struct stet_pod_entry *nearest(const struct stet_pod_peer *p,
                                            const struct stet_pod_entry *e)
{
    uint64_t first = p->entry_count > STET_POD_LOG ? p->entry_count - STET_POD_LOG : 0;
    const struct stet_pod_entry *found = NULL;

    for (uint64_t i = p->entry_count; i-- > first;) {
        const struct stet_pod_entry *x = &p->entries[i % STET_POD_LOG];

        if (!stet_hash_eq(x->scope, e->scope))
            continue;
        if (!strcmp(x->name, e->name))
            return x;
        found = found ? found : x;
    }
    return found;
}

/* A program of the same function that the leader has and this rank has not, while the leader does
 * not have this one: NULL if there is none. If they have one of that function in common, further
 * ones are of their own data. */
static const struct stet_pod_entry *instead(struct stet_pod_member *m,
                                            const struct stet_pod_peer *p,
                                            const struct stet_pod_record *r, uint64_t now)
{
    uint64_t first = p->entry_count > STET_POD_LOG ? p->entry_count - STET_POD_LOG : 0;
    uint64_t grace = stet_pod_ms(m->timing.grace);
    const struct stet_pod_entry *found = NULL;

    if (now < r->since_ns + grace)
        return NULL;
    for (uint64_t i = p->entry_count; i-- > first;) {
        const struct stet_pod_entry *x = &p->entries[i % STET_POD_LOG];

        if (!stet_hash_eq(x->scope, r->e.scope) || strcmp(x->name, r->e.name) != 0)
            continue;
        if (own_has(m, x))
            return NULL;
        if (now >= p->seen_ns[i % STET_POD_LOG] + grace)
            found = x;
    }
    return found;
}

/* ---- reporting ---- */

static bool is_told(struct stet_pod_member *m, const struct stet_pod_entry *e)
{
    uint64_t name = stet_hash_bytes(stet_view_str(e->name)).lo;

    for (size_t i = 0; i < m->told_name_count; i++) {
        if (m->told_names[i] == name)
            return true;
    }
    if (m->told_name_count < STET_POD_LOG)
        m->told_names[m->told_name_count++] = name;
    return false;
}

/* What a third rank has at this place: it publishes a hash. */
static void ask_witnesses(struct stet_pod_member *m, struct stet_pod_verdict *v)
{
    const struct stet_pod_scope *s = stet_pod_member_scope_of(m, v->own.scope);
    struct stet_buf bytes = STET_BUF_INIT;
    char key[STET_POD_KEY], scope[STET_HASH_TEXT];
    size_t n = 0;

    for (size_t i = 0; i < STET_POD_WITNESSES; i++)
        v->witness[i] = -1;
    if (!s)
        return;
    stet_hash_format(s->hash, scope);
    for (size_t i = 1; i <= STET_POD_WITNESSES + 1 && i < s->count && n < STET_POD_WITNESSES; i++) {
        struct stet_hash theirs;
        struct stet_view text;

        if (i == s->own || s->ranks[i] == v->other)
            continue;
        v->witness[n] = (int64_t)s->ranks[i];
        snprintf(key, sizeof key, "key/%s/%llu/%u", scope, (unsigned long long)v->own.place,
                 s->ranks[i]);
        if (stet_pod_member_get(m, key, STET_POD_TEXT, 0, &bytes, &text) &&
            stet_hash_parse(text, &theirs))
            v->opinion[n] = stet_hash_eq(theirs, v->own.part[STET_POD_PROGRAM]) ? STET_POD_LIKE_THIS
                            : stet_hash_eq(theirs, v->theirs.part[STET_POD_PROGRAM])
                                ? STET_POD_LIKE_OTHER
                                : STET_POD_NEITHER;
        n++;
    }
    stet_buf_release(&bytes);
}

/* The leader reads reports in the order of their numbers. */
static void send_report(struct stet_pod_member *m, const struct stet_pod_verdict *v)
{
    enum { TRIES = 8 };
    struct stet_pod_report report = {.rank = m->rank,
                                     .own = v->own,
                                     .theirs = v->theirs,
                                     .certain = v->certain,
                                     .went_on = v->went_on};
    struct stet_buf bytes = STET_BUF_INIT;
    char key[STET_POD_KEY];

    m->host.describe(m->host.context, &report.state);
    m->host.flags(m->host.context, report.flags);
    for (unsigned i = 0; i < TRIES; i++) {
        snprintf(key, sizeof key, "differs/%lld/%u", (long long)v->other, i);
        bytes.len = 0;
        stet_pod_message_report(&bytes, key, &report);
        if (bytes.failed ||
            stet_pod_channel_put(m->channel, key, stet_buf_as_view(&bytes)) != STET_REFUSED)
            break;
    }
    stet_buf_release(&bytes);
}

/* The leader gives its program when it has read the report, and other ranks come at about the same
 * time: the report is put together a moment later. */
static void report_difference(struct stet_pod_member *m, struct stet_pod_peer *p,
                              struct stet_pod_record *r, const struct stet_pod_entry *theirs,
                              bool certain, bool went_on)
{
    enum { FETCH_MS = 1500, OTHERS_MS = 250 };
    uint64_t now = stet_pod_member_now(m);
    struct stet_pod_verdict *v;

    if (m->telling_count == STET_POD_TELLING)
        return;
    m->telling[m->telling_count].since_ns = r->since_ns;
    m->telling[m->telling_count].not_before_ns = now + stet_pod_ms(m->timing.window + OTHERS_MS);
    m->telling[m->telling_count].until_ns = now + stet_pod_ms(m->timing.window + FETCH_MS);
    v = &m->telling[m->telling_count++].verdict;
    *v = (struct stet_pod_verdict){.finding = STET_POD_DIFFERS,
                                   .certain = certain,
                                   .went_on = went_on,
                                   .own = r->e,
                                   .other = p->rank,
                                   .state = p->state};
    if (theirs)
        v->theirs = *theirs;
    stet_pod_member_give(m, &r->e);
    send_report(m, v);
    for (size_t i = 0; theirs && i < STET_POD_PARTS; i++) {
        if (i != STET_POD_PROGRAM && i != STET_POD_OPTIONS &&
            !stet_hash_eq(theirs->part[i], r->e.part[i]))
            m->skip[i] = true;
    }
}

static void take_flags(struct stet_pod_member *m, struct stet_pod_verdict *v)
{
    struct stet_buf message = STET_BUF_INIT;
    struct stet_view flags;
    char key[STET_POD_KEY];

    flags_key(key, v->other);
    if (stet_pod_member_get(m, key, STET_POD_TEXT, 0, &message, &flags))
        snprintf(v->flags, sizeof v->flags, "%.*s", STET_FMT(flags));
    stet_buf_release(&message);
}

uint32_t stet_pod_member_tell(struct stet_pod_member *m, bool at_once)
{
    enum { AGAIN_MS = 100 };
    size_t kept = 0;

    for (size_t i = 0; i < m->telling_count; i++) {
        struct stet_pod_verdict *v = &m->telling[i].verdict;
        uint64_t now = stet_pod_member_now(m);
        bool ready = now >= m->telling[i].not_before_ns &&
                     (!stet_pod_entry_exists(&v->theirs) || stet_pod_member_take(m, &v->theirs, 0));

        if (!ready && !at_once && now < m->telling[i].until_ns) {
            m->telling[kept++] = m->telling[i];
            continue;
        }
        ask_witnesses(m, v);
        take_flags(m, v);
        v->after_ns = now - m->telling[i].since_ns;
        stet_pod_member_say(m, v);
    }
    m->telling_count = kept;
    return kept ? AGAIN_MS : UINT32_MAX;
}

static struct stet_pod_scope *own_scope(struct stet_pod_member *m, struct stet_hash hash)
{
    for (size_t i = 0; i < m->scope_count; i++) {
        if (stet_hash_eq(m->scopes[i].hash, hash))
            return &m->scopes[i];
    }
    return NULL;
}

static void settle(struct stet_pod_member *m, struct stet_pod_record *r,
                   enum stet_pod_finding finding)
{
    pthread_mutex_lock(&m->lock);
    r->finding = finding;
    pthread_mutex_unlock(&m->lock);
}

/* Does it take part in this launch? What a channel holds may have been written in an earlier one.
 */
static bool is_present(const struct stet_pod_member *m, const struct stet_pod_peer *p)
{
    return m->channel->reach == STET_POD_REACH_JOB || p->alive;
}

/* Asks the leader at the end of its log. If it goes on with it, it takes part; if not, this entry
 * has nothing to be compared with. */
static void await_answer(struct stet_pod_member *m, struct stet_pod_peer *p,
                         struct stet_pod_record *r)
{
    uint64_t now = stet_pod_member_now(m);

    while (stet_pod_member_read(m, p, 0))
        continue;
    stet_pod_member_ask(m, p, now);
    if (now < r->since_ns + stet_pod_ms(m->timing.late))
        return;
    m->unshared = true;
    settle(m, r, STET_POD_ALONE);
}

static void differ(struct stet_pod_member *m, struct stet_pod_peer *p, struct stet_pod_record *r,
                   const struct stet_pod_entry *theirs, bool certain, bool went_on)
{
    struct stet_pod_scope *s = own_scope(m, r->e.scope);

    if (!is_present(m, p)) {
        await_answer(m, p, r);
        return;
    }
    settle(m, r, STET_POD_DIFFERS);
    if (s ? s->told++ < STET_POD_REPORTED : !is_told(m, &r->e))
        report_difference(m, p, r, theirs, certain, went_on);
}

/* ---- judging one entry ---- */

static void tell_late(struct stet_pod_member *m, const struct stet_pod_peer *p,
                      struct stet_pod_record *r, uint64_t now)
{
    const struct stet_pod_scope *s = stet_pod_member_scope_of(m, r->e.scope);
    struct stet_pod_verdict v = {.finding = STET_POD_LATE,
                                 .own = r->e,
                                 .other = p->rank,
                                 .state = p->state,
                                 .answered = p->known && p->read_ns > r->since_ns,
                                 .scope_size = s ? s->count : 0,
                                 .witness = {-1, -1},
                                 .after_ns = now - r->since_ns};

    r->late = true;
    if (!is_present(m, p) || (!p->known && m->channel->reach == STET_POD_REACH_SOME &&
                              !stet_pod_member_was_here(m, p->rank)))
        m->unshared = true;
    else
        stet_pod_member_say(m, &v);
}

/* A program that several processes run together: all of them compile it, at the same place. Only
 * where several threads compile may the order differ, for a while. */
static void judge_joint(struct stet_pod_member *m, struct stet_pod_peer *p,
                        struct stet_pod_record *r, const struct stet_pod_state *own, uint64_t now)
{
    uint64_t grace = own->overlaps || p->state.overlaps ? stet_pod_ms(m->timing.grace) : 0;
    uint64_t seen = 0;
    const struct stet_pod_entry *x = at_place(p, &r->e, &seen);
    uint64_t runs = count_in(p->counts, p->count_count, r->e.scope);

    if ((x && same(m, x, &r->e)) || peer_has(m, p, &r->e)) {
        settle(m, r, STET_POD_SAME);
    } else if (x) {
        if (now >= (r->since_ns > seen ? r->since_ns : seen) + grace && !own_has(m, x))
            differ(m, p, r, x, true, false);
    } else if (p->known && p->read_ns > p->asked_ns && p->asked_ns > r->since_ns &&
               runs > r->e.position && p->read_ns >= p->moved_ns + stet_pod_ms(m->timing.again)) {
        /* It has executed more than this rank had, and stays there. */
        differ(m, p, r, nearest(p, &r->e), true, true);
    } else if (!r->late && now >= r->since_ns + stet_pod_ms(m->timing.late)) {
        tell_late(m, p, r, now);
    }
}

/* A program of one process: others need not compile it. Two ranks differ only if each compiled one
 * of the same function that the other did not. */
static void judge_alone(struct stet_pod_member *m, struct stet_pod_peer *p,
                        struct stet_pod_record *r, uint64_t now)
{
    const struct stet_pod_entry *x;

    if (peer_has(m, p, &r->e)) {
        settle(m, r, STET_POD_SAME);
        return;
    }
    x = instead(m, p, r, now);
    if (x)
        differ(m, p, r, x, false, false);
}

/* Executables that a framework loaded from a cache of its own are in no log: then places and counts
 * say nothing, and what is left is what each rank has compiled. */
static void judge(struct stet_pod_member *m, struct stet_pod_peer *p, struct stet_pod_record *r,
                  uint64_t now)
{
    struct stet_pod_state own = {0};

    if (!p->known && !(stet_pod_entry_is_joint(&r->e) && !r->late &&
                       now >= r->since_ns + stet_pod_ms(m->timing.late)))
        return;
    m->host.describe(m->host.context, &own);
    if (stet_pod_entry_is_joint(&r->e) && !own.loads && !p->state.loads)
        judge_joint(m, p, r, &own, now);
    else
        judge_alone(m, p, r, now);
}

/* When to look again: soon at first, then less and less often; at last never. */
static void plan_next(struct stet_pod_member *m, struct stet_pod_record *r, uint64_t now)
{
    static const uint32_t pauses[] = {250, 500, 500, 500, 1000, 2000, 5000, 10000, 20000};
    enum { PAUSES = sizeof pauses / sizeof *pauses, OFTEN = 12, OFTEN_MS = 250, RARELY_MS = 2000 };
    bool joint = stet_pod_entry_is_joint(&r->e);
    uint32_t most = joint ? 300 : m->world > 256 ? 6 : PAUSES;

    if (joint)
        r->next_ns = now + stet_pod_ms(r->tries < OFTEN ? OFTEN_MS : RARELY_MS);
    else
        r->next_ns = now + stet_pod_ms(pauses[r->tries < PAUSES ? r->tries : PAUSES - 1]);
    if (++r->tries > most)
        settle(m, r, STET_POD_ALONE);
}

static void follow_one(struct stet_pod_member *m, struct stet_pod_record *r, uint64_t now)
{
    int64_t leader = stet_pod_member_leader(m, &r->e);
    struct stet_pod_peer *p = leader == m->rank ? NULL : stet_pod_member_peer(m, leader);
    bool joint = stet_pod_entry_is_joint(&r->e);

    if (!p) { /* this rank leads, or follows too many */
        settle(m, r, STET_POD_SAME);
        return;
    }
    if (now < r->next_ns)
        return;
    if (joint && now >= r->since_ns + stet_pod_ms(m->timing.ask) &&
        (p->asked_ns < r->since_ns || p->read_ns > p->asked_ns) &&
        now >= p->asked_ns + stet_pod_ms(m->timing.again))
        stet_pod_member_ask(m, p, now);
    stet_pod_member_read(m, p, joint && !r->late ? m->timing.slice : 0);
    now = stet_pod_member_now(m);
    judge(m, p, r, now);
    if (!r->finding)
        plan_next(m, r, now);
}

void stet_pod_member_follow(struct stet_pod_member *m, uint64_t now)
{
    for (uint64_t n = m->open; n < m->entered && !atomic_load(&m->stopped); n++) {
        struct stet_pod_record *r = stet_pod_member_record(m, n);

        if (r && !r->finding)
            follow_one(m, r, now);
        if (n == m->open && (!r || r->finding))
            m->open++;
    }
}
