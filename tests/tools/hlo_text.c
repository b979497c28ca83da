/* hlo_text STYLE FILE...: reads each file and prints it as HLO text; the differential tests compare
 * it with XLA's own. STYLE: long, short, torch (long with operand shapes) or stack (long with whole
 * call stacks). */
#include "base/buf.h"
#include "base/fs.h"
#include "decode/decode.h"
#include "legalize/hlo_to_stablehlo.h"
#include "program/hlo.h"
#include "program/print.h"

#include <stdio.h>

static struct stet_hlo_print style_of(const char *name)
{
    struct stet_hlo_print how = stet_hlo_print_long;

    if (strcmp(name, "short") == 0)
        how = stet_hlo_print_short;
    if (strcmp(name, "torch") == 0) {
        how.operand_shapes = true;
        how.frame_ids = false;
    }
    how.stack = strcmp(name, "stack") == 0;
    how.large_constants = true;
    return how;
}

static enum stet_rc decode(struct stet_program *p, struct stet_view bytes, struct stet_err *err)
{
    return stet_view_starts(bytes, "HloModule") ? stet_decode_hlo_text(p, bytes, err)
                                                : stet_decode_hlo_proto(p, bytes, err);
}

static bool stablehlo(const struct stet_program *hlo, struct stet_buf *out, struct stet_err *err)
{
    struct stet_program p;
    bool ok;

    if (stet_legalize_hlo(&p, hlo, err) != STET_OK)
        return false;
    ok = stet_print_program(out, &p, NULL, err) == STET_OK;
    stet_program_release(&p);
    return ok;
}

/* `how` NULL: as StableHLO. */
static bool print(const char *path, const struct stet_hlo_print *how)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_file file = {0};
    struct stet_buf text = STET_BUF_INIT;
    struct stet_program p;
    bool ok = false;

    if (stet_file_open(&file, path, &err) == STET_OK && decode(&p, file.bytes, &err) == STET_OK) {
        ok = how ? stet_print_hlo(&p, how, &text, &err) == STET_OK : stablehlo(&p, &text, &err);
        if (ok)
            fwrite(text.ptr, 1, text.len, stdout);
        stet_program_release(&p);
    }
    if (!ok)
        fprintf(stderr, "%s: %s (offset %lld)\n", path, err.text, (long long)err.offset);
    stet_file_close(&file);
    stet_buf_release(&text);
    return ok;
}

int main(int argc, char **argv)
{
    bool ok = argc > 2;
    struct stet_hlo_print how = style_of(argc > 1 ? argv[1] : "");

    for (int i = 2; i < argc; i++)
        ok &= print(argv[i], strcmp(argv[1], "stablehlo") == 0 ? NULL : &how);
    return !ok;
}
