/* "Did you mean …?": finds the known word that is closest to a word that is not known. */
#ifndef STET_HELP_SIMILAR_H
#define STET_HELP_SIMILAR_H

#include <stddef.h>

enum { STET_SIMILAR_WORD = 64 };

/* Begin as {.word = …}; `best` is "" until a word is close enough. */
struct stet_help_similar {
    const char *word;
    char best[STET_SIMILAR_WORD];
    size_t distance;
};

/* Keeps `known` when it is closer than the best so far. */
void stet_help_similar_try(struct stet_help_similar *s, const char *known);

#endif
