/* stet cache verify: prints the verdict for each entry. */
#include "base/human.h"
#include "base/json.h"
#include "cli/cache.h"
#include "warm/verify.h"

static void tell_one(struct stet_buf *out, struct stet_json *j, const struct stet_verify_entry *c)
{
    char key[STET_HASH_TEXT];

    stet_hash_format(c->key, key);
    if (j) {
        stet_json_object(j, NULL);
        stet_json_cstr(j, "key", key);
        stet_json_cstr(j, "name", c->name);
        stet_json_bool(j, "loaded", c->verdict == STET_VERIFY_LOADED);
        stet_json_bool(j, "tried", stet_warm_verify_tried(c->verdict));
        stet_json_cstr(j, "verdict", stet_warm_verify_words(c->verdict));
        stet_json_cstr(j, "detail", c->detail);
        stet_json_end_object(j);
    } else if (c->verdict != STET_VERIFY_LOADED) {
        stet_buf_printf(out, "  %.12s  %s: %s%s%s\n", key, c->name,
                        stet_warm_verify_words(c->verdict), c->detail[0] ? ": " : "", c->detail);
    }
}

static int tell(const struct stet_args *args, const struct stet_verify_entry *checks, size_t n)
{
    bool json = args->format == STET_FORMAT_JSON;
    struct stet_buf out = STET_BUF_INIT;
    struct stet_json j;
    size_t loaded = 0, tried = 0;

    for (size_t i = 0; i < n; i++) {
        loaded += checks[i].verdict == STET_VERIFY_LOADED;
        tried += stet_warm_verify_tried(checks[i].verdict);
    }
    if (json) {
        stet_json_init(&j, &out);
        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "schema", "stet.verify/1");
        stet_json_uint(&j, "entries", n);
        stet_json_uint(&j, "loaded", loaded);
        stet_json_uint(&j, "not_tried", n - tried);
        stet_json_array(&j, "checks");
    } else {
        stet_buf_printf(&out, "%zu of ", loaded);
        stet_text_count(&out, n, "entry");
        stet_buf_str(&out, " loaded back");
        if (tried < n)
            stet_buf_printf(&out, ", %zu not tried", n - tried);
        stet_buf_char(&out, '\n');
    }
    for (size_t i = 0; i < n; i++)
        tell_one(&out, json ? &j : NULL, &checks[i]);
    if (json) {
        stet_json_end_array(&j);
        stet_json_end_object(&j);
        stet_buf_char(&out, '\n');
    }
    /* if no entry was tried, the result is not "fine" */
    return stet_cli_print(&out,
                          loaded < tried || (n && !loaded) ? STET_EXIT_FINDING : STET_EXIT_FINE);
}

int stet_cli_cache_verify(const struct stet_store *s, const struct stet_args *args)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_verify v;
    int code;

    if (stet_warm_verify_store(s, &v, &err) != STET_OK)
        return stet_cli_complain(&err);
    code = tell(args, v.items, v.count);
    stet_warm_verify_release(&v);
    return code;
}
