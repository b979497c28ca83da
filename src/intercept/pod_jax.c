/* JAX's coordination service as a channel, through the client that `jax.distributed` made. Some
 * plugins get no key-value store from JAX, among them libtpu with older versions of it; the service
 * is there all the same. The methods are C++ and give the GIL away while they wait for the network;
 * none of them waits for a key. */
#include "intercept/pod_kv.h"

#include "intercept/python.h"

#include "base/clock.h"

#include <time.h>

enum { VALUE_MOST = 1 << 20, PAUSE_MIN_MS = 10, PAUSE_MAX_MS = 100 };

static bool is_usable(const struct stet_intercept_python *py)
{
    return py->PyObject_CallMethod && py->PyBytes_FromStringAndSize &&
           py->PyBytes_AsStringAndSize && py->PyObject_Str && py->PyErr_Fetch &&
           py->PyLong_AsLongLongAndOverflow;
}

/* With the GIL held: a new reference to an attribute of jax's global state, or NULL. */
static PyObject *state_attribute(const struct stet_intercept_python *py, const char *name)
{
    PyObject *module = stet_intercept_python_module(py, "jax._src.distributed");
    PyObject *state = module ? py->PyObject_GetAttrString(module, "global_state") : NULL;
    PyObject *found = state ? py->PyObject_GetAttrString(state, name) : NULL;

    if (state)
        py->Py_DecRef(state);
    py->PyErr_Clear();
    if (found && found == py->_Py_NoneStruct) {
        py->Py_DecRef(found);
        found = NULL;
    }
    return found;
}

/* The kind of the error that was raised; clears it. */
static enum stet_rc raised(const struct stet_intercept_python *py, struct stet_err *err)
{
    PyObject *type = NULL, *value = NULL, *trace = NULL, *text;
    enum stet_rc rc = STET_IO;
    const char *what;

    py->PyErr_Fetch(&type, &value, &trace);
    text = value ? py->PyObject_Str(value) : NULL;
    what = text ? py->PyUnicode_AsUTF8(text) : NULL;
    if (what && strstr(what, "ALREADY_EXISTS"))
        rc = STET_REFUSED;
    else if (what && strstr(what, "NOT_FOUND"))
        rc = STET_NOT_FOUND;
    else
        stet_fail(err, STET_IO, "JAX's coordination service: %.120s", what ? what : "an error");
    py->Py_DecRef(text);
    py->Py_DecRef(type);
    py->Py_DecRef(value);
    py->Py_DecRef(trace);
    py->PyErr_Clear();
    return rc;
}

struct request {
    const char *key;
    struct stet_view value; /* to put; empty pointer: to get */
    struct stet_buf *out;
    struct stet_err *err;
};

static enum stet_rc put_it(const struct stet_intercept_python *py, PyObject *client,
                           const struct request *r)
{
    PyObject *bytes =
        py->PyBytes_FromStringAndSize(r->value.len ? r->value.ptr : "", (Py_ssize_t)r->value.len);
    PyObject *done =
        bytes ? py->PyObject_CallMethod(client, "key_value_set_bytes", "sO", r->key, bytes) : NULL;
    enum stet_rc rc = done ? STET_OK : raised(py, r->err);

    py->Py_DecRef(bytes);
    py->Py_DecRef(done);
    return rc;
}

static enum stet_rc get_it(const struct stet_intercept_python *py, PyObject *client,
                           const struct request *r)
{
    PyObject *bytes = py->PyObject_CallMethod(client, "key_value_try_get_bytes", "s", r->key);
    enum stet_rc rc = bytes ? STET_OK : raised(py, r->err);
    Py_ssize_t size;
    char *data;

    if (bytes && py->PyBytes_AsStringAndSize(bytes, &data, &size) != 0)
        rc = raised(py, r->err);
    else if (bytes && size > VALUE_MOST)
        rc = stet_fail(r->err, STET_BAD_INPUT, "JAX's coordination service: a value is too large");
    else if (bytes)
        stet_buf_add(r->out, data, (size_t)size);
    py->Py_DecRef(bytes);
    return rc;
}

/* With the GIL held. An allocation of ours must not run the user's finalisers, as in pywalk.c. */
static enum stet_rc call(const struct stet_intercept_python *py, const struct request *r)
{
    PyObject *client = state_attribute(py, "client");
    int collecting;
    enum stet_rc rc;

    if (!client)
        return STET_UNSUPPORTED; /* jax.distributed was shut down */
    collecting = py->PyGC_Disable && py->PyGC_Enable ? py->PyGC_Disable() : 0;
    rc = r->value.ptr ? put_it(py, client, r) : get_it(py, client, r);
    py->Py_DecRef(client);
    if (collecting)
        py->PyGC_Enable();
    return rc;
}

static enum stet_rc ask(const struct request *r)
{
    const struct stet_intercept_python *py = stet_intercept_python();
    const char *unfit = py ? stet_intercept_python_unfit(py) : "there is no Python";
    enum stet_rc rc;
    int gil;

    if (unfit || !is_usable(py))
        return stet_fail(r->err, STET_IO, "%s", unfit ? unfit : "this Python cannot be used");
    gil = py->PyGILState_Ensure(); /* may never come back, when Python ends */
    rc = call(py, r);
    py->PyGILState_Release(gil);
    return rc;
}

static enum stet_rc put(void *self, const char *key, struct stet_view value, struct stet_err *err)
{
    (void)self;
    return ask(
        &(struct request){.key = key, .value = value.ptr ? value : stet_view_str(""), .err = err});
}

static enum stet_rc get(void *self, const char *key, uint32_t wait_ms, struct stet_buf *out,
                        struct stet_err *err)
{
    const struct request r = {.key = key, .out = out, .err = err};
    int64_t until = stet_clock_ms() + wait_ms;
    long pause = PAUSE_MIN_MS;
    enum stet_rc rc;

    (void)self;
    while ((rc = ask(&r)) == STET_NOT_FOUND && stet_clock_ms() < until) {
        nanosleep(&(struct timespec){.tv_nsec = pause * 1000000}, NULL);
        pause = pause * 2 < PAUSE_MAX_MS ? pause * 2 : PAUSE_MAX_MS;
    }
    return rc;
}

const struct stet_pod_channel_kind stet_pod_jax_kind = {
    .word = "jax", .value_most = VALUE_MOST, .put = put, .get = get};

static int64_t number(const struct stet_intercept_python *py, const char *name)
{
    PyObject *o = state_attribute(py, name);
    int overflow = 0;
    int64_t n = -1;

    if (o) {
        n = py->PyLong_AsLongLongAndOverflow(o, &overflow);
        py->Py_DecRef(o);
    }
    py->PyErr_Clear();
    return overflow ? -1 : n;
}

static bool find(const struct stet_intercept_python *py, int64_t *rank, int64_t *world)
{
    PyObject *client = state_attribute(py, "client");

    if (!client)
        return false;
    py->Py_DecRef(client);
    *rank = number(py, "process_id");
    *world = number(py, "num_processes");
    return *rank >= 0 && *world > 1 && *rank < *world;
}

bool stet_intercept_pod_jax_find(int64_t *rank, int64_t *world)
{
    const struct stet_intercept_python *py = stet_intercept_python();
    bool found;
    int gil;

    if (!py || stet_intercept_python_unfit(py) || !is_usable(py))
        return false;
    gil = py->PyGILState_Ensure();
    found = find(py, rank, world);
    py->PyGILState_Release(gil);
    return found;
}
