/* HloModuleProto, HloProto, HloModuleProtoWithConfig and HloSnapshot → a program. */
#include "decode/hlo/hlo_proto_attr.h"

#include "base/mem.h"
#include "decode/decode.h"

#include <stdlib.h>

enum { LAST_KNOWN = 24 /* of a module's fields */ };

/* ---- tables at the module's level ---- */

static int by_id(const void *a, const void *b)
{
    const struct stet_hlo_callable *x = a, *y = b;

    return x->id < y->id ? -1 : x->id > y->id;
}

/* Calls refer to ids and may refer forward, so names are read before the first instruction. */
static void index_computations(struct stet_hlo_reader *r, const struct stet_proto *module)
{
    struct stet_proto m = *module, c;
    struct stet_proto_field f, g;
    size_t n = 0, payloads = 0;
    struct stet_view *payload;

    while (stet_proto_next(&m, &f)) {
        n += f.number == STET_HLO_MODULE_COMPUTATIONS;
        payloads += f.number == STET_HLO_MODULE_PAYLOADS;
    }
    r->callables = STET_NEW_ARRAY(&r->b.scratch, struct stet_hlo_callable, n);
    r->payloads = payload = STET_NEW_ARRAY(&r->b.scratch, struct stet_view, payloads);
    r->b.a->failed |= r->b.scratch.failed;
    m = *module;
    while (r->callables && payload && stet_proto_next(&m, &f)) {
        if (f.number == STET_HLO_MODULE_PAYLOADS)
            payload[r->payload_count++] = stet_proto_text(&r->fault, &f);
        if (f.number != STET_HLO_MODULE_COMPUTATIONS)
            continue;
        c = stet_proto_sub(&m, &f);
        while (stet_proto_next(&c, &g))
            if (g.number == STET_HLO_COMPUTATION_NAME)
                r->callables[r->callable_count].name = stet_proto_text(&r->fault, &g);
            else if (g.number == STET_HLO_COMPUTATION_ID)
                r->callables[r->callable_count].id = stet_proto_uint(&r->fault, &g);
        r->callable_count++;
    }
    if (r->callables && r->callable_count)
        qsort(r->callables, r->callable_count, sizeof *r->callables, by_id);
}

static size_t count_fields(const struct stet_proto *message, uint32_t number)
{
    struct stet_proto m = *message;
    struct stet_proto_field f;
    size_t n = 0;

    while (stet_proto_next(&m, &f))
        n += f.number == number;
    return n;
}

static void read_file_location(struct stet_hlo_reader *r, const struct stet_proto *in,
                               const struct stet_proto_field *f, struct stet_hlo_file_location *out)
{
    int64_t *const homes[] = {&out->file,   &out->function, &out->line,
                              &out->column, &out->end_line, &out->end_column};
    struct stet_proto m = stet_proto_sub(in, f);
    struct stet_proto_field g;

    while (stet_proto_next(&m, &g))
        if (g.number <= STET_HLO_LOCATION_END_COLUMN)
            *homes[g.number - STET_HLO_LOCATION_FILE_NAME_ID] = stet_proto_int(&r->fault, &g);
}

static void frames(struct stet_hlo_reader *r, const struct stet_proto *in,
                   const struct stet_proto_field *f)
{
    struct stet_proto m = stet_proto_sub(in, f), s;
    struct stet_proto_field g, h;
    struct stet_hlo_frames t = {0};
    struct stet_view *files = STET_NEW_ARRAY(&r->b.scratch, struct stet_view,
                                             count_fields(&m, STET_HLO_FRAMES_FILE_NAMES));
    struct stet_view *functions =
        STET_NEW_ARRAY(r->b.a, struct stet_view, count_fields(&m, STET_HLO_FRAMES_FUNCTION_NAMES));
    struct stet_hlo_file_location *locations =
        STET_NEW_ARRAY(&r->b.scratch, struct stet_hlo_file_location,
                       count_fields(&m, STET_HLO_FRAMES_FILE_LOCATIONS));
    struct stet_hlo_frame *stack = STET_NEW_ARRAY(&r->b.scratch, struct stet_hlo_frame,
                                                  count_fields(&m, STET_HLO_FRAMES_STACK_FRAMES));

    r->b.a->failed |= r->b.scratch.failed;
    if (!files || !functions || !locations || !stack)
        return;
    while (stet_proto_next(&m, &g)) {
        if (g.number == STET_HLO_FRAMES_FILE_NAMES)
            files[t.file_count++] = stet_proto_text(&r->fault, &g);
        else if (g.number == STET_HLO_FRAMES_FUNCTION_NAMES)
            functions[t.function_count++] = stet_proto_text(&r->fault, &g);
        else if (g.number == STET_HLO_FRAMES_FILE_LOCATIONS)
            read_file_location(r, &m, &g, &locations[t.location_count++]);
        if (g.number != STET_HLO_FRAMES_STACK_FRAMES)
            continue;
        s = stet_proto_sub(&m, &g);
        while (stet_proto_next(&s, &h))
            *(h.number == STET_HLO_FRAME_FILE_LOCATION_ID ? &stack[t.frame_count].location
                                                          : &stack[t.frame_count].parent) =
                stet_proto_int(&r->fault, &h);
        t.frame_count++;
    }
    t.files = files;
    t.functions = functions;
    t.locations = locations;
    t.frames = stack;
    stet_decode_hlo_build_frames(&r->b, &t);
}

