/* Facts about captured programs: what the layer keeps comes back, and a torn file is noticed. */
#include "test.h"

#include "base/mem.h"
#include "intercept/blob.h"
#include "intercept/layer.h"
#include "ledger/captured.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char stet_entry_name[] = "test";

static char path[PATH_MAX + 128];

/* Keeps `bytes` in a run folder of its own; `path` is where. */
static bool keep(struct stet_view bytes)
{
    struct stet_hash hash = stet_hash_bytes(bytes);
    char name[STET_HASH_TEXT];

    snprintf(stet_layer.dir, sizeof stet_layer.dir, "/tmp/stet-captured-XXXXXX");
    if (!mkdtemp(stet_layer.dir) || !stet_blob_keep(hash, bytes, "mlir"))
        return false;
    stet_hash_format(hash, name);
    snprintf(path, sizeof path, "%s/programs/%s.mlir.zst", stet_layer.dir, name);
    return true;
}

static void drop(void)
{
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
    rmdir(stet_layer.dir);
}

static void overwrite(struct stet_view bytes)
{
    FILE *f = fopen(path, "wb");

    fwrite(bytes.ptr, 1, bytes.len, f);
    fclose(f);
}

static enum stet_rc open_and_close(void)
{
    struct stet_file f;
    enum stet_rc rc = stet_ledger_captured_open(&f, path, 0, NULL);

    if (rc == STET_OK)
        stet_file_close(&f);
    return rc;
}

static struct stet_view sample(void)
{
    static char text[5000];

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + i * i % 23);
    return stet_view_of(text, sizeof text);
}

TEST(a_captured_program_reads_back_as_it_was)
{
    struct stet_file f;

    EXPECT(keep(sample()));
    EXPECT_INT(STET_OK, stet_ledger_captured_open(&f, path, 0, NULL));
    EXPECT(stet_view_eq(sample(), f.bytes));
    stet_file_close(&f);
    drop();
}

TEST(unpacking_stops_at_its_limit)
{
    size_t n = sample().len;
    struct stet_file f;

    EXPECT(keep(sample()));
    EXPECT_INT(STET_OK, stet_ledger_captured_open(&f, path, n, NULL));
    stet_file_close(&f);
    EXPECT_INT(STET_LIMIT, stet_ledger_captured_open(&f, path, n - 1, NULL));
    EXPECT_INT(STET_LIMIT, stet_ledger_captured_open(&f, path, 1, NULL));
    drop();
}

/* Every length that a machine going down could leave, none among them, and every byte changed. */
TEST(a_torn_or_damaged_file_is_never_taken_for_the_program)
{
    struct stet_file whole;
    char *copy;
    size_t n;

    EXPECT(keep(sample()));
    EXPECT_INT(STET_OK, stet_file_open(&whole, path, NULL));
    n = whole.bytes.len;
    copy = malloc(n);
    memcpy(copy, whole.bytes.ptr, n);
    stet_file_close(&whole);
    for (size_t i = 0; i < n; i++) {
        overwrite(stet_view_of(copy, i));
        EXPECT(open_and_close() != STET_OK);
    }
    for (size_t i = 0; i < n; i++) {
        copy[i] ^= 0x10;
        overwrite(stet_view_of(copy, n));
        if (open_and_close() == STET_OK)
            EXPECT_INT(4, i); /* the frame header's descriptor has a bit that nobody reads */
        copy[i] ^= 0x10;
    }
    overwrite(stet_view_of(copy, n));
    EXPECT_INT(STET_OK, open_and_close());
    free(copy);
    drop();
}
