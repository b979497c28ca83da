/* Internal to the link; no other file includes it. link.c prepares and drives it, link_names.c
 * resolves names, link_trace.c spreads tracing along calls, and link_findings.c keeps the
 * candidates that hold. */
#ifndef STET_LINT_LINKER_H
#define STET_LINT_LINKER_H

#include "base/hash.h"
#include "base/vec.h"
#include "lint/link.h"

struct place {
    uint32_t file, fn;
};

/* Why a function is traced: by a root, or because another traced one calls it. */
struct why {
    struct place caller; /* file LINT_NONE: a root */
    uint32_t file, line;
    struct stet_view how;
};

struct state {
    uint8_t lanes;
    bool queued;
    uint64_t tensors, statics; /* of the nest; stored at its outermost function */
    uint64_t varying;          /* also: given another Python value at each turn of a loop */
    uint64_t rooted;           /* arguments of the compiled function itself */
    bool repeated;             /* called in a loop outside of traced code */
    struct why why;
};

/* Of the name table: `at` holds a file and the index of the function, class or import. */
struct entry {
    struct stet_hash key;
    struct place at;
    uint8_t kind;
};

enum entry_kind { ENTRY_NONE, ENTRY_FILE, ENTRY_FN, ENTRY_CLASS, ENTRY_METHOD, ENTRY_IMPORT };

enum class_kind { CLASS_UNSEEN, CLASS_VISITING, CLASS_PLAIN, CLASS_TORCH, CLASS_FLAX };

struct linker {
    const struct lint_summary *files;
    const char *const *paths;
    size_t file_count;
    struct state **states; /* by file and function */
    uint8_t **classes;     /* by file and class: enum class_kind */
    struct entry *table;
    size_t mask;
    STET_VEC(struct place) queue;
    struct stet_arena *arena;
    uint64_t steps;
    bool failed;
};

/* link_names.c */
bool lint_linker_index(struct linker *l);
/* What a call reaches; .file is LINT_NONE if it is not among the files. */
struct place lint_linker_callee(struct linker *l, uint32_t file, const struct lint_call *c);
enum class_kind lint_linker_class(struct linker *l, uint32_t file, uint32_t index);

/* link_trace.c: fills `states`. */
void lint_linker_trace(struct linker *l);

/* link_findings.c: those of one file, appended to `out`, which has room for all candidates. */
void lint_linker_findings(struct linker *l, uint32_t file, struct stet_lint_finding *out,
                          size_t *count);

#endif