/* ---- computations ---- */

/* The order of a scheduled computation, in which XLA prints it; empty if it has none. */
static struct stet_ints schedule_of(struct stet_hlo_reader *r, const struct stet_proto *module,
                                    const struct stet_proto_field *schedule, uint64_t id)
{
    struct stet_proto m, e, s;
    struct stet_proto_field f, g, h, value;
    struct stet_ints order = {0};

    if (!schedule->number)
        return order;
    m = stet_proto_sub(module, schedule);
    while (stet_proto_next(&m, &f)) {
        uint64_t key = 0;

        value.number = 0;
        if (f.number != STET_HLO_SCHEDULE_SEQUENCES)
            continue;
        e = stet_proto_sub(&m, &f);
        while (stet_proto_next(&e, &g))
            if (g.number == STET_HLO_MAP_KEY)
                key = stet_proto_uint(&r->fault, &g);
            else if (g.number == STET_HLO_MAP_VALUE)
                value = g;
        if (key != id || value.number != STET_HLO_MAP_VALUE)
            continue;
        s = stet_proto_sub(&e, &value);
        while (stet_proto_next(&s, &h))
            if (h.number == STET_HLO_SEQUENCE_INSTRUCTION_IDS)
                stet_proto_ints(&r->fault, &h, r->b.a, &order);
    }
    return order;
}

struct by_key {
    uint64_t id;
    struct stet_proto_field field;
};

static int by_instruction(const void *a, const void *b)
{
    const struct by_key *x = a, *y = b;

    return x->id < y->id ? -1 : x->id > y->id;
}

/* Instructions in the order of their schedule; false if the schedule names others. */
static bool in_order(struct stet_hlo_reader *r, const struct stet_proto *computation,
                     const struct stet_ints *order)
{
    struct stet_proto m = *computation, i;
    size_t n = count_fields(computation, STET_HLO_COMPUTATION_INSTRUCTIONS), at = 0;
    struct by_key *all = stet_mem_calloc(n + 1, sizeof *all), want = {0};
    struct stet_proto_field f, g;

    if (!all) {
        r->b.a->failed = true;
        return true;
    }
    while (stet_proto_next(&m, &f)) {
        if (f.number != STET_HLO_COMPUTATION_INSTRUCTIONS)
            continue;
        all[at].field = f;
        i = stet_proto_sub(&m, &f);
        while (stet_proto_next(&i, &g))
            if (g.number == STET_HLO_INSTR_ID)
                all[at].id = stet_proto_uint(&r->fault, &g);
        at++;
    }
    qsort(all, at, sizeof *all, by_instruction);
    for (uint32_t k = 0; at == order->count && k < order->count; k++) {
        const struct by_key *found;

        want.id = (uint64_t)order->at[k];
        found = bsearch(&want, all, at, sizeof *all, by_instruction);
        if (found)
            stet_decode_hlo_proto_instruction(r, computation, &found->field);
        else
            stet_proto_fail(&r->fault, STET_BAD_INPUT, 0, "a schedule names a missing instruction");
    }
    stet_mem_free(all);
    return at == order->count;
}

