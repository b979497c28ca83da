/* See gs_credentials.h. Formats: RFC 7523 (JWT as a grant), RFC 6749 section 5 (answers). */
#include "agent/gs_credentials.h"

#include "agent/libcrypto.h"
#include "base/json.h"

#include <jansson.h>
#include <sodium.h>
#include <string.h>
#include <strings.h>

static const char google_token_uri[] = "https://oauth2.googleapis.com/token";
static const char scope[] = "https://www.googleapis.com/auth/devstorage.read_write";

/* NULL if it is absent or not a text. */
static const char *text_of(const json_t *root, const char *name)
{
    return json_string_value(json_object_get(root, name));
}

static bool is_printable(const char *text)
{
    for (; *text; text++) {
        if (*text <= ' ' || *text > '~')
            return false;
    }
    return true;
}

/* Credentials travel encrypted, or do not leave this machine. */
static bool is_safe_address(const char *uri)
{
    static const char *const local[] = {"http://127.0.0.1", "http://localhost", "http://[::1]"};

    if (!is_printable(uri))
        return false;
    for (size_t i = 0; i < sizeof local / sizeof *local; i++) {
        size_t n = strlen(local[i]);

        if (!strncmp(uri, local[i], n) && (uri[n] == ':' || uri[n] == '/'))
            return !strchr(uri, '@');
    }
    return !strncmp(uri, "https://", 8) && uri[8];
}

/* STET_OK if every field of the list is a text that is not empty. */
static enum stet_rc need(const json_t *root, const char *const *fields, const char *path,
                         struct stet_err *err)
{
    for (; *fields; fields++) {
        const char *value = text_of(root, *fields);

        if (!value || !*value)
            return stet_fail(err, STET_USAGE, "%s: \"%s\" is missing", path, *fields);
    }
    return STET_OK;
}

static enum stet_rc read_fields(struct stet_gs_credentials *c, const char *path,
                                struct stet_err *err)
{
    static const char *const service[] = {"client_email", "private_key", NULL};
    static const char *const user[] = {"client_id", "client_secret", "refresh_token", NULL};
    const json_t *root = c->json;
    const char *type = text_of(root, "type"), *uri = text_of(root, "token_uri");
    bool is_service = type && !strcmp(type, "service_account");
    enum stet_rc rc;

    if (!is_service && (!type || strcmp(type, "authorized_user") != 0))
        return stet_fail(err, STET_USAGE,
                         "%s: its \"type\" must be service_account or authorized_user", path);
    rc = need(root, is_service ? service : user, path, err);
    if (rc != STET_OK)
        return rc;
    c->token_uri = uri ? uri : google_token_uri;
    if (!is_safe_address(c->token_uri))
        return stet_fail(err, STET_USAGE, "%s: \"token_uri\" is not an https address", path);
    if (is_service) {
        c->email = text_of(root, "client_email");
        c->key_id = text_of(root, "private_key_id");
        c->private_key = text_of(root, "private_key");
    } else {
        c->client_id = text_of(root, "client_id");
        c->client_secret = text_of(root, "client_secret");
        c->refresh_token = text_of(root, "refresh_token");
    }
    return STET_OK;
}

enum stet_rc stet_agent_credentials_read(struct stet_gs_credentials *c, struct stet_view json,
                                         const char *path, struct stet_err *err)
{
    json_error_t bad = {.position = 0};
    enum stet_rc rc;

    *c = (struct stet_gs_credentials){0};
    if (json.len > STET_GS_FILE_MAX)
        return stet_fail(err, STET_LIMIT, "%s: larger than %d bytes", path, STET_GS_FILE_MAX);
    c->json = json_loadb(json.len ? json.ptr : "", json.len, JSON_REJECT_DUPLICATES, &bad);
    if (!c->json) /* not bad.text, which quotes the file */
        return stet_fail_at(err, STET_USAGE, (uint64_t)bad.position, "%s: not JSON at byte %d",
                            path, bad.position);
    rc = read_fields(c, path, err);
    if (rc != STET_OK)
        stet_agent_credentials_release(c);
    return rc;
}

void stet_agent_credentials_release(struct stet_gs_credentials *c)
{
    json_decref(c->json);
    *c = (struct stet_gs_credentials){0};
}

