/* Reads programs for lifting, which works on StableHLO. */
#include "decode/decode.h"
#include "intercept/lift_family.h"
#include "intercept/local.h"
#include "legalize/hlo_to_stablehlo.h"
#include "program/ops.h"

/* StableHLO has no layouts: the entry's must be the usual ones, which a compiler chooses
 * by default. */
static bool has_usual_layouts(const struct stet_program *hlo)
{
    const struct stet_attr *all = stet_op_attr(hlo->module, "entry_computation_layout");

    for (uint32_t i = 0; all && i < all->count; i++) {
        struct stet_view text = stet_attr_text(all->items[i]);

        if (text.len && !stet_view_is(text, "none"))
            return false;
    }
    return true;
}

bool stet_intercept_lift_read(struct stet_program *program, struct stet_program *hlo,
                              struct stet_view bytes, struct stet_err *why)
{
    *hlo = (struct stet_program){0};
    if (stet_decode(program, bytes, why) != STET_OK)
        return false;
    if (program->source == STET_SOURCE_HLO) {
        *hlo = *program;
        *program = (struct stet_program){0};
        if (!has_usual_layouts(hlo))
            return stet_fail(why, STET_REFUSED, "an unusual layout of an argument") == STET_OK;
        if (stet_legalize_hlo(program, hlo, why) != STET_OK)
            return false;
    }
    if (stet_intercept_program_is_local(program))
        return stet_fail(why, STET_REFUSED, "a callback into this process") == STET_OK;
    return stet_lift_refuses(program, why) == STET_OK;
}
