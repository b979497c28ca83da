/* The messages between the layer and the agent over a Unix socket. They are small and have one
 * form, with a magic, a version, a length and a checksum. Executables never pass through the
 * socket: they are in the store that both can read. docs/formats.md has the layout. */
#ifndef STET_WIRE_MESSAGE_H
#define STET_WIRE_MESSAGE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"

#define STET_WIRE_VERSION 1

enum { STET_WIRE_HEAD = 32, STET_WIRE_MAX = 1 << 16 };

enum stet_message_kind {
#define MESSAGE(id, number, what) STET_MESSAGE_##id = number,
#include "wire/messages.def"
#undef MESSAGE
};

/* Bits of `flags`. */
enum {
    STET_MESSAGE_JSON = 1,  /* STATUS: as JSON */
    STET_MESSAGE_LOOK = 2,  /* GET: only look, never wait for another process that compiles */
    STET_MESSAGE_ASIDE = 4, /* FOUND: the entry is in the folder STET_STORE_ASIDE of the store */
    STET_MESSAGE_ONCE = 8,  /* GET: the store is a folder for this one load; put only the entry
                             * there */
};

/* The folder of the store for entries that no trusted key signed and that STET_TRUST=any accepted.
 * It is a separate store, which only an agent with STET_TRUST=any reads. */
#define STET_STORE_ASIDE "untrusted"

/* The tier of an entry that another process of this host compiled. */
#define STET_MESSAGE_SAME_HOST "agent"

/* One message; each kind uses some of the fields, and leaves the others zero. Texts are views into
 * whatever it was read from. */
struct stet_message {
    uint32_t kind;
    uint32_t flags;
    struct stet_hash key;
    uint32_t wait_ms;       /* GET: deadline of the answer */
    uint32_t flight_ms;     /* GET: how long to wait for another process that compiles it */
    uint64_t bytes;         /* FOUND: of the entry */
    uint64_t ns;            /* FOUND: what fetching took */
    struct stet_view store; /* folder of the store that both use */
    struct stet_view tier;  /* FOUND, REFUSED: the kind of tier that it came from */
    uint32_t tier_number;   /* the same: which of the agent's tiers, from 1; 0 if unknown or none */
    struct stet_view run;   /* GET, REPORT: the run that asks */
    struct stet_view text;  /* the reason, or the answer to STATUS */
};

/* Appends the whole frame. */
void stet_wire_message_pack(struct stet_buf *out, const struct stet_message *m);
/* The length of the whole frame, from its first STET_WIRE_HEAD bytes. STET_UNSUPPORTED if a newer
 * Stet wrote it. */
enum stet_rc stet_wire_message_length(struct stet_view head, size_t *length, struct stet_err *err);
/* A whole frame. */
enum stet_rc stet_wire_message_read(struct stet_message *m, struct stet_view frame,
                                    struct stet_err *err);

#endif
