/* A library that finds the next definition of a function it defines itself, by RTLD_NEXT, as
 * allocators and profilers do; and one that asks from its constructor. */
#include <dlfcn.h>
#include <stddef.h>

__attribute__((visibility("default"))) int guest_answer(void);
__attribute__((visibility("default"))) int answer_through_next(void);

static void *volatile found_early; /* volatile: a tail call would hide who asks */

__attribute__((constructor)) static void early(void)
{
    found_early = dlsym(RTLD_DEFAULT, "malloc");
}

#ifdef BEHIND
int guest_answer(void)
{
    return 42;
}
#else
int guest_answer(void)
{
    return 1;
}

int answer_through_next(void)
{
    int (*next)(void) = NULL;

    *(void **)&next = dlsym(RTLD_NEXT, "guest_answer");
    return next && found_early ? next() : -1;
}
#endif
