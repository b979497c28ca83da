/* One poll loop over non-blocking sockets. A client has a deadline and a buffer of fixed size. When
 * all places are taken, the oldest client is dropped. Every answer closes its connection. */
#include "monitor/http.h"

#include "base/clock.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

struct client {
    int fd; /* -1: a free place */
    uint64_t since_ms;
    char request[STET_HTTP_REQUEST];
    size_t got;
    struct stet_buf answer;
    size_t sent;
    bool answering;
};

struct stet_http {
    int listener, wake[2];
    char address[80], own_name[256];
    const char *names;
    struct stet_http_form forms[STET_HTTP_FORMS];
    pthread_t thread;
    pthread_mutex_t lock; /* protects `pages` only */
    struct stet_buf pages[STET_HTTP_FORMS];
    struct client clients[STET_HTTP_CLIENTS];
};

/* ---- clients ---- */

static void hang_up(struct client *c)
{
    if (c->fd >= 0)
        close(c->fd);
    stet_buf_release(&c->answer);
    c->answer = (struct stet_buf)STET_BUF_INIT;
    c->fd = -1;
    c->got = c->sent = 0;
    c->answering = false;
}

static void let_in(struct stet_http *h)
{
    int fd = accept4(h->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    struct client *c = &h->clients[0];

    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            poll(NULL, 0, 100); /* poll would report the same connection again at once */
        return;
    }
    for (int i = 0; i < STET_HTTP_CLIENTS; i++) {
        if (h->clients[i].fd < 0) {
            c = &h->clients[i];
            break;
        }
        if (h->clients[i].since_ms < c->since_ms)
            c = &h->clients[i];
    }
    hang_up(c);
    c->fd = fd;
    c->since_ms = (uint64_t)stet_clock_ms();
}

/* ---- answers ---- */

static void answer(struct client *c, const char *status, const char *type, struct stet_view body,
                   bool head_only)
{
    stet_buf_printf(&c->answer,
                    "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                    "Connection: close\r\n\r\n",
                    status, type, body.len);
    if (!head_only)
        stet_buf_view(&c->answer, body);
    c->answering = true;
}

static void refuse(struct client *c, const char *status)
{
    struct stet_buf body = STET_BUF_INIT;

    stet_buf_printf(&body, "%s\n", status);
    answer(c, status, "text/plain; charset=utf-8", stet_buf_as_view(&body), false);
    stet_buf_release(&body);
}

static bool has_word(const char *text, size_t len, const char *word)
{
    size_t n = strlen(word);

    for (size_t i = 0; i + n <= len; i++)
        if (!strncasecmp(text + i, word, n))
            return true;
    return false;
}

/* Finds the value of the next header of this name (given with its colon) and moves `*from` behind
 * it. False when there is none. */
static bool next_header(const char **from, const char *name, struct stet_view *value)
{
    size_t n = strlen(name);

    for (const char *line = strstr(*from, "\r\n"); line; line = strstr(line + 2, "\r\n")) {
        if (strncasecmp(line + 2, name, n) != 0)
            continue;
        *value = stet_view_of(line + 2 + n, strcspn(line + 2 + n, "\r\n"));
        while (value->len && strchr(" \t", *value->ptr))
            *value = stet_view_of(value->ptr + 1, value->len - 1);
        while (value->len && strchr(" \t", value->ptr[value->len - 1]))
            value->len--;
        *from = line + 2;
        return true;
    }
    return false;
}

/* Is `word` in the request's Accept header? */
static bool accepts(const char *request, const char *word)
{
    struct stet_view value;

    return next_header(&request, "accept:", &value) && has_word(value.ptr, value.len, word);
}

static bool is_name(struct stet_view host, const char *name, size_t n)
{
    return n && host.len == n && !strncasecmp(host.ptr, name, n);
}

/* May a client have reached this server under this name? A page of another site may not: if its
 * name is made to point here (DNS rebinding), a browser would let it read this server's page. A
 * numeric address cannot be made to point elsewhere. */
static bool is_ours(const struct stet_http *h, struct stet_view host)
{
    unsigned char address[16];
    char text[64];
    size_t n;

    if (host.len && *host.ptr == '[') {
        n = host.len - 1;
        host = stet_view_of(host.ptr + 1, strcspn(host.ptr + 1, "]\r"));
        if (host.len >= n || host.len >= sizeof text)
            return false;
        snprintf(text, sizeof text, "%.*s", STET_FMT(host));
        return inet_pton(AF_INET6, text, address) == 1;
    }
    for (n = 0; n < host.len && host.ptr[n] != ':';)
        n++;
    host.len = n && host.ptr[n - 1] == '.' ? n - 1 : n;
    snprintf(text, sizeof text, "%.*s", STET_FMT(host));
    if (host.len < sizeof text && inet_pton(AF_INET, text, address) == 1)
        return true;
    if (is_name(host, "localhost", 9) || is_name(host, h->own_name, strlen(h->own_name)))
        return true;
    for (const char *at = h->names; at && *at; at += n + (at[n] == ',')) {
        n = strcspn(at, ",");
        if (is_name(host, at, n))
            return true;
    }
    return false;
}

