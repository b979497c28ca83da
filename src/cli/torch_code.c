/* See torch_code.h. */
#include "cli/torch_code.h"

#include "base/buf.h"

static void write_key(struct stet_buf *out, struct stet_code code)
{
    stet_buf_u32(out, code.process);
    stet_buf_view(out, code.function);
    stet_buf_char(out, '\0');
    stet_buf_view(out, code.file);
}

uint32_t stet_code_add(struct stet_names *n, struct stet_code code)
{
    struct stet_buf key = STET_BUF_INIT;
    uint32_t number;

    write_key(&key, code);
    n->failed |= key.failed;
    number = key.failed ? STET_NO_NAME : stet_names_add(n, stet_buf_as_view(&key));
    stet_buf_release(&key);
    return number;
}

uint32_t stet_code_find(struct stet_names *n, struct stet_code code)
{
    struct stet_buf key = STET_BUF_INIT;
    uint32_t number;

    write_key(&key, code);
    n->failed |= key.failed;
    number = key.failed ? STET_NO_NAME : stet_names_find(n, stet_buf_as_view(&key));
    stet_buf_release(&key);
    return number;
}
