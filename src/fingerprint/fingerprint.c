/* Prepares the streams, lets facets.c fill them, and takes the digests. */
#include "fingerprint/fingerprint_internal.h"

static const char *const facets[STET_FACETS] = {
#define FACET(id, name, what) name,
#include "fingerprint/facets.def"
#undef FACET
};

const char *stet_facet_name(enum stet_facet f)
{
    return facets[f];
}

uint32_t stet_fingerprint_moved(const struct stet_fingerprint *a, const struct stet_fingerprint *b)
{
    uint32_t moved = 0;

    for (unsigned f = 0; f < STET_FACETS; f++)
        if (!stet_hash_eq(a->facets[f], b->facets[f]))
            moved |= 1u << f;
    return moved;
}

/* The key covers the facets, the skeleton and its own stream. Options have a facet and are not in
 * the key. */
static struct stet_hash key_of(const struct stet_fingerprint *f, struct stet_hash rest)
{
    struct stet_hasher h;

    stet_hasher_init(&h);
    for (unsigned i = 0; i < STET_FACETS; i++)
        if (i != STET_FACET_OPTIONS)
            stet_hasher_add(&h, &f->facets[i], sizeof f->facets[i]);
    stet_hasher_add(&h, &f->skeleton, sizeof f->skeleton);
    stet_hasher_add(&h, &rest, sizeof rest);
    return stet_hasher_digest(&h);
}

enum stet_rc stet_fingerprint_of(struct stet_fingerprint *out, struct stet_canon *c,
                                 struct stet_canon_order *order, struct stet_view options,
                                 struct stet_err *err)
{
    struct stet_sink sinks[STET_SINKS]; /* some 50 KB of stack, which is more likely in the cache
                                         * than fresh pages */
    enum stet_rc rc;

    *out = (struct stet_fingerprint){0};
    for (unsigned i = 0; i < STET_SINKS; i++) {
        stet_sink_init(&sinks[i], &c->contents);
        stet_sink_varint(&sinks[i], STET_FINGERPRINT_VERSION);
    }
    rc = stet_facets_make(c, sinks, order, err);
    if (rc != STET_OK)
        return rc;
    stet_sink_bytes(&sinks[STET_FACET_OPTIONS], options.ptr, options.len);
    for (unsigned f = 0; f < STET_FACETS; f++)
        out->facets[f] = stet_sink_digest(&sinks[f]);
    out->skeleton = stet_sink_digest(&sinks[STET_SINK_SKELETON]);
    out->key = key_of(out, stet_sink_digest(&sinks[STET_SINK_KEY]));
    return STET_OK;
}

enum stet_rc stet_fingerprint_make(struct stet_fingerprint *out, const struct stet_program *p,
                                   struct stet_view options, struct stet_err *err)
{
    _Alignas(64) struct stet_canon canon;
    struct stet_canon_order order = {0};
    enum stet_rc rc = stet_canon_init(&canon, p, err);

    *out = (struct stet_fingerprint){0};
    if (rc != STET_OK)
        return rc;
    rc = stet_fingerprint_of(out, &canon, &order, options, err);
    stet_canon_release(&canon);
    return rc;
}
