#!/bin/sh
# playhead.sh: controls playheadd from any POSIX shell. It needs awk, and socat or an nc with -U and -N (OpenBSD's).
#
# It uses the text form of protocol.md. A request is one line. A reply is rows (`| ...`), then `ok ...` or `error ...`.

usage() {
  cat <<'USAGE'
usage: playhead.sh [--socket PATH] COMMAND [ARGUMENT...] [KEY=VALUE...]
       playhead.sh [--socket PATH] watch [--player NAME] [--tick SECONDS] [--at TIME]... [--observe PROPERTY]...
                                         [--meter RATE] [--chapters]
       playhead.sh [--socket PATH] send <REQUESTS

  playhead.sh load one.flac            playhead.sh seek 1:23.5
  playhead.sh append two.flac          playhead.sh wait 'time>=90' timeout=120
  playhead.sh play                     playhead.sh watch --tick 0.5 --at 95.25
  playhead.sh help                     (list the daemon's commands)

Prints the daemon's replies, rows without the leading bar. `watch` prints events until it is interrupted; without
options it observes all keys. Relative paths are made absolute. A file name that contains `=` must be written as
./a=b.flac, because it looks like KEY=VALUE. The edits of queue.edit need absolute paths. `send` sends the lines of
standard input in the form of protocol.md on one connection, as queue.begin and queue.commit require, and prints the
replies; the lines need absolute paths, too. Open files (`fd:TOKEN`) are not supported; use playhead.

Exit status: 0 success; 1 the daemon replied with an error (on standard error); 2 invalid arguments; 3 the daemon is
not reachable. Default socket: $PLAYHEAD_SOCKET, else playhead/control.sock in $XDG_RUNTIME_DIR or /run/user/UID, else
/tmp/playhead-UID/control.sock.
USAGE
}

# Patterns, lengths and awk must operate on bytes in every locale.
LC_ALL=C
export LC_ALL

fail() {
  status=$1
  shift
  printf 'playhead.sh: %s\n' "$*" >&2
  exit "$status"
}

# quote TEXT: prints TEXT as one word of a request. The protocol cannot represent bytes that are not UTF-8: they become
# \xHH, for which the daemon returns a specific error.
quote() {
  case $1 in
    '' | *[!A-Za-z0-9@%+.,:/_=\<\>*~-]*) ;;
    *) printf '%s' "$1" && return ;;
  esac
  printf '%s' "$1" | od -A n -v -t u1 | awk -v mode=word "$encoder"
}

