/* See pycalls.h. */
#include "intercept/pycalls.h"

#include <string.h>

bool stet_intercept_pycalls_holds(struct stet_view file)
{
#define PYFOLDER(name)
#define PYCALL(name)                                                                               \
    if (stet_view_ends(file, name))                                                                \
        return true;
#include "intercept/pycalls.def"
#undef PYCALL
#undef PYFOLDER
    return false;
}

bool stet_intercept_pycalls_owns(struct stet_view file)
{
#define PYCALL(name)
#define PYFOLDER(name)                                                                             \
    if (file.len && memmem(file.ptr, file.len, name, sizeof(name) - 1))                            \
        return true;
#include "intercept/pycalls.def"
#undef PYCALL
#undef PYFOLDER
    return false;
}
