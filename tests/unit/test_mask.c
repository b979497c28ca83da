/* Facts about masking: what counts as a secret, and what must stay readable. */
#include "test.h"

#include "base/mask.h"

static struct stet_buf out;

static const char *text(const char *s)
{
    stet_buf_release(&out);
    stet_mask_text(&out, stet_view_str(s));
    return out.ptr ? out.ptr : "";
}

static const char *argument(const char *before, const char *word)
{
    stet_buf_release(&out);
    stet_mask_argument(&out, stet_view_str(before), stet_view_str(word));
    return out.ptr ? out.ptr : "";
}

TEST(secret_names_are_recognised)
{
    static const char *const secret[] = {
        "API_KEY",       "--api-key",       "OPENAIKEY", "hf_token",   "accessToken",
        "PASSWORD",      "db-password",     "MYSQL_PWD", "passphrase", "DB_PASS",
        "client_secret", "Authorization",   "cookie",    "oauth",      "key",
        "auth",          "X-Amz-Signature", "sas",       "PRIVATE_ID", "CREDENTIALS"};
    static const char *const open[] = {
        "tokenizer", "--key-dim",    "author",         "bypass", "xla_tpu_enable_pass",
        "batch",     "keyboard",     "xla_some_token", "passes", "pattern",
        "signal",    "authoritative"};

    for (size_t i = 0; i < sizeof secret / sizeof *secret; i++)
        if (!stet_mask_is_secret(stet_view_str(secret[i])))
            EXPECT_STR(secret[i], "a secret");
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (stet_mask_is_secret(stet_view_str(open[i])))
            EXPECT_STR(open[i], "no secret");
}

TEST(values_behind_secret_names_are_masked)
{
    EXPECT_STR("a token=*** b", text("a token=S b"));
    EXPECT_STR("api_key: ***", text("api_key: S"));
    EXPECT_STR("{\"token\": \"***\", \"n\": 3}", text("{\"token\": \"S\", \"n\": 3}"));
    EXPECT_STR("{'password':'***'}", text("{'password':'a \"b, c'}"));
    EXPECT_STR("{\\\"key\\\": \\\"***\\\"}", text("{\\\"key\\\": \\\"S\\\"}"));
    EXPECT_STR("x --api-key *** --lr 3", text("x --api-key S --lr 3"));
    EXPECT_STR("x --password '***' y", text("x --password 'a b' y"));
    EXPECT_STR("?token=***&n=1", text("?token=S&n=1"));
    EXPECT_STR("password=***", text("password=a,b;c"));
    EXPECT_STR("Authorization: Bearer ***", text("Authorization: Bearer S"));
    EXPECT_STR("secret => ***", text("secret => S"));
    EXPECT_STR("password = \"***\"  # mine", text("password = \"S\"  # mine"));
}

TEST(passwords_in_addresses_are_masked)
{
    EXPECT_STR("redis://***@h:6379/0", text("redis://u:p@h:6379/0"));
    EXPECT_STR("postgres://***@h/db", text("postgres://u:S/x y@h/db"));
    EXPECT_STR("redis://***@h", text("redis://:p@ss,w@h"));
    EXPECT_STR("http://h:80/a@b", text("http://h:80/a@b"));
    EXPECT_STR("http://h/a@b", text("http://h/a@b"));
    EXPECT_STR("http://[::1]:80/a@b", text("http://[::1]:80/a@b"));
    EXPECT_STR("a://***@b,c://***@d", text("a://1:2@b,c://3@d"));
    EXPECT_STR("http://h:80,http://***@d", text("http://h:80,http://u:p@d"));
    EXPECT_STR("u:***@proxy:8080", text("u:S@proxy:8080"));
    EXPECT_STR("git@github.com:a/b", text("git@github.com:a/b"));
    EXPECT_STR("image:tag@sha256:00", text("image:tag@sha256:00"));
}

