/* The job's own key-value store as a channel. */
#include "intercept/pod_kv.h"

#include <string.h>

enum { VALUE_MOST = 1 << 20 };

/* Callbacks report an error through a function of ours. Its code is all that counts, so an error is
 * an address in this list. */
static char codes[32];

static PJRT_Error *failed(PJRT_Error_Code code, const char *message, size_t size)
{
    (void)message, (void)size;
    return (PJRT_Error *)(void *)&codes[(unsigned)code < sizeof codes ? (unsigned)code : 2];
}

static PJRT_CallbackError on_failure = failed;

static PJRT_Error_Code code_of(const PJRT_Error *error)
{
    const char *at = (const char *)error;

    return at >= codes && at < codes + sizeof codes ? (PJRT_Error_Code)(at - codes)
                                                    : PJRT_Error_Code_UNKNOWN;
}

bool stet_intercept_pod_kv_init(struct stet_pod_kv *kv, const PJRT_Client_Create_Args *args)
{
    if (!args->kv_get_callback || !args->kv_put_callback)
        return false;
    *kv = (struct stet_pod_kv){.get = args->kv_get_callback,
                               .put = args->kv_put_callback,
                               .get_arg = args->kv_get_user_arg,
                               .put_arg = args->kv_put_user_arg};
    if (STET_HAS(args, kv_try_get_user_arg)) {
        kv->try_get = args->kv_try_get_callback;
        kv->try_get_arg = args->kv_try_get_user_arg;
    }
    return true;
}

static enum stet_rc put(void *self, const char *key, struct stet_view value, struct stet_err *err)
{
    const struct stet_pod_kv *kv = self;
    PJRT_KeyValuePutCallback_Args args = {
        .struct_size = PJRT_KeyValuePutCallback_Args_STRUCT_SIZE,
        .key = key,
        .key_size = strlen(key),
        .value = value.len ? value.ptr : "",
        .value_size = value.len,
        .callback_error = &on_failure,
        .user_arg = kv->put_arg,
    };
    const PJRT_Error *error = kv->put(&args);

    if (!error)
        return STET_OK;
    if (code_of(error) == PJRT_Error_Code_ALREADY_EXISTS)
        return STET_REFUSED;
    return stet_fail(err, STET_IO, "the job's key-value store refused a value (code %d)",
                     (int)code_of(error));
}

static enum stet_rc missed(const PJRT_Error *error, struct stet_err *err)
{
    PJRT_Error_Code code = code_of(error);

    if (code == PJRT_Error_Code_NOT_FOUND || code == PJRT_Error_Code_DEADLINE_EXCEEDED)
        return STET_NOT_FOUND;
    return stet_fail(err, STET_IO, "the job's key-value store does not answer (code %d)",
                     (int)code);
}

/* Copies the answer of a callback and frees it as the callback asks. */
static enum stet_rc take(struct stet_buf *out, char *value, size_t size,
                         void (*deleter)(char *value), struct stet_err *err)
{
    enum stet_rc rc = STET_OK;

    if (size > VALUE_MOST)
        rc = stet_fail(err, STET_BAD_INPUT, "the job's key-value store: a value is too large");
    else
        stet_buf_add(out, value, size);
    if (deleter)
        deleter(value);
    return rc;
}

static enum stet_rc get_now(const struct stet_pod_kv *kv, const char *key, struct stet_buf *out,
                            struct stet_err *err)
{
    PJRT_KeyValueTryGetCallback_Args args = {
        .struct_size = PJRT_KeyValueTryGetCallback_Args_STRUCT_SIZE,
        .key = key,
        .key_size = strlen(key),
        .callback_error = &on_failure,
        .user_arg = kv->try_get_arg,
    };
    const PJRT_Error *error = kv->try_get(&args);

    if (error)
        return missed(error, err);
    return take(out, args.value, args.value_size, args.value_deleter_callback, err);
}

static enum stet_rc get(void *self, const char *key, uint32_t wait_ms, struct stet_buf *out,
                        struct stet_err *err)
{
    const struct stet_pod_kv *kv = self;
    PJRT_KeyValueGetCallback_Args args = {
        .struct_size = PJRT_KeyValueGetCallback_Args_STRUCT_SIZE,
        .key = key,
        .key_size = strlen(key),
        .timeout_in_ms = wait_ms ? (int)wait_ms : 1,
        .callback_error = &on_failure,
        .user_arg = kv->get_arg,
    };
    const PJRT_Error *error;

    if (!wait_ms && kv->try_get)
        return get_now(kv, key, out, err);
    error = kv->get(&args);
    if (error)
        return missed(error, err);
    return take(out, args.value, args.value_size, args.value_deleter_callback, err);
}

const struct stet_pod_channel_kind stet_pod_kv_kind = {
    .word = "kv", .value_most = VALUE_MOST, .lent = true, .put = put, .get = get};
