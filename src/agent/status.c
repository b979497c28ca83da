/* The agent's own status report. */
#include "agent/internal.h"
#include "base/json.h"
#include "stet_version.h"

#include <inttypes.h>
#include <unistd.h>

struct facts {
    size_t queued, connections, flying;
};

static void copy_facts(struct stet_agent *a, struct facts *f)
{
    pthread_mutex_lock(&a->lock);
    *f = (struct facts){a->queued + a->sharing, a->connections, a->flights != NULL};
    pthread_mutex_unlock(&a->lock);
}

/* "fine", or the problem. */
static const char *state_of(struct stet_tier *t, char error[160], uint64_t *opened)
{
    bool open;

    pthread_mutex_lock(&t->lock);
    open = t->breaker.open_for_ms && stet_wire_now_ms() < t->breaker.open_until_ms;
    memcpy(error, t->last_error, sizeof t->last_error);
    *opened = t->breaker.opened;
    pthread_mutex_unlock(&t->lock);
    return open ? "left-alone" : error[0] ? "had-errors" : "fine";
}

static void tier_json(struct stet_tier *t, struct stet_json *j)
{
    char error[160];
    uint64_t opened;
    const char *state = state_of(t, error, &opened);

    stet_json_object(j, NULL);
    stet_json_cstr(j, "kind", t->kind->name);
    stet_json_string(j, "address", t->shown);
    stet_json_cstr(j, "state", state);
    stet_json_bool(j, "leases", stet_tier_leases(t));
    stet_json_uint(j, "hits", t->hits);
    stet_json_uint(j, "misses", t->misses);
    stet_json_uint(j, "errors", t->errors);
    stet_json_uint(j, "skipped", t->skipped);
    stet_json_uint(j, "breaker_opened", opened);
    stet_json_uint(j, "puts", t->puts);
    stet_json_uint(j, "put_errors", t->put_errors);
    stet_json_uint(j, "bytes_in", t->bytes_in);
    stet_json_uint(j, "bytes_out", t->bytes_out);
    stet_json_object(j, "refused");
    for (int i = 0; i < STET_REFUSALS; i++) {
        if (t->refused[i])
            stet_json_uint(j, stet_refusal_word((enum stet_refusal)i), t->refused[i]);
    }
    stet_json_end_object(j);
    stet_json_cstr(j, "last_error", error[0] ? error : NULL);
    stet_json_end_object(j);
}

static void as_json(struct stet_agent *a, const struct facts *f, const struct stet_keyring *keys,
                    struct stet_buf *out)
{
    struct stet_json j;

    stet_json_init(&j, out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", "stet.agent/1");
    stet_json_uint(&j, "pid", (uint64_t)getpid());
    stet_json_cstr(&j, "version", STET_VERSION);
    stet_json_cstr(&j, "socket", a->socket);
    stet_json_number(&j, "up_s", (double)(stet_wire_now_ms() - a->started_ms) / 1e3);
    stet_json_uint(&j, "connections", f->connections);
    stet_json_uint(&j, "queued", f->queued);
#define COUNT(name, what) stet_json_uint(&j, #name, a->name);
    STET_AGENT_COUNTS(COUNT)
#undef COUNT
    stet_json_bool(&j, "signs", stet_keyring_signer(keys) != NULL);
    stet_json_uint(&j, "trusted_keys", stet_keyring_trust(keys)->count);
    stet_json_bool(&j, "trusts_anyone", stet_keyring_trust(keys)->anyone);
    stet_json_array(&j, "tiers");
    for (size_t i = 0; i < a->tiers.count; i++)
        tier_json(&a->tiers.items[i], &j);
    stet_json_end_array(&j);
    stet_json_end_object(&j);
    stet_buf_char(out, '\n');
}

static void tier_text(struct stet_tier *t, struct stet_buf *out)
{
    char error[160];
    uint64_t opened, refused = 0;
    const char *state = state_of(t, error, &opened);

    for (int i = 0; i < STET_REFUSALS; i++)
        refused += t->refused[i];
    stet_buf_printf(
        out, "%-36.*s %-10s %6" PRIu64 " %7" PRIu64 " %7" PRIu64 " %7" PRIu64 " %6" PRIu64 "\n",
        STET_FMT(t->shown), state, (uint64_t)t->hits, (uint64_t)t->misses, (uint64_t)t->errors,
        refused, (uint64_t)t->puts);
    for (int i = 0; i < STET_REFUSALS; i++) {
        if (t->refused[i])
            stet_buf_printf(out, "  refused: %s %" PRIu64 "\n",
                            stet_refusal_word((enum stet_refusal)i), (uint64_t)t->refused[i]);
    }
    if (error[0])
        stet_buf_printf(out, "  last error: %s\n", error);
}

static void keys_text(const struct stet_keyring *keys, struct stet_buf *out)
{
    const struct stet_signer *signer = stet_keyring_signer(keys);
    const struct stet_trust *trust = stet_keyring_trust(keys);
    char name[STET_PUBLIC_TEXT];

    if (signer) {
        stet_public_format(&signer->public, name);
        stet_buf_printf(out, "  signs as %s\n", name);
    } else if (!trust->anyone) {
        stet_buf_str(out, "  no signing key: nothing is written to the tiers "
                          "(`stet cache key new`)\n");
    }
    if (trust->anyone)
        stet_buf_str(out, "  takes entries that nobody signed (STET_TRUST=any)\n");
    else if (!trust->count)
        stet_buf_str(out,
                     "  no key is trusted: nothing is taken from the tiers (`stet cache key`)\n");
}

static void as_text(struct stet_agent *a, const struct facts *f, const struct stet_keyring *keys,
                    struct stet_buf *out)
{
    stet_buf_printf(out, "agent %ld, stet %s, up %" PRIu64 " s, at %s\n", (long)getpid(),
                    STET_VERSION, (stet_wire_now_ms() - a->started_ms) / 1000, a->socket);
#define COUNT(name, what)                                                                          \
    if (a->name)                                                                                   \
        stet_buf_printf(out, "  %-24s %" PRIu64 "\n", what, (uint64_t)a->name);
    STET_AGENT_COUNTS(COUNT)
#undef COUNT
    stet_buf_printf(out, "  %-24s %zu\n", "waiting to be shared", f->queued);
    if (!a->tiers.count) {
        stet_buf_str(out, "no tiers: processes of this host wait for each other, nothing more\n");
        return;
    }
    keys_text(keys, out);
    stet_buf_str(out, "tier                                 state        hits  misses  errors "
                      "refused shared\n");
    for (size_t i = 0; i < a->tiers.count; i++)
        tier_text(&a->tiers.items[i], out);
}

void stet_agent_status(struct stet_agent *a, bool json, struct stet_buf *out)
{
    struct stet_keyring *keys = stet_keyring_take(a);
    struct facts f;

    copy_facts(a, &f);
    if (json)
        as_json(a, &f, keys, out);
    else
        as_text(a, &f, keys, out);
    stet_keyring_put(a, keys);
}