TEST(tokens_are_recognised_by_their_prefixes)
{
    EXPECT_STR("--x=***", text("--x=hf_abcdefghijklmnop"));
    EXPECT_STR("login *** now", text("login ghp_0123456789abcdef now"));
    EXPECT_STR("[***]", text("[eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln]"));
    EXPECT_STR("AKIA is short", text("AKIA is short"));
    EXPECT_STR("Bearer ***", text("Bearer 0123456789abcdef0"));
    EXPECT_STR("***-----END RSA PRIVATE KEY-----",
               text("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----"));
}

TEST(a_word_after_a_secret_option_is_masked)
{
    EXPECT_STR("***", argument("--password", "a b,c"));
    EXPECT_STR("***", argument("--api-key", "-Sekret"));
    EXPECT_STR("--lr", argument("--api-key", "--lr"));
    EXPECT_STR("***", argument("password", "S"));
    EXPECT_STR("S", argument("/a/key", "S"));
    EXPECT_STR("--password=***", argument("", "--password=a b&c|d\"e"));
    EXPECT_STR("TOKEN=***", argument("-e", "TOKEN=a b"));
    EXPECT_STR("2048", argument("--max-tokens", "2048"));
    EXPECT_STR("--max-tokens=4k", argument("", "--max-tokens=4k"));
    EXPECT_STR("llama", argument("--tokenizer", "llama"));
}

TEST(ordinary_text_is_not_masked)
{
    static const char *const same[] = {
        "python train.py --lr=3e-4 --batch 64 --mesh=data:4,model:2",
        "--xla_tpu_enable_async_collective_fusion=true --xla_dump_to=/tmp/x",
        "/usr/lib:/opt/lib:/home/me/lib",
        "x = jnp.ones((3, 4))  # shapes: 3, 4",
        "",
        ":",
        "://",
        "=",
        "key"};

    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        EXPECT_STR(same[i], text(same[i]));
}

TEST(masking_twice_changes_nothing)
{
    static const char *const all[] = {
        "{\"token\": \"S\"} redis://u:p@h token=S hf_abcdefghijklmnop", "--password S u:p@h",
        "postgres://u:a/b c@h"};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char once[1024];

        snprintf(once, sizeof once, "%s", text(all[i]));
        EXPECT_STR(once, text(once));
    }
    stet_buf_release(&out);
}

static const char *source(const char *s)
{
    stet_buf_release(&out);
    stet_mask_source(&out, stet_view_str(s));
    return out.ptr ? out.ptr : "";
}

TEST(source_code_keeps_its_names)
{
    static const char *const same[] = {
        "key, subkey = jax.random.split(key)", "x = dropout(x, key=key, rate=0.1)",
        "def f(params, token: int, auth=None):", "y = x[a:b @ c]", "tokens = tokens[:, 1:]"};

    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        EXPECT_STR(same[i], source(same[i]));
    EXPECT_STR("client = Client(token='***')", source("client = Client(token='S')"));
    EXPECT_STR("env[\"HF_TOKEN\"] = \"***\"", source("env[\"HF_TOKEN\"] = \"S\""));
    EXPECT_STR("db = connect('pg://***@h/x')", source("db = connect('pg://u:p@h/x')"));
    EXPECT_STR("login(***)", source("login(hf_abcdefghijklmnop)"));
    stet_buf_release(&out);
}

/* A line as long as the environment may be, of whatever costs most. */
TEST(masking_takes_time_by_length_alone)
{
    static const char *const units[] = {"a.", "a:",      "key ", "://", "-",
                                        "a@", "token='", "\\",   "x:y@"};
    enum { LONG = 1 << 17 };
    static char text[LONG];

    for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
        for (size_t i = 0; i < LONG; i++)
            text[i] = units[k][i % strlen(units[k])];
        stet_mask_text(&out, stet_view_of(text, LONG));
        stet_buf_release(&out);
    }
}

TEST(a_command_line_is_masked_word_by_word)
{
    static const char line[] = "python\0--token\0S\0--lr\0003";
    static const char want[] = "python\0--token\0***\0--lr\0003";

    stet_mask_command(&out, stet_view_of(line, sizeof line));
    EXPECT(stet_view_eq(stet_view_of(want, sizeof want), stet_buf_as_view(&out)));
    stet_buf_release(&out);
}
