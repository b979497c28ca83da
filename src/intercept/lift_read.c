/* Reads programs for lifting, which works on StableHLO. */
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

const struct stet_program *stet_intercept_lift_read(struct stet_reading *reading,
                                                    struct stet_program *converted,
                                                    struct stet_err *why)
{
    const struct stet_program *program = stet_intercept_reading_program(reading);

    *converted = (struct stet_program){0};
    if (!program) {
        stet_fail(why, STET_REFUSED, "it cannot be decoded");
        return NULL;
    }
    if (program->source != STET_SOURCE_HLO)
        return program;
    if (!has_usual_layouts(program)) {
        stet_fail(why, STET_REFUSED, "an unusual layout of an argument");
        return NULL;
    }
    if (stet_legalize_hlo(converted, program, why) == STET_OK)
        return converted;
    *converted = (struct stet_program){0};
    return NULL;
}

enum stet_rc stet_intercept_lift_refuses(const struct stet_program *program, struct stet_err *why)
{
    if (stet_intercept_program_is_local(program))
        return stet_fail(why, STET_REFUSED, "a callback into this process");
    return stet_lift_refuses(program, why);
}

void stet_intercept_lift_adopt(struct stet_lift_family *f, struct stet_reading *reading,
                               struct stet_program *converted)
{
    bool is_hlo = reading->program.source == STET_SOURCE_HLO;

    f->bytes = reading->own;
    f->base = is_hlo ? *converted : reading->program;
    if (is_hlo)
        f->hlo = reading->program;
    *converted = (struct stet_program){0};
    *reading = (struct stet_reading){0};
}
