/* The journal's reader. It can read while the file is being written, and continues after a torn end
 * or damage. Events borrow from the reader until the next call. */
#ifndef STET_JOURNAL_READ_H
#define STET_JOURNAL_READ_H

#include "base/arena.h"
#include "base/err.h"
#include "journal/format.h"

/* What could not be read, and where. */
struct stet_journal_damage {
    uint64_t regions;      /* stretches of bytes skipped */
    uint64_t bytes;        /* in them */
    uint64_t first;        /* offset of the first region; valid when regions > 0 */
    uint64_t tail;         /* bytes of an unfinished record at the end */
    uint64_t bad_payloads; /* intact frames whose fields don't decode */
    uint64_t unknown;      /* records of kinds this build does not know, skipped */
};

struct stet_journal_event {
    unsigned kind; /* enum stet_rec */
    uint64_t sequence, time_ns;
    uint64_t offset;    /* of the frame in the file */
    const void *record; /* struct stet_rec_<kind>; valid until the next call */
    struct stet_view payload;
};

/* One file. The caller owns the struct, and uses only the fields marked public. */
struct stet_journal_reader {
    int fd;                  /* -1 when reading from memory */
    struct stet_view window; /* bytes at hand, from window_at on */
    uint64_t window_at;
    uint64_t at, size; /* next byte to parse; size of the file at the last check */
    struct stet_buf buffer;
    struct stet_arena arena; /* lists of the current record */
    union stet_record record;
    uint64_t budget;   /* bytes that failing checksums may still cost */
    uint64_t searched; /* bytes that were looked through for the next record */
    bool head_seen, waiting;
    unsigned major, minor;             /* public: of the file, after the first event */
    bool newer;                        /* public: the file is of a newer minor version */
    struct stet_journal_damage damage; /* public */
};

/* STET_NOT_FOUND if the file does not exist. A file without even a complete head is valid: it gives
 * no events yet. */
enum stet_rc stet_journal_reader_open(struct stet_journal_reader *r, const char *path,
                                      struct stet_err *err);
/* Reads bytes in memory, which must outlive the reader. */
void stet_journal_reader_over(struct stet_journal_reader *r, struct stet_view bytes);
void stet_journal_reader_close(struct stet_journal_reader *r);

/* The next record. STET_NOT_FOUND: no more for now; if the file is still being written, call again
 * later. STET_BAD_INPUT: not a journal. STET_UNSUPPORTED: a newer major version. Damage is skipped
 * and counted, never an error. `damage.tail` is the size of an unfinished end at the last call. */
enum stet_rc stet_journal_next(struct stet_journal_reader *r, struct stet_journal_event *event,
                               struct stet_err *err);

/* Decodes a payload alone. Views point into it, lists into the arena. */
enum stet_rc stet_journal_record_decode(union stet_record *out, struct stet_arena *arena,
                                        const struct stet_journal_record_info *info,
                                        struct stet_view payload, struct stet_err *err);

#endif
