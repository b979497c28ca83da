/* See ahead_load.h. */
#include "intercept/ahead_load.h"

#include "intercept/executable_memory.h"
#include "intercept/executables.h"
#include "intercept/layer.h"
#include "intercept/load_watch.h"
#include "store/quarantine.h"

/* An executable of another plugin or device is never given to this one, whatever the list
 * contains. */
static bool same_maker(const struct stet_key_parts *a, const struct stet_key_parts *b)
{
    for (size_t i = 0; i < STET_COMPONENTS; i++) {
        if (i != STET_COMPONENT_PROGRAM && i != STET_COMPONENT_OPTIONS &&
            !stet_view_eq(a->part[i], b->part[i]))
            return false;
    }
    return true;
}

static bool affordable(uint64_t *bytes, const struct stet_entry_file *entry)
{
    uint64_t most = stet_intercept_memory_most(), left = most > *bytes ? most - *bytes : 0;

    if (entry->program.size > left || entry->executable.size > left - entry->program.size)
        return false;
    *bytes += entry->program.size + entry->executable.size;
    return true;
}

/* Is the error about the bytes? For other errors, such as a device that is full or not ready,
 * another try is worthwhile. */
static bool is_fault(PJRT_Error_Code code)
{
    return code == PJRT_Error_Code_INVALID_ARGUMENT || code == PJRT_Error_Code_OUT_OF_RANGE ||
           code == PJRT_Error_Code_UNIMPLEMENTED || code == PJRT_Error_Code_DATA_LOSS;
}

static void deserialize(struct stet_plugin *p, PJRT_Client *client, struct stet_loaded *l,
                        uint64_t compile_ns)
{
    PJRT_LoadedExecutable *loaded = NULL;
    PJRT_Error *error;
    struct stet_view why;

    stet_intercept_load_enter(&stet_layer.store, l->key, compile_ns);
    error = stet_executables_load(p, client, stet_buf_as_view(&l->executable), &loaded);
    stet_intercept_load_leave();
    if (!error)
        l->handle = loaded;
    else
        stet_buf_release(&l->executable); /* no compile will need it */
    if (error && is_fault(stet_plugin_error_text(p, error, &why)))
        stet_buf_printf(&l->fault, "%.*s", STET_FMT(why.len ? why : STET_VIEW("no reason given")));
    stet_plugin_drop(p, error);
}

void stet_ahead_load(struct stet_plugin *p, PJRT_Client *client, const struct stet_key_parts *parts,
                     uint64_t *bytes, struct stet_loaded *l)
{
    const struct stet_store *s = &stet_layer.store;
    struct stet_entry_file entry;

    if (stet_store_get(s, l->key, &entry, NULL) != STET_OK)
        return;
    if (same_maker(parts, &entry.parts) && affordable(bytes, &entry) &&
        !stet_store_quarantine_condemned(s, l->key) &&
        stet_store_entry_program(&entry, &l->program, NULL) == STET_OK &&
        stet_store_entry_executable(&entry, &l->executable, NULL) == STET_OK)
        deserialize(p, client, l, entry.compile_ns);
    l->compile_ns = entry.compile_ns;
    stet_store_entry_close(&entry);
}
