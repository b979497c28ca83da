/* HTTP servers (WebDAV, bazel-remote) and S3: their addresses and credentials. */
#include "agent/web.h"

#include <stdio.h>

static enum stet_rc configure(struct stet_tier *t, struct stet_err *err)
{
    struct stet_web *own = STET_NEW(t->arena, struct stet_web);
    const struct stet_url *u = &t->url;
    const char *layout = stet_agent_url_get(u, "layout", t->arena);

    if (!own)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for a tier");
    t->own = own;
    own->user = *u->user ? u->user : stet_agent_web_env("STET_HTTP_USER", "");
    own->password = *u->password ? u->password : stet_agent_web_env("STET_HTTP_PASSWORD", "");
    own->bearer = stet_agent_web_env("STET_HTTP_TOKEN", "");
    own->session_token = "";
    if (layout && !strcmp(layout, "bazel"))
        own->layout = STET_WEB_BAZEL;
    else if (layout && strcmp(layout, "folders") != 0)
        return stet_fail(err, STET_USAGE, "layout=%s: there are folders and bazel", layout);
    return stet_agent_web_base(t, own,
                               snprintf(own->base, sizeof own->base, "%s://%s%s%s%s", u->scheme,
                                        u->host, *u->port ? ":" : "", u->port, u->path),
                               err);
}

/* s3://bucket/prefix?region=…&endpoint=…; keys and a session token from the variables that every S3
 * program uses. */
static enum stet_rc configure_s3(struct stet_tier *t, struct stet_err *err)
{
    struct stet_web *own = STET_NEW(t->arena, struct stet_web);
    const struct stet_url *u = &t->url;
    const char *region = stet_agent_url_get(u, "region", t->arena);
    const char *endpoint = stet_agent_url_get(u, "endpoint", t->arena);

    if (!own)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for a tier");
    t->own = own;
    region = region ? region
                    : stet_agent_web_env("AWS_REGION",
                                         stet_agent_web_env("AWS_DEFAULT_REGION", "us-east-1"));
    endpoint = endpoint ? endpoint
                        : stet_agent_web_env("AWS_ENDPOINT_URL_S3",
                                             stet_agent_web_env("AWS_ENDPOINT_URL", NULL));
    own->user = stet_agent_web_env("AWS_ACCESS_KEY_ID", "");
    own->password = stet_agent_web_env("AWS_SECRET_ACCESS_KEY", "");
    own->session_token = stet_agent_web_env("AWS_SESSION_TOKEN", "");
    own->bearer = "";
    own->hash_header = "x-amz-content-sha256";
    if (*own->user)
        own->sigv4 = stet_arena_printf(t->arena, "aws:amz:%s:s3", region).ptr;
    if (!*u->host)
        return stet_fail(err, STET_USAGE, "s3://: the bucket's name is missing");
    if (endpoint)
        return stet_agent_web_bucket(t, own, endpoint, err);
    return stet_agent_web_base(t, own,
                               snprintf(own->base, sizeof own->base,
                                        "https://%s.s3.%s.amazonaws.com%s", u->host, region,
                                        u->path),
                               err);
}

const struct stet_tier_kind stet_tier_http = {
    .name = "http",
    .schemes = (const char *const[]){"http", "https", NULL},
    .configure = configure,
    STET_WEB_FUNCTIONS,
};

const struct stet_tier_kind stet_tier_s3 = {
    .name = "s3",
    .schemes = (const char *const[]){"s3", NULL},
    .configure = configure_s3,
    STET_WEB_FUNCTIONS,
};
