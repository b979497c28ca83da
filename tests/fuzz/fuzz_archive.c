/* Archives of entries, read by a user who trusts anyone, so that no signature keeps inputs out:
 * what is given out is inside the input, has the key it says, and is the same when it is sealed and
 * read again. */
#include "fuzz.h"

#include "trust/archive.h"

static void seal_again(const struct stet_archive_item *item, const struct stet_trust *anyone)
{
    struct stet_buf sealed = STET_BUF_INIT;
    struct stet_archive_item again;
    struct stet_archive a;

    CHECK(stet_trust_archive_seal(&sealed, item->bytes, NULL, NULL) == STET_OK);
    CHECK(stet_trust_archive_read(&a, stet_buf_as_view(&sealed), anyone, NULL) == STET_OK);
    CHECK(a.count == 1 && stet_trust_archive_next(&a, &again, NULL) == STET_OK);
    CHECK(stet_hash_eq(again.key, item->key) && stet_view_eq(again.bytes, item->bytes));
    stet_buf_release(&sealed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stet_view bytes = stet_view_of((const char *)data, size);
    struct stet_trust anyone = {.anyone = true}, nobody = {0};
    struct stet_err err = STET_ERR_INIT;
    struct stet_archive_item item;
    struct stet_archive a;
    enum stet_rc rc;

    CHECK(stet_trust_archive_read(&a, bytes, &nobody, NULL) != STET_OK);
    if (stet_trust_archive_read(&a, bytes, &anyone, &err) != STET_OK) {
        CHECK(err.rc != STET_OK && err.text[0]);
        return 0;
    }
    CHECK(a.count <= size / 56);
    while ((rc = stet_trust_archive_next(&a, &item, NULL)) != STET_NOT_FOUND) {
        if (rc != STET_OK)
            continue;
        CHECK(item.bytes.ptr >= bytes.ptr && item.bytes.ptr + item.bytes.len <= bytes.ptr + size);
        seal_again(&item, &anyone);
    }
    return 0;
}
