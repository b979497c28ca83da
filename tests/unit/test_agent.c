/* The parts of the agent that need no server: addresses, messages, where it listens; and that a
 * fork leaves the parent's lease to the parent. */
#include "test.h"

#include "agent/agent.h"
#include "agent/curl.h"
#include "agent/internal.h"
#include "agent/redis.h"
#include "agent/tier.h"
#include "base/clock.h"
#include "base/mem.h"
#include "intercept/layer.h"
#include "intercept/remote.h"
#include "wire/client.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(an_address_is_parsed_and_shown_without_its_secrets)
{
    struct stet_arena a;
    struct stet_url u;
    uint32_t ms;

    stet_arena_init(&a, 1 << 16);
    EXPECT_INT(STET_OK,
               stet_agent_url_parse(
                   &u, STET_VIEW("rediss://ada:p%40ss:word@host:6380/3?ttl=2s&x=%20"), &a, NULL));
    EXPECT_STR("rediss", u.scheme);
    EXPECT_STR("ada", u.user);
    EXPECT_STR("p@ss:word", u.password);
    EXPECT_STR("host", u.host);
    EXPECT_STR("6380", u.port);
    EXPECT_STR("/3", u.path);
    EXPECT_STR(" ", stet_agent_url_get(&u, "x", &a));
    EXPECT(stet_agent_url_get(&u, "y", &a) == NULL);
    EXPECT_INT(STET_OK, stet_agent_url_ms(&u, "ttl", 0, &a, &ms, NULL));
    EXPECT_INT(2000, ms);
    EXPECT_STR("rediss://host:6380/3", stet_agent_url_shown(&u, &a).ptr);
    EXPECT_INT(STET_OK, stet_agent_url_parse(&u, STET_VIEW("http://[::1]:80/x"), &a, NULL));
    EXPECT_STR("[::1]", u.host);
    EXPECT_STR("80", u.port);
    EXPECT_INT(STET_USAGE, stet_agent_url_parse(&u, STET_VIEW("http://h%0d%0aX: y/"), &a, NULL));
    EXPECT_INT(STET_USAGE, stet_agent_url_parse(&u, STET_VIEW("host:6379"), &a, NULL));
    stet_arena_release(&a);
}

TEST(tiers_keep_their_order_and_a_bad_one_is_an_error)
{
    struct stet_tiers t;

    EXPECT_INT(STET_OK,
               stet_agent_tiers_init(
                   &t, STET_VIEW("redis://a # near\nhttp://b,s3://c?region=x gs://d"), NULL));
    EXPECT_INT(4, t.count);
    EXPECT_STR("redis", t.items[0].kind->name);
    EXPECT_STR("http", t.items[1].kind->name);
    EXPECT_STR("s3", t.items[2].kind->name);
    EXPECT_STR("gs", t.items[3].kind->name);
    for (size_t i = 0; i < t.count; i++) { /* only Redis removes expired leases by itself */
        EXPECT(stet_agent_tier_leases(&t.items[i]));
        EXPECT_INT(i > 0, t.items[i].kind->leases_stay);
    }
    stet_agent_tiers_release(&t);
    EXPECT_INT(STET_USAGE, stet_agent_tiers_init(&t, STET_VIEW("redis://a gopher://b"), NULL));
}

/* Where the agent of these settings listens; the last eight letters are its name. */
static const char *socket_of(const char *tiers, const char *variable, const char *value)
{
    static char to[PATH_MAX];
    const char *before = getenv(variable);

    setenv(variable, value, 1);
    EXPECT_INT(STET_OK, stet_agent_socket(stet_view_str(tiers), to, NULL));
    if (before)
        setenv(variable, before, 1);
    else
        unsetenv(variable);
    return to;
}

