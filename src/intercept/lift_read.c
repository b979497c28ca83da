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

/* The conversion to StableHLO drops these. */
static bool is_lost_of_module(struct stet_view name)
{
    static const char *const lost[] = {"alias_passthrough_params", "config", "is_scheduled",
                                       "unknown_fields"};

    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
        if (stet_view_is(name, lost[i]))
            return true;
    }
    return false;
}

static bool is_lost_of_call(struct stet_view name)
{
    static const char *const kept[] = {
        "api_version",        "backend_config", "custom_call_has_side_effect",
        "custom_call_target", "sharding",       "frontend_attributes",
        "metadata",           "origin"};

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        if (stet_view_is(name, kept[i]))
            return false;
    }
    return true;
}

/* False if something of the operation is lost. */
static bool is_kept_whole(const struct stet_op *op, void *unused)
{
    bool call = op->known == STET_HLO_CUSTOM_CALL, lost = false;

    (void)unused;
    for (uint32_t i = 0; i < op->attr_count && !lost; i++) {
        struct stet_view name = op->attrs[i].name;

        lost = stet_view_is(name, "control-predecessors") ||
               (!call && stet_view_is(name, "backend_config")) || (call && is_lost_of_call(name)) ||
               (op->known == STET_HLO_MODULE && is_lost_of_module(name));
    }
    return !lost;
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
    if (!stet_program_walk(program, is_kept_whole, NULL)) {
        stet_fail(why, STET_REFUSED, "HLO without a counterpart in StableHLO");
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
