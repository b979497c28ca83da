/* The layer by LD_PRELOAD: dlsym (dlsym.S) sends lookups of GetPjrtApi here, and nothing else.
 * Until the first one the library does nothing: no constructor, no allocation, no thread. */
#include "intercept/layer.h"
#include "intercept/object.h"
#include "intercept/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#if defined(__x86_64__)
#define OLDEST_DLSYM "GLIBC_2.2.5"
#else
#define OLDEST_DLSYM "GLIBC_2.17"
#endif

typedef void *dlsym_function(void *handle, const char *name);

const char stet_entry_name[] = "preload";

/* Read by dlsym.S; NULL until the first call. */
_Atomic(dlsym_function *) stet_preload_real_dlsym;

/* How many compiles this process has begun: one more than the number of the latest in the journal.
 * For test tools in the same process (python/stet/pytest_plugin.py), because the journal is written
 * a little later. */
uint64_t stet_layer_compiles(void);

/* Called by dlsym.S. */
dlsym_function *stet_preload_find_dlsym(void);
void *stet_entry_preload_lookup(void *handle, const char *name, void *caller);

/* If dlvsym is missing, the C library is not glibc (musl, in a child of the target process). Then
 * this only forwards to its own dlsym, from its own symbol table. */
struct search {
    const void *ours; /* an address inside this library */
    dlsym_function *found;
};

static int find_in_object(struct dl_phdr_info *object, size_t size, void *argument)
{
    struct search *s = argument;
    struct stet_object_symbols table;
    uintptr_t address;

    (void)size;
    if (!stet_object_symbols(object, s->ours, &table))
        return 0;
    address = stet_object_symbol(&table, "dlsym");
    memcpy(&s->found, &address, sizeof address);
    return s->found != NULL;
}

static void *nothing_found(void *handle, const char *name)
{
    (void)handle, (void)name;
    return NULL;
}

static dlsym_function *find_without_dlvsym(void)
{
    struct search s = {.ours = &stet_preload_real_dlsym};

    dl_iterate_phdr(find_in_object, &s);
    return s.found ? s.found : nothing_found;
}

/* The next dlsym after ours: libc's, or that of another preloaded tool. It needs no constructor of
 * ours, so a lookup from any constructor works (a sanitizer's runtime looks up symbols before it
 * can be called itself). */
__attribute__((no_sanitize("thread", "address"))) dlsym_function *stet_preload_find_dlsym(void)
{
    union {
        void *object;
        dlsym_function *function;
    } next;

    next.object = dlvsym(RTLD_NEXT, "dlsym", OLDEST_DLSYM);
    if (!next.object)
        next.function = find_without_dlvsym();
    atomic_store_explicit(&stet_preload_real_dlsym, next.function, memory_order_relaxed);
    return next.function;
}

/* With RTLD_DEFAULT the real dlsym searches the global scope and then the caller's own, but it
 * takes us for the caller. So the caller's object is searched by name. */
static void *real_lookup(void *handle, const char *name, void *caller)
{
    dlsym_function *real = atomic_load_explicit(&stet_preload_real_dlsym, memory_order_relaxed);
    void *found, *asker = NULL;
    Dl_info info;

    if (!real)
        real = stet_preload_find_dlsym();
    found = real(handle, name);
    if (found || handle != RTLD_DEFAULT || !dladdr1(caller, &info, &asker, RTLD_DL_LINKMAP))
        return found;
    return real(asker, name);
}

void *stet_entry_preload_lookup(void *handle, const char *name, void *caller)
{
    void *found = real_lookup(handle, name, caller);
    int saved = errno;
    union {
        void *object;
        stet_get_pjrt_api *function;
    } api;

    if (!found)
        return NULL;
    api.object = found;
    api.function = stet_plugin_adopt(api.function);
    dlerror(); /* lookups from here on must not find our own symbol */
    errno = saved;
    return api.object;
}

__attribute__((visibility("default"))) uint64_t stet_layer_compiles(void)
{
    return atomic_load(&stet_layer.compiles);
}
