/* Reads a contract's text word by word, for the files that parse it.
 * The first failure is kept with its line and column, and all later ones are ignored. Blanks,
 * comments and meaningless line ends are skipped before each word. */
#ifndef STET_GATE_SCAN_H
#define STET_GATE_SCAN_H

#include "gate/contract.h"

struct stet_scan {
    struct stet_contract *c;
    const char *file, *start, *at, *end;
    unsigned depth;      /* of brackets */
    const char *counted; /* lines are counted up to here: */
    uint32_t line;
    struct stet_err *err;
    bool failed;
};

/* Both return false, so that a caller can return what they return. */
__attribute__((format(printf, 3, 4))) bool stet_scan_fail(struct stet_scan *s, const char *at,
                                                          const char *fmt, ...);
bool stet_gate_scan_no_memory(struct stet_scan *s);

uint32_t stet_gate_scan_line(struct stet_scan *s, const char *at);
void stet_gate_scan_skip(struct stet_scan *s);
/* At the end of the statement? */
bool stet_gate_scan_at_end(struct stet_scan *s);
/* The next word without taking it; empty at punctuation. */
struct stet_view stet_gate_scan_peek(struct stet_scan *s);
bool stet_gate_scan_accept(struct stet_scan *s, const char *word);
bool stet_gate_scan_accept_char(struct stet_scan *s, char c);
/* "..." or its one character. */
bool stet_gate_scan_accept_dots(struct stet_scan *s);
/* Fails if it is absent. */
bool stet_gate_scan_expect(struct stet_scan *s, const char *word);
bool stet_gate_scan_expect_char(struct stet_scan *s, char c);
/* "program" or "programs" */
bool stet_gate_scan_expect_plural(struct stet_scan *s, const char *word);
bool stet_gate_scan_number(struct stet_scan *s, int64_t *out);
bool stet_gate_scan_budget(struct stet_scan *s, uint64_t *out);
/* "…" with \" and \\ in it; a word or such a text. Both are copied into the contract. */
bool stet_gate_scan_quoted(struct stet_scan *s, struct stet_view *out);
bool stet_gate_scan_text(struct stet_scan *s, struct stet_view *out, const char *what);

/* (ARGUMENT, …), separated by commas or line ends. */
bool stet_gate_scan_arguments(struct stet_scan *s, struct stet_family *f);

#endif