static void computation(struct stet_hlo_reader *r, const struct stet_proto *module,
                        const struct stet_proto_field *f, const struct stet_proto_field *schedule)
{
    struct stet_proto m = stet_proto_sub(module, f), again = m;
    struct stet_view name = {0}, thread = {0};
    struct stet_proto_field g;
    struct stet_ints order;
    uint64_t id = 0, root = 0;
    int64_t at;

    while (stet_proto_next(&m, &g))
        switch (g.number) {
        case STET_HLO_COMPUTATION_NAME:
            name = stet_proto_text(&r->fault, &g);
            break;
        case STET_HLO_COMPUTATION_ID:
            id = stet_proto_uint(&r->fault, &g);
            break;
        case STET_HLO_COMPUTATION_ROOT_ID:
            root = stet_proto_uint(&r->fault, &g);
            break;
        case STET_HLO_COMPUTATION_EXECUTION_THREAD:
            thread = stet_proto_text(&r->fault, &g);
            break;
        }
    order = schedule_of(r, module, schedule, id);
    r->b.scheduled = order.count && in_order(r, &again, &order);
    if (!r->b.scheduled) {
        m = again;
        while (stet_proto_next(&m, &g))
            if (g.number == STET_HLO_COMPUTATION_INSTRUCTIONS)
                stet_decode_hlo_proto_instruction(r, &m, &g);
    }
    if (r->fault.rc != STET_OK || r->b.a->failed)
        return;
    at = stet_decode_hlo_instr_find(&r->b, root, (struct stet_view){0});
    if (at < 0) {
        stet_proto_fail(&r->fault, STET_BAD_INPUT, f->offset, "a computation without its root");
        return;
    }
    stet_decode_hlo_computation_end(&r->b, name, (size_t)at, thread, f->offset);
}

/* ---- donation ---- */

static void put(struct stet_named_attr *fields, uint32_t *n, const char *name,
                const struct stet_attr *v)
{
    fields[(*n)++] = (struct stet_named_attr){stet_view_str(name), v};
}

/* Entries of HloInputOutputAliasProto (with an output and a kind) or HloBufferDonorProto. */
static const struct stet_attr *donation(struct stet_hlo_reader *r, const struct stet_proto *in,
                                        const struct stet_proto_field *f, bool alias)
{
    struct stet_proto m = stet_proto_sub(in, f), e;
    struct stet_build_list items = {0};
    struct stet_proto_field g, h;
    uint32_t n;

    while (stet_proto_next(&m, &g)) {
        struct stet_named_attr *fields = STET_NEW_ARRAY(r->b.a, struct stet_named_attr, 4);
        struct stet_ints output = {0}, index = {0};
        int64_t parameter = 0, kind = 0;

        if (g.number != STET_HLO_ALIASES_ENTRIES || !fields)
            continue;
        e = stet_proto_sub(&m, &g);
        while (stet_proto_next(&e, &h)) {
            /* a donor has the fields of an alias that follow its output */
            uint32_t which = alias ? h.number : h.number + 1;

            if (which == STET_HLO_ALIAS_OUTPUT_SHAPE_INDEX)
                stet_proto_ints(&r->fault, &h, r->b.a, &output);
            else if (which == STET_HLO_ALIAS_PARAMETER_NUMBER)
                parameter = stet_proto_int(&r->fault, &h);
            else if (which == STET_HLO_ALIAS_PARAMETER_SHAPE_INDEX)
                stet_proto_ints(&r->fault, &h, r->b.a, &index);
            else if (which == STET_HLO_ALIAS_KIND)
                kind = stet_proto_int(&r->fault, &h);
        }
        n = 0;
        if (alias)
            put(fields, &n, "output", stet_decode_hlo_new_ints(r->b.a, output.at, output.count));
        put(fields, &n, "parameter", stet_decode_hlo_new_int(r->b.a, parameter));
        put(fields, &n, "index", stet_decode_hlo_new_ints(r->b.a, index.at, index.count));
        if (alias)
            put(fields, &n, "kind",
                stet_decode_hlo_new_word(
                    r->b.a, "kind", kind == 2 ? STET_VIEW("must-alias") : STET_VIEW("may-alias")));
        stet_build_list_add(
            &items, stet_decode_hlo_new_record(r->b.a, alias ? "alias" : "donor", fields, n));
    }
    return items.count || items.failed ? stet_decode_hlo_array_of(r->b.a, &items) : NULL;
}

/* ---- the module ---- */

static void add(struct stet_hlo_reader *r, const char *name, const struct stet_attr *v)
{
    if (v)
        stet_decode_hlo_module_attr(&r->b, name, v);
}

