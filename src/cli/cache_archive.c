/* stet cache export and import: writes signed entries for another machine, and imports trusted
 * ones. */
#include "base/human.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/cache.h"
#include "trust/archive_transfer.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- export ---- */

/* Gathers all entries, or those whose keys follow the archive's name. */
static enum stet_rc gather(const struct stet_store *s, const struct stet_args *args,
                           const struct stet_signer *signer, struct stet_outgoing *o,
                           struct stet_err *err)
{
    struct stet_stored_list all;
    enum stet_rc rc = stet_store_list(s, &all, err);
    size_t room = args->count > 1 ? (size_t)args->count : all.count;

    if (rc != STET_OK)
        return rc;
    rc = stet_trust_transfer_reserve(o, room, err);
    for (int i = 1; rc == STET_OK && i < args->count; i++) {
        struct stet_hash key;

        rc = stet_store_find(s, args->values[i], &key, err);
        if (rc == STET_OK)
            stet_trust_transfer_add(s, signer, o, key);
    }
    for (size_t i = 0; rc == STET_OK && args->count == 1 && i < all.count; i++)
        stet_trust_transfer_add(s, signer, o, all.items[i].key);
    stet_store_list_release(&all);
    return rc;
}

static enum stet_rc open_signer(struct stet_signer *signer, struct stet_err *err)
{
    char *path = stet_cache_wishes.key ? stet_mem_strdup(stet_cache_wishes.key)
                                       : stet_trust_signing_path(err);
    enum stet_rc rc = path ? stet_trust_signer_open(signer, path, err) : STET_IO;

    if (rc == STET_NOT_FOUND)
        rc = stet_fail(
            err, STET_NOT_FOUND,
            "%s: no signing key: `stet cache key new` makes one, --unsigned goes without", path);
    stet_mem_free(path);
    return rc;
}

static int tell_export(const struct stet_args *args, const struct stet_outgoing *o,
                       const struct stet_signer *signer)
{
    struct stet_buf out = STET_TEXT_INIT;
    char name[STET_PUBLIC_TEXT] = "";
    struct stet_json j;

    if (signer)
        stet_trust_public_format(&signer->public, name);
    if (args->format == STET_FORMAT_JSON) {
        stet_json_init(&j, &out);
        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "schema", "stet.cacheexport/1");
        stet_json_cstr(&j, "archive", args->values[0]);
        stet_json_uint(&j, "entries", o->count);
        stet_json_uint(&j, "bytes", o->bytes);
        stet_json_uint(&j, "skipped", o->skipped);
        stet_json_uint(&j, "made_elsewhere", o->foreign);
        stet_json_cstr(&j, "signer", name);
        stet_json_end_object(&j);
    } else {
        stet_text_count(&out, o->count, "entry");
        stet_buf_str(&out, ", ");
        stet_text_bytes(&out, o->bytes);
        stet_buf_printf(&out, ", in %s\n%s%s", args->values[0],
                        signer ? "signed by " : "not signed", name);
        if (o->skipped)
            stet_buf_printf(&out, "\n%zu left out: damaged, or written by a newer Stet",
                            o->skipped);
        if (o->foreign)
            stet_buf_printf(&out,
                            "\n%zu left out: made elsewhere, and signed by their makers alone "
                            "(--unsigned exports them, unsigned)",
                            o->foreign);
    }
    stet_buf_char(&out, '\n');
    return stet_cli_print(&out, o->skipped || (o->foreign && !o->count) ? STET_EXIT_FINDING
                                                                        : STET_EXIT_FINE);
}

int stet_cli_cache_export(const struct stet_store *s, const struct stet_args *args)
{
    bool with_key = !stet_cache_wishes.unsigned_too;
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf head = STET_BUF_INIT;
    struct stet_signer signer = {0};
    struct stet_outgoing o = {0};
    enum stet_rc rc = STET_OK;
    int code;

    if (with_key)
        rc = open_signer(&signer, &err);
    if (rc == STET_OK)
        rc = gather(s, args, with_key ? &signer : NULL, &o, &err);
    if (rc == STET_OK)
        rc = stet_trust_archive_head(&head, o.items, o.count, with_key ? &signer : NULL, &err);
    if (rc == STET_OK)
        rc = stet_trust_transfer_write(args->values[0], stet_buf_as_view(&head), &o, &err);
    code =
        rc == STET_OK ? tell_export(args, &o, with_key ? &signer : NULL) : stet_cli_complain(&err);
    stet_trust_signer_release(&signer);
    stet_buf_release(&head);
    stet_trust_transfer_release(&o);
    return code;
}

/* ---- import ---- */

