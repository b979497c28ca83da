#!/bin/sh
# Runs a command under Stet and writes the verdict as Markdown, for a CI job.
# usage: verdict.sh [-- ] COMMAND [argument…]
#
#   STET_CI_SUMMARY   the file to append the verdict to (default stet-verdict.md)
#   STET_CI_CONTRACT  the contract to hold the run to (default stet.contract; none: only explain)
#   STET_CI_LINT      paths to lint first; a finding does not fail the job
#   STET_CI_FORMAT    how check and lint print: text, github, json, sarif (default text)
#   STET_CI_RUN       options of `stet run` (default --cpu)
#
# Exits as the command does when it fails, otherwise with 1 when the run breaks the contract.
set -u
[ "${1-}" != -- ] || shift
[ $# -gt 0 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
summary=${STET_CI_SUMMARY:-stet-verdict.md}
contract=${STET_CI_CONTRACT:-stet.contract}
format=${STET_CI_FORMAT:-text}

if [ -n "${STET_CI_LINT-}" ]; then
    # shellcheck disable=SC2086 # paths are separated by blanks
    stet lint --format="$format" $STET_CI_LINT || [ $? = 1 ] || exit 3
fi

# shellcheck disable=SC2086 # options are separated by blanks
stet run --quiet ${STET_CI_RUN---cpu} -- "$@"
code=$?
if [ $code != 0 ]; then
    printf '### Stet: the command failed with exit code %d\n' "$code" >>"$summary"
    exit $code
fi

verdict=0
if [ "$contract" != none ]; then
    stet check --contract "$contract" --format="$format"
    verdict=$?
    case $verdict in
    0) printf '**%s holds.**\n\n' "$contract" >>"$summary" ;;
    1) { printf '**%s is broken:**\n\n```\n' "$contract"; stet check --contract "$contract"; printf '```\n\n'; } >>"$summary" ;;
    *) exit $verdict ;;
    esac
fi
stet explain --export=markdown >>"$summary" || exit 3
exit $verdict
