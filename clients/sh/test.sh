#!/bin/bash
# Tests playhead.sh against a small server that records the requests and takes its replies from a script. Compares the
# requests byte by byte, the output, and the exit status, in dash, bash and busybox sh, through socat and nc.
set -euo pipefail
cd "$(dirname "$0")"

client=$PWD/playhead.sh
scratch=$(mktemp -d)
server=
# shellcheck disable=SC2317  # called by the trap
cleanup() {
  [[ -z $server ]] || kill "$server" 2>/dev/null || true
  rm -rf "$scratch"
}
trap cleanup EXIT
failures=0

# The server: one child per connection. It logs each request, and replies with the line of the same number in the file
# `answer`, or with `ok` after the last line. The line `close` ends the connection.
cat >"$scratch/serve" <<'SERVE'
#!/bin/bash
exec 5<"$1/answer"
echo '* hello playhead protocol=1 version=0.0.0'
while IFS= read -r line; do
  printf '%s\n' "$line" >>"$1/log"
  read -r answer <&5 || answer=ok
  [[ $answer != close ]] || exit 0
  printf '%b\n' "$answer"
done
SERVE
chmod +x "$scratch/serve"

start_server() {
  local line
  socket="$scratch/with space, and 'quote'.sock"
  # socat reports on standard error when it listens; the loop waits for that line.
  exec {notices}< <(cd "$scratch" && exec socat -d -d UNIX-LISTEN:control.sock,fork EXEC:"./serve $scratch" 2>&1)
  server=$!
  while read -r -t 10 line <&"$notices"; do [[ $line != *'listening on'* ]] || break; done
  cat <&"$notices" >/dev/null & # later output must not fill the pipe
  ln -s control.sock "$socket"
}

# run ANSWER ARGUMENT...: runs the client once. Sets $out, $err, $status, and $sent (the requests).
run() {
  : >"$scratch/log"
  printf '%s\n' "$1" >"$scratch/answer"
  shift
  status=0
  out=$(cd "$folder" && "${shell[@]}" "$client" --socket "$socket" "$@" 2>"$scratch/err") || status=$?
  err=$(<"$scratch/err")
  sent=$(<"$scratch/log")
}

expect() {
  local what=$1 expected=$2 actual=$3
  [[ $expected == "$actual" ]] && return
  printf 'test.sh: %s through %s: %s\n  expected: %q\n  got:      %q\n' "${shell[*]}" "$PLAYHEAD_TRANSPORT" "$what" "$expected" "$actual" >&2
  failures=$((failures + 1))
}

# sends EXPECTED ARGUMENT...: expects that the client sends the arguments as this line.
sends() {
  local expected=$1
  shift
  run ok "$@"
  expect "request for $*" "$expected" "$sent"
  expect "status of $*" 0 "$status"
}

