/* The layout of an entry's file: a fixed head with its checksum, text lines, then two zstd frames.
 * A checksum covers each part, and the head's own covers those. Internal to the store. */
#ifndef STET_STORE_LAYOUT_H
#define STET_STORE_LAYOUT_H

enum {
    STET_ENTRY_HEAD = 8 + 4 + 4 + 4 * 8 + 3 * 16,
    STET_ENTRY_START = STET_ENTRY_HEAD + 16, /* the text begins here */
    STET_ENTRY_WORDS_MAX = 1 << 20,
};

static const char stet_entry_magic[8] = {'S', 'T', 'E', 'T', 'E', 'X', 'E', '\n'};

#endif
