/* Secrets go only to `user` and `password`; the other parts of an address may be shown. */
#include "agent/url.h"

#include "base/duration.h"

#include <stdlib.h>

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* NULL if memory runs out, or if it contains a zero byte. */
static const char *decode(struct stet_view v, struct stet_arena *a)
{
    char *out = stet_arena_alloc(a, v.len + 1, 1);
    size_t n = 0;

    for (size_t i = 0; out && i < v.len; i++) {
        bool escaped = v.ptr[i] == '%' && i + 2 < v.len + 0 && hex(v.ptr[i + 1]) >= 0 &&
                       hex(v.ptr[i + 2]) >= 0;

        out[n] = escaped ? (char)(hex(v.ptr[i + 1]) * 16 + hex(v.ptr[i + 2])) : v.ptr[i];
        if (!out[n] || out[n] == '\n' || out[n] == '\r')
            return NULL;
        n++;
        i += escaped ? 2 : 0;
    }
    return out;
}

/* The text before the first of `marks`, which `rest` then begins with. */
static struct stet_view cut(struct stet_view *rest, const char *marks)
{
    size_t n = 0;
    struct stet_view before;

    while (n < rest->len && !strchr(marks, rest->ptr[n]))
        n++;
    before = stet_view_of(rest->ptr, n);
    *rest = stet_view_of(rest->ptr + n, rest->len - n);
    return before;
}

static void skip(struct stet_view *rest)
{
    if (rest->len)
        *rest = stet_view_of(rest->ptr + 1, rest->len - 1);
}

/* user:password@ in front of a host; a password may contain any character but '/', '?' and '@'. */
static struct stet_view take_login(struct stet_url *u, struct stet_view authority,
                                   struct stet_arena *a)
{
    struct stet_view login = authority;
    size_t at = authority.len;

    while (at > 0 && authority.ptr[at - 1] != '@')
        at--;
    if (at == 0)
        return authority;
    login.len = at - 1;
    u->user = decode(cut(&login, ":"), a);
    skip(&login);
    u->password = decode(login, a);
    return stet_view_of(authority.ptr + at, authority.len - at);
}

static void take_host(struct stet_url *u, struct stet_view v, struct stet_arena *a)
{
    struct stet_view host;

    if (v.len && v.ptr[0] == '[') { /* IPv6 keeps its brackets, as curl wants it */
        host = cut(&v, "]");
        host.len += v.len > 0;
        skip(&v);
    } else {
        host = cut(&v, ":");
    }
    u->host = decode(host, a);
    skip(&v);
    u->port = decode(v, a);
}

enum stet_rc stet_agent_url_parse(struct stet_url *u, struct stet_view text, struct stet_arena *a,
                                  struct stet_err *err)
{
    struct stet_view rest = text, scheme = cut(&rest, ":"), authority;

    *u = (struct stet_url){"", "", "", "", "", "", ""};
    if (!stet_view_starts(rest, "://") || !scheme.len)
        return stet_fail(err, STET_USAGE, "a tier is an address like redis://host:6379");
    rest = stet_view_of(rest.ptr + 3, rest.len - 3);
    authority = cut(&rest, "/?");
    u->scheme = decode(scheme, a);
    take_host(u, take_login(u, authority, a), a);
    u->path = decode(cut(&rest, "?"), a);
    skip(&rest);
    u->query = stet_arena_copy(a, rest).ptr;
    if (a->failed)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for an address");
    if (!u->scheme || !u->user || !u->password || !u->host || !u->port || !u->path || !u->query)
        return stet_fail(err, STET_USAGE, "an address holds a line break or a zero");
    for (const char *p = u->port; *p; p++) {
        if (*p < '0' || *p > '9' || p - u->port > 4)
            return stet_fail(err, STET_USAGE, "the port of an address is a number");
    }
    return STET_OK;
}

const char *stet_agent_url_get(const struct stet_url *u, const char *name, struct stet_arena *a)
{
    struct stet_view rest = stet_view_str(u->query);

    while (rest.len) {
        struct stet_view pair = cut(&rest, "&"), key = cut(&pair, "=");

        skip(&rest);
        skip(&pair);
        if (stet_view_is(key, name))
            return decode(pair, a);
    }
    return NULL;
}

enum stet_rc stet_agent_url_ms(const struct stet_url *u, const char *name, uint32_t otherwise,
                               struct stet_arena *a, uint32_t *out, struct stet_err *err)
{
    const char *text = stet_agent_url_get(u, name, a);

    *out = otherwise;
    if (text && !stet_duration_read(text, STET_DURATION_MS, 7u * 24 * 3600 * 1000, out))
        return stet_fail(err, STET_USAGE, "%s=%s: not a time such as 500ms or 2s", name, text);
    return STET_OK;
}

struct stet_view stet_agent_url_shown(const struct stet_url *u, struct stet_arena *a)
{
    return stet_arena_printf(a, "%s://%s%s%s%s", u->scheme, u->host, *u->port ? ":" : "", u->port,
                             u->path);
}
