/* Finding CPython, and whether it is in a state to be talked to. */
#include "intercept/python.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

static struct stet_python api;
static atomic_int state; /* 0 not found, 1 somebody looks, 2 found */

static const struct {
    const char *name;
    size_t offset;
    bool needed;
} functions[] = {
#define PY(result, name, arguments)     {#name, offsetof(struct stet_python, name), true},
#define PY_MAY(result, name, arguments) {#name, offsetof(struct stet_python, name), false},
    STET_PYTHON_FUNCTIONS
#undef PY
#undef PY_MAY
};

static bool look(struct stet_python *py)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(RTLD_DEFAULT, functions[i].name);

        if (!found && functions[i].needed)
            return false;
        memcpy((char *)py + functions[i].offset, &found, sizeof found);
    }
    return py->PyThreadState_GetUnchecked || py->_PyThreadState_UncheckedGet;
}

const struct stet_python *stet_python(void)
{
    int nobody = 0;

    if (atomic_load(&state) == 2)
        return &api;
    if (!atomic_compare_exchange_strong(&state, &nobody, 1))
        return NULL;
    if (look(&api)) {
        atomic_store(&state, 2);
        return &api;
    }
    dlerror();
    atomic_store(&state, 0);
    return NULL;
}

const char *stet_python_unfit(const struct stet_python *py)
{
    void *first;

    if (!py->Py_IsInitialized())
        return "Python is not running";
    if ((py->Py_IsFinalizing && py->Py_IsFinalizing()) ||
        (py->_Py_IsFinalizing && py->_Py_IsFinalizing()))
        return "Python is finalising";
    /* Without a GIL other threads' frames change under our eyes. */
    if (strstr(py->Py_GetVersion(), "free-threading"))
        return "Python is free-threaded";
    /* PyGILState_Ensure knows the main interpreter alone. */
    first = py->PyInterpreterState_Head();
    if (!first || py->PyInterpreterState_Next(first))
        return "Python has subinterpreters";
    return NULL;
}

/* Not PyGILState_Check, which says yes to everybody once there was a subinterpreter. Up to 3.11 the
 * current state is the process's, from 3.12 the thread's: equal to this thread's own in both only
 * for the holder. */
bool stet_python_held(const struct stet_python *py)
{
    void *own = py->PyGILState_GetThisThreadState();

    return own && own == (py->PyThreadState_GetUnchecked ? py->PyThreadState_GetUnchecked()
                                                         : py->_PyThreadState_UncheckedGet());
}