test_requests() {
  sends 'play' play
  sends 'seek 1:23.5' seek 1:23.5
  sends 'seek -5' seek -5
  sends 'seek 50% before=0.5 after=0' seek 50% before=0.5 after=0
  sends 'wait time>=90 timeout=5' wait 'time>=90' timeout=5
  sends 'wait status=playing' wait status=playing
  sends 'observe player.*' observe 'player.*'
  sends 'ping "" "two words" "a\"b\\c"' ping '' 'two words' 'a"b\c'
  sends "ping \"it's \$HOME \`x\` {} [1] | # ;\"" ping "it's \$HOME \`x\` {} [1] | # ;"
  sends 'ping "tab\there" "line\nbreak\r" "\x01\x7f"' ping $'tab\there' $'line\nbreak\r' $'\x01\x7f'
  sends 'ping "größe"' ping größe
  sends 'ping "\xff"' ping $'\xff'
  sends 'ping note="a b"' ping 'note=a b'

  sends "load $folder/one.flac" load one.flac
  sends "append $folder/one.flac /two.flac file:///three.flac" append ./one.flac /two.flac file:///three.flac
  sends "append $folder/a=b.flac wait=ready" append ./a=b.flac wait=ready
  sends "replace 4 $folder/five.flac" replace 4 five.flac
  sends 'events player.* since=41 instance=9f86d081 wait timeout=60' events 'player.*' since=41 instance=9f86d081 wait timeout=60
  sends "load fd:0123456789abcdef precise" load fd:0123456789abcdef precise
  sends "scan $folder/one.flac album apply" scan one.flac album apply
  sends "asset.open $folder/one.flac precise" asset.open one.flac precise
  sends "item.artwork 2 file=$folder/cover.jpg replace" item.artwork 2 file=cover.jpg replace
  sends "playlist.export base=$folder/lists" playlist.export base=lists
  sends 'append "/m/日本語 \"x\".flac"' append '/m/日本語 "x".flac'
  sends 'load "/m/line\nbreak.flac"' load $'/m/line\nbreak.flac'
  sends 'load file:///m/a%20b%FF~%25.flac' load $'/m/a b\xff~%.flac'
  # Not UTF-8: overlong, surrogate, beyond Unicode, incomplete.
  sends 'load file:///%C0%AF' load $'/\xc0\xaf'
  sends 'load file:///%ED%A0%80' load $'/\xed\xa0\x80'
  sends 'load file:///%F4%90%80%80' load $'/\xf4\x90\x80\x80'
  sends 'load file:///a%E2%82' load $'/a\xe2\x82'
  sends 'load "/€😀"' load '/€😀'
}

test_replies() {
  run ok play
  expect "output of a bare ok" "" "$out"
  run 'ok finished=true time=83.5' seek 83.5
  expect "output of ok" "finished=true time=83.5" "$out"
  run '| item=1 url="/a b"\n| item=2\nok version=2' list
  expect "rows" $'item=1 url="/a b"\nitem=2\nversion=2' "$out"
  run 'error code=2004 name=no-such-item message="no item \\"x\\""' next
  expect "status of an error" 1 "$status"
  expect "its output" "" "$out"
  expect "its message" 'playhead.sh: no item "x" (no-such-item)' "$err"
  run close play
  expect "status when the daemon disconnects" 3 "$status"
  run 'error code=6017 name=shutting-down message="playheadd is stopping"' wait ended
  expect "status when the daemon stops" 3 "$status"
  expect "message when the daemon stops" 'playhead.sh: playheadd is stopping (shutting-down)' "$err"
  run '* closing code=6007 name=too-many-connections message="there are 256"' play
  expect "status of a refused connection" 3 "$status"
  expect "message of a refused connection" 'playhead.sh: there are 256 (too-many-connections)' "$err"
  for command in load append insert; do
    run ok "$command" ''
    expect "status of $command without a name" 2 "$status"
  done
  run ok load -
  expect "status of standard input" 2 "$status"
  run ok --bad
  expect "status of an unknown option" 2 "$status"
  run ok 'play;stop'
  expect "status of an invalid command name" 2 "$status"
  status=0
  err=$("${shell[@]}" "$client" --socket "$scratch/none.sock" play 2>&1) || status=$?
  expect "status without a daemon" 3 "$status"
  expect "message without a daemon" "playhead.sh: no daemon at $scratch/none.sock" "$err"
}

# Tests the default socket, whose path is part of the message.
test_default_socket() {
  local err
  err=$(PLAYHEAD_SOCKET=/nowhere/a.sock XDG_RUNTIME_DIR=/nowhere "${shell[@]}" "$client" play 2>&1) || true
  expect "PLAYHEAD_SOCKET" "playhead.sh: no daemon at /nowhere/a.sock" "$err"
  err=$(PLAYHEAD_SOCKET=a.sock XDG_RUNTIME_DIR=/nowhere "${shell[@]}" "$client" play 2>&1) || true
  expect "XDG_RUNTIME_DIR" "playhead.sh: no daemon at /nowhere/playhead/control.sock" "$err"
  err=$(env -u PLAYHEAD_SOCKET XDG_RUNTIME_DIR=here "${shell[@]}" "$client" play 2>&1) || true
  [[ $err == *" at /run/user/$UID/playhead/control.sock" || $err == *" at /tmp/playhead-$UID/control.sock" ]] \
    || expect "the path without environment variables" "/run/user or /tmp" "$err"
}

