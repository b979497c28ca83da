/* Reads programs two by two, whatever their formats, and says whether each pair is the same,
 * operation by operation and by fingerprints: same-program [--locations] [LIST] LIST (or standard
 * input) has lines "A<tab>B". Exit 0 when all are, 1 when not. */
#include "base/fs.h"
#include "decode/decode.h"
#include "fingerprint/fingerprint.h"
#include "program/compare.h"

#include <stdio.h>
#include <string.h>

static bool read_program(const char *path, struct stet_file *f, struct stet_program *out)
{
    struct stet_err err = STET_ERR_INIT;

    if (stet_file_open(f, path, &err) != STET_OK) {
        printf("FAIL %s: %s\n", path, err.text);
        return false;
    }
    if (stet_decode(out, f->bytes, &err) == STET_OK)
        return true;
    printf("FAIL %s: %s\n", path, err.text);
    stet_file_close(f);
    return false;
}

static bool same_fingerprints(const struct stet_program *a, const struct stet_program *b,
                              struct stet_err *why)
{
    struct stet_fingerprint x, y;
    uint32_t moved;

    if (stet_fingerprint_make(&x, a, (struct stet_view){0}, why) != STET_OK ||
        stet_fingerprint_make(&y, b, (struct stet_view){0}, why) != STET_OK)
        return false;
    if (!stet_hash_eq(x.skeleton, y.skeleton))
        stet_fail(why, STET_NOT_FOUND, "skeletons differ");
    moved = stet_fingerprint_moved(&x, &y);
    for (int f = 0; f < STET_FACETS; f++)
        if (moved >> f & 1)
            stet_fail(why, STET_NOT_FOUND, "facet %s differs", stet_facet_name((enum stet_facet)f));
    if (!stet_hash_eq(x.key, y.key))
        stet_fail(why, STET_NOT_FOUND, "keys differ");
    return why->rc == STET_OK;
}

static bool pair_is_same(const char *a, const char *b, unsigned flags)
{
    struct stet_file fa, fb;
    struct stet_program pa, pb;
    struct stet_err why = STET_ERR_INIT;
    bool same = false;

    if (!read_program(a, &fa, &pa))
        return false;
    if (read_program(b, &fb, &pb)) {
        same = stet_program_same(&pa, &pb, flags, &why) && same_fingerprints(&pa, &pb, &why);
        if (!same)
            printf("DIFFER %s %s: %s\n", a, b, why.text);
        stet_program_release(&pb);
        stet_file_close(&fb);
    }
    stet_program_release(&pa);
    stet_file_close(&fa);
    return same;
}

int main(int argc, char **argv)
{
    char line[8192], *tab;
    unsigned flags = STET_COMPARE_PLAIN, same = 0, all = 0;
    FILE *list = stdin;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--locations") == 0)
            flags |= STET_COMPARE_LOCATIONS;
        else if (!(list = fopen(argv[i], "r")))
            return 2;
    }
    for (; fgets(line, sizeof(line), list); all++) {
        line[strcspn(line, "\n")] = '\0';
        tab = strchr(line, '\t');
        if (!tab)
            return 2;
        *tab = '\0';
        same += pair_is_same(line, tab + 1, flags);
    }
    printf("%u of %u pairs are the same\n", same, all);
    return same == all ? 0 : 1;
}
