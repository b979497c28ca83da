/* Google Cloud Storage, over its XML API: signed with HMAC keys, or with access tokens that a
 * credentials file or the metadata server gives. An entry is written only if there is none. */
#include "agent/gs_credentials.h"
#include "agent/gs_token.h"
#include "agent/web.h"
#include "base/fs.h"

#include <stdio.h>

/* The file of GOOGLE_APPLICATION_CREDENTIALS, else the one that gcloud writes if it exists. NULL
 * if there is none, or if memory runs out. */
static const char *credentials_file(struct stet_arena *a)
{
    const char *file = stet_agent_web_env("GOOGLE_APPLICATION_CREDENTIALS", NULL);
    const char *folder = stet_agent_web_env("CLOUDSDK_CONFIG", NULL), *home;

    if (file)
        return file;
    home = stet_agent_web_env("HOME", "");
    file = folder ? stet_arena_printf(a, "%s/application_default_credentials.json", folder).ptr
                  : stet_arena_printf(a, "%s/.config/gcloud/application_default_credentials.json",
                                      home)
                        .ptr;
    return file && stet_fs_exists(file) ? file : NULL;
}

/* A mistake in the file is reported when the run starts, not when it first needs a token. */
static enum stet_rc check_file(const char *path, struct stet_err *err)
{
    struct stet_gs_credentials c;
    struct stet_file file;
    enum stet_rc rc = stet_file_open_small(&file, path, STET_GS_FILE_MAX, err);

    if (rc != STET_OK)
        return rc == STET_NOT_FOUND ? STET_USAGE : rc;
    rc = stet_agent_credentials_read(&c, file.bytes, path, err);
    if (rc == STET_OK)
        stet_agent_credentials_release(&c);
    stet_file_close(&file);
    return rc;
}

static enum stet_rc configure_login(struct stet_tier *t, struct stet_web *w, struct stet_err *err)
{
    const char *auth = stet_agent_url_get(&t->url, "auth", t->arena), *file;
    enum stet_rc rc = STET_OK;

    w->user = stet_agent_web_env("STET_GS_HMAC_KEY", "");
    w->password = stet_agent_web_env("STET_GS_HMAC_SECRET", "");
    w->bearer = w->session_token = "";
    w->hash_header = "x-goog-content-sha256";
    if (auth && strcmp(auth, "none") != 0)
        return stet_fail(err, STET_USAGE, "auth=%s: there is only none, for public buckets", auth);
    if (auth) {
        w->user = "";
        return STET_OK;
    }
    if (*w->user) {
        w->sigv4 = "goog:goog:auto:storage";
        return STET_OK;
    }
    file = credentials_file(t->arena);
    if (file)
        rc = check_file(file, err);
    if (rc != STET_OK)
        return rc;
    w->token = stet_agent_token_new(
        t->arena, file, stet_agent_web_env("GCE_METADATA_HOST", "metadata.google.internal"),
        t->connect_ms);
    return w->token ? STET_OK : stet_fail(err, STET_NO_MEMORY, "out of memory for a tier");
}

/* gs://bucket/prefix?endpoint=…&auth=none */
static enum stet_rc configure(struct stet_tier *t, struct stet_err *err)
{
    struct stet_web *w = STET_NEW(t->arena, struct stet_web);
    const struct stet_url *u = &t->url;
    const char *endpoint = stet_agent_url_get(u, "endpoint", t->arena);
    enum stet_rc rc;

    if (!w)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for a tier");
    t->own = w;
    w->generations = true;
    if (!*u->host)
        return stet_fail(err, STET_USAGE, "gs://: the bucket's name is missing");
    rc = configure_login(t, w, err);
    if (rc != STET_OK)
        return rc;
    return stet_agent_web_bucket(t, w, endpoint ? endpoint : "https://storage.googleapis.com", err);
}

const struct stet_tier_kind stet_tier_gs = {
    .name = "gs",
    .schemes = (const char *const[]){"gs", NULL},
    .configure = configure,
    STET_WEB_FUNCTIONS,
};
