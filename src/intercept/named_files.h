/* Handles files that a compiler reads: their content is part of a key, wherever they are. The
 * options and the flags of a key use it. A watch owns its list of files. */
#ifndef STET_INTERCEPT_NAMED_FILES_H
#define STET_INTERCEPT_NAMED_FILES_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "journal/vocabulary.h"

/* Files and their state when they were read: a zeroed struct is empty. Not thread-safe while files
 * are added. */
struct stet_file_watch {
    struct stet_watched *items;
    size_t count, room;
    bool failed; /* memory was short */
};

void stet_intercept_file_watch_release(struct stet_file_watch *w);
/* Has any of them changed, disappeared or appeared since? One stat(2) per file. */
bool stet_intercept_file_watch_moved(const struct stet_file_watch *w);
/* Notes the file at `path`, which need not exist. */
void stet_intercept_file_watch_add(struct stet_file_watch *w, const char *path);

enum stet_named {
    STET_NAMED_ABSENT,
    STET_NAMED_FILE,
    STET_NAMED_OTHER, /* a folder, or a device such as /dev/null */
    STET_NAMED_UNREADABLE,
};

/* Returns what is at `path`, and the hash of its content if it is a file. Adds it to the watch. */
enum stet_named stet_named_hash(const char *path, struct stet_hash *out, struct stet_file_watch *w);

/* Appends the text in a key for the value of an option or a flag, on one line and without spaces:
 * text unchanged, long or secret text by its hash, files by their content (option_files.def).
 * Returns STET_OUTCOME_NONE, or the reason why there can be no key. */
enum stet_outcome stet_named_value(struct stet_buf *out, struct stet_view name,
                                   struct stet_view value, struct stet_file_watch *w);
/* Appends text on one line and without blanks; long text as its hash. Different texts give
 * different results. */
void stet_named_text(struct stet_buf *out, struct stet_view text);
/* #length:hash */
void stet_named_digest(struct stet_buf *out, struct stet_view text);

#endif
