/* The XDG base directory rules, and one override. */
#include "ledger/state.h"

#include "base/fs.h"
#include "base/mem.h"

#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

static const char *home(void)
{
    const char *h = getenv("HOME");
    const struct passwd *user;

    if (h && *h == '/')
        return h;
    user = getpwuid(getuid());
    return user ? user->pw_dir : NULL;
}

char *stet_state_dir(struct stet_err *err)
{
    const char *own = getenv("STET_STATE_DIR"), *xdg = getenv("XDG_STATE_HOME"), *h;
    char *dir;

    /* XDG: a relative path must be ignored; ours may be relative to the user's working folder. */
    if (own && *own) {
        dir = *own == '/' ? stet_mem_strdup(own) : NULL;
        if (!dir) {
            char *here = getcwd(NULL, 0);

            dir = here ? stet_fs_join(here, own) : NULL;
            free(here);
        }
    } else if (xdg && *xdg == '/') {
        dir = stet_fs_join(xdg, "stet");
    } else {
        h = home();
        if (!h) {
            stet_fail(err, STET_IO, "no home folder: set STET_STATE_DIR");
            return NULL;
        }
        dir = stet_fs_join(h, ".local/state/stet");
    }
    if (!dir)
        stet_fail(err, STET_NO_MEMORY, "out of memory");
    return dir;
}