static int tell_import(const struct stet_args *args, const struct stet_archive *a,
                       const struct stet_incoming *in)
{
    struct stet_buf out = STET_TEXT_INIT;
    char name[STET_PUBLIC_TEXT] = "";
    struct stet_json j;

    if (a->is_signed)
        stet_trust_public_format(&a->signer, name);
    if (args->format == STET_FORMAT_JSON) {
        stet_json_init(&j, &out);
        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "schema", "stet.cacheimport/1");
        stet_json_uint(&j, "entries", in->count);
        stet_json_uint(&j, "imported", in->taken);
        stet_json_uint(&j, "present", in->there);
        stet_json_uint(&j, "refused", in->bad);
        stet_json_cstr(&j, "why", in->first_bad);
        stet_json_cstr(&j, "signer", name);
        stet_json_end_object(&j);
    } else {
        stet_buf_printf(&out, "%zu of ", in->taken);
        stet_text_count(&out, in->count, "entry");
        stet_buf_printf(&out, " imported, %zu %s there, %s%s", in->there,
                        in->there == 1 ? "was" : "were", a->is_signed ? "signed by " : "not signed",
                        name);
        if (in->bad)
            stet_buf_printf(&out, "\n%zu refused: %s", in->bad, in->first_bad);
    }
    stet_buf_char(&out, '\n');
    return stet_cli_print(&out, in->bad ? STET_EXIT_FINDING : STET_EXIT_FINE);
}

static enum stet_rc open_trust(struct stet_trust *t, struct stet_err *err)
{
    char *path = stet_trust_keys_path(err);
    enum stet_rc rc = path ? stet_trust_open(t, path, err) : STET_IO;

    stet_mem_free(path);
    t->anyone |= stet_cache_wishes.unsigned_too;
    return rc;
}

int stet_cli_cache_import(const struct stet_store *s, const struct stet_args *args)
{
    struct stet_err err = STET_ERR_INIT, inner = STET_ERR_INIT;
    struct stet_trust trust = {0};
    struct stet_archive archive = {0};
    struct stet_incoming in = {0};
    struct stet_file file = {0};
    enum stet_rc rc = open_trust(&trust, &err);
    int code;

    if (rc == STET_OK)
        rc = stet_file_open(&file, args->values[0], &err);
    if (rc == STET_OK) {
        rc = stet_trust_archive_read(&archive, file.bytes, &trust, &inner);
        if (rc != STET_OK)
            stet_fail(&err, rc, "%s: nothing was imported: %s", args->values[0], inner.text);
    }
    if (rc == STET_OK)
        rc = stet_trust_transfer_import(s, &archive, &in, &err);
    code = rc == STET_OK ? tell_import(args, &archive, &in) : stet_cli_complain(&err);
    stet_trust_release(&trust);
    stet_file_close(&file);
    return code;
}

/* ---- keys ---- */

static int tell_key(const char *what, const char *name, const char *file)
{
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_json j;

    stet_json_init(&j, &out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", "stet.cachekey/1");
    stet_json_cstr(&j, what, name);
    stet_json_cstr(&j, "file", file);
    stet_json_end_object(&j);
    stet_buf_char(&out, '\n');
    return stet_cli_print(&out, STET_EXIT_FINE);
}

static int key_new(const struct stet_args *args, const char *signing, const char *trusted,
                   struct stet_err *err)
{
    char name[STET_PUBLIC_TEXT];
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_signer signer;

    if (stet_trust_signer_make(&signer, signing, err) != STET_OK ||
        stet_trust_add(trusted, &signer.public, "own", err) != STET_OK)
        return stet_cli_complain(err);
    stet_trust_public_format(&signer.public, name);
    if (args->format == STET_FORMAT_JSON) {
        stet_trust_signer_release(&signer);
        return tell_key("own", name, signing);
    }
    stet_trust_signer_release(&signer);
    stet_buf_printf(
        &out, "%s\nthe secret half is in %s; others trust this one by `stet cache key trust %s`\n",
        name, signing, name);
    return stet_cli_print(&out, STET_EXIT_FINE);
}

static int key_show(const struct stet_args *args, const char *signing, const char *trusted,
                    struct stet_err *err)
{
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_signer signer = {0};
    struct stet_trust trust;
    char name[STET_PUBLIC_TEXT];
    struct stet_json j;
    bool json = args->format == STET_FORMAT_JSON;
    enum stet_rc rc = stet_trust_signer_open(&signer, signing, err);

    if (rc != STET_OK && rc != STET_NOT_FOUND)
        return stet_cli_complain(err);
    if (stet_trust_open(&trust, trusted, err) != STET_OK)
        return stet_cli_complain(err);
    stet_trust_public_format(&signer.public, name);
    stet_json_init(&j, &out);
    if (json) {
        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "schema", "stet.cachekey/1");
        stet_json_cstr(&j, "own", rc == STET_OK ? name : "");
        stet_json_bool(&j, "anyone", trust.anyone);
        stet_json_array(&j, "trusted");
    } else {
        stet_buf_printf(&out, "own      %s\n", rc == STET_OK ? name : "none: stet cache key new");
    }
    for (size_t i = 0; i < trust.count; i++) {
        stet_trust_public_format(&trust.keys[i], name);
        if (json)
            stet_json_cstr(&j, NULL, name);
        else
            stet_buf_printf(&out, "trusted  %s\n", name);
    }
    if (json) {
        stet_json_end_array(&j);
        stet_json_end_object(&j);
        stet_buf_char(&out, '\n');
    } else if (trust.anyone) {
        stet_buf_str(&out, "anyone is trusted: STET_TRUST=any\n");
    }
    stet_trust_signer_release(&signer);
    stet_trust_release(&trust);
    return stet_cli_print(&out, STET_EXIT_FINE);
}