TEST(a_run_with_other_tiers_credentials_certificates_or_trust_has_another_agent)
{
    static const char *const settings[] = {
#define SETTING(name)      #name,
#define SETTING_FILE(name) #name,
#include "agent/settings.def"
#undef SETTING_FILE
#undef SETTING
    };
    char folder[] = "/tmp/stet-agent-XXXXXX", plain[PATH_MAX], other[PATH_MAX];

    EXPECT(mkdtemp(folder) != NULL);
    setenv("XDG_RUNTIME_DIR", folder, 1);
    unsetenv("STET_AGENT");
    strcpy(plain, socket_of("redis://:one@host", "STET_UNUSED", ""));
    EXPECT_STR(plain, socket_of("redis://:one@host", "STET_UNUSED", "x"));
    EXPECT(strcmp(plain, socket_of("redis://:two@host", "STET_UNUSED", "")) != 0);
    EXPECT(strcmp(plain, socket_of("redis://:one@other", "STET_UNUSED", "")) != 0);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        EXPECT(strcmp(plain, socket_of("redis://:one@host", settings[i], "/else")) != 0);
    /* its name can't be used to try passwords: another user's agent of the same settings differs */
    snprintf(other, sizeof other, "%s/stet/salt", folder);
    EXPECT_INT(0, unlink(other));
    EXPECT(strcmp(plain, socket_of("redis://:one@host", "STET_UNUSED", "")) != 0);
    EXPECT_INT(0, unlink(other));
    snprintf(other, sizeof other, "%s/stet", folder);
    EXPECT_INT(0, rmdir(other));
    EXPECT_INT(0, rmdir(folder));
}

TEST(paths_in_settings_are_absolute_before_the_agent_leaves_the_folder)
{
    char here[PATH_MAX], expected[PATH_MAX + 16];

    EXPECT(getcwd(here, sizeof here) != NULL);
    snprintf(expected, sizeof expected, "%s/my.keys", here);
    setenv("STET_TRUSTED_KEYS", "my.keys", 1);
    setenv("STET_TLS_CA", "/etc/ca", 1);
    stet_agent_absolute();
    EXPECT_STR(expected, getenv("STET_TRUSTED_KEYS"));
    EXPECT_STR("/etc/ca", getenv("STET_TLS_CA"));
    unsetenv("STET_TRUSTED_KEYS");
    unsetenv("STET_TLS_CA");
}

TEST(a_servers_error_text_shows_no_secrets_and_no_terminal_commands)
{
    const char *const secrets[] = {"SEKRETpw", "alice", NULL};
    struct stet_err err = STET_ERR_INIT;
    char out[160];

    stet_agent_redis_clean("redis: ERR 'AUTH', args: 'alice' 'SEKRETpw' \x1b]0;x\x07", secrets, out,
                           sizeof out);
    EXPECT_STR("redis: ERR 'AUTH', args: '***' '***' ?]0;x?", out);
    stet_agent_redis_clean("cut off: SEKRE", secrets, out, sizeof out);
    EXPECT_STR("cut off: ***", out);
    stet_agent_redis_login_error("redis: ERR unknown command 'AUTH', 'alice' 'SEKRETpw'", &err);
    EXPECT_STR("redis: the server did not accept user and password (ERR)", err.text);
}

static long protocols;

/* A libcurl before 7.85, as far as it goes. */
static CURLcode old_setopt(CURL *h, CURLoption option, ...)
{
    va_list ap;

    (void)h;
    va_start(ap, option);
    if (option == 181)
        protocols = va_arg(ap, long);
    va_end(ap);
    return option == 10318 ? CURLE_UNKNOWN_OPTION : CURLE_OK;
}

TEST(an_old_libcurl_is_restricted_to_http_too)
{
    const struct stet_agent_curl old = {.curl_easy_setopt = old_setopt};

    stet_agent_curl_common(&old, NULL, 100, stet_wire_now_ms() + 100);
    EXPECT_INT(CURLPROTO_HTTP | CURLPROTO_HTTPS, protocols);
}

