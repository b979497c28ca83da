/* See torch_code.h. */
#include "session/torch_code.h"

#include "base/buf.h"

static uint32_t number_of(struct stet_intern *n, struct stet_code code, bool add)
{
    struct stet_buf key = STET_BUF_INIT;
    uint32_t number = STET_INTERN_NONE;

    stet_buf_u32(&key, code.process);
    stet_buf_view(&key, code.function);
    stet_buf_char(&key, '\0');
    stet_buf_view(&key, code.file);
    n->failed |= key.failed;
    if (!key.failed)
        number = add ? stet_intern_add(n, stet_buf_as_view(&key))
                     : stet_intern_find(n, stet_buf_as_view(&key));
    stet_buf_release(&key);
    return number;
}

uint32_t stet_session_code_add(struct stet_intern *n, struct stet_code code)
{
    return number_of(n, code, true);
}

uint32_t stet_session_code_find(struct stet_intern *n, struct stet_code code)
{
    return number_of(n, code, false);
}
