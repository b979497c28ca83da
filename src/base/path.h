/* Parts of file names. These functions use only the text of a path and never the file system. */
#ifndef STET_BASE_PATH_H
#define STET_BASE_PATH_H

#include "base/view.h"

/* The text after the last slash: "c.py" of "a/b/c.py"; empty for "a/". Borrowed. */
struct stet_view stet_path_base(struct stet_view path);
/* The same of a terminated path. */
const char *stet_path_base_str(const char *path);
/* The text before the last slash: "a/b" of "a/b/c.py", "/" of "/c.py", "." of "c.py". */
struct stet_view stet_path_folder(struct stet_view path);
/* "folder/name", terminated, with one slash between them, into `room` bytes; `name` alone if it is
 * absolute or the folder is empty. If it does not fit, returns false with an empty text. */
bool stet_path_join(char *out, size_t room, struct stet_view folder, struct stet_view name);

#endif
