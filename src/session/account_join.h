/* Joins the two lanes of an account. Under TorchTPU one recompile appears in both lanes: as the
 * guard that failed and as the program that changed. The joined account reports them as one. */
#ifndef STET_SESSION_ACCOUNT_JOIN_H
#define STET_SESSION_ACCOUNT_JOIN_H

#include "base/arena.h"
#include "session/account.h"

struct stet_joined {
    const struct stet_account *below; /* borrowed */
    struct stet_arena arena;
    struct stet_guard_row *guards;
    uint32_t count;
    size_t room;
    bool failed;
};

/* Makes `out` an account of what `below` holds, joined. `below` is borrowed. Release `j` after the
 * last use of `out`. */
enum stet_rc stet_account_join(struct stet_joined *j, const struct stet_account *below,
                               struct stet_account *out, struct stet_err *err);
void stet_account_joined_release(struct stet_joined *j);

#endif
