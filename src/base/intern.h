/* An interner. Each different text is stored once and gets a number, counted from 0 in order of
 * arrival. Equal texts have equal numbers and equal pointers. The table owns its copies, unless the
 * caller lets it borrow the texts. */
#ifndef STET_BASE_INTERN_H
#define STET_BASE_INTERN_H

#include "base/arena.h"

#define STET_INTERN_NONE UINT32_MAX

struct stet_intern_slot {
    uint32_t hash, number; /* number + 1; 0 marks an empty slot */
};

struct stet_intern {
    struct stet_arena arena; /* the copies */
    struct stet_view *items; /* by number; terminated copies unless the texts are borrowed */
    struct stet_intern_slot *slots;
    uint32_t count, mask;
    size_t room;
    bool borrows; /* texts are borrowed: they outlive the table */
    bool failed;  /* sticky: some text has no number */
};

/* `cap` limits the bytes of the copies. */
void stet_intern_init(struct stet_intern *t, size_t cap);
/* The texts are the caller's and outlive the table. */
void stet_intern_borrow(struct stet_intern *t);
void stet_intern_release(struct stet_intern *t);

/* The number of the text, which is added if it is new. STET_INTERN_NONE (and `failed`) when memory
 * runs out. */
uint32_t stet_intern_add(struct stet_intern *t, struct stet_view text);
/* STET_INTERN_NONE if the text is not in the table. */
uint32_t stet_intern_find(const struct stet_intern *t, struct stet_view text);
/* The table's own copy of a text; empty for the empty text and when memory runs out. */
struct stet_view stet_intern_view(struct stet_intern *t, struct stet_view text);

#endif