static int key_trust(const struct stet_args *args, const char *trusted, struct stet_err *err)
{
    struct stet_public key;

    if (args->count < 2 || !stet_trust_public_parse(stet_view_str(args->values[1]), &key)) {
        stet_fail(err, STET_USAGE,
                  "stet cache key trust KEY [COMMENT]: KEY is ed25519:<64 digits>");
        return stet_cli_complain(err);
    }
    if (stet_trust_add(trusted, &key, args->count > 2 ? args->values[2] : "", err) != STET_OK)
        return stet_cli_complain(err);
    return args->format == STET_FORMAT_JSON ? tell_key("trusts", args->values[1], trusted)
                                            : STET_EXIT_FINE;
}

/* Removes a key and the entries that it signed from the store. */
static int key_untrust(const struct stet_store *s, const struct stet_args *args,
                       const char *signing, const char *trusted, struct stet_err *err)
{
    struct stet_signer signer = {0};
    struct stet_public key;
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_json j;
    size_t removed;
    enum stet_rc rc;

    if (args->count != 2 || !stet_trust_public_parse(stet_view_str(args->values[1]), &key)) {
        stet_fail(err, STET_USAGE, "stet cache key untrust KEY: KEY is ed25519:<64 digits>");
        return stet_cli_complain(err);
    }
    if (stet_trust_signer_open(&signer, signing, NULL) == STET_OK &&
        !memcmp(signer.public.bytes, key.bytes, sizeof key.bytes))
        rc = stet_fail(err, STET_USAGE,
                       "%s is this user's own key: move %s away first, then make another",
                       args->values[1], signing);
    else
        rc = stet_trust_remove(trusted, &key, err);
    stet_trust_signer_release(&signer);
    if (rc != STET_OK && rc != STET_NOT_FOUND)
        return stet_cli_complain(err);
    removed = stet_trust_seal_remove_signer(s, &key);
    if (args->format == STET_FORMAT_JSON) {
        stet_json_init(&j, &out);
        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "schema", "stet.cachekey/1");
        stet_json_cstr(&j, "untrusts", args->values[1]);
        stet_json_cstr(&j, "file", trusted);
        stet_json_bool(&j, "was_trusted", rc == STET_OK);
        stet_json_uint(&j, "removed", removed);
        stet_json_end_object(&j);
    } else {
        stet_buf_printf(&out, "%s %s, and ", args->values[1],
                        rc == STET_OK ? "is no longer trusted" : "was not trusted");
        stet_text_count(&out, removed, "entry");
        stet_buf_printf(&out, " signed by it %s removed from %s", removed == 1 ? "was" : "were",
                        s->folder);
    }
    stet_buf_char(&out, '\n');
    return stet_cli_print(&out, rc == STET_OK ? STET_EXIT_FINE : STET_EXIT_FINDING);
}

int stet_cli_cache_key(const struct stet_store *s, const struct stet_args *args)
{
    struct stet_err err = STET_ERR_INIT;
    char *signing = stet_cache_wishes.key ? stet_mem_strdup(stet_cache_wishes.key)
                                          : stet_trust_signing_path(&err);
    char *trusted = stet_trust_keys_path(&err);
    int code = STET_EXIT_FAILURE;

    if (!signing || !trusted)
        code = stet_cli_complain(&err);
    else if (!strcmp(args->values[0], "new"))
        code = key_new(args, signing, trusted, &err);
    else if (!strcmp(args->values[0], "show"))
        code = key_show(args, signing, trusted, &err);
    else if (!strcmp(args->values[0], "trust"))
        code = key_trust(args, trusted, &err);
    else if (!strcmp(args->values[0], "untrust"))
        code = key_untrust(s, args, signing, trusted, &err);
    else {
        stet_fail(&err, STET_USAGE, "stet cache key new|show|trust|untrust, not %s",
                  args->values[0]);
        code = stet_cli_complain(&err);
    }
    stet_mem_free(signing);
    stet_mem_free(trusted);
    return code;
}
