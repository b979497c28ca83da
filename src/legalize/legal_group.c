/* Device groups and channels of collectives. */
#include "legalize/legal.h"

/* "[2,2]<=[4]T(1,0)" → the numbers it denotes; 0 if it is not of this form. */
static uint32_t read_list(struct stet_view *v, char open, char close, int64_t *out, uint32_t most)
{
    uint32_t n = 0;

    if (!v->len || *v->ptr != open)
        return 0;
    while (v->len && *v->ptr != close && n < most) {
        int64_t x = 0;

        v->ptr++;
        v->len--;
        while (v->len && *v->ptr >= '0' && *v->ptr <= '9' && x < INT32_MAX) {
            x = x * 10 + (*v->ptr++ - '0');
            v->len--;
        }
        out[n++] = x;
    }
    if (!v->len || *v->ptr != close)
        return 0;
    v->ptr++;
    v->len--;
    return n;
}

static const struct stet_attr *iota_groups(struct stet_legal *l, struct stet_view v)
{
    int64_t shape[2], dims[16], perm[16], stride[16], *ids, total = 1;
    uint32_t n;

    if (read_list(&v, '[', ']', shape, 2) != 2 || v.len < 3 || v.ptr[0] != '<')
        return NULL;
    v = stet_view_of(v.ptr + 2, v.len - 2);
    n = read_list(&v, '[', ']', dims, 16);
    if (v.len && *v.ptr == 'T') {
        v = stet_view_of(v.ptr + 1, v.len - 1);
        if (read_list(&v, '(', ')', perm, 16) != n)
            return NULL;
    } else {
        for (uint32_t i = 0; i < n; i++)
            perm[i] = i;
    }
    for (uint32_t i = n; i-- > 0;) {
        stride[i] = total;
        if (dims[i] < 1 || total > (1 << 20) / dims[i] || perm[i] >= n)
            return NULL;
        total *= dims[i];
    }
    ids = n && shape[0] > 0 && total == shape[0] * shape[1]
              ? STET_NEW_ARRAY(l->a, int64_t, (size_t)total)
              : NULL;
    for (int64_t at = 0; ids && at < total; at++) {
        int64_t rest = at, id = 0;

        for (uint32_t i = n; i-- > 0;) {
            id += rest % dims[perm[i]] * stride[perm[i]];
            rest /= dims[perm[i]];
        }
        ids[at] = id;
    }
    return ids ? stet_legalize_matrix(l, ids, (uint32_t)shape[0], (uint32_t)shape[1]) : NULL;
}

/* tensor<groups x size x i64>, short groups filled with -1. */
const struct stet_attr *stet_legalize_lists(struct stet_legal *l, const struct stet_attr *lists)
{
    uint32_t columns = 0;
    int64_t *v;

    for (uint32_t i = 0; i < lists->count; i++)
        if (lists->items[i]->count > columns)
            columns = lists->items[i]->count;
    v = STET_NEW_ARRAY(l->a, int64_t, (size_t)lists->count *columns);
    for (uint32_t i = 0; v && i < lists->count; i++)
        for (uint32_t k = 0; k < columns; k++)
            v[(size_t)i * columns + k] = k < lists->items[i]->count ? lists->items[i]->ints[k] : -1;
    return v ? stet_legalize_matrix(l, v, lists->count, columns) : NULL;
}

void stet_legalize_collective(struct stet_legal *l, const struct stet_op *op,
                              struct stet_attrs *out)
{
    static const struct stet_attr unit = {.kind = STET_ATTR_UNIT};
    const struct stet_attr *groups = stet_op_attr(op, "replica_groups");
    const struct stet_attr *channel = stet_op_attr(op, "channel_id"), *made = NULL;
    struct stet_named_attr *f;

    if (groups) {
        made = groups->kind == STET_ATTR_STRING ? iota_groups(l, stet_attr_text(groups))
                                                : stet_legalize_lists(l, groups);
        if (!made)
            stet_legalize_fail(l, STET_UNSUPPORTED, op, "replica groups");
        stet_legalize_put(out, "replica_groups", made);
    }
    if (channel && (f = STET_NEW_ARRAY(l->a, struct stet_named_attr, 2))) {
        f[0] = (struct stet_named_attr){STET_VIEW("handle"),
                                        stet_legalize_int(l, stet_attr_int(channel), 64)};
        f[1] = (struct stet_named_attr){
            STET_VIEW("type"),
            stet_legalize_int(l, op->known == STET_HLO_COLLECTIVE_PERMUTE ? 1 : 0, 64)};
        stet_legalize_put(out, "channel_handle", stet_legalize_record(l, "channel_handle", f, 2));
    }
    if (stet_op_attr(op, "use_global_device_ids"))
        stet_legalize_put(out, "use_global_device_ids", &unit);
}