/* Every Host header must name this server. A client of HTTP/1.0 may send none; a browser always
 * sends one. */
static bool is_for_us(const struct stet_http *h, const char *request)
{
    struct stet_view value;

    while (next_header(&request, "host:", &value))
        if (!is_ours(h, value))
            return false;
    return true;
}

static void answer_page(struct stet_http *h, struct client *c, bool head_only)
{
    int form = 0;

    for (int i = 1; i < STET_HTTP_FORMS; i++)
        if (h->forms[i].accept && accepts(c->request, h->forms[i].accept))
            form = i;
    pthread_mutex_lock(&h->lock);
    if (h->pages[form].len)
        answer(c, "200 OK", h->forms[form].type, stet_buf_as_view(&h->pages[form]), head_only);
    else
        refuse(c, "503 Service Unavailable");
    pthread_mutex_unlock(&h->lock);
}

static bool is_path(const char *path, size_t n, const char *wanted)
{
    const char *query = memchr(path, '?', n);

    n = query ? (size_t)(query - path) : n;
    return strlen(wanted) == n && !memcmp(path, wanted, n);
}

/* Answers a complete request: METHOD SP path SP HTTP/1.x. */
static void decide(struct stet_http *h, struct client *c)
{
    static const char pointer[] = "<html><body><a href=\"/metrics\">metrics</a></body></html>\n";
    const char *path, *end = strstr(c->request, "\r\n"), *blank;
    bool head_only = !strncmp(c->request, "HEAD ", 5);

    if (!end || strlen(c->request) != c->got) {
        refuse(c, "400 Bad Request");
        return;
    }
    if (!head_only && strncmp(c->request, "GET ", 4) != 0) {
        refuse(c, "405 Method Not Allowed");
        return;
    }
    path = c->request + (head_only ? 5 : 4);
    blank = memchr(path, ' ', (size_t)(end - path));
    if (!blank || strncmp(blank, " HTTP/1.", 8) != 0)
        refuse(c, "400 Bad Request");
    else if (!is_for_us(h, c->request))
        refuse(c, "421 Misdirected Request");
    else if (is_path(path, (size_t)(blank - path), "/metrics"))
        answer_page(h, c, head_only);
    else if (is_path(path, (size_t)(blank - path), "/"))
        answer(c, "200 OK", "text/html; charset=utf-8", stet_view_str(pointer), head_only);
    else
        refuse(c, "404 Not Found");
}

static void hear(struct stet_http *h, struct client *c)
{
    ssize_t n = recv(c->fd, c->request + c->got, sizeof c->request - 1 - c->got, 0);

    if (n <= 0) {
        if (n == 0 || (errno != EAGAIN && errno != EINTR))
            hang_up(c);
        return;
    }
    c->got += (size_t)n;
    c->request[c->got] = '\0';
    if (memmem(c->request, c->got, "\r\n\r\n", 4))
        decide(h, c);
    else if (c->got == sizeof c->request - 1)
        refuse(c, "431 Request Header Fields Too Large");
    if (c->answering && c->answer.failed)
        hang_up(c);
}

static void speak(struct client *c)
{
    ssize_t n = send(c->fd, c->answer.ptr + c->sent, c->answer.len - c->sent, MSG_NOSIGNAL);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        c->sent += (size_t)n;
    if (n >= 0 && c->sent < c->answer.len)
        return;
    shutdown(c->fd, SHUT_WR);
    hang_up(c);
}

/* ---- the loop ---- */

static int soonest(const struct stet_http *h)
{
    uint64_t now = (uint64_t)stet_clock_ms(), least = 0;
    bool any = false;

    for (int i = 0; i < STET_HTTP_CLIENTS; i++) {
        const struct client *c = &h->clients[i];
        uint64_t left;

        if (c->fd < 0)
            continue;
        left = c->since_ms + STET_HTTP_MS > now ? c->since_ms + STET_HTTP_MS - now : 0;
        if (!any || left < least)
            least = left;
        any = true;
    }
    return any ? (int)least : -1;
}

static void *serve(void *context)
{
    struct stet_http *h = context;
    struct pollfd fds[STET_HTTP_CLIENTS + 2];

    for (;;) {
        fds[0] = (struct pollfd){h->wake[0], POLLIN, 0};
        fds[1] = (struct pollfd){h->listener, POLLIN, 0};
        for (int i = 0; i < STET_HTTP_CLIENTS; i++)
            fds[i + 2] =
                (struct pollfd){h->clients[i].fd, h->clients[i].answering ? POLLOUT : POLLIN, 0};
        if (poll(fds, STET_HTTP_CLIENTS + 2, soonest(h)) < 0 && errno != EINTR)
            return NULL;
        if (fds[0].revents)
            return NULL;
        for (int i = 0; i < STET_HTTP_CLIENTS; i++) {
            struct client *c = &h->clients[i];

            if (c->fd < 0)
                continue;
            if (fds[i + 2].revents && c->answering)
                speak(c);
            else if (fds[i + 2].revents)
                hear(h, c);
            if (c->fd >= 0 && (uint64_t)stet_clock_ms() - c->since_ms >= STET_HTTP_MS)
                hang_up(c);
        }
        if (fds[1].revents & POLLIN)
            let_in(h);
        else if (fds[1].revents) /* the socket no longer listens */
            return NULL;
    }
}

