/* Finds the PJRT plugins that frameworks would find here, and how each is found. The struct owns
 * the list. */
#ifndef STET_BUNDLE_PLUGINS_H
#define STET_BUNDLE_PLUGINS_H

#include "bundle/elf.h"
#include "bundle/interpreter.h"

#include <limits.h>

enum { STET_PLUGINS_MAX = 32 };

enum stet_found_way {
#define FOUND(id, word, asked) STET_FOUND_##id,
#include "bundle/found_ways.def"
#undef FOUND
};

struct stet_found {
    char path[PATH_MAX];
    unsigned ways;     /* a bit for each enum stet_found_way that leads to it */
    char by[512];      /* the same, to print: "TPU_LIBRARY_PATH, package libtpu" */
    char platform[64]; /* the name that the way gives it, or "" */
    bool missing;      /* named, but no such file */
    struct stet_elf elf;
};

struct stet_found_list {
    struct stet_found items[STET_PLUGINS_MAX];
    size_t count;
    char notes[8][256]; /* entry points that lead to no plugin file, and the like */
    size_t note_count;
};

/* In the order in which frameworks would find them; a file found twice is listed once. */
void stet_bundle_plugins_find(struct stet_found_list *list, const struct stet_bundle_python *p,
                              char *const *environment);
void stet_bundle_plugins_add(struct stet_found_list *list, const char *path,
                             enum stet_found_way way, struct stet_view platform);
/* Did the user name this file, by an option or a variable? */
bool stet_bundle_plugins_asked(const struct stet_found *f);

#endif
