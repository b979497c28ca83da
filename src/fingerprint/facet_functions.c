/* The streams of whole functions and of the module: their attributes and donation, then their
 * bodies, which facets.c writes. */
#include "fingerprint/facet_walk.h"

#include "base/mem.h"
#include "program/hlo.h"
#include "program/ops.h"

static void write_dictionaries(struct walk *w, const struct stet_attr *array, bool entry)
{
    const struct stet_symbol_writer symbols = {stet_facet_walk_symbol, w};

    for (uint32_t i = 0; array && array->kind == STET_ATTR_ARRAY && i < array->count; i++) {
        const struct stet_attr *dict = array->items[i];

        for (uint32_t j = 0; dict->kind == STET_ATTR_DICT && j < dict->count; j++) {
            const struct stet_named_attr *n = &dict->named[j];
            enum stet_attr_class class = stet_canon_attr(w->canon, n);
            unsigned stream = class > STET_CLASS_SKELETON ? (unsigned)STET_SINK_KEY : class;

            if (class == STET_CLASS_NAMES || (class == STET_CLASS_DONATION && entry))
                continue;
            stet_sink_varint(sink(w, stream), i);
            stet_sink_view(sink(w, stream), n->name);
            stet_content_attr(sink(w, stream), n->value, &symbols);
        }
    }
}

/* Donation as the index records it, because HLO stores it elsewhere than MLIR. */
static void write_donation(struct walk *w)
{
    const struct stet_program *p = w->canon->program;
    struct stet_sink *s = sink(w, STET_FACET_DONATION);

    for (uint32_t i = 0; i < p->argument_count; i++) {
        if (p->arguments[i].alias < 0 && !p->arguments[i].donor)
            continue;
        stet_sink_varint(s, i);
        stet_sink_int(s, p->arguments[i].alias);
        stet_sink_u8(s, p->arguments[i].donor);
    }
}

void stet_facet_walk_function(struct walk *w, const struct stet_op *f)
{
    bool entry = f == w->canon->program->entry;

    w->function_numbers[f->id] = ++w->functions;
    see(w, f);
    put_id(w, f->id);
    stet_sink_view(sink(w, STET_SINK_SKELETON), stet_op_name(f));
    for (uint32_t i = 0; i < f->attr_count; i++) {
        enum stet_attr_class class = stet_canon_attr(w->canon, &f->attrs[i]);

        if (class == STET_CLASS_ARG_ATTRS || class == STET_CLASS_RES_ATTRS)
            write_dictionaries(w, f->attrs[i].value, entry);
        else
            stet_facet_walk_put_attr(w, f, &f->attrs[i]);
    }
    if (entry)
        write_donation(w);
    for (unsigned i = 0; i < f->region_count; i++)
        stet_facet_walk_region(w, stet_op_region(f, i));
}

static void write_module(struct walk *w)
{
    const struct stet_program *p = w->canon->program;
    bool hlo = p->module->known == STET_HLO_MODULE;

    for (uint32_t i = 0; i < p->module->attr_count; i++)
        if (!hlo || !stet_hlo_is_option(p->module->attrs[i].name))
            stet_facet_walk_put_attr(w, p->module, &p->module->attrs[i]);
    if (p->entry)
        stet_facet_walk_function(w, p->entry);
    for (uint32_t i = 0; i < p->function_count; i++) /* never called, or called only from such
                                                      * functions */
        if (!w->function_numbers[p->functions[i]->id])
            stet_facet_walk_function(w, p->functions[i]);
    for (unsigned r = 0; r < p->module->region_count; r++)
        for (uint32_t b = 0; b < stet_op_region(p->module, r)->block_count; b++)
            stet_facet_walk_rest(w, stet_op_region(p->module, r)->blocks[b]);
}

enum stet_rc stet_facets_make(struct stet_canon *c, struct stet_sink sinks[STET_SINKS],
                              struct stet_canon_order *order, struct stet_err *err)
{
    const struct stet_program *p = c->program;
    struct walk w = {.canon = c, .sinks = sinks, .order = order->ops};
    size_t values = (size_t)p->value_count + 1, ops = (size_t)p->op_count + 1;

    w.numbers = stet_mem_calloc(values + ops, sizeof *w.numbers); /* ids are 31 bits at most */
    w.seen = stet_mem_calloc(ops, 1);
    if (w.numbers && w.seen) {
        w.function_numbers = w.numbers + values;
        write_module(&w);
    } else {
        w.rc = STET_NO_MEMORY;
    }
    order->count = w.written;
    stet_mem_free(w.numbers);
    stet_mem_free(w.seen);
    stet_mem_free(w.stack);
    if (w.rc == STET_LIMIT)
        return stet_fail(err, w.rc, "regions and calls are nested deeper than %d",
                         2 * STET_MAX_DEPTH);
    return w.rc == STET_OK ? STET_OK : stet_fail(err, w.rc, "out of memory for a fingerprint");
}