static const struct stet_attr *opaque(struct stet_hlo_reader *r, struct stet_view bytes)
{
    struct stet_attr *a = bytes.len ? stet_build_attr(r->b.a, STET_ATTR_OPAQUE) : NULL;

    if (a) {
        a->of.name = stet_build_name(r->b.a, STET_VIEW("hlo"), (struct stet_view){0});
        stet_attr_set_bytes(a, bytes);
    }
    return a;
}

/* A repeated bool of the configuration; XLA prints it unless it is a single false. */
static const struct stet_attr *flags(struct stet_hlo_reader *r, const struct stet_ints *v)
{
    if (!v->count || (v->count == 1 && !v->at[0]))
        return NULL;
    return stet_decode_hlo_new_ints(r->b.a, v->at, v->count);
}

/* HloModuleConfigProto: the fields that XLA prints, and the rest as bytes. */
static const struct stet_type *config(struct stet_hlo_reader *r, const struct stet_proto *in,
                                      const struct stet_proto_field *f)
{
    struct stet_proto m = stet_proto_sub(in, f);
    const struct stet_type *layout = NULL;
    struct stet_ints parameters = {0}, output = {0};
    struct stet_proto_field g;

    r->scratch.len = 0;
    while (stet_proto_next(&m, &g))
        switch (g.number) {
        case STET_HLO_CONFIG_ENTRY_COMPUTATION_LAYOUT:
            layout = stet_decode_hlo_program_shape(r, &m, &g);
            break;
        case STET_HLO_CONFIG_REPLICA_COUNT:
            if (g.value != 1)
                add(r, "replica_count", stet_decode_hlo_new_int(r->b.a, (int64_t)g.value));
            break;
        case STET_HLO_CONFIG_NUM_PARTITIONS:
            if (g.value != 1)
                add(r, "num_partitions", stet_decode_hlo_new_int(r->b.a, (int64_t)g.value));
            break;
        case STET_HLO_CONFIG_ALIAS_PASSTHROUGH_PARAMS:
            if (g.value)
                add(r, "alias_passthrough_params", stet_decode_hlo_new_bool(r->b.a, true));
            break;
        case STET_HLO_CONFIG_ALLOW_SPMD_SHARDING_PROPAGATION_TO_OUTPUT:
            stet_proto_ints(&r->fault, &g, r->b.a, &output);
            break;
        case STET_HLO_CONFIG_ALLOW_SPMD_SHARDING_PROPAGATION_TO_PARAMETERS:
            stet_proto_ints(&r->fault, &g, r->b.a, &parameters);
            break;
        }
    add(r, "allow_spmd_sharding_propagation_to_parameters", flags(r, &parameters));
    add(r, "allow_spmd_sharding_propagation_to_output", flags(r, &output));
    add(r, "config", opaque(r, f->bytes));
    return layout;
}

/* Fields of the module that are not tables. It leaves out what XLA's text leaves out: ids,
 * profiles, is_dynamic (follows from the shapes), the partitioner's notes on a finished module (the
 * instructions have the shardings that count), and the device assignment (an option). */
static void module_field(struct stet_hlo_reader *r, const struct stet_proto *m,
                         const struct stet_proto_field *f)
{
    switch (f->number) {
    case STET_HLO_MODULE_SCHEDULE:
        add(r, "is_scheduled", stet_decode_hlo_new_bool(r->b.a, true));
        break;
    case STET_HLO_MODULE_INPUT_OUTPUT_ALIAS:
        add(r, "input_output_alias", donation(r, m, f, true));
        break;
    case STET_HLO_MODULE_BUFFER_DONOR:
        add(r, "buffer_donor", donation(r, m, f, false));
        break;
    case STET_HLO_MODULE_FRONTEND_ATTRIBUTES:
        add(r, "frontend_attributes", stet_decode_hlo_strings(r, m, f));
        break;
    }
}

/* Fields that are newer than this build, compared as bytes. */
static const struct stet_attr *newer_fields(struct stet_hlo_reader *r,
                                            const struct stet_proto *module)
{
    struct stet_proto m = *module;
    struct stet_proto_field f;

    r->scratch.len = 0;
    while (stet_proto_next(&m, &f))
        if (f.number > LAST_KNOWN)
            stet_buf_view(&r->scratch, f.whole);
    return r->scratch.len ? opaque(r, stet_decode_hlo_keep(r)) : NULL;
}

