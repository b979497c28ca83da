/* What tiers answer, as it reaches us: Redis's protocol in pieces of any length, entries of any
 * bytes, and the addresses of tiers. The first byte says which. */
#include "fuzz.h"

#include "agent/entry_check.h"
#include "agent/redis.h"
#include "agent/url.h"

static void redis(const uint8_t *data, size_t size)
{
    struct redisReader *reader = stet_agent_redis_reader_new();
    struct stet_buf text = {.cap = 1 << 16};
    struct stet_redis_answer answer = {.text = &text};
    size_t piece = size ? 1 + data[0] % 16 : 1;
    enum stet_rc rc = STET_NOT_FOUND;

    for (size_t at = 0; at < size && (rc == STET_NOT_FOUND || rc == STET_OK); at += piece) {
        struct stet_err err = STET_ERR_INIT;

        rc = stet_agent_redis_take(
            reader, stet_view_of(data + at, at + piece < size ? piece : size - at), &answer, &err);
        if (rc == STET_OK)
            CHECK(answer.text == &text && text.len <= size);
        else if (rc != STET_NOT_FOUND)
            CHECK(err.rc == rc && err.text[0]);
    }
    stet_agent_redis_reader_free(reader);
    stet_buf_release(&text);
}

static void entry(const uint8_t *data, size_t size)
{
    const struct stet_trust anyone = {.anyone = true}, nobody = {0};
    struct stet_err err = STET_ERR_INIT;
    struct stet_hash key = {1, 2};
    struct stet_entry_file f;
    struct stet_outside o;

    CHECK(!stet_agent_outside_check(&o, stet_view_of(data, size), key, &nobody, NULL));
    /* nothing has the key {1, 2} */
    CHECK(!stet_agent_outside_check(&o, stet_view_of(data, size), key, &anyone, &err));
    CHECK(o.why < STET_REFUSALS && err.text[0]);
    if (stet_store_entry_read(&f, stet_view_of(data, size), NULL) == STET_OK)
        CHECK(!stet_hash_eq(f.key, key));
}

static void address(const uint8_t *data, size_t size)
{
    struct stet_arena arena;
    struct stet_url u;

    stet_arena_init(&arena, 1 << 20);
    if (stet_agent_url_parse(&u, stet_view_of(data, size), &arena, NULL) == STET_OK) {
        struct stet_view shown = stet_agent_url_shown(&u, &arena);
        uint32_t ms;

        CHECK(strlen(u.port) <= 5 && shown.len);
        stet_agent_url_get(&u, "prefix", &arena);
        stet_agent_url_ms(&u, "timeout", 7, &arena, &ms, NULL);
    }
    stet_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    if (data[0] % 3 == 0)
        redis(data + 1, size - 1);
    else if (data[0] % 3 == 1)
        entry(data + 1, size - 1);
    else
        address(data + 1, size - 1);
    return 0;
}
