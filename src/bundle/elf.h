/* Facts about a shared object's file, read without loading it. */
#ifndef STET_BUNDLE_ELF_H
#define STET_BUNDLE_ELF_H

#include "base/view.h"

struct stet_elf {
    const char *wrong;  /* why it can't be loaded here, or NULL; a literal */
    char build_id[129]; /* hex, "" when it has none */
    bool has_symbols;   /* its dynamic symbols could be read */
    bool has_entry;     /* and GetPjrtApi is defined there */
};

/* Works on any bytes. */
void stet_bundle_elf_look(struct stet_elf *e, struct stet_view bytes);
/* False if the file does not exist or cannot be read. */
bool stet_bundle_elf_open(struct stet_elf *e, const char *path);
/* The same for an open file. */
bool stet_bundle_elf_read(struct stet_elf *e, int fd);

#endif
