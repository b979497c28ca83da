/* See guard.h. */
#include "intercept/guard.h"

#include <pthread.h>

static pthread_key_t key;

bool stet_intercept_guard_init(void)
{
    return pthread_key_create(&key, NULL) == 0;
}

bool stet_intercept_guard_inside(void)
{
    return pthread_getspecific(key) != NULL;
}

bool stet_intercept_guard_enter(void)
{
    return !stet_intercept_guard_inside() && pthread_setspecific(key, &key) == 0;
}

void stet_intercept_guard_leave(void)
{
    pthread_setspecific(key, NULL);
}