static void add_base64(struct stet_buf *out, struct stet_view bytes)
{
    size_t room = sodium_base64_ENCODED_LEN(bytes.len, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    char *to = stet_buf_reserve(out, room);

    if (!to)
        return;
    sodium_bin2base64(to, room, (const unsigned char *)(bytes.len ? bytes.ptr : ""), bytes.len,
                      sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    stet_buf_grew(out, room - 1);
}

/* header.claims.signature */
static enum stet_rc add_jwt(const struct stet_gs_credentials *c, int64_t now_s,
                            struct stet_buf *out, struct stet_err *err)
{
    struct stet_buf part = STET_BUF_INIT, signature = STET_BUF_INIT;
    size_t begin = out->len;
    struct stet_json j;
    enum stet_rc rc;

    stet_json_init(&j, &part);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "alg", "RS256");
    stet_json_cstr(&j, "typ", "JWT");
    if (c->key_id)
        stet_json_cstr(&j, "kid", c->key_id);
    stet_json_end_object(&j);
    add_base64(out, stet_buf_as_view(&part));
    stet_buf_char(out, '.');
    part.len = 0;
    stet_json_init(&j, &part);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "iss", c->email);
    stet_json_cstr(&j, "scope", scope);
    stet_json_cstr(&j, "aud", c->token_uri);
    stet_json_int(&j, "iat", now_s);
    stet_json_int(&j, "exp", now_s + 3600);
    stet_json_end_object(&j);
    add_base64(out, stet_buf_as_view(&part));
    rc = part.failed || out->failed
             ? stet_fail(err, STET_NO_MEMORY, "out of memory")
             : stet_libcrypto_sign(stet_view_str(c->private_key),
                                   stet_view_of(out->ptr + begin, out->len - begin), &signature,
                                   err);
    stet_buf_char(out, '.');
    add_base64(out, stet_buf_as_view(&signature));
    stet_buf_release(&part);
    stet_buf_release(&signature);
    return rc;
}

/* &name=value, the value percent-encoded. */
static void add_field(struct stet_buf *out, const char *name, const char *value)
{
    stet_buf_printf(out, "&%s=", name);
    for (; *value; value++) {
        bool plain = (*value >= '0' && *value <= '9') || (*value >= 'a' && *value <= 'z') ||
                     (*value >= 'A' && *value <= 'Z') || strchr("-._~", *value);

        stet_buf_printf(out, plain ? "%c" : "%%%02X", (unsigned char)*value);
    }
}

enum stet_rc stet_agent_credentials_request(const struct stet_gs_credentials *c, int64_t now_s,
                                            struct stet_buf *out, struct stet_err *err)
{
    enum stet_rc rc = STET_OK;

    if (c->private_key) {
        stet_buf_str(out, "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
                          "&assertion=");
        rc = add_jwt(c, now_s, out, err);
    } else {
        stet_buf_str(out, "grant_type=refresh_token");
        add_field(out, "client_id", c->client_id);
        add_field(out, "client_secret", c->client_secret);
        add_field(out, "refresh_token", c->refresh_token);
    }
    if (rc == STET_OK && out->failed)
        rc = stet_fail(err, STET_NO_MEMORY, "out of memory");
    return rc;
}

static enum stet_rc read_answer(struct stet_gs_answer *a, const json_t *root, struct stet_err *err)
{
    const char *token = text_of(root, "access_token"), *type = text_of(root, "token_type");
    const json_t *lives = json_object_get(root, "expires_in");
    json_int_t seconds = json_integer_value(lives);

    if (!token || !*token || strlen(token) >= sizeof a->token || !is_printable(token))
        return stet_fail(err, STET_BAD_INPUT, "the answer has no usable access token");
    if (type && strcasecmp(type, "Bearer") != 0)
        return stet_fail(err, STET_BAD_INPUT, "the token is not a bearer token");
    if (!json_is_integer(lives) || seconds <= 0)
        return stet_fail(err, STET_BAD_INPUT, "the answer has no lifetime of the token");
    memcpy(a->token, token, strlen(token) + 1);
    a->lives_s = seconds < 86400 ? (uint32_t)seconds : 86400;
    return STET_OK;
}

static json_t *load_answer(struct stet_view json)
{
    return json.len && json.len <= STET_GS_ANSWER_MAX
               ? json_loadb(json.ptr, json.len, JSON_REJECT_DUPLICATES, NULL)
               : NULL;
}

enum stet_rc stet_agent_credentials_answer(struct stet_gs_answer *a, struct stet_view json,
                                           struct stet_err *err)
{
    json_t *root = load_answer(json);
    enum stet_rc rc =
        root ? read_answer(a, root, err) : stet_fail(err, STET_BAD_INPUT, "the answer is not JSON");

    json_decref(root);
    return rc;
}

void stet_agent_credentials_error(struct stet_view json, char out[40])
{
    json_t *root = load_answer(json);
    const char *code = text_of(root, "error");
    size_t n = 0;

    while (code && n < 39 && ((code[n] >= 'a' && code[n] <= 'z') || code[n] == '_')) {
        out[n] = code[n];
        n++;
    }
    out[code && code[n] ? 0 : n] = '\0';
    json_decref(root);
}
