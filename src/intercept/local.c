/* See local.h: custom calls by their targets, and transfers. */
#include "intercept/local.h"

#include "program/ops.h"

enum { DEPTH = 256 };

/* Custom calls that refer to something in this process: an address, a handle, a Python function. */
static const char *const local_calls[] = {
    "xla_python_",        "xla_ffi_python_",      "xla_ffi_partitioned_python_",
    "xla_buffer_python_", "stet_python_callback", "CustomSPMDPartitioning",
    "InspectSharding",
};

/* Callbacks of JAX on a TPU are transfers from and to the host, whose other end is set when the
 * program is loaded. Transfers between devices are rare, and are treated the same. */
static bool is_transfer(const struct stet_op *op)
{
    struct stet_view name = stet_op_name(op);
    const char *dot = name.len ? memrchr(name.ptr, '.', name.len) : NULL;
    struct stet_view last =
        dot ? stet_view_of(dot + 1, (size_t)(name.ptr + name.len - dot - 1)) : name;

    return stet_view_is(last, "send") || stet_view_is(last, "recv");
}

static bool is_local(const struct stet_op *op)
{
    const struct stet_attr *target;

    /* custom calls, transfers and unknown operations have one of these; most operations do not */
    if (!(stet_op_facts(op) & (STET_OP_ASK | STET_OP_EFFECT)))
        return false;
    if (is_transfer(op))
        return true;
    target = stet_op_attr(op, "call_target_name");
    if (!target)
        target = stet_op_attr(op, "custom_call_target");
    for (size_t i = 0; target && i < sizeof local_calls / sizeof *local_calls; i++) {
        if (stet_view_starts(stet_attr_text(target), local_calls[i]))
            return true;
    }
    return false;
}

static bool has_local(const struct stet_op *op, unsigned depth)
{
    if (depth == DEPTH || is_local(op))
        return true;
    for (uint32_t r = 0; r < op->region_count; r++) {
        const struct stet_region *region = stet_op_region(op, r);

        for (uint32_t b = 0; b < region->block_count; b++) {
            for (uint32_t i = 0; i < region->blocks[b]->op_count; i++) {
                if (has_local(region->blocks[b]->ops[i], depth + 1))
                    return true;
            }
        }
    }
    return false;
}

bool stet_intercept_program_is_local(const struct stet_program *p)
{
    return has_local(p->module, 0);
}