static void module_tables(struct stet_hlo_reader *r, const struct stet_proto *module,
                          struct stet_proto_field *schedule, struct stet_view *name,
                          struct stet_view *entry, const struct stet_type **layout)
{
    struct stet_proto m = *module;
    struct stet_proto_field f;
    uint64_t entry_id = 0;

    while (stet_proto_next(&m, &f)) {
        switch (f.number) {
        case STET_HLO_MODULE_NAME:
            *name = stet_proto_text(&r->fault, &f);
            break;
        case STET_HLO_MODULE_ENTRY_COMPUTATION_NAME:
            *entry = stet_proto_text(&r->fault, &f);
            break;
        case STET_HLO_MODULE_ENTRY_COMPUTATION_ID:
            entry_id = stet_proto_uint(&r->fault, &f);
            break;
        case STET_HLO_MODULE_HOST_PROGRAM_SHAPE:
            if (!*layout)
                *layout = stet_decode_hlo_program_shape(r, &m, &f);
            break;
        case STET_HLO_MODULE_STACK_FRAME_INDEX:
            frames(r, &m, &f);
            break;
        case STET_HLO_MODULE_SCHEDULE:
            *schedule = f;
            break;
        }
        module_field(r, &m, &f);
    }
    add(r, "unknown_fields", newer_fields(r, module));
    for (size_t i = 0; i < r->callable_count; i++)
        if (entry_id && r->callables[i].id == entry_id)
            *entry = r->callables[i].name;
}

static enum stet_rc decode_module(struct stet_hlo_reader *r, const struct stet_proto *module,
                                  const struct stet_type *layout)
{
    struct stet_proto m = *module;
    struct stet_proto_field f, schedule = {0};
    struct stet_view name = {0}, entry = {0};
    enum stet_rc rc;

    index_computations(r, module);
    module_tables(r, module, &schedule, &name, &entry, &layout);
    if (layout)
        add(r, "entry_computation_layout", stet_decode_hlo_entry_layout(r->b.a, layout));
    while (r->b.err->rc == STET_OK && !r->b.a->failed && stet_proto_next(&m, &f))
        if (f.number == STET_HLO_MODULE_COMPUTATIONS)
            computation(r, &m, &f, &schedule);
    rc = stet_proto_finish(&r->fault, "HLO proto", r->b.err);
    if (rc == STET_OK)
        rc = r->b.err->rc;
    return rc == STET_OK ? stet_decode_hlo_build_finish(&r->b, name, entry) : rc;
}

/* A module's first field is its name. The messages around it begin with a message, which itself
 * begins with such a field (0x0a). No name starts with a line feed. */
static bool wraps(const struct stet_proto *p, struct stet_proto_field *inner)
{
    struct stet_proto m = *p;

    return stet_proto_next(&m, inner) && inner->number == STET_HLO_MODULE_NAME &&
           inner->wire == STET_PROTO_BYTES && inner->bytes.len && inner->bytes.ptr[0] == 0x0a;
}

enum stet_rc stet_decode_hlo_proto(struct stet_program *out, struct stet_view bytes,
                                   struct stet_err *err)
{
    struct stet_err own = STET_ERR_INIT;
    struct stet_hlo_reader r = {.fault = {STET_OK, NULL, 0}};
    struct stet_hlo_room room;
    const struct stet_type *layout = NULL;
    struct stet_proto p;
    struct stet_proto_field f, g;
    enum stet_rc rc;

    stet_decode_hlo_build_init(&r.b, &room, out, bytes.len, &own);
    out->source = STET_SOURCE_HLO;
    r.b.by_id = true;
    stet_proto_init(&p, bytes, &r.fault);
    if (wraps(&p, &f)) {
        struct stet_proto outer = p;

        p = stet_proto_sub(&p, &f);
        if (wraps(&p, &f)) /* HloSnapshot: HloProto inside */
            p = stet_proto_sub(&p, &f);
        else
            while (stet_proto_next(&outer, &g))
                if (g.number == STET_HLO_MODULE_WITH_CONFIG_CONFIG)
                    layout = config(&r, &outer, &g);
    }
    rc = decode_module(&r, &p, layout);
    if (r.field_room > STET_HLO_FIRST_FIELDS)
        stet_mem_free(r.fields);
    stet_buf_release(&r.scratch);
    stet_decode_hlo_build_release(&r.b, rc == STET_OK);
    if (rc != STET_OK)
        stet_fail_at(err, rc, own.offset, "%s", own.text);
    return rc;
}
