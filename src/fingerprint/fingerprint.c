/* Sets the streams up, lets facets.c and key.c fill them, takes the digests. */
#include "fingerprint/internal.h"

static const struct {
    const char *name, *about;
} facets[STET_FACETS] = {
#define FACET(id, name, what) {name, what},
#include "fingerprint/facets.def"
#undef FACET
};

const char *stet_facet_name(enum stet_facet f)
{
    return facets[f].name;
}

const char *stet_facet_about(enum stet_facet f)
{
    return facets[f].about;
}

uint32_t stet_fingerprint_moved(const struct stet_fingerprint *a, const struct stet_fingerprint *b)
{
    uint32_t moved = 0;

    for (unsigned f = 0; f < STET_FACETS; f++)
        if (!stet_hash_eq(a->facets[f], b->facets[f]))
            moved |= 1u << f;
    return moved;
}

/* The last stream is the key's. */
static enum stet_rc fill(struct stet_sink sinks[STET_SINKS + 1], struct stet_canon *c,
                         struct stet_fingerprint *out, struct stet_view options,
                         struct stet_err *err)
{
    struct stet_order order = {0};
    enum stet_rc rc;

    for (unsigned i = 0; i <= STET_SINKS; i++) {
        stet_sink_init(&sinks[i], &c->contents);
        stet_sink_varint(&sinks[i], STET_FINGERPRINT_VERSION);
    }
    rc = stet_facets_make(c, sinks, &order, err);
    if (rc == STET_OK)
        rc = stet_key_make(c, &sinks[STET_SINKS], &out->key, err);
    if (rc != STET_OK)
        return rc;
    stet_sink_bytes(&sinks[STET_FACET_OPTIONS], options.ptr, options.len);
    for (unsigned f = 0; f < STET_FACETS; f++)
        out->facets[f] = stet_sink_digest(&sinks[f]);
    out->skeleton = stet_sink_digest(&sinks[STET_SINK_SKELETON]);
    return STET_OK;
}

enum stet_rc stet_fingerprint_make(struct stet_fingerprint *out, const struct stet_program *p,
                                   struct stet_view options, struct stet_err *err)
{
    struct stet_sink sinks[STET_SINKS + 1]; /* with `canon` some 70 KB of stack, which is warmer */
    struct stet_canon canon;                /* than fresh pages */
    enum stet_rc rc = stet_canon_init(&canon, p, err);

    if (rc != STET_OK)
        return rc;
    *out = (struct stet_fingerprint){0};
    rc = fill(sinks, &canon, out, options, err);
    stet_canon_release(&canon);
    return rc;
}
