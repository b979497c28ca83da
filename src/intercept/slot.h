/* The entry points of one slot; included once for each, with SLOT defined as its number. A PJRT
 * call does not contain its plugin, so the function through which it enters must identify it. */
#define PASTE_(a, n, b) a##n##_##b
#define PASTE(a, n, b)  PASTE_(a, n, b)
#define IN_SLOT(name)   PASTE(slot, SLOT, name)

#define HOOK(entry, what)                                                                          \
    static PJRT_Error *IN_SLOT(entry)(entry##_Args * args)                                         \
    {                                                                                              \
        return on_##entry(&plugins[SLOT], args);                                                   \
    }
#define HOOK_VOID(entry, what)                                                                     \
    static void IN_SLOT(entry)(entry##_Args * args)                                                \
    {                                                                                              \
        on_##entry(&plugins[SLOT], args);                                                          \
    }
#include "intercept/hooks.def"

/* All other entries are examined only if they return an error. Newer frameworks destroy errors
 * through the error itself, so this is the only place to see one. */
#define ENTRY(name, since, last)                                                                   \
    static PJRT_Error *IN_SLOT(watch_##name)(name##_Args * args)                                   \
    {                                                                                              \
        PJRT_Error *error = stet_plugin_real(&plugins[SLOT])->name(args);                          \
                                                                                                   \
        return __builtin_expect(!error, 1) ? NULL                                                  \
                                           : stet_plugin_failed(&plugins[SLOT], #name, error);     \
    }
#define ENTRY_VOID(name, since, last)
#include "abi/entries.def"

static void IN_SLOT(install)(PJRT_Api *table)
{
#define ENTRY(name, since, last)                                                                   \
    if (stet_api_has(table, name))                                                                 \
        table->name = IN_SLOT(watch_##name);
#define ENTRY_VOID(name, since, last)
#include "abi/entries.def"
#define HOOK(entry, what)                                                                          \
    if (stet_api_has(table, entry))                                                                \
        table->entry = IN_SLOT(entry);
#define LIFT_HOOK(entry, what)                                                                     \
    if (stet_intercept_lift_on())                                                                  \
        HOOK(entry, what)
#define HOOK_VOID HOOK
#include "intercept/hooks.def"
}

static const PJRT_Api *IN_SLOT(get)(void)
{
    return ask(&plugins[SLOT]);
}

#undef IN_SLOT
#undef PASTE
#undef PASTE_
#undef SLOT
