/* The layout of an entry's file: a fixed head with its checksum, words as lines, then two zstd
 * frames. Everything is covered by a checksum, and the head's own covers the others. */
#ifndef STET_STORE_LAYOUT_H
#define STET_STORE_LAYOUT_H

enum {
    STET_ENTRY_HEAD = 8 + 4 + 4 + 4 * 8 + 3 * 16,
    STET_ENTRY_START = STET_ENTRY_HEAD + 16, /* the words begin here */
    STET_ENTRY_WORDS_MAX = 1 << 20,
};

static const char stet_entry_magic[8] = {'S', 'T', 'E', 'T', 'E', 'X', 'E', '\n'};

#endif
