/* The keys that decide which executables may come from outside: the user's own Ed25519 key, and
 * trusted keys of others.
 *
 * The command line and the agent check signatures when entries come in from outside. The layer
 * reads only the user's own folder: a user who can write there could run code as this user anyway,
 * so a signature inside would prove nothing and cost time at every reload. */
#ifndef STET_TRUST_KEYS_H
#define STET_TRUST_KEYS_H

#include "base/buf.h"
#include "base/err.h"

#define STET_PUBLIC_KEY  32
#define STET_PUBLIC_TEXT 73 /* "ed25519:", 64 hex digits and the terminator */

struct stet_public {
    unsigned char bytes[STET_PUBLIC_KEY];
};

/* Contains a secret: release wipes it. */
struct stet_signer {
    struct stet_public public;
    unsigned char secret[64];
};

struct stet_trust {
    struct stet_public *keys;
    size_t count;
    bool anyone; /* the user turned it off: STET_TRUST=any */
};

/* $STET_SIGNING_KEY, else $XDG_CONFIG_HOME/stet/signing.key, else ~/.config/...; stet_mem_free. */
char *stet_signing_path(struct stet_err *err);
/* $STET_TRUSTED_KEYS, else trusted.keys in the same folder. */
char *stet_trusted_path(struct stet_err *err);

/* Creates a new key at `path`, mode 0600. Never replaces an old one: STET_USAGE. */
enum stet_rc stet_signer_make(struct stet_signer *s, const char *path, struct stet_err *err);
/* STET_NOT_FOUND if there is none; STET_REFUSED if other users may read it. */
enum stet_rc stet_signer_open(struct stet_signer *s, const char *path, struct stet_err *err);
void stet_signer_release(struct stet_signer *s);

/* No file means no key. STET_REFUSED if other users may write it. Also reads STET_TRUST=any. */
enum stet_rc stet_trust_open(struct stet_trust *t, const char *path, struct stet_err *err);
void stet_trust_release(struct stet_trust *t);
bool stet_trust_has(const struct stet_trust *t, const struct stet_public *key);
/* One more, in memory alone. */
enum stet_rc stet_trust_extend(struct stet_trust *t, const struct stet_public *key,
                               struct stet_err *err);
/* Appends a line; does nothing if it is there already. */
enum stet_rc stet_trust_add(const char *path, const struct stet_public *key, const char *comment,
                            struct stet_err *err);
/* Removes its lines from the file; STET_NOT_FOUND if there are none. */
enum stet_rc stet_trust_remove(const char *path, const struct stet_public *key,
                               struct stet_err *err);

void stet_public_format(const struct stet_public *key, char out[STET_PUBLIC_TEXT]);
bool stet_public_parse(struct stet_view text, struct stet_public *out);

#endif
