/* Facts about the JSON scanner of torch.compile traces. */
#include "test.h"

#include "ingest/jscan.h"

TEST(json_values_are_taken_and_others_skipped)
{
    struct stet_view key, name = {0},
                          text = STET_VIEW("{\"skip\": {\"a\": [1, \"}\\\"]\"]}, "
                                           "\"n\": 42, \"name\": \"a\\\\\", \"z\": null}");
    struct stet_jscan j;
    int64_t n = 0;

    stet_ingest_jscan_init(&j, text);
    EXPECT(stet_ingest_jscan_object(&j));
    while (stet_ingest_jscan_key(&j, &key)) {
        if (stet_view_is(key, "n"))
            n = stet_ingest_jscan_int(&j);
        else if (stet_view_is(key, "name"))
            name = stet_ingest_jscan_string(&j);
        else
            stet_ingest_jscan_skip(&j);
    }
    EXPECT(stet_ingest_jscan_done(&j));
    EXPECT_INT(42, n);
    EXPECT(stet_view_is(name, "a\\\\"));
}

TEST(broken_json_is_an_error)
{
    static const char *const broken[] = {"{\"a\" 1}",      "{\"a\": }",   "{\"a\": \"x}",
                                         "{\"a\": [1, 2}", "{\"a\": 1,}", "{",
                                         "{\"a\": 1} x"};

    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct stet_view key;
        struct stet_jscan j;

        stet_ingest_jscan_init(&j, stet_view_str(broken[i]));
        if (stet_ingest_jscan_object(&j)) {
            while (stet_ingest_jscan_key(&j, &key))
                stet_ingest_jscan_skip(&j);
        }
        /* Skipped brackets are counted, not matched: "[1, 2}" passes, and does no harm. */
        EXPECT(!stet_ingest_jscan_done(&j) || i == 3);
    }
}

TEST(json_escapes_become_utf8)
{
    struct stet_buf out = STET_BUF_INIT;

    stet_ingest_jscan_unescape(&out, (struct stet_view){0}); /* a string that is not there */
    stet_ingest_jscan_unescape(&out, STET_VIEW("a\\n\\u00e9\\ud83d\\ude00\\ud800x\\/"));
    EXPECT_STR("a\n\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbdx/", out.ptr);
    stet_buf_release(&out);
}
