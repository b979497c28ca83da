/* The server for metrics, and clients that mean no good. */
#include "test.h"

#include "base/mem.h"
#include "monitor/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BIG = 8 << 20 };

static const struct stet_http_form forms[STET_HTTP_FORMS] = {{NULL, "text/plain"},
                                                             {"application/x-other", "text/other"}};

static const struct stet_view texts[STET_HTTP_FORMS] = {{"first\n", 6}, {"second\n", 7}};

static struct stet_http *start(const char *where)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_http *h = NULL;

    EXPECT(stet_monitor_http_start(&h, where, "trainer.example,b", forms, texts, &err) == STET_OK);
    return h;
}

static int connect_to(const struct stet_http *h)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    at.sin_port = htons((uint16_t)atoi(strrchr(stet_monitor_http_address(h), ':') + 1));
    EXPECT(connect(fd, (struct sockaddr *)&at, sizeof at) == 0);
    return fd;
}

/* Sends and reads until the server hangs up; the answer is the caller's to free. */
static char *ask_bytes(const struct stet_http *h, const void *bytes, size_t n)
{
    char *answer = calloc(1, BIG + 4096);
    int fd = connect_to(h);
    size_t got = 0;
    ssize_t r;

    EXPECT(send(fd, bytes, n, MSG_NOSIGNAL) == (ssize_t)n);
    while ((r = recv(fd, answer + got, BIG + 4095 - got, 0)) > 0)
        got += (size_t)r;
    close(fd);
    return answer;
}

static bool answers(const struct stet_http *h, const char *request, const char *begins,
                    const char *ends)
{
    char *answer = ask_bytes(h, request, strlen(request));
    size_t n = strlen(answer), m = strlen(ends);
    bool fine = !strncmp(answer, begins, strlen(begins)) && n >= m && !strcmp(answer + n - m, ends);

    if (!fine)
        fprintf(stderr, "%.200s -> %.300s\n", request, answer);
    free(answer);
    return fine;
}

/* The server's clock: it stands in for libc's, and only a test moves it. A deadline that a test
 * does not reach by itself never comes. */
static _Atomic int64_t clock_ms = 1000000;

int clock_gettime(clockid_t id, struct timespec *t)
{
    int64_t now = atomic_load(&clock_ms);

    (void)id;
    *t = (struct timespec){(time_t)(now / 1000), (long)(now % 1000) * 1000000};
    return 0;
}

#define PLAIN "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"