test_watch() {
  run 'ok id=1\n* tick id=1 time=1\n* end\nok
ok id=2\n* at id=2 time=4
close' watch --player two --tick 0.5 --at 4 --observe 'item.*'
  expect "requests of watch" $'tick 0.5 player=two\nat 4 player=two\nobserve item.* player=two' "$sent"
  expect "output of watch" $'* tick id=1 time=1\n* end\n* at id=2 time=4' "$out"
  expect "status when the daemon disconnects" 3 "$status"
  run 'ok id=1
close' watch --meter 10 --chapters --player two
  expect "requests for meters and chapters" $'meter 10 player=two\nat-chapters player=two' "$sent"
  run close watch --tick 1 --player 'two words'
  expect "request for a name with a space" 'tick 1 player="two words"' "$sent"
  run 'error code=1002 name=invalid-time message=bad' watch --tick x
  expect "status of a refused subscription" 1 "$status"
  expect "message of a refused subscription" "playhead.sh: bad (invalid-time)" "$err"

  # An interrupted client also ends the processes that it started.
  printf 'ok\\n* first\n' >"$scratch/answer"
  local line child
  exec {events}< <(exec "${shell[@]}" "$client" --socket "$socket" watch --tick 1)
  child=$!
  read -r -t 10 line <&"$events"
  expect "the first event" "* first" "$line"
  kill -TERM "$child"
  status=0
  wait "$child" || status=$?
  expect "status after SIGTERM" 0 "$status"
  # The output reaches its end: no child process keeps it open.
  status=0
  read -r -t 10 line <&"$events" || status=$?
  expect "the end of the output" 1 "$status"
  exec {events}<&-
}

test_send() {
  # All lines are sent unchanged, in order, on one connection.
  run 'ok version=1
ok pending=1
error code=1011 name=version-mismatch message="it has changed"
| item=1\nok count=1
| note=blank
@playhead.sh ok now=5012.25' send <<<$'queue.begin\nappend "/a b.flac"\nqueue.commit\nlist'
  expect "requests of send" $'queue.begin\nappend "/a b.flac"\nqueue.commit\nlist\n\n@playhead.sh ping' "$sent"
  expect "output of send" $'ok version=1\nok pending=1\nitem=1\nok count=1\nnote=blank' "$out"
  expect "status if one request failed" 1 "$status"
  expect "message for the failed request" 'playhead.sh: it has changed (version-mismatch)' "$err"
  run 'ok
| note=blank
@playhead.sh ok now=5012.25' send <<<'ping'
  expect "status if all requests succeeded" 0 "$status"
  # Rows and values can contain text that looks like a reply of another kind.
  run '@a | title="an error code=6017 name=x" note="* closing x"
@b ok title=" error "
@c error code=2004 name=no-such-item message="no error here"
| note=blank
@playhead.sh ok now=5012.25' send <<<$'@a list\n@b status\n@c jump 9'
  expect "output for error-like rows" $'@a | title="an error code=6017 name=x" note="* closing x"\n@b ok title=" error "\nnote=blank' "$out"
  expect "status of a failed request with an id" 1 "$status"
  expect "message for the failed request with an id" 'playhead.sh: no error here (no-such-item)' "$err"
  run ok send ping </dev/null
  expect "status of send with arguments" 2 "$status"
  run close send <<<'ping'
  expect "status when the daemon disconnects before the last reply" 3 "$status"
}

folder="$scratch/music"
mkdir "$folder"
start_server
for name in dash bash "busybox sh"; do
  read -r -a shell <<<"$name"
  for PLAYHEAD_TRANSPORT in socat nc; do
    export PLAYHEAD_TRANSPORT
    test_requests
    test_replies
    test_default_socket
    test_watch
    test_send
  done
done
((failures == 0)) || exit 1
