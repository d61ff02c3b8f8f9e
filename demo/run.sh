#!/bin/bash
# Demonstrates the main functions: a separate daemon plays two short files, controlled by the client. Every step is
# checked; the exit status is 0 only if all steps succeed. Needs the release build (`make demo`).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
bin=${PLAYHEAD_BIN:-$here/../.build/release}
scratch=$(mktemp -d)
socket=$scratch/control.sock
# The daemon must use neither the user's configuration nor a service manager.
unset NOTIFY_SOCKET WATCHDOG_PID WATCHDOG_USEC LISTEN_PID LISTEN_FDS LISTEN_FDNAMES
daemon=
watcher=

fail() {
  printf '\ndemo: %s\n' "$*" >&2
  if [[ -s $scratch/log ]]; then
    printf 'demo: the last lines of the daemon'"'"'s log:\n' >&2
    tail -n 15 "$scratch/log" >&2
  fi
  exit 1
}

# shellcheck disable=SC2317  # called by the trap
cleanup() {
  local status=$?
  [[ -z $watcher ]] || kill "$watcher" 2>/dev/null || true
  [[ -z $daemon ]] || kill "$daemon" 2>/dev/null || true
  rm -rf "$scratch"
  exit "$status"
}
trap cleanup EXIT

say() { printf '\n-- %s\n' "$*"; }

# playhead ARGUMENT...: prints the command, runs it, prints the reply and stores it in $answer.
playhead() {
  printf '$ playhead %s\n' "$*"
  answer=$("$bin/playhead" --socket "$socket" "$@") || fail "'playhead $*' ended with status $?"
  [[ -z $answer ]] || printf '%s\n' "$answer"
}

# expect TEXT: the last reply must contain TEXT.
expect() {
  [[ " $answer " == *" $1 "* ]] || fail "expected '$1' in this reply"
}

say "two pieces of music: a FLAC at 48 kHz and an MP3 at 44.1 kHz"
"$here/make-music" "$scratch"
cd "$scratch"
printf 'first.flac  second.mp3\n'

say "a daemon with the default output"
mkfifo ready
printf '$ playheadd --socket .../control.sock\n'
XDG_CONFIG_HOME=$scratch/none "$bin/playheadd" --no-state --socket "$socket" >ready 2>log &
daemon=$!
exec 3<ready
# The daemon prints a line when it is ready; if it exits instead, the read ends, too.
IFS= read -r -t 30 line <&3 || fail "the daemon did not start"
[[ $line == *ready* ]] || fail "unexpected first line of the daemon: $line"
printf 'playheadd ready\n'

say "a queue of two entries"
playhead load first.flac wait=ready
first=${answer#*items=} first=${first%% *}
playhead append second.mp3 wait=ready
second=${answer#*items=} second=${second%% *}
playhead list

say "a watcher: ticks every half second, a cue at 4 seconds, and the state of the player"
printf '$ playhead watch --tick 0.5 --at 4 --observe player.timeControlStatus --observe player.currentItem &\n'
mkfifo watched
"$bin/playhead" --socket "$socket" watch --tick 0.5 --at 4 \
  --observe player.timeControlStatus --observe player.currentItem >watched 2>>log &
watcher=$!
# The first events are the current values: after one of them, the subscription is active.
exec 4<watched
IFS= read -r -t 10 line <&4 || fail "the watcher received no event"
printf '        %s\n' "$line"
{ tee events | sed -u 's/^/        /'; } <&4 &
printer=$!

say "play"
playhead play
playhead wait status=playing --timeout 10
playhead wait 'time>=2.2' --timeout 10

say "seek during playback: exact to the sample; the reply has the position"
playhead seek 0:03.25
expect finished=true
expect time=3.25
playhead wait 'time>=4.7' --timeout 10

say "near the end of the first entry: playback advances to the second"
playhead seek 5.4
expect finished=true
playhead wait "item=$second" --timeout 10
playhead wait 'time>=2.2' --timeout 10
playhead status
expect "item=$second"
expect timeControlStatus=playing

say "near the end of the second entry, then wait for its end"
playhead seek 90%
expect finished=true
playhead wait ended --timeout 10
playhead output.status
playhead stop

kill "$watcher"
wait "$watcher" || true
watcher=
wait "$printer"
grep -q '^\* at .*time=4 ' events || fail "the cue at 4 seconds is missing"
grep -q '^\* tick ' events || fail "the ticks are missing"
grep -q "^\* changed .*key=player.currentItem .*new=$second" events || fail "the change from item $first to item $second is missing"

say "the daemon stops on SIGTERM"
printf '$ kill -TERM PLAYHEADD\n'
kill -TERM "$daemon"
status=0
wait "$daemon" || status=$?
daemon=
((status == 0)) || fail "the daemon ended with status $status"

printf '\ndemo: all steps succeeded\n'
