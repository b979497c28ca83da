/* Functions that a library registered, called by programs: arguments, attributes, layouts, memory
 * that two buffers share, states, errors, and what is refused. */
#include "backend/ffi.h"
#include "backend_help.h"

#include <pthread.h>

/* What every handler does first: answers which interface it was built for. */
static bool asked_for_version(XLA_FFI_CallFrame *f)
{
    XLA_FFI_Metadata_Extension *m = (XLA_FFI_Metadata_Extension *)f->extension_start;

    if (!m || m->extension_base.type != XLA_FFI_Extension_Metadata)
        return false;
    m->metadata->api_version.major_version = XLA_FFI_API_MAJOR;
    m->metadata->api_version.minor_version = XLA_FFI_API_MINOR;
    return true;
}

static XLA_FFI_Error *fail_with(const XLA_FFI_Api *api, const char *text)
{
    XLA_FFI_Error_Create_Args args = {.struct_size = sizeof args, .message = text, .errc = 9};

    return api->XLA_FFI_Error_Create(&args);
}

static void add(const char *name, XLA_FFI_Handler *execute)
{
    XLA_FFI_Handler_Bundle b = {{[XLA_FFI_ExecutionStage_EXECUTE] = execute}};
    struct stet_err err = STET_ERR_INIT;

    EXPECT_INT(STET_OK, stet_ffi_register(stet_view_str(name), &b, &err));
    EXPECT_STR("", err.text);
}

static const XLA_FFI_Buffer *argument(const XLA_FFI_CallFrame *f, int i)
{
    return f->args.args[i];
}

static const XLA_FFI_Buffer *result(const XLA_FFI_CallFrame *f, int i)
{
    return f->rets.rets[i];
}

/* ---- buffers and layouts ---- */

/* Writes the dimensions that it sees, then the elements in the order of memory. */
static XLA_FFI_Error *look(XLA_FFI_CallFrame *f)
{
    const XLA_FFI_Buffer *a, *r;

    if (asked_for_version(f))
        return NULL;
    a = argument(f, 0), r = result(f, 0);
    if (f->args.size != 1 || f->rets.size != 1 || a->rank != 2 || a->dims[0] != 2 ||
        a->dims[1] != 3 || a->dtype != 11 || r->dtype != 11)
        return fail_with(f->api, "unexpected buffers");
    memcpy(r->data, a->data, 6 * sizeof(float));
    return NULL;
}

TEST(buffers_have_the_layout_that_the_program_asks_for)
{
    static const char *const layouts[] = {
        "",
        ", operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : "
        "tensor<2xindex>]",
        ", operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : "
        "tensor<2xindex>]",
    };
    static const float in[] = {1, 2, 3, 4, 5, 6};
    static const float want[][6] = {{1, 2, 3, 4, 5, 6}, {1, 4, 2, 5, 3, 6}, {1, 2, 3, 4, 5, 6}};

    add("look", look);
    for (int i = 0; i < 3; i++) {
        struct text t = {.n = 0};
        const void *ins[] = {in};
        float got[6];
        void *outs[] = {got};

        put(&t,
            "func.func @main(%%a: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
            "  %%0 = \"stablehlo.custom_call\"(%%a) {call_target_name = \"look\"%s} : "
            "(tensor<2x3xf32>) -> tensor<2x3xf32>\n"
            "  return %%0 : tensor<2x3xf32>\n}\n",
            layouts[i]);
        EXPECT(run_text(&t, ins, outs, 1));
        EXPECT(memcmp(got, want[i], sizeof got) == 0);
    }
}

/* ---- attributes ---- */

static struct text seen;

