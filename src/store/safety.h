/* Checks which users can write where executables are loaded from, because such a user can run code
 * as this user.
 *
 * Everything in a store must belong to this user, to root or to a user named in STET_STORE_OWNERS,
 * and no other user may be able to write to it. There are two exceptions. A folder with the
 * set-group-id bit that its group may write to belongs to that group, if this process is a member:
 * then everything of that group inside is accepted. A store that was opened read-only may belong to
 * any one user, whom the user trusts by naming the folder.
 *
 * Folders are checked when the store is opened and when something is created in them. What is
 * loaded is checked again by its own descriptor, so replacing a folder in between does not help an
 * attacker. */
#ifndef STET_STORE_SAFETY_H
#define STET_STORE_SAFETY_H

#include "store/store.h"

#include <sys/stat.h>

/* Resolves the links on the path to `folder`, which becomes s->folder without them; then checks the
 * folder and its content. STET_REFUSED names the path, its owner and what is wrong. A folder that
 * does not exist yet is fine. */
enum stet_rc stet_safety_open(struct stet_store *s, const char *folder, struct stet_err *err);
/* A folder inside the store; STET_NOT_FOUND if it does not exist. */
enum stet_rc stet_safety_folder(const struct stet_store *s, const char *path, struct stet_err *err);
/* All folders from the store's own down to `path`, which is inside and was just created, or
 * found. */
enum stet_rc stet_safety_way(const struct stet_store *s, const char *path, struct stet_err *err);
/* A file inside the store, from its fstat(2). */
enum stet_rc stet_safety_file(const struct stet_store *s, const struct stat *st, const char *path,
                              struct stet_err *err);

/* A file that will be loaded as code, and the folders above it. They must belong to this user, root
 * or a named user, and no other user may be able to write to them, except this process's own
 * group. */
enum stet_rc stet_safety_library(const struct stet_store *s, const char *path,
                                 struct stet_err *err);

#endif
