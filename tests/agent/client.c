/* agent-client: a client of the agent that "compiles" by waiting. Prints what came of it.
 *
 *   agent-client key PROGRAM                        the key of its entry
 *   agent-client entry PROGRAM FILE [OTHER]         that entry, as it goes into a tier; with the
 *                                                   program OTHER in it, all checksums right
 *   agent-client ask SOCKET STORE PROGRAM WAIT_MS   asks once; as a leader it vanishes
 *   agent-client make SOCKET STORE PROGRAM WAIT_MS COMPILE_MS
 *                                                   the same, but compiles, keeps and shares; with
 *                                                   a negative COMPILE_MS the compile fails
 *   agent-client lie SOCKET [wait]                  an agent that claims to have fetched
 * everything; or that another process compiles it, for ever agent-client times SOCKET STORE PROGRAM
 * COUNT   microseconds of COUNT fetches, the entry removed from the store before each; `-` as the
 * socket: of reading it from the store
 *   agent-client message SOCKET NAME [TEXT]         a message between ranks: read, or written */
#include "wire/client.h"
#include "base/mem.h"
#include "decode/decode.h"
#include "fingerprint/fingerprint.h"
#include "store/store.h"
#include "trust/archive.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* "get", "found"…; "?" for a number that is not a message's. */
static const char *name_of(uint32_t kind)
{
    switch (kind) {
#define MESSAGE(id, number, what)                                                                  \
    case number:                                                                                   \
        return #id;
#include "wire/messages.def"
#undef MESSAGE
    default:
        return "?";
    }
}

static struct stet_file program;
static char print_text[64];

static int fail(const struct stet_err *err)
{
    fprintf(stderr, "agent-client: %s\n", err->text);
    exit(1);
}

/* What the layer would keep of this program; the executable is made up of the program's name. */
static struct stet_kept kept(const char *path)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_kept k = {.name = STET_VIEW("main"), .format = STET_VIEW("mlir")};
    char hash[STET_HASH_TEXT];
    struct stet_fingerprint print;
    struct stet_program decoded;

    if (stet_file_open(&program, path, &err) != STET_OK ||
        stet_decode(&decoded, program.bytes, &err) != STET_OK ||
        stet_fingerprint_make(&print, &decoded, (struct stet_view){0}, &err) != STET_OK)
        fail(&err);
    stet_arena_release(&decoded.arena);
    stet_hash_format(print.key, hash);
    snprintf(print_text, sizeof print_text, "%u:%s", (unsigned)STET_FINGERPRINT_VERSION, hash);
    for (size_t i = 0; i < STET_COMPONENTS; i++)
        k.parts.part[i] = STET_VIEW("test");
    k.parts.part[STET_COMPONENT_PROGRAM] = stet_view_str(print_text);
    k.program = program.bytes;
    k.executable = stet_view_str(print_text);
    return k;
}

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static struct stet_message get(struct stet_wire *l, const struct stet_store *s,
                               struct stet_hash key, uint32_t wait_ms)
{
    struct stet_message m = {.kind = STET_MESSAGE_GET,
                             .key = key,
                             .wait_ms = wait_ms / 5 * 4,
                             .flight_ms = 60000,
                             .store = stet_view_str(s->folder)};
    struct stet_err err = STET_ERR_INIT;
    enum stet_rc rc = stet_wire_send(l, &m, stet_wire_now_ms() + wait_ms, &err);

    do {
        if (rc == STET_OK)
            rc = stet_wire_receive(l, &m, stet_wire_now_ms() + wait_ms, &err);
    } while (rc == STET_OK && m.kind == STET_MESSAGE_WAIT);
    if (rc != STET_OK)
        fail(&err);
    return m;
}

static void compile(struct stet_wire *l, const struct stet_store *s, const struct stet_kept *k,
                    long ms)
{
    struct stet_message m = {.kind = ms < 0 ? STET_MESSAGE_FAILED : STET_MESSAGE_KEPT,
                             .key = stet_store_key_of(&k->parts),
                             .store = stet_view_str(s->folder)};
    struct stet_err err = STET_ERR_INIT;
    uint64_t bytes;

    nanosleep(&(struct timespec){labs(ms) / 1000, labs(ms) % 1000 * 1000000}, NULL);
    if ((ms >= 0 && stet_store_put(s, k, &bytes, &err) != STET_OK) ||
        stet_wire_send(l, &m, stet_wire_now_ms() + 1000, &err) != STET_OK ||
        stet_wire_receive(l, &m, stet_wire_now_ms() + 1000, &err) != STET_OK)
        fail(&err);
}

static void look(struct stet_store s, struct stet_hash key, uint32_t flags)
{
    struct stet_buf bytes = STET_BUF_INIT;
    struct stet_err err = STET_ERR_INIT;
    struct stet_entry_file f;

    if (flags & STET_MESSAGE_ASIDE)
        strcat(s.folder, "/" STET_STORE_ASIDE);
    if (stet_store_get(&s, key, &f, &err) != STET_OK ||
        stet_store_entry_executable(&f, &bytes, &err) != STET_OK)
        fail(&err);
    if (!stet_view_is(stet_buf_as_view(&bytes), print_text))
        fail(&(struct stet_err){.text = "served the wrong executable"});
    stet_buf_release(&bytes);
    stet_store_entry_close(&f);
}