TEST(a_message_with_any_byte_changed_is_refused)
{
    struct stet_message m = {.kind = STET_MESSAGE_FOUND,
                             .key = {1, 2},
                             .bytes = 77,
                             .store = STET_VIEW("/s"),
                             .tier = STET_VIEW("redis")};
    struct stet_buf out = STET_BUF_INIT;
    struct stet_message back;

    stet_wire_message_pack(&out, &m);
    EXPECT_INT(STET_OK, stet_wire_message_read(&back, stet_buf_as_view(&out), NULL));
    EXPECT_INT(77, back.bytes);
    EXPECT(stet_view_is(back.tier, "redis") && stet_hash_eq(back.key, m.key));
    for (size_t i = 0; i < out.len; i++) {
        out.ptr[i] ^= 1;
        EXPECT(stet_wire_message_read(&back, stet_buf_as_view(&out), NULL) != STET_OK);
        out.ptr[i] ^= 1;
        EXPECT(stet_wire_message_read(&back, stet_view_of(out.ptr, i), NULL) != STET_OK);
    }
    stet_buf_release(&out);
}

TEST(a_request_names_its_run_and_an_answer_its_tier)
{
    struct stet_message ask = {.kind = STET_MESSAGE_GET, .run = STET_VIEW("r1")};
    struct stet_message found = {
        .kind = STET_MESSAGE_FOUND, .tier = STET_VIEW("redis"), .tier_number = 2};
    struct stet_buf out = STET_BUF_INIT;
    struct stet_message back;

    stet_wire_message_pack(&out, &ask);
    EXPECT_INT(STET_OK, stet_wire_message_read(&back, stet_buf_as_view(&out), NULL));
    EXPECT(stet_view_is(back.run, "r1") && !back.tier.len);
    out.len = 0;
    stet_wire_message_pack(&out, &found);
    EXPECT_INT(STET_OK, stet_wire_message_read(&back, stet_buf_as_view(&out), NULL));
    EXPECT(stet_view_is(back.tier, "redis") && !back.run.len);
    EXPECT_INT(2, back.tier_number);
    stet_buf_release(&out);
}

TEST(a_rejected_entry_counts_against_the_tier_that_it_came_from)
{
    struct stet_view addresses = STET_VIEW("redis://a redis://b http://c/x");
    struct stet_err err = STET_ERR_INIT;
    static struct stet_tiers t;

    EXPECT_INT(STET_OK, stet_agent_tiers_init(&t, addresses, &err));
    EXPECT(stet_agent_tiers_find(&t, 2, STET_VIEW("redis")) == &t.items[1]);
    EXPECT(stet_agent_tiers_find(&t, 1, STET_VIEW("redis")) == &t.items[0]);
    EXPECT(stet_agent_tiers_find(&t, 3, STET_VIEW("redis")) == NULL); /* of another kind */
    EXPECT(stet_agent_tiers_find(&t, 4, STET_VIEW("redis")) == NULL);
    /* an earlier client sends no number: the only tier of its kind, or none */
    EXPECT(stet_agent_tiers_find(&t, 0, STET_VIEW("redis")) == NULL);
    EXPECT(stet_agent_tiers_find(&t, 0, STET_VIEW("http")) == &t.items[2]);
    EXPECT(stet_agent_tiers_find(&t, 0, STET_VIEW(STET_MESSAGE_SAME_HOST)) == NULL);
    stet_agent_tiers_release(&t);
}

static char leased[STET_LEASE_TEXT];

static enum stet_rc take_lease(const struct stet_tier *t, void *session, struct stet_hash key,
                               const char *lease, const char *dead, uint64_t until_ms,
                               struct stet_err *err)
{
    (void)t;
    (void)session;
    (void)key;
    (void)dead;
    (void)until_ms;
    (void)err;
    strcpy(leased, lease);
    return STET_OK;
}

static enum stet_rc open_nothing(const struct stet_tier *t, void **session, uint64_t until_ms,
                                 struct stet_err *err)
{
    (void)t;
    (void)until_ms;
    (void)err;
    *session = NULL;
    return STET_OK;
}