static void describe(struct text *t, const XLA_FFI_Attrs *a)
{
    for (int64_t i = 0; i < a->size; i++) {
        put(t, "%.*s=", (int)a->names[i]->len, a->names[i]->ptr);
        switch (a->types[i]) {
        case XLA_FFI_AttrType_SCALAR: {
            const XLA_FFI_Scalar *s = a->attrs[i];

            put(t, "%d:", s->dtype);
            if (s->dtype == 11)
                put(t, "%g", (double)*(const float *)s->value);
            else if (s->dtype == 1 || s->dtype == 6)
                put(t, "%d", *(const uint8_t *)s->value);
            else
                put(t, "%lld", (long long)*(const int64_t *)s->value);
            break;
        }
        case XLA_FFI_AttrType_ARRAY: {
            const XLA_FFI_Array *s = a->attrs[i];

            put(t, "%d[%zu]:%lld,%lld", s->dtype, s->size, (long long)((const int64_t *)s->data)[0],
                (long long)((const int64_t *)s->data)[s->size - 1]);
            break;
        }
        case XLA_FFI_AttrType_STRING: {
            const XLA_FFI_ByteSpan *s = a->attrs[i];

            put(t, "'%.*s'", (int)s->len, s->ptr);
            break;
        }
        case XLA_FFI_AttrType_DICTIONARY:
            put(t, "{");
            describe(t, a->attrs[i]);
            put(t, "}");
            break;
        }
        put(t, " ");
    }
}

static XLA_FFI_Error *list(XLA_FFI_CallFrame *f)
{
    if (asked_for_version(f))
        return NULL;
    seen.n = 0;
    describe(&seen, &f->attrs);
    memcpy(result(f, 0)->data, argument(f, 0)->data, 4);
    return NULL;
}

TEST(attributes_arrive_sorted_with_their_types)
{
    static const char *const program =
        "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n"
        "  %0 = \"stablehlo.custom_call\"(%a) {call_target_name = \"list\", mhlo.backend_config = "
        "{word = \"some\", count = -3 : i64, byte = 200 : ui8, rate = 5.000000e-01 : f32, on = "
        "true, "
        "sizes = array<i64: 4, 5, 6>, all = dense<[7, 8]> : tensor<2xi64>, same = dense<9> : "
        "tensor<3xi64>, inner = {b = 2 : i64, a = 1 : i64}}} : (tensor<f32>) -> tensor<f32>\n"
        "  return %0 : tensor<f32>\n}\n";
    float in = 1, out = 0;
    const void *ins[] = {&in};
    void *outs[] = {&out};
    struct text t = {.n = 0};

    add("list", list);
    put(&t, "%s", program);
    EXPECT(run_text(&t, ins, outs, 1));
    EXPECT_STR("all=5[2]:7,8 byte=6:200 count=5:-3 inner={a=5:1 b=5:2 } on=1:1 rate=11:0.5 "
               "same=5[3]:9,9 sizes=5[3]:4,6 word='some' ",
               seen.s);
}

/* ---- memory that two buffers share ---- */

static XLA_FFI_Error *in_place(XLA_FFI_CallFrame *f)
{
    float *d;

    if (asked_for_version(f))
        return NULL;
    if (argument(f, 1)->data != result(f, 0)->data)
        return fail_with(f->api, "not the same memory");
    d = result(f, 0)->data;
    for (int i = 0; i < 3; i++)
        d[i] += ((const float *)argument(f, 0)->data)[i];
    return NULL;
}

TEST(an_aliased_operand_is_the_result_and_keeps_its_value_elsewhere)
{
    static const char *const program =
        "func.func @main(%a: tensor<3xf32>, %b: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) "
        "{\n"
        "  %0 = \"stablehlo.custom_call\"(%a, %b) {call_target_name = \"in_place\", "
        "output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], "
        "operand_index = 1, operand_tuple_indices = []>]} : (tensor<3xf32>, tensor<3xf32>) -> "
        "tensor<3xf32>\n"
        "  return %0, %b : tensor<3xf32>, tensor<3xf32>\n}\n";
    float a[] = {1, 2, 3}, b[] = {10, 20, 30}, x[3], y[3];
    const void *ins[] = {a, b};
    void *outs[] = {x, y};
    struct text t = {.n = 0};

    add("in_place", in_place);
    put(&t, "%s", program);
    EXPECT(run_text(&t, ins, outs, 1));
    EXPECT(x[0] == 11 && x[1] == 22 && x[2] == 33);
    EXPECT(y[0] == 10 && y[1] == 20 && y[2] == 30);
}

/* ---- states and stages ---- */

static XLA_FFI_TypeId counter_type;
static int deleted, stages[XLA_FFI_STAGES];

