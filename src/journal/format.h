/* The journal on disk: frame, record kinds and their structs. docs/formats.md describes it. Texts
 * and lists in record structs are borrowed. */
#ifndef STET_JOURNAL_FORMAT_H
#define STET_JOURNAL_FORMAT_H

#include "base/buf.h"
#include "base/hash.h"

/* A file is a 16-byte head and then records. The head has the magic, major and minor version, and
 * the low 32 bits of XXH3-128 over those 12 bytes, all little-endian. A newer minor version only
 * adds record kinds and fields, which readers skip; a newer major version is not read at all. */
#define STET_JOURNAL_MAGIC     "STETJRN\n"
#define STET_JOURNAL_MAJOR     1
#define STET_JOURNAL_MINOR     0
#define STET_JOURNAL_HEAD_SIZE 16

/* A record: u32 mark, u32 checksum, u32 payload length, u16 kind, u16 zero, u64 sequence number,
 * u64 time, payload. The checksum (low 32 bits of XXH3-128) covers everything after itself. */
#define STET_JOURNAL_MARK        0x9ae7c35du
#define STET_JOURNAL_FRAME_SIZE  32
#define STET_JOURNAL_PAYLOAD_MAX ((size_t)256 << 10)
#define STET_JOURNAL_TEXT_MAX    ((size_t)16 << 10) /* a text is cut there */
#define STET_JOURNAL_LIST_MAX    ((size_t)32 << 10) /* a list of texts or frames ends there */
#define STET_JOURNAL_NUMBERS_MAX ((size_t)96 << 10) /* and a list of numbers there */

/* File names: <host>-<pid>-<start>-<random>.<m|d><segment number>.stj */
#define STET_JOURNAL_SUFFIX ".stj"

enum stet_stream { STET_STREAM_MAIN, STET_STREAM_DETAIL, STET_STREAMS };

/* Borrowed lists inside record structs. */
struct stet_list {
    const struct stet_view *items;
    size_t count;
};

struct stet_u64s {
    const uint64_t *items;
    size_t count;
};

struct stet_frame {
    struct stet_view file, function;
    uint64_t line;
    uint32_t
        depth; /* of the user's own among all frames of the thread; set by readers, not stored */
};

struct stet_frames {
    const struct stet_frame *items;
    size_t count;
};

#define STET_FIELD_U64    uint64_t
#define STET_FIELD_STR    struct stet_view
#define STET_FIELD_BYTES  struct stet_view
#define STET_FIELD_HASH   struct stet_hash
#define STET_FIELD_LIST   struct stet_list
#define STET_FIELD_U64S   struct stet_u64s
#define STET_FIELD_FRAMES struct stet_frames

/* struct stet_rec_process and so on. */
#define RECORD(name, number, stream, what)   struct stet_rec_##name {
#define FIELD(record, key, kind, name, what) STET_FIELD_##kind name;
#define END(record)                                                                                \
    }                                                                                              \
    ;
#include "journal/records.def"
#undef RECORD
#undef FIELD
#undef END

enum stet_rec {
#define RECORD(name, number, stream, what) STET_REC_##name = number,
#define FIELD(record, key, kind, name, what)
#define END(record)
#include "journal/records.def"
#undef RECORD
#undef FIELD
#undef END
};

union stet_record {
#define RECORD(name, number, stream, what) struct stet_rec_##name name;
#define FIELD(record, key, kind, name, what)
#define END(record)
#include "journal/records.def"
#undef RECORD
#undef FIELD
#undef END
};

/* The same list as data, for encoding, printing and checking. */
enum stet_field_kind {
    STET_KIND_U64,
    STET_KIND_STR,   /* text, cut at STET_JOURNAL_TEXT_MAX */
    STET_KIND_BYTES, /* never cut */
    STET_KIND_HASH,
    STET_KIND_LIST,
    STET_KIND_U64S,
    STET_KIND_FRAMES,
};

struct stet_field_info {
    const char *name, *what;
    unsigned key;
    enum stet_field_kind kind;
    size_t offset; /* in the record's struct */
};

struct stet_journal_record_info {
    const char *name, *what;
    unsigned kind; /* enum stet_rec */
    enum stet_stream stream;
    const struct stet_field_info *fields;
    size_t field_count;
};

/* NULL for a kind that this build does not know. */
const struct stet_journal_record_info *stet_journal_record_info(unsigned kind);

/* Payload of a record struct, appended to `out`; failure sticks in `out`. */
void stet_journal_record_encode(struct stet_buf *out, const struct stet_journal_record_info *info,
                                const void *record);

/* Low 32 bits of XXH3-128: the checksum of heads and frames. */
uint32_t stet_journal_checksum(const void *bytes, size_t n);

#endif
