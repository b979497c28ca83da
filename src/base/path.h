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
/* The path from the folder on, if it is below it; otherwise as it is. */
struct stet_view stet_path_below(struct stet_view path, const char *folder);

/* Does a file of Python belong to an installed package or to Python itself: is it below
 * site-packages or dist-packages, or in the library of an interpreter (…/lib/python3.11/…)?
 * Packages in other folders (an editable install, PYTHONPATH) are source that the user can change,
 * so they count as the user's own. True for the parts of Python that have no file ("<frozen
 * importlib>"), for the Python code of the CPU backend, through which a host callback is called,
 * and for an empty name. */
bool stet_path_is_installed(struct stet_view file);

#endif
