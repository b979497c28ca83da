/* Who may write where executables are loaded from: whoever can is able to run code as this user.
 *
 * What lies in a store must belong to this user, to root or to a user named in STET_STORE_OWNERS,
 * and nobody else may write to it. There are two exceptions. A folder with the set-group-id bit
 * that its group may write to is that group's, if this process is in it: then everything of that
 * group inside is the store's. A store that was asked for as read-only may belong to any one user,
 * whom the user trusts by naming the folder.
 *
 * Folders are checked when the store is opened and when something is made in them; what is loaded
 * is checked once more by its own descriptor, so it does not help to swap a folder in between. */
#ifndef STET_STORE_SAFETY_H
#define STET_STORE_SAFETY_H

#include "store/store.h"

#include <sys/stat.h>

/* Follows the links on the way to `folder`, which becomes s->folder without them; then the folder
 * and what is in it. STET_REFUSED says which path, whose it is and what is wrong with it. A folder
 * that is not there yet is fine. */
enum stet_rc stet_store_safety_open(struct stet_store *s, const char *folder, struct stet_err *err);
/* A folder inside the store; STET_NOT_FOUND when it is not there. */
enum stet_rc stet_store_safety_folder(const struct stet_store *s, const char *path,
                                      struct stet_err *err);
/* All folders from the store's own down to `path`, which is inside and was just made, or found. */
enum stet_rc stet_store_safety_way(const struct stet_store *s, const char *path,
                                   struct stet_err *err);
/* A file inside the store, as fstat(2) tells of it. */
enum stet_rc stet_store_safety_file(const struct stet_store *s, const struct stat *st,
                                    const char *path, struct stet_err *err);

/* A file that is about to be loaded as code, and the folders above it: they must belong to this
 * user, root or a user named, and nobody else may write to them but this process's own group. */
enum stet_rc stet_store_safety_library(const struct stet_store *s, const char *path,
                                       struct stet_err *err);

#endif
