/* Reads programs two by two, whatever their formats, and says whether each pair is the same,
 * operation by operation and by fingerprints: same-program [--locations] [--no-options] [LIST] LIST
 * (or standard input) has lines "A<tab>B". Exit 0 when all are, 1 when not. */
#include "base/fs.h"
#include "decode/decode.h"
#include "fingerprint/fingerprint.h"
#include "program/compare.h"
#include "program/print.h"

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

static bool same(const struct stet_program *a, const struct stet_program *b, unsigned flags,
                 const char *name_a, const char *name_b)
{
    struct stet_err why = STET_ERR_INIT;

    if (stet_program_same(a, b, flags, &why) && same_fingerprints(a, b, &why))
        return true;
    printf("DIFFER %s %s: %s\n", name_a, name_b, why.text);
    return false;
}

static bool pair_is_same(const char *a, const char *b, unsigned flags)
{
    struct stet_file fa, fb;
    struct stet_program pa, pb;
    bool equal = false;

    if (!read_program(a, &fa, &pa))
        return false;
    if (read_program(b, &fb, &pb)) {
        equal = same(&pa, &pb, flags, a, b);
        stet_program_release(&pb);
        stet_file_close(&fb);
    }
    stet_program_release(&pa);
    stet_file_close(&fa);
    return equal;
}

/* What has no text (bytes of an unknown dialect) is not printed, and that is all right. */
static bool survives_printing(const char *path, unsigned flags)
{
    struct stet_print_options options = {.locations = flags & STET_COMPARE_LOCATIONS};
    struct stet_buf text = STET_BUF_INIT;
    struct stet_err err = STET_ERR_INIT;
    struct stet_program p, again;
    struct stet_file f;
    bool equal = false;

    if (!read_program(path, &f, &p))
        return false;
    if (stet_print_program(&text, &p, &options, &err) != STET_OK) {
        equal = err.rc == STET_UNSUPPORTED;
    } else if (stet_decode_mlir_text(&again, stet_buf_as_view(&text), &err) == STET_OK) {
        equal = same(&p, &again, flags, path, "(printed)");
        stet_program_release(&again);
    }
    if (!equal && err.rc != STET_OK)
        printf("FAIL %s (printed): %s\n", path, err.text);
    stet_buf_release(&text);
    stet_program_release(&p);
    stet_file_close(&f);
    return equal;
}

int main(int argc, char **argv)
{
    char line[8192], *tab;
    unsigned flags = STET_COMPARE_PLAIN, equal = 0, all = 0;
    FILE *list = stdin;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--locations") == 0)
            flags |= STET_COMPARE_LOCATIONS;
        else if (strcmp(argv[i], "--no-options") == 0)
            flags |= STET_COMPARE_NO_OPTIONS;
        else if (!(list = fopen(argv[i], "r")))
            return 2;
    }
    for (; fgets(line, sizeof(line), list); all++) {
        line[strcspn(line, "\n")] = '\0';
        tab = strchr(line, '\t');
        if (tab)
            *tab = '\0';
        equal += tab ? pair_is_same(line, tab + 1, flags) : survives_printing(line, flags);
    }
    printf("%u of %u are the same\n", equal, all);
    return equal == all ? 0 : 1;
}