# quote_file PATH: prints a path as one word. A relative path is made absolute. A path that is not UTF-8 becomes a
# file:// URL.
quote_file() {
  case $1 in
    /* | *://* | fd:*) file=$1 ;;
    ./*) file=$(pwd)/${1#./} ;;
    *) file=$(pwd)/$1 ;;
  esac
  case $file in
    *[!A-Za-z0-9@%+.,:/_=~-]*) printf '%s' "$file" | od -A n -v -t u1 | awk -v mode=file "$encoder" ;;
    *) printf '%s' "$file" ;;
  esac
}

# Reads bytes as decimal numbers and prints them as a quoted word. In mode `file`, bytes that are not UTF-8 become a
# percent-encoded URL.
# shellcheck disable=SC2016  # the dollars are awk's
encoder='
{ for (i = 1; i <= NF; i++) byte[++count] = $i }

# The length of the UTF-8 sequence at byte i; 0 if it is invalid (RFC 3629: no overlong forms, no surrogates).
function sequence(i,    b, n, k, low, high) {
  b = byte[i]
  if (b < 128) return 1
  n = b >= 194 && b <= 223 ? 2 : b >= 224 && b <= 239 ? 3 : b >= 240 && b <= 244 ? 4 : 0
  if (n == 0 || i + n - 1 > count) return 0
  low = b == 224 ? 160 : b == 240 ? 144 : 128
  high = b == 237 ? 159 : b == 244 ? 143 : 191
  for (k = 1; k < n; k++) {
    if (byte[i + k] < low || byte[i + k] > high) return 0
    low = 128; high = 191
  }
  return n
}

END {
  valid = 1
  for (i = 1; i <= count && valid; i += valid) valid = sequence(i)
  if (mode == "file" && !valid) {
    printf "file://"
    for (i = 1; i <= count; i++) {
      c = sprintf("%c", byte[i])
      if (byte[i] > 32 && byte[i] < 127 && c ~ /[A-Za-z0-9._~\/-]/) printf "%s", c
      else printf "%%%02X", byte[i]
    }
    exit
  }
  printf "\""
  for (i = 1; i <= count; i++) {
    b = byte[i]
    if (b == 34 || b == 92) printf "\\%c", b
    else if (b == 9) printf "\\t"
    else if (b == 10) printf "\\n"
    else if (b == 13) printf "\\r"
    else if (b < 32 || b == 127 || (b > 127 && !valid)) printf "\\x%02x", b
    else printf "%c", b
  }
  printf "\""
}'

# request COMMAND [ARGUMENT...]: prints the request line.
request() {
  printf '%s' "$1"
  command=$1
  place=0
  shift
  for argument; do
    printf ' '
    # KEY=VALUE: the daemon recognizes an option only if its key is not quoted.
    key=${argument%%=*}
    case $argument in
      *=*)
        case $key in
          '' | *[!a-z-]*) ;;
          *)
            printf '%s=' "$key"
            case $command.$key in
              item.artwork.file | asset.artwork.file | playlist.export.base) quote_file "${argument#*=}" ;;
              *) quote "${argument#*=}" ;;
            esac
            continue
            ;;
        esac
        ;;
    esac
    place=$((place + 1))
    case $command in
      load | append | insert | scan | asset.open)
        # Flags, which are options without a value, are not files.
        case $command.$argument in
          load.precise | append.precise | insert.precise | asset.open.precise | scan.album | scan.apply) quote "$argument" ;;
          *) quote_file "$argument" ;;
        esac
        ;;
      replace) if [ "$place" -gt 1 ]; then quote_file "$argument"; else quote "$argument"; fi ;;
      *) quote "$argument" ;;
    esac
  done
  printf '\n'
}

# transport SECONDS: copies standard input to the socket, and the socket to standard output. After the end of the input,
# the daemon sends the pending replies and closes the connection, which ends the transport. SECONDS is the time that
# socat waits in one direction after the other has ended: long for a waiting request, and 0 for `watch`, whose input
# stays open.
transport() {
  case $tool in
    socat) exec socat -t "$1" - "UNIX-CONNECT:$escaped_socket" 2>/dev/null ;;
    nc) exec nc -N -U "$socket" 2>/dev/null ;;
  esac
}

# print_error LINE: prints `error code=.. name=.. message=".." ...` in human-readable form.
print_error() {
  name=${1#* name=}
  message=${1#* message=}
  case $message in
    '"'*)
      # Extract the text up to the closing quote, then unescape \" and \\.
      message=$(printf '%s\n' "$message" | sed 's/^"\(\([^"\\]\|\\.\)*\)".*/\1/; s/\\\(["\\]\)/\1/g')
      ;;
    *) message=${message%% *} ;;
  esac
  printf 'playhead.sh: %s (%s)\n' "$message" "${name%% *}" >&2
}

# one COMMAND [ARGUMENT...]: sends one request and prints its reply.
one() {
  request "$@" | transport 31536000 | {
    greeted=
    while IFS= read -r line; do
      case $line in
        '* hello '*) greeted=1 ;;
        'ok') exit 0 ;;
        'ok '*) printf '%s\n' "${line#ok }" && exit 0 ;;
        # A daemon that stops or refuses the connection counts as not reachable.
        'error code=6017 '* | '* closing '*) print_error "$line" && exit 3 ;;
        'error '*) print_error "$line" && exit 1 ;;
        '| '*) printf '%s\n' "${line#| }" ;;
        *) printf '%s\n' "$line" ;;
      esac
    done
    [ -z "$greeted" ] || fail 3 "the daemon closed the connection before its reply"
    fail 3 "no daemon at $socket"
  }
}

# send: sends the lines of standard input on one connection, and prints the replies. A failed request is reported, and
# the following requests are still sent.
send() {
  # A final ping: its reply confirms that the daemon has processed all requests. The preceding LF completes an
  # unfinished line.
  { cat && printf '\n@playhead.sh ping\n'; } | transport 31536000 | {
    greeted=
    taken=
    status=0
    while IFS= read -r line; do
      # The kind of a line follows the optional id. Rows can contain any text, so only the beginning is compared.
      answer=$line
      case $line in
        '@'*) answer=${line#* } ;;
      esac
      case $line in
        '* hello '*) greeted=1 && continue ;;
        '@playhead.sh ok' | '@playhead.sh ok '*) taken=1 && continue ;;
      esac
      case $answer in
        'error code=6017 '* | '* closing '*) print_error "$answer" && exit 3 ;;
        'error '*) print_error "$answer" && status=1 ;;
        '| '*) printf '%s\n' "${line#| }" ;;
        *) printf '%s\n' "$line" ;;
      esac
    done
    [ -n "$greeted" ] || fail 3 "no daemon at $socket"
    [ -n "$taken" ] || fail 3 "the daemon closed the connection before its last reply"
    exit "$status"
  }
}

