/* libother_host.so, a preload: the process is on the host OTHER_HOST. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((visibility("default"))) int gethostname(char *name, size_t room);

int gethostname(char *name, size_t room)
{
    const char *host = getenv("OTHER_HOST");

    if (room)
        strncpy(name, host ? host : "host", room);
    return 0;
}
