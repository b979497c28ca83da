/* What Google's credentials files and token servers may contain. The first byte selects which. */
#include "fuzz.h"

#include "agent/gs_credentials.h"

static void check_text(const char *text)
{
    CHECK(text && *text);
}

static void credentials(struct stet_view json)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf body = STET_BUF_INIT;
    struct stet_gs_credentials c;

    if (stet_agent_credentials_read(&c, json, "file", &err) != STET_OK) {
        CHECK(err.text[0] && !c.json);
        return;
    }
    check_text(c.token_uri);
    CHECK(!strncmp(c.token_uri, "http", 4) && !strpbrk(c.token_uri, "\r\n "));
    if (c.private_key) {
        check_text(c.email);
        check_text(c.private_key);
        CHECK(!c.refresh_token);
    } else {
        CHECK(stet_agent_credentials_request(&c, 0, &body, NULL) == STET_OK);
        for (size_t i = 0; i < body.len; i++) /* no value can add a field of its own */
            CHECK(body.ptr[i] > ' ' && body.ptr[i] <= '~');
        CHECK(strstr(body.ptr, "&refresh_token=") && !strchr(body.ptr, '+'));
    }
    stet_buf_release(&body);
    stet_agent_credentials_release(&c);
}

static void answer(struct stet_view json)
{
    static struct stet_gs_answer a;
    struct stet_err err = STET_ERR_INIT;
    char code[40];

    if (stet_agent_credentials_answer(&a, json, &err) == STET_OK) {
        CHECK(a.lives_s > 0 && a.lives_s <= 86400);
        check_text(a.token);
        for (const char *p = a.token; *p; p++) /* it goes into a header */
            CHECK(*p > ' ' && *p <= '~');
    } else {
        CHECK(err.text[0]);
    }
    stet_agent_credentials_error(json, code);
    CHECK(strspn(code, "abcdefghijklmnopqrstuvwxyz_") == strlen(code));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    if (data[0] % 2)
        credentials(stet_view_of(data + 1, size - 1));
    else
        answer(stet_view_of(data + 1, size - 1));
    return 0;
}
