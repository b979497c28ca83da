/* HLO text → a program: XLA's .txt dumps, as_hlo_text() and PyTorch/XLA's debug APIs. */
#include "decode/hlo/hlo_text.h"

#include "decode/decode.h"

/* ---- computations ---- */

/* (x: f32[2], y: f32[]) -> f32[2]: skipped, because the instructions contain the same. */
static void signature(struct stet_hlo_text *t)
{
    stet_hlo_expect(t, "(");
    while (!t->failed && stet_hlo_peek(t) != ')') {
        stet_hlo_name(t);
        stet_hlo_expect(t, ":");
        stet_decode_hlo_text_shape(t);
        if (!stet_hlo_take(t, ","))
            break;
    }
    stet_hlo_expect(t, ")");
    stet_hlo_expect(t, "->");
    stet_decode_hlo_text_shape(t);
}

static bool takes_word(struct stet_hlo_text *t, const char *word)
{
    if (!stet_view_is(stet_hlo_next_word(t), word))
        return false;
    t->at += strlen(word);
    return true;
}

/* { instructions }: finds the root. */
static size_t body(struct stet_hlo_text *t)
{
    bool rooted = false;
    size_t root = 0;

    stet_hlo_expect(t, "{");
    while (!t->failed && !t->b.a->failed && stet_hlo_peek(t) != '}') {
        if (takes_word(t, "ROOT")) {
            if (rooted)
                stet_decode_hlo_text_fail(t, "a computation has two roots");
            rooted = true;
            root = t->b.instr_count;
        }
        stet_decode_hlo_text_instruction(t);
    }
    stet_hlo_expect(t, "}");
    if (!t->failed && !t->b.instr_count)
        stet_decode_hlo_text_fail(t, "a computation without instructions");
    /* without ROOT the last instruction is the root, as in XLA's parser */
    return rooted || !t->b.instr_count ? root : t->b.instr_count - 1;
}

const struct stet_attr *stet_decode_hlo_text_nested(struct stet_hlo_text *t)
{
    struct stet_view name;
    struct stet_hlo_open around;
    size_t start = t->at, root;

    stet_decode_hlo_set_aside(&t->b, &around);
    if (++t->depth > STET_HLO_TEXT_DEPTH)
        stet_decode_hlo_text_fail(t, "computations are nested too deep");
    root = body(t);
    name = stet_arena_printf(t->b.a, "_.%zu", t->b.computations.count); /* XLA's name for it */
    if (!t->failed &&
        stet_decode_hlo_computation_end(&t->b, name, root, (struct stet_view){0}, start) != STET_OK)
        t->failed = true;
    t->depth--;
    stet_decode_hlo_take_up(&t->b, &around);
    return stet_decode_hlo_new_symbol(t->b.a, name);
}

static void computation(struct stet_hlo_text *t, struct stet_view *entry)
{
    bool is_entry = takes_word(t, "ENTRY");
    struct stet_view name = stet_hlo_name(t), thread = {0};
    size_t start = t->at - name.len, root;

    if (stet_hlo_peek(t) == '(')
        signature(t);
    root = body(t);
    if (stet_hlo_take(t, ",")) {
        if (!takes_word(t, "execution_thread"))
            stet_decode_hlo_text_fail(t, "expected execution_thread");
        stet_hlo_expect(t, "=");
        thread = stet_decode_hlo_string(t);
    }
    if (!t->failed && is_entry && entry->ptr)
        stet_decode_hlo_text_fail_at(t, start, "a second ENTRY");
    if (t->failed)
        return;
    if (is_entry)
        *entry = name;
    if (stet_decode_hlo_computation_end(&t->b, name, root, thread, start) != STET_OK)
        t->failed = true;
}

/* ---- the module line ---- */

static const struct stet_attr *donation_item(struct stet_hlo_text *t, bool alias)
{
    struct stet_named_attr *f = STET_NEW_ARRAY(t->b.a, struct stet_named_attr, 4);
    struct stet_ints output = {0}, index;
    struct stet_view kind = STET_VIEW("may-alias");
    int64_t parameter;
    uint32_t n = 0;

    if (alias) {
        output = stet_decode_hlo_int_list(t);
        stet_hlo_expect(t, ":");
    }
    stet_hlo_expect(t, "(");
    parameter = stet_hlo_int(t);
    stet_hlo_expect(t, ",");
    index = stet_decode_hlo_int_list(t);
    if (alias && stet_hlo_take(t, ","))
        kind = stet_hlo_word(t);
    stet_hlo_expect(t, ")");
    if (!f)
        return NULL;
    if (alias)
        f[n++] = (struct stet_named_attr){
            STET_VIEW("output"), stet_decode_hlo_new_ints(t->b.a, output.at, output.count)};
    f[n++] = (struct stet_named_attr){STET_VIEW("parameter"),
                                      stet_decode_hlo_new_int(t->b.a, parameter)};
    f[n++] = (struct stet_named_attr){STET_VIEW("index"),
                                      stet_decode_hlo_new_ints(t->b.a, index.at, index.count)};
    if (alias)
        f[n++] = (struct stet_named_attr){STET_VIEW("kind"),
                                          stet_decode_hlo_new_word(t->b.a, "kind", kind)};
    return stet_decode_hlo_new_record(t->b.a, alias ? "alias" : "donor", f, n);
}

