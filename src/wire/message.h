/* What the layer and the agent say to each other over a Unix socket: small messages of one form,
 * framed with a magic, a version, a length and a checksum. Executables never pass through the
 * socket: they lie in the store that both can see. docs/formats.md has the layout. */
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
    STET_MESSAGE_LOOK = 2,  /* GET: only look, never wait for another who compiles */
    STET_MESSAGE_ASIDE = 4, /* FOUND: the entry lies in the folder STET_STORE_ASIDE of the store */
    STET_MESSAGE_ONCE = 8,  /* GET: the store is a folder for this one load: the entry alone */
};

/* What no trusted key signed, and STET_TRUST=any let in, lies in this folder of the store: a store
 * of its own, which only an agent with STET_TRUST=any looks into. */
#define STET_STORE_ASIDE "untrusted"

/* The tier of an entry that another process of this host compiled. */
#define STET_MESSAGE_SAME_HOST "agent"

/* One message; each kind uses some of the fields, and leaves the others zero. Texts are views into
 * whatever it was read from. */
struct stet_message {
    uint32_t kind;
    uint32_t flags;
    struct stet_hash key;
    uint32_t wait_ms;       /* GET: an answer is wanted within */
    uint32_t flight_ms;     /* GET: how long to wait for another who compiles it */
    uint64_t bytes;         /* FOUND: of the entry */
    uint64_t ns;            /* FOUND: what fetching took */
    struct stet_view store; /* folder of the store both look at */
    struct stet_view tier;  /* FOUND, REFUSED: where it came from; GET, REPORT: the run */
    struct stet_view text;  /* why, or what STATUS asked for */
};

/* Appends the whole frame. */
void stet_message_pack(struct stet_buf *out, const struct stet_message *m);
/* How long the whole frame is, from its first STET_WIRE_HEAD bytes. STET_UNSUPPORTED when a newer
 * Stet wrote it. */
enum stet_rc stet_message_length(struct stet_view head, size_t *length, struct stet_err *err);
/* A whole frame. */
enum stet_rc stet_message_read(struct stet_message *m, struct stet_view frame,
                               struct stet_err *err);
/* "get", "found"…; "?" for a number this build does not know. */
const char *stet_message_name(uint32_t kind);

#endif