/* ---- beginning and end ---- */

/* "PORT", "HOST:PORT", "[HOST]:PORT" → host and port. */
static bool split(const char *where, char host[64], const char **port)
{
    const char *colon = strrchr(where, ':');
    size_t n = colon ? (size_t)(colon - where) : 0;

    *port = colon ? colon + 1 : where;
    if (!**port || strspn(*port, "0123456789") != strlen(*port) || strlen(*port) > 5 ||
        atoi(*port) > 65535)
        return false;
    if (n >= 2 && where[0] == '[' && where[n - 1] == ']') {
        where++;
        n -= 2;
    }
    if (n >= 64)
        return false;
    snprintf(host, 64, "%.*s", n ? (int)n : 9, n ? where : "127.0.0.1");
    return true;
}

static int open_listener(const char *host, const char *port, struct stet_err *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE};
    struct addrinfo *at = NULL;
    int fd, one = 1;

    if (getaddrinfo(host, port, &hints, &at) != 0) {
        stet_fail(err, STET_USAGE, "%s is not a numeric address", host);
        return -1;
    }
    fd = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (fd < 0 || bind(fd, at->ai_addr, at->ai_addrlen) != 0 || listen(fd, 128) != 0) {
        stet_fail_errno(err, "cannot listen at %s port %s", host, port);
        if (fd >= 0)
            close(fd);
        fd = -1;
    }
    freeaddrinfo(at);
    return fd;
}

static void note_address(struct stet_http *h, const char *host)
{
    struct sockaddr_storage at = {0};
    socklen_t n = sizeof at;
    char port[8] = "0";

    if (getsockname(h->listener, (struct sockaddr *)&at, &n) == 0)
        getnameinfo((struct sockaddr *)&at, n, NULL, 0, port, sizeof port, NI_NUMERICSERV);
    snprintf(h->address, sizeof h->address, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

/* The thread blocks all signals; they are for the command and its parent. */
static int start_thread(struct stet_http *h)
{
    sigset_t all, before;
    int failure;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failure = pthread_create(&h->thread, NULL, serve, h);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure;
}

static void close_all(struct stet_http *h)
{
    for (int i = 0; i < STET_HTTP_CLIENTS; i++)
        hang_up(&h->clients[i]);
    if (h->listener >= 0)
        close(h->listener);
    for (int i = 0; i < 2; i++)
        if (h->wake[i] >= 0)
            close(h->wake[i]);
    for (int i = 0; i < STET_HTTP_FORMS; i++)
        stet_buf_release(&h->pages[i]);
    stet_mem_free(h);
}

enum stet_rc stet_monitor_http_start(struct stet_http **out, const char *where, const char *names,
                                     const struct stet_http_form forms[STET_HTTP_FORMS],
                                     const struct stet_view texts[STET_HTTP_FORMS],
                                     struct stet_err *err)
{
    struct stet_http *h;
    const char *port;
    char host[64];

    *out = NULL;
    if (!split(where, host, &port))
        return stet_fail(err, STET_USAGE, "'%s' is not PORT or ADDRESS:PORT", where);
    h = stet_mem_calloc(1, sizeof *h);
    if (!h)
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    for (int i = 0; i < STET_HTTP_CLIENTS; i++)
        h->clients[i].fd = -1;
    h->wake[0] = h->wake[1] = -1;
    memcpy(h->forms, forms, sizeof h->forms);
    h->names = names;
    gethostname(h->own_name, sizeof h->own_name - 1);
    pthread_mutex_init(&h->lock, NULL);
    h->listener = open_listener(host, port, err);
    if (h->listener < 0) {
        enum stet_rc rc = err && err->rc == STET_USAGE ? STET_USAGE : STET_IO;

        close_all(h);
        return rc;
    }
    note_address(h, host);
    stet_monitor_http_publish(h, texts);
    if (pipe2(h->wake, O_CLOEXEC) != 0 || (errno = start_thread(h)) != 0) {
        close_all(h);
        return stet_fail_errno(err, "cannot serve metrics");
    }
    *out = h;
    return STET_OK;
}

const char *stet_monitor_http_address(const struct stet_http *h)
{
    return h->address;
}

void stet_monitor_http_publish(struct stet_http *h, const struct stet_view texts[STET_HTTP_FORMS])
{
    if (!h)
        return;
    pthread_mutex_lock(&h->lock);
    for (int i = 0; i < STET_HTTP_FORMS; i++) {
        h->pages[i].len = 0;
        h->pages[i].failed = false;
        stet_buf_view(&h->pages[i], texts[i]);
        if (h->pages[i].failed)
            h->pages[i].len = 0;
    }
    pthread_mutex_unlock(&h->lock);
}

void stet_monitor_http_stop(struct stet_http *h)
{
    if (!h)
        return;
    while (write(h->wake[1], "", 1) < 0 && errno == EINTR)
        ;
    pthread_join(h->thread, NULL);
    close_all(h);
}
