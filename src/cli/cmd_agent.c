/* stet agent: runs the process that uses the tiers, and queries it. */
#include "cli/command.h"

#include "agent/agent.h"
#include "base/json.h"
#include "base/mem.h"
#include "launch/agent_start.h"
#include "wire/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER_MS = 5000, END_MS = 15000, IDLE_S = 600 };

/* Prints the status schema (agent/status.c) for an agent that does not run. */
static int absent(const char *socket, enum stet_format format)
{
    struct stet_buf out = STET_BUF_INIT;
    struct stet_json j;

    if (format == STET_FORMAT_TEXT) {
        stet_say("stet: no agent listens at %s\n", socket);
        return STET_EXIT_FINDING;
    }
    stet_json_init(&j, &out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", "stet.agent/1");
    stet_json_null(&j, "pid");
    stet_json_cstr(&j, "socket", socket);
    stet_json_end_object(&j);
    stet_buf_char(&out, '\n');
    return stet_cli_print(&out, STET_EXIT_FINDING);
}

/* Sends one request to the agent on this socket. */
static int ask(const char *socket, uint32_t kind, enum stet_format format)
{
    struct stet_message m = {.kind = kind,
                             .flags = format == STET_FORMAT_JSON ? STET_MESSAGE_JSON : 0};
    uint64_t until = stet_wire_now_ms() + ANSWER_MS;
    struct stet_buf out = STET_BUF_INIT;
    struct stet_err err = STET_ERR_INIT;
    struct stet_wire line;
    enum stet_rc rc = stet_wire_open(&line, socket, &err);

    if (rc == STET_NOT_FOUND)
        return absent(socket, format);
    if (rc == STET_OK)
        rc = stet_wire_send(&line, &m, until, &err);
    if (rc == STET_OK)
        rc = stet_wire_receive(&line, &m, until, &err);
    if (rc == STET_OK)
        stet_buf_view(&out, m.text);
    if (rc == STET_OK && kind == STET_MESSAGE_STOP) {
        /* the agent keeps the connection open until it ends */
        if (stet_wire_receive(&line, &m, stet_wire_now_ms() + END_MS, NULL) != STET_NOT_FOUND)
            rc = stet_fail(&err, STET_LIMIT, "the agent has not ended after %d s", END_MS / 1000);
        else
            stet_agent_await_end(socket, stet_wire_now_ms() + 1000);
        if (rc == STET_OK && format == STET_FORMAT_TEXT && !out.len)
            stet_say("stet: the agent at %s has ended\n", socket);
    }
    stet_wire_close(&line);
    if (rc != STET_OK) {
        stet_buf_release(&out);
        stet_fail(&err, STET_IO, "the agent closed the connection");
        return stet_cli_complain(&err);
    }
    return stet_cli_print(&out, STET_EXIT_FINE);
}

static int serve(const char *socket, struct stet_view tiers, const char *log)
{
    const char *idle = getenv("STET_AGENT_IDLE");
    struct stet_agent_options o = {.socket = socket, .tiers = tiers, .idle_s = IDLE_S, .log = log};
    struct stet_err err = STET_ERR_INIT;
    enum stet_rc rc;

    if (idle && *idle)
        o.idle_s = (uint32_t)strtoul(idle, NULL, 10);
    rc = stet_agent_serve(&o, &err);
    return rc == STET_OK ? STET_EXIT_FINE : stet_cli_complain(&err);
}

int cmd_agent(int argc, char **argv)
{
    static const struct stet_usage usage = {
        "stet agent [--foreground] [status|stop]",
        "Shares compiled programs between processes and hosts: fetches from the tiers in "
        "STET_TIERS\n"
        "(redis://, http://, s3://, gs://) what the store lacks, sends there what was compiled "
        "here, and "
        "lets\n"
        "one compile what many need. `stet run` starts one by itself when tiers are configured.",
        "agent",
    };
    const char *socket = NULL, *log = NULL;
    bool foreground = false;
    const struct stet_option options[] = {
        {"foreground", NULL, "serve in this process, and log to standard error", STET_OPTION_FLAG,
         &foreground},
        {"log", "FILE", "with --foreground: log to FILE, which stays below a megabyte",
         STET_OPTION_VALUE, &log},
        {"socket", "PATH", "this socket instead of the default one", STET_OPTION_VALUE, &socket},
        {0},
    };
    struct stet_err err = STET_ERR_INIT;
    struct stet_args args;
    char path[PATH_MAX], *tiers;
    int code, done = stet_cli_args_parse(&args, argc, argv, &usage, options, false);

    if (done >= 0)
        return done;
    if (args.count > 1 || (args.count && strcmp(args.values[0], "status") != 0 &&
                           strcmp(args.values[0], "stop") != 0))
        return stet_cli_usage_error(&usage, "the parts are status and stop");
    tiers = stet_agent_tiers();
    if (socket)
        snprintf(path, sizeof path, "%s", socket);
    else if (stet_agent_socket(stet_view_str(tiers), path, &err) != STET_OK)
        path[0] = '\0';
    if (!path[0])
        code = stet_cli_complain(&err);
    else if (args.count)
        code =
            ask(path, !strcmp(args.values[0], "status") ? STET_MESSAGE_STATUS : STET_MESSAGE_STOP,
                args.format);
    else if (foreground)
        code = serve(path, stet_view_str(tiers), log);
    else if (stet_launch_agent_start(path, &err) != STET_OK)
        code = stet_cli_complain(&err);
    else
        code = ask(path, STET_MESSAGE_STATUS, args.format);
    stet_mem_free(tiers);
    return code;
}
