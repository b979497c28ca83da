/* Sets one value in a command. */
#include "fit/fit_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "--batch-size" is the argument batch_size. */
static bool is_name(const char *text, size_t len, const char *name)
{
    if (len != strlen(name))
        return false;
    for (size_t i = 0; i < len; i++) {
        char a = text[i] == '_' ? '-' : text[i], b = name[i] == '_' ? '-' : name[i];

        if (a != b)
            return false;
    }
    return true;
}

/* The argument without its dashes; *dashes is how many. */
static const char *bare(const char *argument, size_t *dashes)
{
    *dashes = strspn(argument, "-");
    return *dashes > 2 ? argument : argument + *dashes;
}

/* "--NAME=3" and "NAME=3": the place behind "="; NULL for others. */
static const char *assigned(const char *argument, const char *name)
{
    size_t dashes;
    const char *at = bare(argument, &dashes), *equals = strchr(at, '=');

    return equals && is_name(at, (size_t)(equals - at), name) ? equals + 1 : NULL;
}

/* "--NAME" and "-NAME", whose value is the next argument. */
static bool announces(const char *argument, const char *name)
{
    size_t dashes;
    const char *at = bare(argument, &dashes);

    return dashes && is_name(at, strlen(at), name);
}

/* "…{NAME}…" */
static const char *place(const char *argument, const char *name)
{
    char braces[72];

    snprintf(braces, sizeof braces, "{%s}", name);
    return strstr(argument, braces);
}

static char *with_value(struct stet_arena *a, const char *argument, const char *name, int64_t value)
{
    const char *at = place(argument, name);
    struct stet_view v;

    if (at)
        v = stet_arena_printf(a, "%.*s%lld%s", (int)(at - argument), argument, (long long)value,
                              at + strlen(name) + 2);
    else if ((at = assigned(argument, name)))
        v = stet_arena_printf(a, "%.*s%lld", (int)(at - argument), argument, (long long)value);
    else
        return NULL;
    return (char *)(uintptr_t)v.ptr;
}

/* A variable that is set, or whose name is in capitals as variables' are. */
static bool is_variable(const char *name)
{
    bool capitals = true;

    for (const char *c = name; *c; c++)
        capitals &= (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '_';
    return capitals || getenv(name);
}

enum stet_rc stet_fit_substitute(struct stet_fit_substitute *b, char *const *command,
                                 const char *name, int64_t value, struct stet_err *err)
{
    size_t n = 0;
    bool found = false;

    *b = (struct stet_fit_substitute){0};
    stet_arena_init(&b->arena, 1 << 24);
    while (command[n])
        n++;
    b->command = STET_NEW_ARRAY(&b->arena, char *, n + 1);
    for (size_t i = 0; b->command && i < n; i++) {
        char *changed = with_value(&b->arena, command[i], name, value);

        b->command[i] = changed ? changed : command[i];
        found |= changed != NULL;
        if (!changed && i > 0 && announces(command[i - 1], name)) {
            b->command[i] =
                (char *)(uintptr_t)stet_arena_printf(&b->arena, "%lld", (long long)value).ptr;
            found = true;
        }
    }
    if (!found && is_variable(name)) {
        b->set[0] = stet_arena_printf(&b->arena, "%s=%lld", name, (long long)value).ptr;
        found = true;
    }
    if (b->arena.failed || !b->command)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for the command");
    return found ? STET_OK
                 : stet_fail(err, STET_NOT_FOUND,
                             "the command has no argument --%s, %s= or {%s}, and no environment "
                             "variable of that name is set",
                             name, name, name);
}

void stet_fit_substitute_release(struct stet_fit_substitute *b)
{
    stet_arena_release(&b->arena);
}
