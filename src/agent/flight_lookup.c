/* Looks for the program of a flight: in the store, and then in the tiers, from the nearest on. An
 * entry from a tier is checked before it gets into the store. */
#include "agent/entry_check.h"
#include "agent/flight.h"

enum { SLOTS = 16 }; /* how many signers' slots are searched */

static bool is_in(struct stet_visit *v, const struct stet_store *s)
{
    struct stet_entry_file entry;

    if (stet_store_get(s, v->key, &entry, NULL) != STET_OK)
        return false;
    v->bytes = entry.bytes_size;
    stet_store_entry_close(&entry);
    return true;
}

bool stet_visit_in_store(struct stet_visit *v)
{
    struct stet_keyring *keys = stet_agent_keyring_take(v->a);
    bool anyone = stet_agent_keyring_trust(keys)->anyone;

    stet_agent_keyring_put(v->a, keys);
    if (is_in(v, &v->store))
        return true;
    v->in_aside = anyone && is_in(v, &v->aside);
    return v->in_aside;
}

/* Notes a rejected entry, and what that means for writing there later. */
static void refuse(struct stet_visit *v, size_t i, const struct stet_outside *o, bool slot,
                   const struct stet_err *err)
{
    struct stet_tier *t = &v->a->tiers.items[i];

    stet_agent_tier_refuse(t, o->why);
    stet_agent_log("%.*s: refused: %s: %s", STET_FMT(t->shown), stet_agent_refusal_word(o->why),
                   err->text);
    if (slot)
        return;
    /* an entry that another signer or a newer Stet wrote is not replaced */
    if (o->why == STET_REFUSAL_UNTRUSTED || o->why == STET_REFUSAL_NEWER)
        v->flight->taken |= 1u << i;
    else
        v->flight->refused |= 1u << i;
    v->was_refused = true;
    v->refusal = o->why;
    v->refused_signer = o->archive.signer;
}

/* Puts an entry from outside into the store. Its seal is written first: an entry without a seal
 * counts as made here. */
static enum stet_rc admit(struct stet_visit *v, const struct stet_outside *o, struct stet_err *err)
{
    const struct stet_store *s = o->by_key ? &v->store : &v->aside;
    enum stet_rc rc = STET_OK;

    stet_trust_seal_make(&v->seal, &o->archive, &o->item);
    if (!v->once)
        rc = stet_trust_seal_put(s, &v->seal, err);
    if (rc == STET_OK)
        rc = stet_store_put_bytes(s, v->key, o->item.bytes, err);
    v->in_aside = rc == STET_OK && !o->by_key;
    return rc;
}

/* From this tier, under this name, into the store. STET_BAD_INPUT if the entry is not
 * acceptable. */
static enum stet_rc fetch_named(struct stet_visit *v, size_t i, const struct stet_trust *trust,
                                const struct stet_tier_name *name, uint64_t until_ms)
{
    struct stet_tier *t = &v->a->tiers.items[i];
    struct stet_buf bytes = {.cap = STET_TIER_MAX + 4096};
    struct stet_err err = STET_ERR_INIT;
    struct stet_outside o;
    enum stet_rc rc = stet_agent_tier_get(t, name, &bytes, until_ms, &err);

    stet_agent_report_tier(v->a, v->run, i, rc == STET_OK || rc == STET_NOT_FOUND);
    if (rc == STET_OK &&
        !stet_agent_outside_check(&o, stet_buf_as_view(&bytes), v->key, trust, &err)) {
        refuse(v, i, &o, *name->slot != '\0', &err);
        rc = STET_BAD_INPUT;
    } else if (rc == STET_OK) {
        rc = admit(v, &o, &err);
    } else if (rc == STET_BAD_INPUT) {
        rc = STET_IO; /* no answer at all: there may be an entry */
    }
    if (rc == STET_OK) {
        v->bytes = o.item.bytes.len;
        v->tier = (uint32_t)i + 1;
        v->was_refused = false;
    } else if (rc != STET_NOT_FOUND && rc != STET_LIMIT && rc != STET_BAD_INPUT) {
        stet_agent_log("%.*s: %s", STET_FMT(t->shown), err.text);
    }
    stet_buf_release(&bytes);
    return rc;
}

/* Another signer has the plain name. A signer that this user trusts may have a slot beside it. */
static enum stet_rc fetch_slots(struct stet_visit *v, size_t i, const struct stet_keyring *keys,
                                uint64_t until_ms)
{
    const struct stet_trust *trust = stet_agent_keyring_trust(keys);
    const struct stet_signer *own = stet_agent_keyring_signer(keys);
    struct stet_tier_name name = {.key = v->key};
    enum stet_rc rc = STET_BAD_INPUT;

    if (own) {
        stet_agent_tier_slot(&name, &own->public);
        rc = fetch_named(v, i, trust, &name, until_ms);
    }
    for (size_t k = 0; rc != STET_OK && k < trust->count && k < SLOTS; k++) {
        if (own && !memcmp(own->public.bytes, trust->keys[k].bytes, STET_PUBLIC_KEY))
            continue;
        stet_agent_tier_slot(&name, &trust->keys[k]);
        rc = fetch_named(v, i, trust, &name, until_ms);
    }
    return rc == STET_OK ? STET_OK : STET_BAD_INPUT;
}

enum stet_rc stet_visit_fetch(struct stet_visit *v, size_t i, uint64_t until_ms)
{
    struct stet_keyring *keys = stet_agent_keyring_take(v->a);
    const struct stet_tier_name plain = {.key = v->key};
    enum stet_rc rc = fetch_named(v, i, stet_agent_keyring_trust(keys), &plain, until_ms);

    if (rc == STET_BAD_INPUT && v->flight->taken & 1u << i)
        rc = fetch_slots(v, i, keys, until_ms);
    stet_agent_keyring_put(v->a, keys);
    return rc;
}

struct stet_tier_bits stet_flight_bits(const struct stet_flight *f, uint32_t tiers)
{
    return (struct stet_tier_bits){tiers, f->refused & tiers, f->taken & tiers};
}

/* An entry that a nearer tier lacks and a farther one has is copied to the nearer one. */
static void fill_nearer(struct stet_visit *v, size_t from, uint32_t missing)
{
    if (missing)
        v->found = stet_agent_share_hold(
            v->a, v->key, stet_view_str((v->in_aside ? &v->aside : &v->store)->folder),
            stet_flight_bits(v->flight, missing), &v->seal);
    v->flight->tier = (uint32_t)from + 1;
}

bool stet_visit_tiers(struct stet_visit *v)
{
    uint32_t missing = 0;

    for (size_t i = 0; i < v->a->tiers.count && stet_wire_now_ms() < v->until_ms; i++) {
        enum stet_rc rc = stet_visit_fetch(v, i, v->until_ms);

        if (rc == STET_OK) {
            fill_nearer(v, i, missing);
            return true;
        }
        /* counted here: a second look under a lease is not a second miss */
        if (rc == STET_NOT_FOUND)
            atomic_fetch_add(&v->a->tiers.items[i].misses, 1);
        if (rc == STET_NOT_FOUND || rc == STET_BAD_INPUT)
            missing |= 1u << i;
        else
            v->failed |= 1u << i;
    }
    return false;
}
