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

/* The list that has one entry for each argument, or one for all. */
struct listed {
    uint32_t count;
    bool one; /* the entry for all */
};

/* Does this option forbid more arguments? */
static bool forbids(const struct stet_options_item *item, struct listed *listed)
{
    struct stet_view path = item->path;

    if (stet_view_ends(path, "allow_spmd_sharding_propagation_to_parameters"))
        *listed = (struct listed){list_length(item->value), stet_view_is(item->value, "true")};
    if (stet_view_starts(path, "argument_layouts"))
        return true;
    if (stet_view_is(path, "parameter_is_tupled_arguments"))
        return !stet_view_is(item->value, "false");
    return stet_view_ends(path, "use_auto_spmd_partitioning") &&
           !stet_view_is(item->value, "false");
}

/* A message that occurs twice is merged and its lists are joined, so the addition goes to the
 * end. */
static void add_entries(struct stet_buf *out, uint32_t free, uint32_t fixed)
{
    struct stet_buf inner = STET_BUF_INIT;

    stet_buf_varint(&inner, PROPAGATION_TO_PARAMETERS << 3 | BYTES);
    stet_buf_varint(&inner, free + fixed);
    for (uint32_t i = 0; i < free + fixed; i++)
        stet_buf_char(&inner, i < free);
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
    struct listed listed = {0};
    bool refused = false;

    if (stet_options_decode(&read, options, NULL) != STET_OK)
        return false;
    for (size_t i = 0; i < read.count; i++)
        refused |= forbids(&read.items[i], &listed);
    stet_options_release(&read);
    if (refused || (listed.count > 1 && listed.count != count))
        return false;
    if (listed.count > 1 || listed.one) { /* the new arguments stay where the program puts them */
        stet_buf_view(out, options);
        add_entries(out, listed.count == 1 && count ? count - 1 : 0, more);
    }
    return !out->failed;
}
