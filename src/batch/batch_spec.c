/* A contract's families as JSON. */
#include "batch/batch_spec.h"

#include "base/json.h"
#include "base/mem.h"
#include "gate/contract.h"

static void write_types(struct stet_json *j, struct stet_view types)
{
    stet_json_array(j, "types");
    while (types.len) {
        const char *bar = memchr(types.ptr, '|', types.len);
        size_t n = bar ? (size_t)(bar - types.ptr) : types.len;

        stet_json_string(j, NULL, stet_view_of(types.ptr, n));
        n += bar != NULL;
        types = stet_view_of(types.ptr + n, types.len - n);
    }
    stet_json_end_array(j);
}

static void write_dim(struct stet_json *j, const struct stet_dim *d)
{
    bool dynamic = false;

    for (uint32_t i = 0; d->kind == STET_DIM_SET && i < d->count; i++)
        dynamic |= d->values[i] < 0;
    if (d->kind == STET_DIM_ANY || dynamic) {
        stet_json_null(j, NULL);
    } else if (d->kind == STET_DIM_RANGE) {
        stet_json_object(j, NULL);
        stet_json_int(j, "low", d->low);
        stet_json_int(j, "high", d->high);
        stet_json_int(j, "step", d->step);
        stet_json_end_object(j);
    } else {
        stet_json_array(j, NULL);
        for (uint32_t i = 0; i < d->count; i++)
            stet_json_int(j, NULL, d->values[i]);
        stet_json_end_array(j);
    }
}

static void write_argument(struct stet_json *j, const struct stet_clause_arg *a)
{
    stet_json_object(j, NULL);
    stet_json_string(j, "name", a->name);
    stet_json_bool(j, "many", a->many);
    write_types(j, a->type);
    if (a->any_shape) {
        stet_json_null(j, "dims");
    } else {
        stet_json_array(j, "dims");
        for (uint32_t d = 0; d < a->rank; d++)
            write_dim(j, &a->dims[d]);
        stet_json_end_array(j);
    }
    stet_json_end_object(j);
}

char *stet_batch_spec(const char *path)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf out = STET_BUF_INIT;
    struct stet_contract c;
    struct stet_json j;
    char *text = NULL;
    bool fine = stet_gate_contract_read(&c, path, &err) == STET_OK;

    stet_json_init(&j, &out);
    stet_json_object(&j, NULL);
    if (!fine)
        stet_json_cstr(&j, "error", err.text);
    else
        stet_json_array(&j, "families");
    for (uint32_t i = 0; fine && i < c.family_count; i++) {
        stet_json_object(&j, NULL);
        stet_json_string(&j, "name", c.families[i].name);
        stet_json_array(&j, "arguments");
        for (uint32_t k = 0; k < c.families[i].arg_count; k++)
            write_argument(&j, &c.families[i].args[k]);
        stet_json_end_array(&j);
        stet_json_end_object(&j);
    }
    if (fine)
        stet_json_end_array(&j);
    stet_json_end_object(&j);
    if (!out.failed)
        text = stet_mem_strdup(out.ptr);
    if (fine)
        stet_gate_contract_release(&c);
    stet_buf_release(&out);
    return text;
}

void stet_batch_free(char *text)
{
    stet_mem_free(text);
}