TEST(a_page_is_given_in_the_form_that_is_asked_for)
{
    struct stet_http *h = start("0");

    EXPECT(answers(h, PLAIN, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n", "\r\n\r\nfirst\n"));
    EXPECT(answers(h, "GET /metrics?x=1 HTTP/1.0\r\naccept: a/b;q=1, Application/X-Other\r\n\r\n",
                   "HTTP/1.1 200 OK\r\nContent-Type: text/other\r\n", "second\n"));
    EXPECT(answers(h, "HEAD /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n",
                   "Content-Length: 6\r\nConnection: close\r\n\r\n"));
    EXPECT(answers(h, "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK", "</html>\n"));
    EXPECT(!strncmp(stet_monitor_http_address(h), "127.0.0.1:", 10));
    stet_monitor_http_stop(h);
}

TEST(nonsense_is_refused)
{
    static const char zero[] = "GET /met\0rics HTTP/1.1\r\n\r\n";
    struct stet_http *h = start("127.0.0.1:0");
    char *answer;

    EXPECT(answers(h, "GET /other HTTP/1.1\r\n\r\n", "HTTP/1.1 404 ", "Not Found\n"));
    EXPECT(answers(h, "POST /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 405 ", "Not Allowed\n"));
    EXPECT(answers(h, "\x16\x03\x01\x02\r\n\r\n", "HTTP/1.1 405 ", "\n"));
    EXPECT(answers(h, "GET /metrics\r\n\r\n", "HTTP/1.1 400 ", "\n"));
    EXPECT(answers(h, "GET  HTTP/1.1\r\n\r\n", "HTTP/1.1 404 ", "\n"));
    EXPECT(answers(h, "\r\n\r\n", "HTTP/1.1 405 ", "\n"));
    answer = ask_bytes(h, zero, sizeof zero - 1);
    EXPECT(!strncmp(answer, "HTTP/1.1 400 ", 13));
    free(answer);
    EXPECT(answers(h, PLAIN, "HTTP/1.1 200 ", "first\n"));
    stet_monitor_http_stop(h);
}

static bool given_to(const struct stet_http *h, const char *host)
{
    char request[512];

    snprintf(request, sizeof request, "GET /metrics HTTP/1.1\r\nUser-Agent: x\r\nhost:%s\r\n\r\n",
             host);
    return answers(h, request, "HTTP/1.1 200 ", "first\n");
}

static bool kept_from(const struct stet_http *h, const char *host)
{
    char request[512];

    snprintf(request, sizeof request, "GET /metrics HTTP/1.1\r\nHost: %s\r\n\r\n", host);
    return answers(h, request, "HTTP/1.1 421 ", "Misdirected Request\n");
}

TEST(only_addresses_and_known_names_are_answered)
{
    static const char *const ours[] = {
        " 127.0.0.1:9464", "10.1.2.3",   " [::1]:9464 ",       "[2001:db8::1]",
        "\tLocalHost:1",   "localhost.", "trainer.example:80", "B"};
    static const char *const others[] = {"evil.example",
                                         "evil.example:9464",
                                         "localhost.evil.example",
                                         "127.0.0.1.evil.example",
                                         "[evil.example]:80",
                                         "[::1",
                                         "trainer.example.evil",
                                         "trainer",
                                         "",
                                         ":80",
                                         "a,b",
                                         "[]"};
    struct stet_http *h = start("0");
    char own[256] = "";

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        EXPECT(given_to(h, ours[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        EXPECT(kept_from(h, others[i]));
    gethostname(own, sizeof own - 1);
    EXPECT(given_to(h, own));
    EXPECT(answers(h, "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil\r\n\r\n",
                   "HTTP/1.1 421 ", "\n"));
    EXPECT(answers(h, "GET / HTTP/1.1\r\nHost: evil\r\n\r\n", "HTTP/1.1 421 ", "\n"));
    stet_monitor_http_stop(h);
}

TEST(a_request_that_does_not_end_is_cut)
{
    struct stet_http *h = start("0");
    char *huge = malloc(STET_HTTP_REQUEST - 1), *answer;

    memset(huge, 'a', STET_HTTP_REQUEST - 1);
    answer = ask_bytes(h, huge, STET_HTTP_REQUEST - 1);
    EXPECT(!strncmp(answer, "HTTP/1.1 431 ", 13));
    free(answer);
    free(huge);
    stet_monitor_http_stop(h);
}

TEST(an_idle_client_delays_no_other_and_is_disconnected_at_its_deadline)
{
    struct stet_http *h = start("0");
    int idle[3 * STET_HTTP_CLIENTS], open = 0;
    char byte;

    for (int i = 0; i < 3 * STET_HTTP_CLIENTS; i++) {
        idle[i] = connect_to(h);
        EXPECT(send(idle[i], "GET /m", 6, MSG_NOSIGNAL) == 6);
    }
    EXPECT(answers(h, PLAIN, "HTTP/1.1 200 ", "first\n")); /* no deadline has passed */
    for (int i = 0; i < 3 * STET_HTTP_CLIENTS; i++)
        open += recv(idle[i], &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
    EXPECT_INT(STET_HTTP_CLIENTS - 1, open); /* the answered request took the place of one */
    atomic_fetch_add(&clock_ms, STET_HTTP_MS);
    EXPECT(answers(h, PLAIN, "HTTP/1.1 200 ", "first\n")); /* wakes the server */
    for (int i = 0; i < 3 * STET_HTTP_CLIENTS; i++) {
        EXPECT(recv(idle[i], &byte, 1, 0) <= 0);
        close(idle[i]);
    }
    stet_monitor_http_stop(h);
}

TEST(a_client_that_does_not_read_delays_no_other_and_not_the_end)
{
    struct stet_http *h = start("0");
    char *big = malloc(BIG);
    struct stet_view pages[STET_HTTP_FORMS] = {{big, BIG}, {big, BIG}};
    char *answer;
    int fd;

    memset(big, 'x', BIG);
    stet_monitor_http_publish(h, pages);
    fd = connect_to(h);
    EXPECT(send(fd, PLAIN, strlen(PLAIN), MSG_NOSIGNAL) > 0);
    answer = ask_bytes(h, PLAIN, strlen(PLAIN));
    EXPECT(strlen(answer) > BIG);
    free(answer);
    stet_monitor_http_stop(h); /* with the other one still there, whose deadline never comes */
    close(fd);
    free(big);
}

TEST(pages_change_while_they_are_read)
{
    struct stet_http *h = start("0");
    char page[4096];

    for (int i = 0; i < 200; i++) {
        struct stet_view pages[STET_HTTP_FORMS];
        char *answer;

        memset(page, 'a' + i % 26, sizeof page);
        pages[0] = pages[1] = stet_view_of(page, sizeof page);
        stet_monitor_http_publish(h, pages);
        answer = ask_bytes(h, PLAIN, strlen(PLAIN));
        EXPECT(strstr(answer, "\r\n\r\n") &&
               strspn(strstr(answer, "\r\n\r\n") + 4, (char[]){page[0], 0}) == sizeof page);
        free(answer);
    }
    stet_monitor_http_stop(h);
}

TEST(malformed_addresses_are_usage_errors)
{
    static const char *const wrong[] = {"",          "x",         "99999", "1.2.3.4:",   "a.b:80",
                                        "localhost", "[::1]:80x", "-1",    "1.2.3:70000"};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct stet_err err = STET_ERR_INIT;
        struct stet_http *h;

        EXPECT(stet_monitor_http_start(&h, wrong[i], NULL, forms, texts, &err) == STET_USAGE);
        EXPECT(!h);
    }
}

TEST(a_port_that_is_taken_is_an_error)
{
    struct stet_http *h = start("0"), *second;
    struct stet_err err = STET_ERR_INIT;

    EXPECT(stet_monitor_http_start(&second, stet_monitor_http_address(h), NULL, forms, texts,
                                   &err) == STET_IO);
    EXPECT(!second);
    stet_monitor_http_stop(h);
}

TEST(out_of_memory_ends_one_answer_and_not_the_server)
{
    struct stet_http *h = start("0");

    for (int i = 0; i < 8; i++) {
        stet_mem_fail_after(i, false);
        free(ask_bytes(h, PLAIN, strlen(PLAIN)));
        stet_mem_fail_after(-1, false);
    }
    EXPECT(answers(h, PLAIN, "HTTP/1.1 200 ", "first\n"));
    stet_monitor_http_stop(h);
}