static void delete_counter(void *object)
{
    deleted++;
    free(object);
}

static XLA_FFI_Error *begin(XLA_FFI_CallFrame *f)
{
    int *counter;
    XLA_FFI_State_Args args = {
        .struct_size = sizeof args, .ctx = f->ctx, .stage = f->stage, .type_id = &counter_type};

    if (asked_for_version(f))
        return NULL;
    stages[f->stage]++;
    counter = malloc(sizeof *counter);
    *counter = 40;
    args.state = counter;
    return f->api->XLA_FFI_State_Set(&args);
}

static XLA_FFI_Error *count(XLA_FFI_CallFrame *f)
{
    XLA_FFI_State_Args args = {.struct_size = sizeof args, .ctx = f->ctx, .type_id = &counter_type};
    XLA_FFI_Error *error;
    int total = 0;

    if (asked_for_version(f))
        return NULL;
    stages[f->stage]++;
    for (int s = XLA_FFI_ExecutionStage_INSTANTIATE; s <= XLA_FFI_ExecutionStage_PREPARE; s++) {
        args.stage = (XLA_FFI_ExecutionStage)s;
        if ((error = f->api->XLA_FFI_State_Get(&args)))
            return error;
        total += *(int *)args.state;
    }
    args.stage = XLA_FFI_ExecutionStage_INSTANTIATE;
    error = f->api->XLA_FFI_State_Set(&args); /* the program runs: too late */
    if (!error)
        return fail_with(f->api, "set twice");
    f->api->XLA_FFI_Error_Destroy(
        &(XLA_FFI_Error_Destroy_Args){sizeof(XLA_FFI_Error_Destroy_Args), NULL, error});
    *(float *)result(f, 0)->data = (float)total;
    return NULL;
}

TEST(states_live_as_long_as_the_program_or_the_call)
{
    static const char *const program =
        "func.func @main() -> tensor<f32> {\n"
        "  %0 = \"stablehlo.custom_call\"() {call_target_name = \"count\"} : () -> tensor<f32>\n"
        "  return %0 : tensor<f32>\n}\n";
    XLA_FFI_TypeInfo info = {.struct_size = sizeof info, .deleter = delete_counter};
    XLA_FFI_Type_Register_Args type = {.struct_size = sizeof type,
                                       .name = {"counter", 7},
                                       .type_id = &counter_type,
                                       .type_info = &info};
    XLA_FFI_Handler_Bundle b = {{begin, begin, NULL, count}};
    struct stet_err err = STET_ERR_INIT;
    struct stet_program p;
    struct stet_plan *plan;
    float out = 0;
    void *outs[] = {&out};
    void *scratch;

    EXPECT(stet_ffi_api()->XLA_FFI_Type_Register(&type) == NULL && counter_type.type_id != 0);
    EXPECT_INT(STET_OK, stet_ffi_register(stet_view_str("count"), &b, &err));
    EXPECT_INT(STET_OK, stet_decode(&p, stet_view_str(program), &err));
    EXPECT_INT(STET_OK, stet_plan_new(&plan, &p, &err));
    EXPECT_INT(1, stages[XLA_FFI_ExecutionStage_INSTANTIATE]);
    scratch = aligned_alloc(64, (stet_plan_info(plan)->scratch_bytes + 63) / 64 * 64);
    for (int i = 1; i <= 3; i++) {
        EXPECT_INT(STET_OK, stet_plan_run(plan, NULL, outs, scratch, NULL, &err));
        EXPECT(out == 80);
        EXPECT_INT(i, deleted); /* that of the call; the program's is still there */
        EXPECT_INT(i, stages[XLA_FFI_ExecutionStage_EXECUTE]);
    }
    free(scratch);
    stet_plan_free(plan);
    stet_program_release(&p);
    EXPECT_INT(4, deleted);
    EXPECT_INT(1, stages[XLA_FFI_ExecutionStage_INSTANTIATE]);
}

/* ---- errors ---- */

static XLA_FFI_Error *refuse(XLA_FFI_CallFrame *f)
{
    return asked_for_version(f) ? NULL : fail_with(f->api, "it does not like this");
}

