/* Recognises the format by its content. File names are not reliable. */
#include "decode/decode.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The first line that is neither empty nor a comment. */
static struct stet_view first_words(struct stet_view v)
{
    for (;;) {
        while (v.len && is_space(*v.ptr)) {
            v.ptr++;
            v.len--;
        }
        if (!stet_view_starts(v, "//"))
            return v;
        while (v.len && *v.ptr != '\n') {
            v.ptr++;
            v.len--;
        }
    }
}

/* Protobuf begins with a tag; field 1 as bytes is a line feed, so this looks for bytes that text
 * does not contain. */
static bool is_text(struct stet_view v)
{
    size_t n = v.len < 512 ? v.len : 512;

    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)v.ptr[i];

        if (c < 0x20 && !is_space((char)c))
            return false;
    }
    return true;
}

/* Bytecode inside a file; offsets in messages are relative to the file. */
static enum stet_rc decode_inside(struct stet_program *out, struct stet_view file,
                                  struct stet_view bytes, struct stet_err *err)
{
    enum stet_rc rc = stet_decode_bytecode(out, bytes, err);

    if (rc != STET_OK && err && err->offset != STET_NO_OFFSET)
        err->offset += (uint64_t)(bytes.ptr - file.ptr);
    return rc;
}

enum stet_rc stet_decode(struct stet_program *out, struct stet_view bytes, struct stet_err *err)
{
    struct stet_view words, exported;

    if (!bytes.len)
        return stet_fail_at(err, STET_BAD_INPUT, 0, "empty input");
    if (stet_view_starts(bytes, "ML\xefR"))
        return stet_decode_bytecode(out, bytes, err);
    if (stet_view_starts(bytes, "\x1f\x8b"))
        return stet_fail_at(
            err, STET_UNSUPPORTED, 0,
            "compressed with gzip; `gzip -dc FILE | stet show -` shows what is in it");
    words = first_words(bytes);
    if (stet_view_starts(words, "HloModule"))
        return stet_decode_hlo_text(out, bytes, err);
    if (bytes.ptr[0] == 0x0a && !is_text(bytes))
        return stet_decode_hlo_proto(out, bytes, err);
    if (is_text(bytes))
        return stet_decode_mlir_text(out, bytes, err);
    exported = stet_decode_exported(bytes);
    if (exported.len)
        return decode_inside(out, bytes, exported, err);
    return stet_fail_at(err, STET_UNSUPPORTED, 0,
                        "neither MLIR bytecode, an HLO proto, MLIR text nor HLO text");
}
