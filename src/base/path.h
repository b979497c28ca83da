/* Parts of file names, by their text alone: nothing here looks at the file system. */
#ifndef STET_BASE_PATH_H
#define STET_BASE_PATH_H

#include "base/view.h"

/* What stands behind the last slash: "c.py" of "a/b/c.py"; empty for "a/". Borrowed. */
struct stet_view stet_path_base(struct stet_view path);
/* The same of a terminated path. */
const char *stet_path_base_str(const char *path);
/* What stands before it: "a/b" of "a/b/c.py", "/" of "/c.py", "." of "c.py". */
struct stet_view stet_path_folder(struct stet_view path);
/* "folder/name", terminated, with one slash between them, into `room` bytes; `name` alone when it
 * is absolute or the folder is empty. False, with an empty text, when it does not fit. */
bool stet_path_join(char *out, size_t room, struct stet_view folder, struct stet_view name);

#endif
