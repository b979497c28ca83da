/* The breakage matrix: combinations that are known to break, as data. Each row has a detector over
 * a bundle. docs/matrix.md describes the file format. The struct owns all rows. */
#ifndef STET_BUNDLE_MATRIX_H
#define STET_BUNDLE_MATRIX_H

#include "bundle/inventory.h"

struct stet_detector;

/* The fields of a row, in printed order. All are required. */
enum stet_row_field {
    STET_ROW_AREA, /* version, plugin, cache, flags, debug, launch, feature */
    STET_ROW_KIND, /* upstream defect, launch policy, version gate, structural gate */
    STET_ROW_SYMPTOM,
    STET_ROW_VERSIONS,
    STET_ROW_EVIDENCE,
    STET_ROW_DO,
    STET_ROW_DETECT,
    STET_ROW_FIELDS
};

struct stet_row {
    struct stet_view id;
    struct stet_view field[STET_ROW_FIELDS]; /* one line each */
    const struct stet_detector *detector;
    unsigned line;      /* where it begins */
    const char *source; /* file it comes from; "" for the built-in one */
};

struct stet_matrix {
    struct stet_arena arena;
    struct stet_row *rows;
    size_t count, room;
};

const char *stet_row_field_name(enum stet_row_field f);

/* An empty matrix; the two functions below add rows. */
void stet_matrix_init(struct stet_matrix *m);
void stet_matrix_release(struct stet_matrix *m);
/* The rows that come with Stet. */
enum stet_rc stet_matrix_built_in(struct stet_matrix *m, struct stet_err *err);
/* Adds the rows of a text; a row replaces an earlier one with the same id. On STET_BAD_INPUT the
 * message is "source:line:column: what". The text need not outlive the call, but `source` must. */
enum stet_rc stet_matrix_add(struct stet_matrix *m, struct stet_view text, const char *source,
                             struct stet_err *err);

/* Does the row's detector match? `why`, if not NULL, gets the items that matched. */
bool stet_row_fits(const struct stet_row *row, const struct stet_inventory *v,
                   struct stet_buf *why);

/* Versions by their numbers: 0.10.2 > 0.9, 2.0rc1 < 2.0, 2.9.0+cu128 = 2.9.0. */
int stet_version_cmp(struct stet_view a, struct stet_view b);

#endif
