/* See fit_plugin.h. */
#include "fit/fit_plugin.h"

#include "base/fs.h"
#include "base/mem.h"
#include "base/path.h"
#include "bundle/plugins.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_wanted(const struct stet_found *f, bool gpu)
{
    const char *file = stet_path_base_str(f->path);

    return !f->missing && (gpu ? strstr(file, "cuda") != NULL : !strncmp(file, "libtpu", 6));
}

enum stet_rc stet_fit_plugin_find(char *out, size_t room, const char *asked, char *const *argv,
                                  bool gpu, struct stet_err *err)
{
    const char *package = gpu ? "jax-cuda13-pjrt" : "libtpu";
    struct stet_bundle_python python = {0};
    struct stet_found_list *list;
    enum stet_rc rc = STET_NOT_FOUND;

    if (asked) {
        if (!stet_fs_exists(asked))
            return stet_fail(err, STET_NOT_FOUND, "%s: no such plugin", asked);
        snprintf(out, room, "%s", asked);
        return STET_OK;
    }
    list = stet_mem_calloc(1, sizeof *list);
    if (!list)
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    if (argv && argv[0])
        stet_bundle_python_of_command(&python, argv, environ);
    else
        stet_bundle_python_find(&python, NULL, environ);
    stet_bundle_plugins_find(list, &python, environ);
    for (size_t i = 0; i < list->count && rc != STET_OK; i++) {
        if (!is_wanted(&list->items[i], gpu))
            continue;
        snprintf(out, room, "%s", list->items[i].path);
        rc = STET_OK;
    }
    if (rc != STET_OK)
        stet_fail(err, STET_NOT_FOUND,
                  "no %s is installed for %s, so its compiler cannot be asked: `pip install %s` "
                  "there, or --plugin FILE",
                  gpu ? "CUDA plugin" : "libtpu",
                  python.executable ? python.executable : "any Python that was found", package);
    stet_bundle_python_release(&python);
    stet_mem_free(list);
    return rc;
}