static char failure[64];
static int failure_code;

static void failed(void *context, int code, const char *text)
{
    (void)context;
    failure_code = code;
    snprintf(failure, sizeof failure, "%s", text);
}

static enum stet_rc plan_of(const char *program, struct stet_program *p, struct stet_plan **plan,
                            struct stet_err *err)
{
    enum stet_rc rc = stet_decode(p, stet_view_str(program), err);

    return rc == STET_OK ? stet_plan_new(plan, p, err) : rc;
}

TEST(an_error_of_the_function_ends_the_run_and_reaches_the_host)
{
    static const char *const program =
        "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n"
        "  %0 = \"stablehlo.custom_call\"(%a) {call_target_name = \"refuse\", has_side_effect = "
        "true} : (tensor<f32>) -> tensor<f32>\n"
        "  return %a : tensor<f32>\n}\n";
    const struct stet_host host = {.failed = failed};
    struct stet_err err = STET_ERR_INIT;
    float in = 1, out = 0;
    const void *ins[] = {&in};
    void *outs[] = {&out}, *scratch;
    struct stet_program p;
    struct stet_plan *plan;

    add("refuse", refuse);
    EXPECT_INT(STET_OK, plan_of(program, &p, &plan, &err));
    scratch = aligned_alloc(64, (stet_plan_info(plan)->scratch_bytes + 63) / 64 * 64);
    EXPECT_INT(STET_REFUSED, stet_plan_run_with(plan, ins, outs, scratch, NULL, &host, &err));
    EXPECT_STR("custom call \"refuse\": it does not like this", err.text);
    EXPECT_STR("it does not like this", failure);
    EXPECT_INT(9, failure_code);
    free(scratch);
    stet_plan_free(plan);
    stet_program_release(&p);
}

static XLA_FFI_Error *from_the_future(XLA_FFI_CallFrame *f)
{
    if (asked_for_version(f))
        ((XLA_FFI_Metadata_Extension *)f->extension_start)->metadata->api_version.minor_version =
            XLA_FFI_API_MINOR + 1;
    return NULL;
}

TEST(what_can_not_be_called_is_refused_by_name)
{
    static const char *const programs[][2] = {
        {"\"nobody\"", "custom call target \"nobody\" is not known"},
        {"\"look\", operand_layouts = [dense<[0, 0]> : tensor<2xindex>], result_layouts = "
         "[dense<[0, "
         "1]> : tensor<2xindex>]",
         "operand_layouts do not fit"},
        {"\"look\", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices "
         "= "
         "[], operand_index = 7, operand_tuple_indices = []>]",
         "output_operand_aliases do not fit"},
        {"\"look\", mhlo.backend_config = {x = @symbol}", "an attribute cannot be passed"},
    };
    XLA_FFI_Handler_Bundle none = {{NULL}}, later = {{NULL, NULL, NULL, from_the_future}};
    struct stet_err err = STET_ERR_INIT;

    EXPECT_INT(STET_BAD_INPUT, stet_ffi_register(stet_view_str("x"), &none, &err));
    err = (struct stet_err)STET_ERR_INIT;
    EXPECT_INT(STET_UNSUPPORTED, stet_ffi_register(stet_view_str("x"), &later, &err));
    EXPECT_STR("function \"x\" was built for FFI 0.6; this backend has 0.5", err.text);
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        struct text t = {.n = 0};
        struct stet_program p;
        struct stet_plan *plan;

        put(&t,
            "func.func @main(%%a: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
            "  %%0 = \"stablehlo.custom_call\"(%%a) {call_target_name = %s} : (tensor<2x3xf32>) -> "
            "tensor<2x3xf32>\n  return %%0 : tensor<2x3xf32>\n}\n",
            programs[i][0]);
        err = (struct stet_err)STET_ERR_INIT;
        EXPECT(plan_of(t.s, &p, &plan, &err) != STET_OK);
        EXPECT(strstr(err.text, programs[i][1]));
        stet_program_release(&p);
    }
}

