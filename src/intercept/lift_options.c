/* Compile options of a lifted program: what counts the arguments grows with them. */
#include "base/buf.h"
#include "decode/options.h"
#include "intercept/lift_family.h"

/* Field numbers of CompileOptionsProto and ExecutableBuildOptionsProto. */
enum { BUILD_OPTIONS = 3, PROPAGATION_TO_PARAMETERS = 18, BYTES = 2 };

/* Of "true,false". */
static uint32_t list_length(struct stet_view value)
{
    uint32_t n = value.len > 0;

    for (size_t i = 0; i < value.len; i++)
        n += value.ptr[i] == ',';
    return n;
}

/* Does this option forbid more arguments? Counts the entries of the list that grows. */
static bool forbids(const struct stet_options_item *item, uint32_t *listed)
{
    struct stet_view path = item->path;

    if (stet_view_ends(path, "allow_spmd_sharding_propagation_to_parameters"))
        *listed = list_length(item->value);
    if (stet_view_starts(path, "argument_layouts"))
        return true;
    if (stet_view_is(path, "parameter_is_tupled_arguments"))
        return !stet_view_is(item->value, "false");
    if (stet_view_ends(path, "build_options.num_replicas") ||
        stet_view_ends(path, "build_options.num_partitions"))
        return !stet_view_is(item->value, "1") && !stet_view_is(item->value, "0");
    return false;
}

/* A message that occurs twice is merged and its lists are joined, so the addition goes to the
 * end. */
static void add_entries(struct stet_buf *out, uint32_t more)
{
    struct stet_buf inner = STET_BUF_INIT;

    stet_buf_varint(&inner, PROPAGATION_TO_PARAMETERS << 3 | BYTES);
    stet_buf_varint(&inner, more);
    for (uint32_t i = 0; i < more; i++)
        stet_buf_char(&inner, 0);
    stet_buf_varint(out, BUILD_OPTIONS << 3 | BYTES);
    stet_buf_varint(out, inner.len);
    stet_buf_view(out, stet_buf_as_view(&inner));
    out->failed |= inner.failed;
    stet_buf_release(&inner);
}

bool stet_intercept_lift_options(struct stet_view options, uint32_t count, uint32_t more,
                                 struct stet_buf *out)
{
    struct stet_options read;
    uint32_t listed = 0;
    bool refused = false;

    if (stet_options_decode(&read, options, NULL) != STET_OK)
        return false;
    for (size_t i = 0; i < read.count; i++)
        refused |= forbids(&read.items[i], &listed);
    stet_options_release(&read);
    if (refused || (listed > 1 && listed != count))
        return false;
    if (listed > 1) {
        stet_buf_view(out, options);
        add_entries(out, more);
    }
    return !out->failed;
}
