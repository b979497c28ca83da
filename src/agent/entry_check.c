/* A tier is not trusted: what it returns is read as a hostile file. */
#include "agent/entry_check.h"

#include "decode/decode.h"
#include "fingerprint/fingerprint.h"
#include "store/entry.h"

#include <stdio.h>

/* The component of the key that comes from the program itself. If another version of Stet made the
 * key, the layer that loads the entry compares the program. */
static bool program_fits(const struct stet_entry_file *f, struct stet_err *err)
{
    struct stet_view said = f->parts.part[STET_COMPONENT_PROGRAM];
    struct stet_buf bytes = STET_BUF_INIT;
    struct stet_program program;
    struct stet_fingerprint print;
    char version[16], hash[STET_HASH_TEXT], text[64];
    bool fits = false;

    if (stet_store_entry_program(f, &bytes, err) != STET_OK) {
        stet_buf_release(&bytes);
        return false;
    }
    snprintf(version, sizeof version, "%u:", (unsigned)STET_FINGERPRINT_VERSION);
    if (!stet_view_starts(said, version)) {
        fits = true;
    } else if (stet_decode(&program, stet_buf_as_view(&bytes), err) == STET_OK) {
        if (stet_fingerprint_make(&print, &program, (struct stet_view){0}, err) == STET_OK) {
            stet_hash_format(print.key, hash);
            snprintf(text, sizeof text, "%s%s", version, hash);
            fits = stet_view_is(said, text);
        }
        stet_arena_release(&program.arena);
    }
    stet_buf_release(&bytes);
    if (!fits)
        stet_fail(err, STET_BAD_INPUT, "the program does not match the key");
    return fits;
}

static enum stet_refusal reason(enum stet_rc rc, const struct stet_archive *a)
{
    if (rc == STET_REFUSED)
        return a->is_signed ? STET_REFUSAL_UNTRUSTED : STET_REFUSAL_UNSIGNED;
    return rc == STET_UNSUPPORTED ? STET_REFUSAL_NEWER : STET_REFUSAL_DAMAGED;
}

bool stet_agent_outside_check(struct stet_outside *o, struct stet_view bytes, struct stet_hash key,
                              const struct stet_trust *t, struct stet_err *err)
{
    struct stet_entry_file f;
    enum stet_rc rc;

    *o = (struct stet_outside){0};
    rc = stet_trust_archive_read(&o->archive, bytes, t, err);
    if (rc == STET_OK)
        rc = o->archive.count == 1 ? stet_trust_archive_next(&o->archive, &o->item, err)
                                   : stet_fail(err, STET_BAD_INPUT, "not an archive of one entry");
    if (rc == STET_OK && o->archive.body.len)
        rc = stet_fail(err, STET_BAD_INPUT, "bytes after the end");
    if (rc == STET_OK)
        rc = stet_store_entry_read(&f, o->item.bytes, err);
    o->why = reason(rc, &o->archive);
    if (rc != STET_OK)
        return false;
    o->by_key = o->archive.is_signed && stet_trust_has(t, &o->archive.signer);
    if (!stet_hash_eq(f.key, key)) {
        o->why = STET_REFUSAL_OTHER_KEY;
        stet_fail(err, STET_BAD_INPUT, "the entry of another key");
        return false;
    }
    o->why = STET_REFUSAL_OTHER_PROGRAM;
    return program_fits(&f, err);
}
