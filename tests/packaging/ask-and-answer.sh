#!/bin/sh
# Asks one question as an agent, answers it as its human, and compares; with $CUEME as the program. Nothing else is needed
# than a POSIX shell, so that it runs in every environment into which a package is installed.
set -eu
: "${CUEME:?names the program, with the words before it}" "${CUEME_HOME:?names a directory for its data}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

$CUEME --version
agent=$($CUEME join terminal | sed -n 's/^agent_id=//p')
[ -n "$agent" ] || { echo "nobody could join" >&2; exit 1; }
$CUEME cue "$agent" --prompt 'Which database?' >"$work/printed" &
asked=$!

# The question is in the inbox once it is on disk.
tries=0
until question=$($CUEME inbox --json | sed -n 's/.*"cue_id":"\([^"]*\)".*/\1/p' | head -n 1) && [ -n "$question" ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || { echo "no question arrived" >&2; exit 1; }
    sleep 0.1
done

$CUEME answer "$question" 'the small one' >/dev/null
wait "$asked"
grep -q 'the small one' "$work/printed" || { echo "another answer was printed:" >&2; cat "$work/printed" >&2; exit 1; }
$CUEME broker stop >/dev/null
