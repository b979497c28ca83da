/* See prepare.h. Everything here would happen anyway; it only happens earlier. It takes no lock
 * that a fork could find taken, and calls no plugin. */
#include "intercept/prepare.h"

#include "base/mem.h"
#include "decode/options.h"
#include "intercept/layer.h"
#include "intercept/load_watch.h"
#include "intercept/local.h"
#include "intercept/object.h"
#include "intercept/threads.h"
#include "store/quarantine.h"

/* Compile options that set one number; reading them brings the code that reads options into
 * memory. */
static const char few_options[] = "\x1a\x05\x1a\x03\xf8\x01\x02";

static void prepare_store(const struct stet_store *s)
{
    struct stet_entry_file entry;
    struct stet_hash nothing = {0}, hash;

    stet_store_entry_prepare(s->unpacker);
    stet_intercept_load_prepare(s);
    /* the folders on the way to an entry, which may be on another machine */
    if (stet_store_get(s, nothing, &entry, NULL) == STET_OK)
        stet_store_entry_close(&entry);
    stet_store_alias(s, nothing, STET_HINT_VERSION, &hash);
    stet_options_hash(stet_view_of(few_options, sizeof few_options - 1), &hash, NULL, NULL);
}

static void *nothing_to_do(void *unused)
{
    return unused;
}

static void *prepare(void *p)
{
    const struct stet_plugin *plugin = p;

    stet_threads_start(nothing_to_do, NULL); /* the second of two that wait for a compile */
    stet_object_populate((const void *)(uintptr_t)prepare);
    stet_journal_flow_prepare(&stet_layer.flow);
    stet_mem_populate(plugin->handles.entries, STET_HANDLES_SIZE * sizeof *plugin->handles.entries,
                      true);
    if (stet_layer.storing)
        prepare_store(&stet_layer.store);
    return NULL;
}

void stet_prepare(struct stet_plugin *p)
{
    static atomic_bool done;

    if (!atomic_exchange(&done, true))
        stet_threads_start(prepare, p);
}