/* A function that was built for 0.3 has no room for the code of an error. */
TEST(a_caller_gets_as_much_of_an_error_as_it_has_room_for)
{
    const XLA_FFI_Api *api = stet_ffi_api();
    XLA_FFI_Error *error = stet_ffi_error(9, "not now");
    XLA_FFI_Error_GetMessage_Args args = {
        .struct_size = offsetof(XLA_FFI_Error_GetMessage_Args, errc), .error = error, .errc = -1};
    XLA_FFI_FindExtension_Args extension = {.struct_size = sizeof extension, .extension = &args};
    XLA_FFI_CustomOptions_Get_Args options = {.struct_size = sizeof options};

    api->XLA_FFI_Error_GetMessage(&args);
    EXPECT_STR("not now", args.message);
    EXPECT_INT(-1, args.errc);
    args.struct_size = sizeof args;
    api->XLA_FFI_Error_GetMessage(&args);
    EXPECT_INT(9, args.errc);
    EXPECT(!api->XLA_FFI_FindExtension(&extension) && !extension.extension);
    EXPECT(!api->XLA_FFI_CustomOptions_Get(&options) && options.attrs && !options.attrs->size);
    stet_ffi_error_free(error);
}

/* ---- a function that goes on after it returned, and threads ---- */

struct later {
    const XLA_FFI_Api *api;
    XLA_FFI_Future *future;
    float *to;
};

static void *finish(void *arg)
{
    struct later *l = arg;
    XLA_FFI_Future_SetAvailable_Args args = {sizeof args, NULL, l->future};

    *l->to = 7;
    l->api->XLA_FFI_Future_SetAvailable(&args);
    free(l);
    return NULL;
}

static XLA_FFI_Error *promise(XLA_FFI_CallFrame *f)
{
    XLA_FFI_Future_Create_Args args = {.struct_size = sizeof args};
    struct later *l;
    pthread_t thread;

    if (asked_for_version(f))
        return NULL;
    f->api->XLA_FFI_Future_Create(&args);
    f->future = args.future;
    l = malloc(sizeof *l);
    *l = (struct later){f->api, args.future, result(f, 0)->data};
    pthread_create(&thread, NULL, finish, l);
    pthread_detach(thread);
    return NULL;
}

static void store(void *data)
{
    **(float **)data += 1;
}

static XLA_FFI_Error *schedule(XLA_FFI_CallFrame *f)
{
    float *to;
    XLA_FFI_ThreadPool_Schedule_Args task = {
        .struct_size = sizeof task, .ctx = f->ctx, .task = store, .data = &to};
    XLA_FFI_DeviceMemory_Allocate_Args memory = {
        .struct_size = sizeof memory, .ctx = f->ctx, .size = 100, .alignment = 64};
    int64_t threads = 0;
    XLA_FFI_ThreadPool_NumThreads_Args number = {
        .struct_size = sizeof number, .ctx = f->ctx, .num_threads = &threads};

    if (asked_for_version(f))
        return NULL;
    to = result(f, 0)->data;
    *to = 0;
    for (int i = 0; i < 5; i++)
        f->api->XLA_FFI_ThreadPool_Schedule(&task);
    f->api->XLA_FFI_ThreadPool_NumThreads(&number);
    f->api->XLA_FFI_DeviceMemory_Allocate(&memory);
    memset(memory.data, 1, 100);
    f->api->XLA_FFI_DeviceMemory_Free(
        &(XLA_FFI_DeviceMemory_Free_Args){.ctx = f->ctx, .size = 100, .data = memory.data});
    *to += (float)threads;
    return NULL;
}

TEST(a_result_may_come_later_and_tasks_run)
{
    static const char *const names[] = {"promise", "schedule"};

    add("promise", promise);
    add("schedule", schedule);
    for (int i = 0; i < 2; i++) {
        struct text t = {.n = 0};
        float out = 0;
        void *outs[] = {&out};

        put(&t,
            "func.func @main() -> tensor<f32> {\n"
            "  %%0 = \"stablehlo.custom_call\"() {call_target_name = \"%s\"} : () -> tensor<f32>\n"
            "  return %%0 : tensor<f32>\n}\n",
            names[i]);
        EXPECT(run_text(&t, NULL, outs, 1));
        EXPECT(out == (i ? 6 : 7));
    }
}
