/* One entry of the store: an executable, the program it was compiled from, and the components of
 * its key as text. docs/formats.md has the layout. An open entry owns its file and text; its views
 * are valid until it is closed. */
#ifndef STET_STORE_ENTRY_H
#define STET_STORE_ENTRY_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/hash.h"

#define STET_ENTRY_VERSION 1

/* Bytes a program or an executable may unpack to. */
#define STET_ENTRY_MAX ((size_t)8 << 30)

/* The parts of a key, in the order in which a miss is searched for a difference. */
enum stet_component {
#define COMPONENT(id, name, what) STET_COMPONENT_##id,
#include "store/components.def"
#undef COMPONENT
    STET_COMPONENTS
};

/* Texts of one line each. */
struct stet_key_parts {
    struct stet_view part[STET_COMPONENTS];
};

struct stet_hash stet_store_key_of(const struct stet_key_parts *parts);
/* Writes them as lines name=value, and reads them; lines with other names are skipped. */
void stet_store_key_words(struct stet_buf *out, const struct stet_key_parts *parts);
void stet_store_key_from_words(struct stet_key_parts *parts, struct stet_view words);
const char *stet_store_component_name(enum stet_component c);

/* The content of a new entry; all borrowed. */
struct stet_kept {
    struct stet_key_parts parts;
    struct stet_view name;   /* of the program's module, for people */
    struct stet_view format; /* of the program: mlir, hlo, hlo_with_config */
    struct stet_view program, executable;
    struct stet_view options; /* the original bytes: their hash is a component, and this shows which
                               * option changed */
    struct stet_view plugin_path; /* not part of the key: where `stet cache verify` finds it */
    uint64_t compile_ns;          /* how long compiling it took */
};

/* The file's bytes. The only failure is STET_NO_MEMORY. */
enum stet_rc stet_store_entry_pack(struct stet_buf *out, const struct stet_kept *e,
                                   struct stet_err *err);
/* The same into an empty file, piece by piece: needs about a megabyte however large the executable
 * is. `bytes` is the size written. */
enum stet_rc stet_store_entry_write(int fd, const struct stet_kept *e, uint64_t *bytes,
                                    struct stet_err *err);

/* A program or an executable in an entry. */
struct stet_entry_part {
    uint64_t at, packed; /* where in the file, and how many bytes there */
    uint64_t size;       /* unpacked */
    struct stet_hash sum;
};

/* Keeps a decompressor between entries, since making one takes longer than unpacking a small entry
 * with it. A zeroed one is empty. Belongs to a process that unpacks many entries; any thread. */
struct stet_entry_unpacker {
    _Atomic(void *) spare; /* a ZSTD_DCtx, or NULL */
};

/* An entry on disk. Its text is checked when it is opened; the rest is read when needed. */
struct stet_entry_file {
    int fd;
    char *words;            /* the text of an open file; NULL for bytes in memory: */
    struct stet_view bytes; /* all of it */
    uint64_t bytes_size;    /* of the file */
    struct stet_hash key;
    struct stet_key_parts parts; /* views into `words`, as are the next four */
    struct stet_view name, format, plugin_path;
    struct stet_view options_hex;
    uint64_t compile_ns;
    struct stet_entry_part program, executable;
    struct stet_entry_unpacker *unpacker; /* may be NULL: one for each part is made then */
};

/* STET_NOT_FOUND if it does not exist, STET_BAD_INPUT (with the offset) if it is damaged,
 * STET_UNSUPPORTED if a newer Stet wrote it. On failure there is nothing to close. */
enum stet_rc stet_store_entry_open(struct stet_entry_file *f, const char *path,
                                   struct stet_err *err);
/* The same in two steps: a descriptor, or -1 with the reason in `rc`... */
int stet_store_entry_open_fd(const char *path, enum stet_rc *rc, struct stet_err *err);
/* ...which this takes over, also on failure. */
enum stet_rc stet_store_entry_adopt(struct stet_entry_file *f, int fd, const char *path,
                                    struct stet_err *err);
/* The same for bytes in memory, which are borrowed and not closed. */
enum stet_rc stet_store_entry_read(struct stet_entry_file *f, struct stet_view bytes,
                                   struct stet_err *err);
void stet_store_entry_close(struct stet_entry_file *f);
/* The original compile options, into `out`: nothing for entries of an older Stet. */
void stet_store_entry_options(const struct stet_entry_file *f, struct stet_buf *out);
/* Unpacked and checked, into `out`; needs about a megabyte beside it. */
enum stet_rc stet_store_entry_program(const struct stet_entry_file *f, struct stet_buf *out,
                                      struct stet_err *err);
enum stet_rc stet_store_entry_executable(const struct stet_entry_file *f, struct stet_buf *out,
                                         struct stet_err *err);
/* Prepares the first unpacking, so that it takes no longer than later ones. Any thread. */
void stet_store_entry_prepare(struct stet_entry_unpacker *u);

#endif
