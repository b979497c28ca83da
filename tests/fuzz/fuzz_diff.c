/* The differ and the fingerprints on two programs made from one input: whatever the readers let
 * through must be compared without a crash, the same way twice, and be identical to itself. */
#include "fuzz.h"

#include "decode/decode.h"
#include "explain/diff.h"

/* The input is two MLIR texts with this between them, or one, which is compared with itself. */
static const char divider[] = "\n// ----\n";

static bool read_program(struct stet_program *p, struct stet_fingerprint *f, struct stet_view text)
{
    if (stet_decode(p, text, NULL) != STET_OK)
        return false;
    if (stet_fingerprint_make(f, p, (struct stet_view){0}, NULL) == STET_OK)
        return true;
    stet_program_release(p);
    return false;
}

static void compare(const struct stet_diff_side *a, const struct stet_diff_side *b)
{
    struct stet_diff d, again;

    if (stet_diff_make(&d, a, b, NULL) != STET_OK)
        return;
    CHECK(d.cause > STET_CAUSE_NONE && d.cause < STET_CAUSES);
    CHECK((d.cause == STET_CAUSE_IDENTICAL) ==
          stet_hash_eq(a->fingerprint->key, b->fingerprint->key));
    if (!stet_hash_eq(a->fingerprint->key, b->fingerprint->key) && d.same_skeleton)
        CHECK(d.moved || d.change_count);
    for (uint32_t i = 0; i < d.change_count; i++)
        CHECK(d.changes[i].facet <= STET_NO_FACET && d.changes[i].count > 0);
    CHECK(stet_diff_make(&again, a, b, NULL) == STET_OK);
    CHECK(again.cause == d.cause && again.change_count == d.change_count);
    stet_diff_release(&again);
    stet_diff_release(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stet_view whole = stet_view_of(data, size), first = whole, second = whole;
    const char *at = size ? memmem(data, size, divider, sizeof divider - 1) : NULL;
    struct stet_fingerprint fa, fb;
    struct stet_program a, b;

    if (at) {
        first.len = (size_t)(at - whole.ptr);
        second = stet_view_of(at + sizeof divider - 1, size - first.len - (sizeof divider - 1));
    }
    if (!read_program(&a, &fa, first))
        return 0;
    if (read_program(&b, &fb, second)) {
        struct stet_diff_side sa = {&a, &fa}, sb = {&b, &fb};

        if (!at)
            CHECK(stet_hash_eq(fa.key, fb.key) && stet_hash_eq(fa.skeleton, fb.skeleton));
        compare(&sa, &sb);
        compare(&sb, &sa);
        compare(&sa, &sa);
        stet_program_release(&b);
    }
    stet_program_release(&a);
    return 0;
}
