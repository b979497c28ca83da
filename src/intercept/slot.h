/* The entry points of one slot; included once for each, with SLOT defined as its number. A PJRT
 * call can't say which plugin it is for, so the function it enters through must. */
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

static void IN_SLOT(install)(PJRT_Api *table)
{
#define HOOK(entry, what)                                                                          \
    if (stet_api_has(table, entry))                                                                \
        table->entry = IN_SLOT(entry);
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