static void times(const char *socket, const struct stet_store *s, const struct stet_kept *k, long n)
{
    struct stet_hash key = stet_store_key_of(&k->parts);
    struct stet_err err = STET_ERR_INIT;

    for (long i = 0; i < n; i++) {
        uint32_t flags = 0;
        double before;

        if (*socket != '-') {
            struct stet_store aside = *s;

            strcat(aside.folder, "/" STET_STORE_ASIDE);
            stet_store_remove(s, key, NULL);
            stet_store_remove(&aside, key, NULL);
        }
        before = now_us();
        if (*socket != '-') {
            struct stet_wire l;
            struct stet_message m;

            if (stet_wire_open(&l, socket, &err) != STET_OK)
                fail(&err);
            m = get(&l, s, key, 5000);
            if (m.kind != STET_MESSAGE_FOUND)
                fail(&(struct stet_err){.text = "not found"});
            flags = m.flags;
            stet_wire_close(&l);
        }
        look(*s, key, flags);
        printf("%.1f\n", now_us() - before);
    }
}

static int ask(int argc, char **argv, const struct stet_store *s, const struct stet_kept *k)
{
    double before = now_us();
    struct stet_err err = STET_ERR_INIT;
    struct stet_message m;
    struct stet_wire l;

    if (stet_wire_open(&l, argv[2], &err) != STET_OK)
        fail(&err);
    m = get(&l, s, stet_store_key_of(&k->parts), (uint32_t)atol(argv[5]));
    if (m.kind == STET_MESSAGE_FOUND) {
        look(*s, m.key, m.flags);
        stet_wire_send(&l, &(struct stet_message){.kind = STET_MESSAGE_TOOK, .key = m.key},
                       stet_wire_now_ms() + 1000, &err);
    }
    printf("%s %.*s%.*s %.0f\n", name_of(m.kind), STET_FMT(m.tier), STET_FMT(m.text),
           (now_us() - before) / 1e3);
    fflush(stdout);
    if (argc > 6 && m.kind != STET_MESSAGE_FOUND)
        compile(&l, s, k, atol(argv[6]));
    stet_wire_close(&l);
    return 0;
}

/* Until it is killed. */
static int message(const char *socket, const char *name, const char *text)
{
    const struct stet_message question = {.kind =
                                              text ? STET_MESSAGE_JOB_PUT : STET_MESSAGE_JOB_GET,
                                          .key = stet_hash_bytes(stet_view_str(name)),
                                          .text = stet_view_str(text)};
    uint64_t until = stet_wire_now_ms() + 60000;
    struct stet_err err = STET_ERR_INIT;
    struct stet_message answer;
    struct stet_wire l;

    if (stet_wire_open(&l, socket, &err) != STET_OK ||
        stet_wire_send(&l, &question, until, &err) != STET_OK ||
        stet_wire_receive(&l, &answer, until, &err) != STET_OK)
        return fail(&err);
    printf("%s %.*s\n", name_of(answer.kind), STET_FMT(answer.text));
    stet_wire_close(&l);
    return 0;
}

static int lie(const char *path, bool wait)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);

    strncpy(at.sun_path, path, sizeof at.sun_path - 1);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) != 0 || listen(listener, 16) != 0)
        return 1;
    for (;;) {
        struct stet_message m;
        struct stet_wire l;

        stet_wire_adopt(&l, accept(listener, NULL, NULL));
        if (stet_wire_receive(&l, &m, stet_wire_now_ms() + 1000, NULL) == STET_OK) {
            m = (struct stet_message){.kind = m.kind == STET_MESSAGE_GET ? STET_MESSAGE_FOUND
                                                                         : STET_MESSAGE_OKAY,
                                      .tier = STET_VIEW("redis")};
            while (wait && m.kind == STET_MESSAGE_FOUND && !stet_wire_hung_up(&l)) {
                const struct stet_message again = {.kind = STET_MESSAGE_WAIT};

                stet_wire_send(&l, &again, stet_wire_now_ms() + 1000, NULL);
                nanosleep(&(struct timespec){0, 100000000}, NULL);
            }
            stet_wire_send(&l, &m, stet_wire_now_ms() + 1000, NULL);
        }
        stet_wire_close(&l);
    }
}

int main(int argc, char **argv)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf out = STET_BUF_INIT, sealed = STET_BUF_INIT;
    struct stet_file other = {0};
    char text[STET_HASH_TEXT];
    struct stet_store s;
    struct stet_kept k;

    if (argc < 3)
        return 2;
    if (!strcmp(argv[1], "lie"))
        return lie(argv[2], argc > 3);
    if (!strcmp(argv[1], "message"))
        return message(argv[2], argv[3], argc > 4 ? argv[4] : NULL);
    k = kept(argv[!strcmp(argv[1], "key") || !strcmp(argv[1], "entry") ? 2 : 4]);
    if (!strcmp(argv[1], "key")) {
        stet_hash_format(stet_store_key_of(&k.parts), text);
        puts(text);
        return 0;
    }
    if (!strcmp(argv[1], "entry")) {
        if (argc > 4 && stet_file_open(&other, argv[4], &err) == STET_OK)
            k.program = other.bytes;
        if (stet_store_entry_pack(&out, &k, &err) != STET_OK ||
            stet_trust_archive_seal(&sealed, stet_buf_as_view(&out), NULL, &err) != STET_OK ||
            stet_fs_write(argv[3], stet_buf_as_view(&sealed), &err) != STET_OK)
            fail(&err);
        stet_buf_release(&out);
        stet_buf_release(&sealed);
        stet_file_close(&other);
        return 0;
    }
    if (stet_store_open(&s, argv[3], &err) != STET_OK)
        fail(&err);
    if (!strcmp(argv[1], "times"))
        times(argv[2], &s, &k, atol(argv[5]));
    else
        ask(argc, argv, &s, &k);
    stet_file_close(&program);
    return 0;
}
