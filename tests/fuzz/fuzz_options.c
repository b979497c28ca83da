/* Compile options: reading ends in options or an error; options equal themselves. */
#include "fuzz.h"

#include "base/buf.h"
#include "decode/options.h"

static void never(void *context, struct stet_view path, struct stet_view from, struct stet_view to)
{

    (void)path;
    (void)from;
    (void)to;
    CHECK(context != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_options a, b;
    struct stet_hash brief;

    if (stet_options_decode(&a, stet_view_of(data, size), &err) != STET_OK) {
        CHECK(err.rc != STET_OK && err.text[0]);
        CHECK(err.offset == STET_NO_OFFSET || err.offset <= size);
        return 0;
    }
    CHECK(stet_options_decode(&b, stet_view_of(data, size), NULL) == STET_OK);
    CHECK(stet_hash_eq(a.hash, b.hash));
    CHECK(stet_options_hash(stet_view_of(data, size), &brief, NULL, NULL) == STET_OK);
    CHECK(stet_hash_eq(a.hash, brief));
    stet_options_diff(&a, &b, never, NULL);
    for (size_t i = 1; i < a.count; i++)
        CHECK(stet_view_cmp(a.items[i - 1].path, a.items[i].path) <= 0);
    stet_options_release(&a);
    stet_options_release(&b);
    return 0;
}
