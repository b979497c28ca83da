/* Tokens of Google Cloud Storage: when one is kept, replaced, used on and dropped. The clock is the
 * test's own (__wrap_stet_wire_now_ms), the metadata server a thread. */
#include "test.h"

#include "agent/gs_credentials.h"
#include "agent/gs_token.h"
#include "wire/client.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static _Atomic uint64_t ahead_ms;
static _Atomic bool down;
static _Atomic unsigned issued;

uint64_t __real_stet_wire_now_ms(void);
uint64_t __wrap_stet_wire_now_ms(void);

uint64_t __wrap_stet_wire_now_ms(void)
{
    return __real_stet_wire_now_ms() + ahead_ms;
}

/* Gives out token-1, token-2, …, each for an hour. */
static void *serve(void *listener)
{
    for (;;) {
        int fd = accept(*(int *)listener, NULL, NULL);
        char question[4096], answer[400], body[200] = "";
        size_t n = 0;

        if (fd < 0)
            return NULL;
        while (n + 1 < sizeof question) {
            ssize_t more = read(fd, question + n, sizeof question - 1 - n);

            question[n + (size_t)(more > 0 ? more : 0)] = '\0';
            if (more <= 0 || strstr(question, "\r\n\r\n"))
                break;
            n += (size_t)more;
        }
        if (!down)
            snprintf(body, sizeof body, "{\"access_token\":\"token-%u\",\"expires_in\":3600}",
                     ++issued);
        n = (size_t)snprintf(answer, sizeof answer,
                             "HTTP/1.1 %s\r\nMetadata-Flavor: Google\r\nConnection: close\r\n"
                             "Content-Length: %zu\r\n\r\n%s",
                             down ? "503 no" : "200 OK", strlen(body), body);
        EXPECT(write(fd, answer, n) == (ssize_t)n);
        close(fd);
    }
}

static void start_server(int *listener, char host[32])
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    pthread_t thread;

    *listener = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT(bind(*listener, (struct sockaddr *)&at, sizeof at) == 0 && listen(*listener, 8) == 0);
    EXPECT(getsockname(*listener, (struct sockaddr *)&at, &size) == 0);
    snprintf(host, 32, "127.0.0.1:%u", ntohs(at.sin_port));
    EXPECT(pthread_create(&thread, NULL, serve, listener) == 0);
    pthread_detach(thread);
}

/* The token, or "" and the reason in `err`. */
static const char *take(struct stet_gs_token *t, struct stet_err *err)
{
    static _Thread_local char out[64];
    struct stet_buf b = STET_BUF_INIT;
    enum stet_rc rc = stet_agent_token_take(t, &b, stet_wire_now_ms() + 60000, err);

    snprintf(out, sizeof out, "%s", rc == STET_OK ? b.ptr : "");
    EXPECT((rc == STET_OK) == (b.len > 0));
    stet_buf_release(&b);
    return out;
}

TEST(a_token_is_used_until_shortly_before_it_expires_and_longer_only_if_there_is_no_other)
{
    static int listener;
    struct stet_err err = STET_ERR_INIT;
    struct stet_gs_token *t;
    struct stet_arena a;
    char host[32];

    start_server(&listener, host);
    stet_arena_init(&a, 1 << 20);
    t = stet_agent_token_new(&a, NULL, host, 60000);
    EXPECT(t != NULL);
    EXPECT_STR("token-1", take(t, NULL));
    ahead_ms += 3300 * 1000; /* of 3600; a margin of 225 is left */
    EXPECT_STR("token-1", take(t, NULL));
    ahead_ms += 100 * 1000;
    EXPECT_STR("token-2", take(t, NULL));
    ahead_ms += 3400 * 1000;
    down = true;
    EXPECT_STR("token-2", take(t, NULL)); /* old, but valid */
    down = false;
    EXPECT_STR("token-2", take(t, NULL)); /* the server is left alone for ten seconds */
    ahead_ms += 10 * 1000;
    EXPECT_STR("token-3", take(t, NULL));
    ahead_ms += 3601 * 1000;
    down = true;
    EXPECT_STR("", take(t, &err));
    EXPECT(strstr(err.text, "no access token: the server answers 503") != NULL);
    down = false;
    EXPECT_STR("token-4", take(t, NULL));
    stet_agent_token_drop(t, STET_VIEW("token-3")); /* another thread was faster */
    EXPECT_STR("token-4", take(t, NULL));
    stet_agent_token_drop(t, STET_VIEW("token-4"));
    EXPECT_STR("token-5", take(t, NULL));
    shutdown(listener, SHUT_RDWR);
    stet_arena_release(&a);
}

static void *take_one(void *t)
{
    take(t, NULL);
    return NULL;
}

TEST(threads_that_need_a_token_at_the_same_time_fetch_one)
{
    static int listener;
    struct stet_gs_token *t;
    struct stet_arena a;
    pthread_t threads[8];
    unsigned before;
    char host[32];

    start_server(&listener, host);
    before = issued;
    stet_arena_init(&a, 1 << 20);
    t = stet_agent_token_new(&a, NULL, host, 60000);
    for (size_t i = 0; i < 8; i++)
        EXPECT(pthread_create(&threads[i], NULL, take_one, t) == 0);
    for (size_t i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    EXPECT_INT(before + 1, issued);
    shutdown(listener, SHUT_RDWR);
    stet_arena_release(&a);
}

TEST(an_error_code_is_shown_only_if_it_is_one)
{
    char code[40];

    stet_agent_credentials_error(STET_VIEW("{\"error\":\"invalid_grant\"}"), code);
    EXPECT_STR("invalid_grant", code);
    stet_agent_credentials_error(STET_VIEW("{\"error\":\"key=SEKRET\"}"), code);
    EXPECT_STR("", code);
    stet_agent_credentials_error(STET_VIEW("{\"error\":{}}"), code);
    EXPECT_STR("", code);
    stet_agent_credentials_error(STET_VIEW("<html>"), code);
    EXPECT_STR("", code);
}
