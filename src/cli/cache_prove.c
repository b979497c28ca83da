/* stet cache prove: runs the command cold, then warm, and counts what was loaded back. */
#include "base/human.h"
#include "base/text.h"
#include "cli/cache.h"
#include "cli/miss_text.h"
#include "launch/prove.h"
#include "session/miss.h"

#include <inttypes.h>

static int tell(const struct stet_args *args, const struct stet_proof_run *cold,
                const struct stet_proof_run *warm)
{
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_err err = STET_ERR_INIT;
    struct stet_misses misses;
    struct stet_json j;

    if (stet_misses_make(&misses, &warm->digest, &err) != STET_OK)
        return stet_cli_complain(&err);
    if (args->format == STET_FORMAT_JSON) {
        stet_json_init(&j, &out);
        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "schema", "stet.prove/1");
        stet_json_uint(&j, "programs", warm->programs);
        stet_json_uint(&j, "reloaded", warm->reloaded);
        stet_json_number(&j, "cold_s", (double)cold->ns / 1e9);
        stet_json_number(&j, "warm_s", (double)warm->ns / 1e9);
        stet_misses_json(&misses, &j, "missed");
        stet_json_end_object(&j);
        stet_buf_char(&out, '\n');
    } else if (!warm->programs) {
        stet_buf_printf(&out, "nothing was compiled%s, so this proves nothing%s\n",
                        cold->programs ? " in the warm run" : "",
                        cold->programs || stet_cache_wishes.cpu
                            ? ""
                            : " (JAX compiles for the CPU without a plugin: --cpu gives it one)");
    } else {
        stet_buf_printf(&out, "%" PRIu64 " of ", warm->reloaded);
        stet_text_count(&out, warm->programs, "program");
        stet_buf_str(&out, " reloaded, ");
        stet_text_duration(&out, cold->ns);
        stet_buf_str(&out, " -> ");
        stet_text_duration(&out, warm->ns);
        stet_buf_char(&out, '\n');
        stet_cli_misses_text(&misses, &out);
    }
    stet_misses_release(&misses);
    return stet_cli_print(&out, warm->programs && warm->reloaded == warm->programs
                                    ? STET_EXIT_FINE
                                    : STET_EXIT_FINDING);
}

int stet_cli_cache_prove(const struct stet_store *s, const struct stet_args *args)
{
    /* a cold launch needs a store of its own, unless the user named one */
    const char *folder = stet_cache_wishes.folder ? s->folder : NULL;
    struct stet_err err = STET_ERR_INIT;
    static struct stet_proof p;
    int code = stet_launch_prove(&p, folder, stet_cache_wishes.cpu, args->values, &err) == STET_OK
                   ? tell(args, &p.cold, &p.warm)
                   : stet_cli_complain(&err);

    stet_launch_prove_release(&p);
    return code;
}