static enum stet_rc give_up_nothing(const struct stet_tier *t, void *session, struct stet_hash key,
                                    const char *lease, bool nothing, uint64_t until_ms,
                                    struct stet_err *err)
{
    (void)nothing;
    return take_lease(t, session, key, lease, "", until_ms, err);
}

/* Clocks may differ by 30 seconds. A lease without a time, or with one that none of ours has, is
 * not waited for. */
TEST(a_lease_is_in_time_for_as_long_as_its_text_says)
{
    const struct stet_tier t = {.lease_ms = 10000};
    uint64_t now = stet_clock_wall_ns() / 1000000u;
    const struct {
        int64_t from_now_ms;
        bool in_time;
    } cases[] = {{9000, true}, {-25000, true}, {35000, true}, {-60000, false}, {3600000, false}};
    const char *const bad[] = {"",
                               "?",
                               ".",
                               "7",
                               "01234567890123456789012345678901",
                               "01234567890123456789012345678901.",
                               "01234567890123456789012345678901.x",
                               "01234567890123456789012345678901.-1",
                               "01234567890123456789012345678901.18446744073709551615",
                               "01234567890123456789012345678901.99999999999999999999999"};
    char text[STET_LEASE_TEXT];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "01234567890123456789012345678901.%" PRIu64,
                 now + (uint64_t)cases[i].from_now_ms);
        EXPECT_INT(cases[i].in_time, stet_agent_lease_in_time(&t, text));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        EXPECT(!stet_agent_lease_in_time(&t, bad[i]));
}

TEST(a_lease_counts_when_a_trusted_key_signed_it_for_this_program_a_moment_ago)
{
    static const struct stet_tier_kind kind = {
        .name = "fake", .open = open_nothing, .lease = take_lease, .give_up = give_up_nothing};
    static struct stet_agent a; /* as in the agent: too large for a stack */
    struct stet_tier t = {.kind = &kind, .lease_ms = 100000, .get_ms = 1000};
    const struct stet_hash key = {1, 2}, other = {1, 3};
    char folder[] = "/tmp/stet-agent-XXXXXX", path[64], changed[STET_LEASE_TEXT];
    struct stet_signer signer;
    struct stet_lease *lease;
    enum stet_rc rc;

    EXPECT(mkdtemp(folder) != NULL);
    setenv("XDG_CONFIG_HOME", folder, 1);
    snprintf(path, sizeof path, "%s/stet/signing.key", folder);
    EXPECT_INT(STET_OK, stet_trust_signer_make(&signer, path, NULL));
    pthread_mutex_init(&a.lock, NULL);
    pthread_mutex_init(&a.key_lock, NULL);
    pthread_mutex_init(&t.lock, NULL);
    lease = stet_agent_lease_take(&a, &t, key, "", stet_wire_now_ms() + 1000, &rc);
    EXPECT(lease != NULL);
    EXPECT(stet_agent_lease_believed(&a, &t, key, leased));
    EXPECT(!stet_agent_lease_believed(&a, &t, other, leased));
    for (size_t i = 0; leased[i]; i++) { /* each of its characters counts */
        strcpy(changed, leased);
        changed[i] = changed[i] == '7' ? '8' : '7';
        EXPECT(!stet_agent_lease_believed(&a, &t, key, changed));
        changed[i] = '\0';
        EXPECT(!stet_agent_lease_believed(&a, &t, key, changed));
    }
    t.lease_ms = 1000; /* one that would hold for longer than any of ours */
    EXPECT(!stet_agent_lease_believed(&a, &t, key, leased));
    t.lease_ms = 100000;
    EXPECT_INT(0, unlink(path)); /* nobody is trusted any more */
    EXPECT(!stet_agent_lease_believed(&a, &t, key, leased));
    EXPECT_INT(STET_OK, stet_trust_signer_make(&signer, path, NULL));
    EXPECT(!stet_agent_lease_believed(&a, &t, key, leased));
    stet_agent_lease_give_up(&a, lease, false);
    stet_trust_signer_release(&signer);
    unlink(path);
    unsetenv("XDG_CONFIG_HOME");
    snprintf(path, sizeof path, "%s/stet", folder);
    rmdir(path);
    rmdir(folder);
}