static const struct stet_attr *alias_item(struct stet_hlo_text *t)
{
    return donation_item(t, true);
}

static const struct stet_attr *donor_item(struct stet_hlo_text *t)
{
    return donation_item(t, false);
}

/* {(f32[2]{0})->f32[2]{0}} */
static const struct stet_attr *entry_layout(struct stet_hlo_text *t)
{
    struct stet_type *type = STET_NEW(t->b.a, struct stet_type);
    struct stet_build_list members = {0};

    stet_hlo_expect(t, "{");
    stet_decode_hlo_text_shapes(t, &members);
    stet_hlo_expect(t, "->");
    stet_build_list_add(&members, stet_decode_hlo_text_shape(t));
    stet_hlo_expect(t, "}");
    if (type) {
        type->kind = STET_TYPE_FUNCTION;
        type->member_count = (uint32_t)members.count;
        type->input_count = type->member_count - 1;
        type->members = stet_build_list_keep(&members, t->b.a);
    }
    t->b.a->failed |= members.failed;
    stet_build_list_release(&members);
    return type && type->members && !t->failed ? stet_decode_hlo_entry_layout(t->b.a, type) : NULL;
}

static const struct stet_attr *flags(struct stet_hlo_text *t)
{
    struct stet_ints v = stet_decode_hlo_bool_list(t);

    return stet_decode_hlo_new_ints(t->b.a, v.at, v.count);
}

static void module_attribute(struct stet_hlo_text *t)
{
    static const char *const names[] = {"is_scheduled",
                                        "alias_passthrough_params",
                                        "replica_count",
                                        "num_partitions",
                                        "input_output_alias",
                                        "buffer_donor",
                                        "entry_computation_layout",
                                        "allow_spmd_sharding_propagation_to_parameters",
                                        "allow_spmd_sharding_propagation_to_output",
                                        "frontend_attributes"};
    struct stet_view name = stet_hlo_word(t);
    const struct stet_attr *v = NULL;
    size_t k = 0;

    while (k < 10 && !stet_view_is(name, names[k]))
        k++;
    if (k == 10) {
        if (!t->failed)
            stet_decode_hlo_text_fail_at(t, t->at - name.len, "unknown attribute of a module");
        return;
    }
    stet_hlo_expect(t, "=");
    if (k < 2)
        v = stet_hlo_bool(t) ? stet_decode_hlo_new_bool(t->b.a, true) : NULL;
    else if (k < 4)
        v = stet_decode_hlo_new_int(t->b.a, stet_hlo_int(t));
    else if (k < 6)
        v = stet_decode_hlo_list(t, k == 4 ? alias_item : donor_item);
    else if (k == 6)
        v = entry_layout(t);
    else if (k < 9)
        v = flags(t);
    else
        v = stet_decode_hlo_text_strings(t);
    t->b.scheduled |= k == 0 && v;
    if (v)
        stet_decode_hlo_module_attr(&t->b, names[k], v);
}

/* ---- tables of stack frames ---- */

int64_t stet_decode_hlo_text_field(struct stet_hlo_text *t, const char *name)
{
    if (!takes_word(t, name)) {
        stet_decode_hlo_text_fail(t, "expected %s", name);
        return -1;
    }
    stet_hlo_expect(t, "=");
    return stet_hlo_int(t);
}

static bool digit_ahead(struct stet_hlo_text *t)
{
    char c = stet_hlo_peek(t);

    return c >= '0' && c <= '9';
}

/* 1 "text" lines. */
static struct stet_view *strings(struct stet_hlo_text *t, size_t *count)
{
    struct stet_build_list lines = {0};
    struct stet_view *all;

    while (!t->failed && digit_ahead(t)) {
        struct stet_view *v = STET_NEW(t->b.a, struct stet_view);

        stet_hlo_int(t);
        if (v)
            *v = stet_decode_hlo_string(t);
        stet_build_list_add(&lines, v);
    }
    *count = lines.count;
    all = STET_NEW_ARRAY(t->b.a, struct stet_view, lines.count);
    t->b.a->failed |= lines.failed;
    for (size_t i = 0; all && !t->b.a->failed && i < lines.count; i++)
        all[i] = *(struct stet_view *)lines.items[i];
    stet_build_list_release(&lines);
    return all;
}

