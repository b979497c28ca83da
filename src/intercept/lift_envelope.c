/* A lifted executable as bytes. They contain the plain program and its options, not machine code: a
 * load compiles the program like any other, so it is lifted again if it can be. A plugin that gets
 * the bytes without the layer does not know them, and the framework compiles. */
#include "abi/error.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/reader.h"
#include "intercept/lift_family.h"
#include "intercept/reload.h"
#include "intercept/writer.h"

static const char magic[] = "STETLIFT1";

static void free_bytes(PJRT_SerializedExecutable *bytes)
{
    stet_mem_free(bytes);
}

static void put(struct stet_buf *out, struct stet_view v)
{
    stet_buf_varint(out, v.len);
    stet_buf_view(out, v);
}

PJRT_Error *stet_intercept_lifted_serialize(const struct stet_lifted *l,
                                            PJRT_Executable_Serialize_Args *args)
{
    struct stet_buf body = STET_BUF_INIT, out = STET_BUF_INIT;
    struct stet_hash hash;

    if (!l->source.program.len)
        return stet_pjrt_error(PJRT_Error_Code_UNIMPLEMENTED,
                               "stet: no copy of this lifted executable's program was kept");
    put(&body, l->source.format);
    put(&body, l->source.program);
    put(&body, l->source.options);
    hash = stet_hash_bytes(stet_buf_as_view(&body));
    stet_buf_str(&out, magic);
    stet_buf_u64(&out, hash.hi);
    stet_buf_u64(&out, hash.lo);
    stet_buf_view(&out, stet_buf_as_view(&body));
    out.failed |= body.failed;
    stet_buf_release(&body);
    if (out.failed) {
        stet_buf_release(&out);
        return stet_pjrt_error(PJRT_Error_Code_RESOURCE_EXHAUSTED,
                               "stet: out of memory to serialize an executable");
    }
    args->serialized_bytes = out.ptr;
    args->serialized_bytes_size = out.len;
    args->serialized_executable = (PJRT_SerializedExecutable *)(void *)out.ptr;
    args->serialized_executable_deleter = free_bytes;
    return NULL;
}

bool stet_intercept_lift_is_envelope(const PJRT_Executable_DeserializeAndLoad_Args *args)
{
    return args->serialized_executable &&
           stet_view_starts(
               stet_view_of(args->serialized_executable, args->serialized_executable_size), magic);
}

struct parts {
    struct stet_view format, program, options;
};

static bool read_parts(struct parts *out, const PJRT_Executable_DeserializeAndLoad_Args *args)
{
    struct stet_view all =
        stet_view_of(args->serialized_executable, args->serialized_executable_size);
    struct stet_hash stored, found;
    struct stet_reader r;

    stet_reader_init(&r, all, 0);
    stet_reader_bytes(&r, sizeof magic - 1);
    stored.hi = stet_reader_u64(&r);
    stored.lo = stet_reader_u64(&r);
    found = stet_hash_bytes(stet_view_of(r.next, stet_reader_left(&r)));
    out->format = stet_reader_bytes(&r, stet_reader_varint(&r));
    out->program = stet_reader_bytes(&r, stet_reader_varint(&r));
    out->options = stet_reader_bytes(&r, stet_reader_varint(&r));
    return stet_reader_ok(&r) && stet_hash_eq(stored, found);
}

PJRT_Error *stet_intercept_lift_load(struct stet_plugin *p,
                                     PJRT_Executable_DeserializeAndLoad_Args *args)
{
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE};
    PJRT_Client_Compile_Args compile = {.struct_size = PJRT_Client_Compile_Args_STRUCT_SIZE,
                                        .client = args->client,
                                        .program = &program};
    struct stet_reading reading;
    struct stet_lifting lifting;
    struct parts parts;
    PJRT_Error *error;
    uint64_t before;

    if (!read_parts(&parts, args))
        return stet_pjrt_error(PJRT_Error_Code_DATA_LOSS,
                               "stet: the bytes of a lifted executable are damaged");
    if (STET_HAS(args, overridden_serialized_compile_options_size) &&
        args->overridden_serialized_compile_options)
        parts.options = stet_view_of(args->overridden_serialized_compile_options,
                                     args->overridden_serialized_compile_options_size);
    program.code = (char *)(uintptr_t)parts.program.ptr;
    program.code_size = parts.program.len;
    program.format = parts.format.ptr;
    program.format_size = parts.format.len;
    compile.compile_options = parts.options.ptr;
    compile.compile_options_size = parts.options.len;
    stet_intercept_reading_init(&reading, &program, stet_intercept_lift_wants(program.code_size));
    before = stet_journal_now();
    error = stet_intercept_lift_try(&lifting, p, &compile, &reading, STET_LIFTING_NO_COMPILE)
                ? NULL
                : stet_plugin_real(p)->PJRT_Client_Compile(&compile);
    if (!lifting.served)
        stet_intercept_lift_end(&lifting, p, error ? NULL : compile.executable,
                                stet_journal_now() - before, (struct stet_hash){0});
    stet_intercept_reading_release(&reading);
    stet_intercept_pending_free(
        lifting.pending.keep); /* this is not a compile that the journal knows */
    if (!error)
        args->loaded_executable = compile.executable;
    return error;
}
