/* The keys that an agent uses, read again when their files change. A key that is no longer trusted
 * is not used from the next fetch on. */
#include "agent/internal.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Distinguishes one state of a file from another, and from no file. */
struct stamp {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

enum { FILES = 5 };

struct stet_keyring {
    unsigned refs; /* of its users, and of the agent while it is the newest */
    struct stet_trust trust;
    struct stet_signer signer;
    bool signs;
    struct stamp stamps[FILES];
};

static struct stamp look_at(const char *path)
{
    struct stamp out = {0};
    struct stat st;

    if (path && *path && stat(path, &st) == 0) {
        out.device = st.st_dev;
        out.inode = st.st_ino;
        out.size = st.st_size;
        out.changed = st.st_ctim; /* also changes with the mode, and users cannot set it */
    }
    return out;
}

static bool same(const struct stamp *a, const struct stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

/* This user's own key and the trusted keys, including its own. A faulty key file is logged and
 * ignored. */
static void read_keys(struct stet_keyring *k, const char *signing, const char *trusted)
{
    struct stet_err err = STET_ERR_INIT;
    enum stet_rc rc = signing ? stet_trust_signer_open(&k->signer, signing, &err) : STET_NOT_FOUND;

    k->signs = rc == STET_OK;
    if (rc != STET_OK && rc != STET_NOT_FOUND)
        stet_agent_log("%s", err.text);
    err = (struct stet_err)STET_ERR_INIT;
    if (trusted && stet_trust_open(&k->trust, trusted, &err) != STET_OK) {
        stet_agent_log("%s", err.text);
        k->trust = (struct stet_trust){0};
    }
    if (k->signs && !stet_trust_has(&k->trust, &k->signer.public))
        stet_trust_extend(&k->trust, &k->signer.public, NULL);
}

static void release(struct stet_keyring *k)
{
    stet_trust_release(&k->trust);
    stet_trust_signer_release(&k->signer);
    stet_mem_free(k);
}

/* With the lock. False if there is no memory for changed keys: then no key is trusted. */
static bool refresh(struct stet_agent *a)
{
    char *signing = stet_trust_signing_path(NULL), *trusted = stet_trust_keys_path(NULL);
    const char *const files[FILES] = {signing, trusted, getenv("STET_TLS_CA"),
                                      getenv("STET_TLS_CERT"), getenv("STET_TLS_KEY")};
    struct stet_keyring *old = a->keyring, *k;
    struct stamp now[FILES];
    bool moved = !old;

    for (size_t i = 0; i < FILES; i++) {
        now[i] = look_at(files[i]);
        moved |= old && !same(&now[i], &old->stamps[i]);
    }
    k = moved ? stet_mem_calloc(1, sizeof *k) : NULL;
    if (k) { /* the files may change while they are read: then the stamps differ the next time */
        memcpy(k->stamps, now, sizeof now);
        k->refs = 1;
        read_keys(k, signing, trusted);
        a->keyring = k;
        if (old && --old->refs == 0)
            release(old);
        if (old)
            stet_agent_tiers_reconnect(
                &a->tiers); /* connections were made with the old certificates */
    }
    stet_mem_free(signing);
    stet_mem_free(trusted);
    return !moved || k;
}

struct stet_keyring *stet_agent_keyring_take(struct stet_agent *a)
{
    struct stet_keyring *k;

    pthread_mutex_lock(&a->key_lock);
    k = refresh(a) ? a->keyring : NULL;
    if (k)
        k->refs++;
    pthread_mutex_unlock(&a->key_lock);
    return k;
}

void stet_agent_keyring_put(struct stet_agent *a, struct stet_keyring *k)
{
    bool last;

    if (!k)
        return;
    pthread_mutex_lock(&a->key_lock);
    last = --k->refs == 0;
    pthread_mutex_unlock(&a->key_lock);
    if (last)
        release(k);
}

const struct stet_trust *stet_agent_keyring_trust(const struct stet_keyring *k)
{
    static const struct stet_trust nobody;

    return k ? &k->trust : &nobody;
}

const struct stet_signer *stet_agent_keyring_signer(const struct stet_keyring *k)
{
    return k && k->signs ? &k->signer : NULL;
}

bool stet_agent_keyring_gives(const struct stet_keyring *k)
{
    return k && (k->signs || k->trust.anyone);
}

void stet_agent_tier_slot(struct stet_tier_name *name, const struct stet_public *signer)
{
    char text[STET_PUBLIC_TEXT];

    stet_trust_public_format(signer, text);
    snprintf(name->slot, sizeof name->slot, "%.32s", strchr(text, ':') + 1);
}