# watch [OPTION...]: subscribes, and prints events as they arrive.
watch() {
  player=
  requests=
  newline='
'
  while [ $# -gt 0 ]; do
    if [ "$1" = --chapters ]; then
      requests=${requests}at-chapters$newline
      shift
      continue
    fi
    [ $# -ge 2 ] || fail 2 "watch: $1 needs a value"
    case $1 in
      --meter) requests=$requests$(request meter "$2")$newline ;;
      --player) player="player=$(quote "$2")" ;;
      --tick) requests=$requests$(request tick "$2")$newline ;;
      --at) requests=$requests$(request at "$2")$newline ;;
      --observe) requests=$requests$(request observe "$2")$newline ;;
      *) fail 2 "watch: unknown option $1" ;;
    esac
    shift 2
  done
  [ -n "$requests" ] || requests=$(request observe '*')$newline

  # Two named pipes: the pipe to the daemon stays open, so that the connection does not end after the requests.
  pipes=$(mktemp -d) || exit
  mkfifo "$pipes/in" "$pipes/out" || exit
  exec 3<>"$pipes/in"
  transport 0 <"$pipes/in" >"$pipes/out" 3>&- &
  child=$!
  # shellcheck disable=SC2064  # expand the current values
  trap "kill $child 2>/dev/null; exit 0" INT TERM
  exec 4<"$pipes/out"
  rm -r "$pipes"
  printf '%s' "$requests" | while IFS= read -r line; do printf '%s\n' "$line${player:+ $player}"; done >&3
  while IFS= read -r line <&4; do
    case $line in
      '* hello '* | ok | 'ok '*) ;;
      'error code=6017 '* | '* closing '*) print_error "$line" && exit 3 ;;
      'error '*) print_error "$line" && kill "$child" && exit 1 ;;
      *) printf '%s\n' "$line" ;;
    esac
  done
  fail 3 "the daemon at $socket is not reachable or disconnected"
}

# find_socket: finds the daemon's default socket. Relative paths in the environment are ignored.
find_socket() {
  case ${PLAYHEAD_SOCKET-} in
    /*) socket=$PLAYHEAD_SOCKET && return ;;
  esac
  user=$(id -u)
  case ${XDG_RUNTIME_DIR-} in
    /*) folder=$XDG_RUNTIME_DIR ;;
    *) folder=/run/user/$user ;;
  esac
  if [ "$folder" = "${XDG_RUNTIME_DIR-}" ] || [ -d "$folder" ]; then
    socket=$folder/playhead/control.sock
    return
  fi
  # In /tmp, any user could have created the folder: it must belong to this user, and other users must not write to it.
  folder=/tmp/playhead-$user
  socket=$folder/control.sock
  [ -z "$(find "$folder" -prune \( ! -type d -o ! -user "$user" -o -perm -020 -o -perm -002 \) 2>/dev/null)" ] \
    || fail 3 "$folder must be a folder that only your user can write"
}

socket=
while [ $# -gt 0 ]; do
  case $1 in
    --socket)
      [ $# -ge 2 ] || fail 2 "--socket requires a path"
      socket=$2
      shift 2
      ;;
    --help | -h) usage && exit 0 ;;
    --) shift && break ;;
    -*) fail 2 "unknown option $1 (see --help)" ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] || { usage >&2; exit 2; }
case $1 in
  *[!a-z.-]*) fail 2 "invalid command name $1" ;;
esac
case $1 in
  load | append | insert | scan | asset.open)
    for argument; do
      [ -n "$argument" ] || fail 2 "a path must not be empty"
      [ "$argument" != - ] || fail 2 "standard input is not supported; use playhead $1 - (or ./- for a file named -)"
    done
    ;;
  send) [ $# -eq 1 ] || fail 2 "send accepts no arguments: it reads requests from standard input" ;;
esac
[ -n "$socket" ] || find_socket

if command -v socat >/dev/null && [ "${PLAYHEAD_TRANSPORT-socat}" = socat ]; then
  tool=socat
  # These characters have a special meaning in a socat address.
  escaped_socket=$(printf '%s' "$socket" | sed 's/[\\,:!"'\''{}()[]/\\&/g; s/\]/\\]/g')
elif command -v nc >/dev/null; then
  tool=nc
else
  fail 2 "socat or nc is missing (Debian: socat or netcat-openbsd)"
fi

case $1 in
  watch) shift && watch "$@" ;;
  send) send ;;
  *) one "$@" ;;
esac