/* 1 {file_name_id=1 …} lines: `count` names, gathered row by row. */
static struct stet_ints rows(struct stet_hlo_text *t, const char *const *names, size_t count)
{
    struct stet_ints v = {0};

    while (!t->failed && digit_ahead(t)) {
        stet_hlo_int(t);
        stet_hlo_expect(t, "{");
        for (size_t i = 0; i < count; i++)
            stet_decode_ints_add(&v, t->b.a, stet_decode_hlo_text_field(t, names[i]));
        stet_hlo_expect(t, "}");
    }
    return v;
}

static void tables(struct stet_hlo_text *t)
{
    static const char *const location[] = {"file_name_id", "function_name_id", "line",
                                           "end_line",     "column",           "end_column"};
    static const char *const frame[] = {"file_location_id", "parent_frame_id"};
    struct stet_hlo_file_location *locations;
    struct stet_hlo_frames f = {0};
    struct stet_hlo_frame *frames;
    struct stet_ints v;

    if (!takes_word(t, "FileNames"))
        return;
    f.files = strings(t, &f.file_count);
    if (takes_word(t, "FunctionNames"))
        f.functions = strings(t, &f.function_count);
    v = takes_word(t, "FileLocations") ? rows(t, location, 6) : (struct stet_ints){0};
    f.location_count = v.count / 6;
    f.locations = locations =
        STET_NEW_ARRAY(t->b.a, struct stet_hlo_file_location, f.location_count);
    for (size_t i = 0; locations && i < f.location_count; i++)
        locations[i] = (struct stet_hlo_file_location){.file = v.at[i * 6],
                                                       .function = v.at[i * 6 + 1],
                                                       .line = v.at[i * 6 + 2],
                                                       .end_line = v.at[i * 6 + 3],
                                                       .column = v.at[i * 6 + 4],
                                                       .end_column = v.at[i * 6 + 5]};
    v = takes_word(t, "StackFrames") ? rows(t, frame, 2) : (struct stet_ints){0};
    f.frame_count = v.count / 2;
    f.frames = frames = STET_NEW_ARRAY(t->b.a, struct stet_hlo_frame, f.frame_count);
    for (size_t i = 0; frames && i < f.frame_count; i++)
        frames[i] = (struct stet_hlo_frame){
            .location = v.at[i * 2],
            /* the text counts parents from 1 with 1 for "none" (HloModule::PrintStackFrameIndex) */
            .parent = v.at[i * 2 + 1] - 1};
    if (!t->failed && !t->b.a->failed)
        stet_decode_hlo_build_frames(&t->b, &f);
}

/* ---- all of it ---- */

static enum stet_rc module(struct stet_hlo_text *t)
{
    struct stet_view name, entry = {0};
    const char *zero = t->src.len ? memchr(t->src.ptr, '\0', t->src.len) : NULL;
    size_t start;

    if (zero) /* a NUL would end a name for some readers and not for others */
        stet_decode_hlo_text_fail_at(t, (size_t)(zero - t->src.ptr), "a zero byte");
    else if (!takes_word(t, "HloModule"))
        stet_decode_hlo_text_fail(t, "expected HloModule");
    stet_decode_hlo_skip(t);
    for (start = t->at; t->at < t->src.len && t->src.ptr[t->at] != ',' &&
                        t->src.ptr[t->at] != '\n' && t->src.ptr[t->at] != ' ';)
        t->at++;
    name = stet_view_of(t->src.ptr + start, t->at - start);
    while (!t->failed && stet_hlo_take(t, ","))
        module_attribute(t);
    tables(t);
    while (!t->failed && !t->b.a->failed && stet_hlo_peek(t))
        computation(t, &entry);
    if (!t->failed && !t->b.a->failed && !entry.ptr)
        stet_decode_hlo_text_fail(t, "no ENTRY computation");
    if (t->b.err->rc != STET_OK)
        return t->b.err->rc;
    if (t->b.a->failed)
        return stet_decode_hlo_build_full(&t->b);
    return stet_decode_hlo_build_finish(&t->b, name, entry);
}

enum stet_rc stet_decode_hlo_text(struct stet_program *out, struct stet_view text,
                                  struct stet_err *err)
{
    struct stet_err own = STET_ERR_INIT;
    struct stet_hlo_text t = {.src = text};
    struct stet_hlo_room room;
    enum stet_rc rc;

    stet_decode_hlo_build_init(&t.b, &room, out, text.len, &own);
    out->source = STET_SOURCE_HLO_TEXT;
    rc = module(&t);
    stet_decode_hlo_build_release(&t.b, rc == STET_OK);
    return rc == STET_OK ? rc : stet_decode_hlo_text_retell(&t, &own, err);
}
