/* A compile that need not happen: the same program was compiled before, here or by another process,
 * and its executable is loaded instead. */
#ifndef STET_INTERCEPT_RELOAD_H
#define STET_INTERCEPT_RELOAD_H

#include "intercept/plugin.h"
#include "intercept/remote.h"
#include "journal/vocabulary.h"
#include "store/entry.h"

/* What the gate has found out about the program, if it is on: it need not be read again. */
struct stet_looked {
    bool known, local; /* local: as stet_program_is_local */
    struct stet_hash key;
};

/* One compile and the store; lives on the caller's stack. */
struct stet_reload {
    const struct stet_looked *looked;
    struct stet_arena arena;
    struct stet_key_parts parts;
    struct stet_hash key;
    struct stet_view plugin_path;
    enum stet_outcome outcome; /* of the lookup */
    bool keep;                 /* what is compiled now is worth keeping */
    bool exact; /* the key is a guess: only a program of the same bytes is the same */
    struct stet_hash bytes, program; /* hash of the bytes; of the program, when it was read */
    enum stet_served served;
    uint64_t load_ns;    /* in the plugin, when served */
    uint64_t compile_ns; /* what the stored entry says compiling it took */
    struct stet_remote remote;
};

/* True when args->executable is loaded and the plugin need not compile. */
bool stet_reload_try(struct stet_reload *r, struct stet_plugin *p, PJRT_Client_Compile_Args *args,
                     const struct stet_looked *looked);
/* Ahead of time nothing can be loaded, for want of a client; but what is compiled is kept. */
void stet_reload_ahead(struct stet_reload *r, struct stet_plugin *p, const PJRT_Compile_Args *args,
                       const struct stet_looked *looked);
/* What a miss was made of, in words for the journal; empty for anything else. */
struct stet_view stet_reload_words(const struct stet_reload *r, struct stet_arena *a);
void stet_reload_end(struct stet_reload *r);

/* What is needed to keep an executable, on its way to the thread that asks (ask.h). */
struct stet_keeping;
/* Bytes of programs that may wait to be kept at a time. */
void stet_keeping_limit(size_t bytes);
/* NULL when it is not to be kept; r->outcome says why when there is no room. Copies what it needs,
 * and takes over the lease. */
struct stet_keeping *stet_keeping_new(struct stet_reload *r, const PJRT_Program *program,
                                      struct stet_view options, uint64_t index,
                                      uint64_t compile_ns);
/* Serialises and stores it; frees `k`. */
void stet_keeping_do(struct stet_keeping *k, struct stet_plugin *p, PJRT_Executable *executable);
void stet_keeping_free(struct stet_keeping *k);

#endif