const char stet_entry_name[] = "test"; /* what each way into the layer defines */

static int listener;
static uint32_t flags_asked;

/* Tells the first who asks to lead; the descriptor of that connection. */
static void *lead(void *unused)
{
    static struct stet_wire l;
    struct stet_message m;

    (void)unused;
    stet_wire_adopt(&l, accept(listener, NULL, NULL));
    EXPECT_INT(STET_OK, stet_wire_receive(&l, &m, stet_wire_now_ms() + 5000, NULL));
    EXPECT_INT(STET_MESSAGE_GET, m.kind);
    flags_asked = m.flags;
    m = (struct stet_message){.kind = STET_MESSAGE_LEAD};
    EXPECT_INT(STET_OK, stet_wire_send(&l, &m, stet_wire_now_ms() + 5000, NULL));
    return &l;
}

static void listen_in(char *folder, struct sockaddr_un *at)
{
    *at = (struct sockaddr_un){.sun_family = AF_UNIX};
    EXPECT(mkdtemp(folder) != NULL);
    snprintf(at->sun_path, sizeof at->sun_path, "%s/s", folder);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_INT(0, bind(listener, (struct sockaddr *)at, sizeof *at));
    EXPECT_INT(0, listen(listener, 1));
    setenv("STET_AGENT", at->sun_path, 1);
    stet_remote_init();
    strcpy(stet_layer.store.folder, "/nowhere");
}

/* They may need each other to compile: see from_agent in reload.c. */
TEST(ranks_that_compile_together_only_look)
{
    char folder[] = "/tmp/stet-agent-XXXXXX";
    struct stet_remote r = {0};
    struct sockaddr_un at;
    pthread_t thread;
    void *agent;

    listen_in(folder, &at);
    EXPECT_INT(0, pthread_create(&thread, NULL, lead, NULL));
    EXPECT(!stet_remote_ask(&r, stet_layer.store.folder, (struct stet_hash){1, 2}, true));
    pthread_join(thread, &agent);
    EXPECT_INT(STET_MESSAGE_LOOK, flags_asked);
    stet_remote_fork_child(); /* as the end of this process would */
    stet_wire_close(agent);
    close(listener);
    unlink(at.sun_path);
    rmdir(folder);
}

TEST(a_child_does_not_hold_its_parents_lease)
{
    struct sockaddr_un at;
    char folder[] = "/tmp/stet-agent-XXXXXX";
    struct stet_remote r = {0};
    struct stet_message m;
    struct stet_wire *agent;
    pthread_t thread;
    void *result;
    pid_t child;

    listen_in(folder, &at);
    EXPECT_INT(0, pthread_create(&thread, NULL, lead, NULL));
    EXPECT(!stet_remote_ask(&r, stet_layer.store.folder, (struct stet_hash){1, 2}, false));
    EXPECT_INT(0, flags_asked);
    EXPECT_INT(STET_ANSWER_LEAD, r.answer);
    EXPECT(r.lease != 0);
    pthread_join(thread, &result);
    agent = result;
    child = fork();
    if (child == 0) {
        close(agent->fd); /* the agent's end is in this process only for the test */
        stet_remote_fork_child();
        pause();
    }
    usleep(50000);
    EXPECT(!stet_wire_hung_up(agent));
    shutdown(listener, SHUT_RDWR);
    close(listener);
    stet_remote_fork_child(); /* as the end of this process would */
    usleep(50000);
    EXPECT_INT(STET_NOT_FOUND, stet_wire_receive(agent, &m, stet_wire_now_ms() + 60000, NULL));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    stet_wire_close(agent);
    unlink(at.sun_path);
    rmdir(folder);
}
