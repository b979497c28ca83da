/* Facts about programs stripped of their large constants, over every program the fuzzers start
 * from. */
#include "test.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/mem.h"
#include "decode/decode.h"
#include "intercept/constants.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

const char stet_entry_name[] = "test";

typedef void visit(const char *name, struct stet_view format, struct stet_view bytes);

static size_t each_program(visit *see)
{
    static const struct {
        const char *folder, *format;
    } corpora[] = {{"fuzz/corpus/bytecode", "mlir"},
                   {"fuzz/corpus/mlir_text", "mlir"},
                   {"fuzz/corpus/hlo_proto", "hlo"},
                   {"cli/data", "mlir"}};
    size_t seen = 0;

    for (size_t i = 0; i < sizeof corpora / sizeof *corpora; i++) {
        char path[1024];
        DIR *dir;

        snprintf(path, sizeof path, "%s/tests/%s", STET_SOURCE_DIR, corpora[i].folder);
        dir = opendir(path);
        for (struct dirent *e; dir && (e = readdir(dir));) {
            struct stet_file f;

            snprintf(path, sizeof path, "%s/tests/%s/%s", STET_SOURCE_DIR, corpora[i].folder,
                     e->d_name);
            if (e->d_name[0] == '.' || stet_file_open(&f, path, NULL) != STET_OK)
                continue;
            see(e->d_name, stet_view_str(corpora[i].format), f.bytes);
            stet_file_close(&f);
            seen++;
        }
        if (dir)
            closedir(dir);
    }
    return seen;
}

static bool decodes(struct stet_view bytes)
{
    struct stet_program p;

    if (stet_decode(&p, bytes, NULL) != STET_OK)
        return false;
    stet_program_release(&p);
    return true;
}

static size_t kept;

static void strip_and_read(const char *name, struct stet_view format, struct stet_view bytes)
{
    char *out;

    if (stet_constants_strip(format, bytes, &out) != STET_OK)
        return;
    kept++;
    if (decodes(bytes) && !decodes(stet_view_of(out, bytes.len))) {
        fprintf(stderr, "%s\n", name);
        EXPECT(false && "a stripped program that can't be read any more");
    }
    stet_mem_free(out);
}

TEST(readable_programs_stay_readable_without_their_constants)
{
    size_t seen = each_program(strip_and_read);

    EXPECT(seen > 100);
    EXPECT(kept > seen / 2);
}

static void strip_damaged(const char *name, struct stet_view format, struct stet_view bytes)
{
    static unsigned random = 1;
    char *copy = stet_mem_alloc(bytes.len + 1), *out;

    (void)name;
    memcpy(copy, bytes.ptr, bytes.len);
    for (int i = 0; i < 50 && bytes.len; i++) {
        random = random * 1664525u + 1013904223u;
        copy[(random >> 8) % bytes.len] = (char)(random >> 4);
        stet_constants_strip(format, stet_view_of(copy, bytes.len - (size_t)i % 7 % bytes.len),
                             &out);
        stet_mem_free(out);
    }
    stet_mem_free(copy);
}

TEST(damaged_programs_are_never_read_out_of_bounds)
{
    each_program(strip_damaged);
}

TEST(formats_without_known_constants_are_not_kept)
{
    char *out;

    EXPECT_INT(STET_UNSUPPORTED, stet_constants_strip(STET_VIEW("other"), STET_VIEW("x"), &out));
    EXPECT(!out);
    EXPECT_INT(STET_UNSUPPORTED,
               stet_constants_strip(STET_VIEW("mlir"), stet_view_of("a\0b", 3), &out));
    EXPECT_INT(STET_UNSUPPORTED, stet_constants_strip(STET_VIEW("hlo"), STET_VIEW("\x0f"), &out));
}

TEST(long_lists_of_numbers_in_text_are_masked_too)
{
    static char text[8192], other[8192];
    size_t n = (size_t)sprintf(text, "stablehlo.constant dense<["), at;
    char *a, *b;

    for (int i = 0; i < 400; i++)
        n += (size_t)sprintf(text + n, "%s%d.25", i ? ", " : "", 100 + i);
    n += (size_t)sprintf(text + n, "]> : tensor<400xf32> // dense<[12, 34]>");
    memcpy(other, text, n);
    at = (size_t)(strstr(other, "377.25") - other);
    other[at] = '4';
    EXPECT_INT(STET_OK, stet_constants_strip(STET_VIEW("mlir"), stet_view_of(text, n), &a));
    EXPECT_INT(STET_OK, stet_constants_strip(STET_VIEW("mlir"), stet_view_of(other, n), &b));
    EXPECT(memcmp(a, b, n) != 0);
    EXPECT(!memmem(a, n, "377.25", 6) && memmem(a, n, "dense<[12, 34]>", 15));
    EXPECT_INT(strspn(a + 26, "01., "), strcspn(a + 26, "]"));
    stet_mem_free(a);
    stet_mem_free(b);
}
