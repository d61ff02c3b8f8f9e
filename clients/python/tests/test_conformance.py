"""Every command in both forms, against real daemons: the specification, the replies and the Python classes agree.

The cases run in order, in text form against one daemon and as JSON-RPC against another. Each printed row is a case.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import shlex
from fractions import Fraction
from typing import Any

from support import Case, Daemon, make, make_with_artwork, playhead
from test_protocol import generator

from playhead.connection import words
from playhead.decoding import decode, read_bool, read_float, read_int, read_text, read_time, read_value

# A request in text form, the parameters of the same request in JSON, and the name of the expected error. {one}, {two}
# and {film} are files, {out} is a folder.
CASES: list[tuple[str, dict[str, Any], str]] = [
    ("hello protocol=1", {"protocol": 1}, ""),
    ("hello rights=administer,control,read,write", {"rights": ["administer", "control", "read", "write"]}, ""),
    ("ping", {}, ""), ("stats", {}, ""), ("config.reload", {}, ""), ("help", {}, ""),
    ("rpc.discover", {}, ""), ("help seek", {"command": "seek"}, ""), ("help observe", {"command": "observe"}, ""),
    ("explain", {}, "invalid-state"), ("status", {}, ""), ("loop", {}, ""), ("next", {}, "no-current-item"),
    # The queue.
    ("load {one} {two} wait=ready", {"paths": ["{one}", "{two}"], "wait": "ready"}, ""),
    ("load {out}/missing.flac wait=ready player=main if-version=9", {"paths": ["{out}/missing.flac"], "wait": "ready", "if-version": 9}, "version-mismatch"),
    ("append {one} wait=ready", {"paths": ["{one}"], "wait": "ready"}, ""), ("insert {two} after=1 wait=ready", {"paths": "{two}", "after": 1, "wait": "ready"}, ""),
    ("append fd:00000000000000000000000000000000 wait=ready", {"paths": ["fd:00000000000000000000000000000000"], "wait": "ready"}, "no-such-descriptor"), ("list", {}, ""),
    ("list offset=1 limit=2", {"offset": 1, "limit": 2}, ""), ("item.status 5", {"id": 5}, ""), ("remove 5", {"ids": [5]}, ""),
    ("move 4 to=1", {"id": 4, "to": 1}, ""), ("replace 4 {one}", {"id": 4, "path": "{one}"}, ""), ("item.copy 1", {"id": 1}, ""),
    ("queue.edit 'remove 6' 'move 2 to=1'", {"ops": ["remove 6", {"method": "move", "params": {"id": 2, "to": 1}}]}, ""),
    ("queue.begin", {}, ""), ("append {one}", {"paths": ["{one}"]}, ""), ("queue.commit", {}, ""), ("queue.begin", {}, ""), ("queue.abort", {}, ""),
    ("queue.changes 1", {"since": 1}, ""), ("queue.changes 999", {"since": 999}, ""), ("playlist.export format=m3u8 limit=1", {"format": "m3u8", "limit": 1}, ""),
    ("shuffle", {}, ""), ("shuffle on seed=42", {"state": True, "seed": 42}, ""), ("shuffle off", {"state": False}, ""),
    ("wait ready timeout=20", {"conditions": ["ready"], "timeout": 20}, ""), ("wait item=99 timeout=0", {"conditions": ["item=99"], "timeout": 0}, "no-such-item"),
    # Settings.
    ("auto-wait off", {"state": False}, ""), ("default-rate 1.25", {"rate": 1.25}, ""), ("end-action none", {"action": "none"}, ""), ("mute on", {"state": True}, ""),
    ("pan -0.5", {"pan": -0.5}, ""), ("pitch timeDomain", {"algorithm": "timeDomain"}, ""), ("repeat all", {"mode": "all"}, ""),
    ("repeat off", {"mode": "off"}, ""), ("on-failure skip", {"policy": "skip"}, ""), ("volume 0.25", {"volume": 0.25}, ""), ("volume", {"volume": None}, ""),
    ("rate 2", {"rate": 2}, ""), ("pause", {}, ""), ("pause player=*", {"player": "*"}, ""), ("fade 1 0.5 equal-power", {"volume": 1, "duration": 0.5, "curve": "equal-power"}, ""), ("fade 1 0.5 then=pause wait", {"volume": 1, "duration": 0.5, "then": "pause", "wait": True}, ""), ("volume 0.5", {"volume": 0.5}, ""),
    ("crossfade 5 curve=linear fade-in=2", {"duration": 5, "curve": "linear", "fade-in": 2}, ""), ("crossfade", {}, ""),
    ("crossfade none", {"duration": None}, ""), ("crossfade 31", {"duration": 31}, "invalid-time"),
    ("silence 10 threshold=-50", {"duration": 10, "threshold": -50}, ""), ("silence none", {"duration": None}, ""), ("silence 0.01", {"duration": 0.01}, "invalid-time"),
    ("wait silence>=2 timeout=0", {"conditions": ["silence>=2"], "timeout": 0}, "timed-out"),
    ("replay-gain auto pre-amp=3 protect=off", {"mode": "auto", "pre-amp": 3, "protect": False}, ""),
    ("channel-mix mono", {"mix": "mono"}, ""), ("channel-mix swap", {"mix": "swap"}, ""), ("channel-mix 1,0", {"mix": "1,0"}, "bad-arguments"), ("channel-mix off", {"mix": "off"}, ""),
    ("equalizer peak:1000:-3:1.4 low-shelf:120:+4 high-pass:30 pre-amp=-2", {"bands": ["peak:1000:-3:1.4", "low-shelf:120:+4", "high-pass:30"], "pre-amp": -2}, ""),
    ("equalizer pre-amp=-6", {"pre-amp": -6}, ""), ("equalizer notch:50", {"bands": ["notch:50"]}, "bad-arguments"), ("equalizer off", {"bands": "off"}, ""), ("equalizer", {}, ""),
    ("compressor threshold=-20 ratio=4 knee=6 attack=0.01 release=0.2 make-up=3", {"threshold": -20, "ratio": 4, "knee": 6, "attack": 0.01, "release": 0.2, "make-up": 3}, ""),
    ("compressor on", {"state": True}, ""), ("compressor off", {"state": False}, ""), ("compressor", {}, ""),
    ("limiter ceiling=-1 release=0.1 look-ahead=0.005", {"ceiling": -1, "release": 0.1, "look-ahead": 0.005}, ""),
    ("limiter off", {"state": False}, ""), ("limiter", {}, ""),
    ("media-selection audible language=de,en automatic=on", {"group": "audible", "language": ["de", "en"], "automatic": True}, ""),
    ("session.category playback mode=moviePlayback options=duckOthers", {"category": "playback", "mode": "moviePlayback", "options": ["duckOthers"]}, ""),
    ("session.category playAndRecord", {"category": "playAndRecord", "options": None}, ""), ("session.status", {}, ""), ("session.active on", {"state": True}, ""),
    ("session.policy at-end=pause timeout=60 fade=0.25", {"at-end": "pause", "timeout": 60, "fade": 0.25}, ""), ("session.policy timeout=none", {"timeout": None}, ""),
    ("session.resume", {}, "invalid-state"), ("output.list", {}, ""), ("output.status", {}, ""), ("output.set", {}, ""),
    ("output.set default preferred=a,b", {"device": "default", "preferred": ["a", "b"]}, "output-configuration"),
    # Playback.
    ("preroll", {}, ""), ("preroll.cancel", {}, ""), ("seek 100001/48000", {"time": "100001/48000"}, ""), ("seek 1 after=inf", {"time": 1, "after": "inf"}, ""),
    ("seek soon", {"time": "soon"}, "invalid-time"), ("step -5", {"count": -5}, ""), ("seek.cancel", {}, ""), ("loop 2 2.5 count=1", {"start": 2, "end": 2.5, "count": 1}, ""),
    ("loop range=1-2.5", {"range": {"start": 1, "end": 2.5}}, ""), ("loop range=1-inf", {"range": {"start": 1, "end": None}}, "bad-arguments"),
    ("status", {}, ""), ("loop off", {"off": True}, ""), ("next-chapter", {}, "no-such-chapter"), ("previous-chapter", {}, "no-such-chapter"),
    ("rate-at 0 now from=1", {"rate": 0, "time": "now", "from": 1}, ""), ("play", {}, ""), ("play from=2 to=1", {"from": 2, "to": 1}, "invalid-time"), ("stop", {}, ""), ("toggle", {}, ""), ("pause", {}, ""),
    # Without automatic waiting, `play-immediately` requires decoded audio.
    ("preroll", {}, ""), ("play-immediately", {}, ""), ("clock.advance 0.5", {"duration": 0.5}, ""), ("explain", {}, ""), ("status", {}, ""), ("pause", {}, ""),
    ("player.create t temporary", {"name": "t", "temporary": True}, ""), ("player.close t", {"name": "t"}, ""),
    ("player.create b", {"name": "b"}, ""), ("load {one} wait=ready player=b", {"paths": ["{one}"], "wait": "ready", "player": "b"}, ""),
    ("play-at 24:00 main", {"time": "24:00", "players": ["main"]}, "invalid-time"), ("rate-at 1 1970-01-01T00:00Z", {"rate": 1, "time": "1970-01-01T00:00Z"}, "invalid-time"),
    ("player.list", {}, ""), ("play-at now main b", {"time": "now", "players": ["main", "b"]}, ""), ("rate-together 1.5 main b", {"rate": 1.5, "players": ["main", "b"]}, ""),
    ("player.close b", {"name": "b"}, ""), ("player.close b", {"name": "b"}, "no-such-player"), ("pause", {}, ""),
    # Entries.
    ("item.artwork 2", {"id": 2}, ""), ("item.artwork 2 offset=0 limit=12", {"id": 2, "offset": 0, "limit": 12}, ""), ("item.buffer 2 3", {"id": 2, "duration": 3}, ""),
    ("item.chapters 2", {"id": 2}, ""), ("item.end-time 2 forward=1:30", {"id": 2, "forward": "1:30"}, ""), ("item.end-time 2 forward=none", {"id": 2, "forward": None}, ""),
    ("item.log 2", {"id": 2}, ""), ("item.metadata 2 common", {"id": 2, "common": True}, ""), ("item.pitch 2 varispeed", {"id": 2, "algorithm": "varispeed"}, ""),
    ("item.select 2 audio=auto", {"id": 2, "audio": "auto"}, ""), ("item.select 2 selection=audible=0,legible=none", {"id": 2, "selection": {"audible": 0, "legible": None}}, ""), ("item.select 2", {"id": 2}, ""), ("item.selection 2", {"id": 2}, ""), ("item.status 2", {"id": 2}, ""),
    ("item.status 99", {"id": 99}, "no-such-item"), ("item.tracks 2", {"id": 2}, ""), ("item.volume 2 0.5 at=4 to=0.25 over=5", {"id": 2, "volume": 0.5, "at": 4, "to": 0.25, "over": 5}, ""),
    # Assets and work on files.
    ("asset.open {two}", {"path": "{two}"}, ""), ("asset.tracks 1", {"id": 1}, "invalid-state"), ("asset.load 1 duration tracks", {"id": 1, "keys": ["duration", "tracks"]}, ""),
    ("asset.status 1", {"id": 1}, ""), ("asset.tracks 1", {"id": 1}, ""), ("asset.chapters 1", {"id": 1}, ""), ("asset.metadata 1", {"id": 1}, ""),
    ("asset.artwork 1 file={out}/cover.png", {"id": 1, "file": "{out}/cover.png"}, ""), ("asset.selection 1", {"id": 1}, ""), ("asset.cancel 1", {"id": 1, "keys": None}, ""),
    ("asset.close 1", {"id": 1}, ""), ("asset.close 1", {"id": 1}, "no-such-asset"), ("scan {one} {out}/missing.flac album", {"paths": ["{one}", "{out}/missing.flac"], "album": True}, ""),
    ("scan.cancel", {}, ""), ("waveform {one} bins=4", {"path": "{one}", "bins": 4}, ""),
    ("waveform {one} file={out}/a.dat bits=8", {"path": "{one}", "file": "{out}/a.dat", "bits": 8}, ""), ("waveform {out}/missing.flac", {"path": "{out}/missing.flac"}, "file-not-found"),
    ("export {one} file={out}/part.flac start=1 end=3 bits=24", {"paths": ["{one}"], "file": "{out}/part.flac", "start": 1, "end": 3, "bits": 24}, ""),
    ("image {film} 0.5 file={out}/image.png", {"path": "{film}", "times": [0.5], "file": "{out}/image.png"}, ""),
    ("folder.list", {}, ""), ("folder.list {out} limit=1", {"path": "{out}", "limit": 1}, ""), ("folder.list {out}/missing", {"path": "{out}/missing"}, "file-not-found"),
    # Recordings.
    ("record.prepare {out}/memo.wav bits=24 container=wav", {"file": "{out}/memo.wav", "bits": 24, "container": "wav"}, ""), ("record.watch rate=20", {"rate": 20}, ""), ("record.start", {}, ""),
    ("record.pause", {}, ""), ("record.status", {}, ""), ("record.list", {}, ""), ("record.stop", {}, ""), ("record.start", {}, "invalid-state"), ("record.unwatch 1", {"id": 1}, ""),
    ("record.delete", {}, ""), ("record.status 1", {"recorder": 1}, "no-such-recorder"),
    # Watching.
    ("observe *", {"keys": "*"}, ""), ("tick 0.5", {"interval": 0.5}, ""), ("at 90 1:35.25", {"times": [90, "1:35.25"]}, ""), ("at-chapters", {}, ""), ("meter 20", {"rate": 20}, ""),
    ("next", {}, ""), ("previous", {}, ""), ("jump index=1", {"index": 1}, ""), ("history", {}, ""),
    ("unobserve 2", {"id": 2}, ""), ("untick 3", {"id": 3}, ""), ("untick 4", {"id": 4}, ""), ("untick 5", {"id": 5}, ""), ("unmeter 6", {"id": 6}, ""), ("unmeter 6", {"id": 6}, "no-such-observer"),
    ("events queue.* since=0", {"keys": ["queue.*"], "since": 0}, ""), ("cancel w", {"id": "w"}, "no-such-request"),
    # Saved state.
    ("state.save", {}, ""), ("state", {}, ""), ("queue.save evening", {"name": "evening"}, ""), ("queue.saved", {}, ""), ("bookmark.add 1/4 name=here", {"time": "1/4", "name": "here"}, ""),
    ("bookmark.list", {}, ""), ("bookmark.go name=here", {"name": "here"}, ""), ("bookmark.remove 1", {"bookmark": 1}, ""), ("clear", {}, ""),
    ("queue.load evening", {"name": "evening"}, ""), ("queue.forget evening", {"name": "evening"}, ""), ("bye", {}, ""),
]

# Requests whose reply requires that time advances.
NEEDS_TIME = {"play-at", "rate-together"}

# Fields whose values depend on real time or on the daemon, not on the form.
VARYING = set(
    "instance uptime connections requests errors events dropped seq writes workers workerCrashes us late wait open index demux decode resample commit"
    " device total hostTime saved loadedTimeRanges isPlaybackLikelyToKeepUp isPlaybackBufferFull isPlaybackBufferEmpty missed count".split())

READERS = {"int": read_int, "float": read_float, "bool": read_bool, "str": read_text, "Fraction": read_time, "Value": read_value}


@dataclasses.dataclass
class Reply:
    """The reply to one request. In text form every value is a text."""

    rows: list[dict[str, Any]]
    fields: dict[str, Any]
    error: dict[str, Any] | None = None


class Peer:
    """A plain connection in one form to a separate daemon."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_json: bool) -> None:
        self._reader, self._writer, self._is_json = reader, writer, is_json
        self._number = 0

    async def send(self, line: str, parameters: dict[str, Any]) -> Reply:
        """Sends a request and reads its reply; events are ignored."""
        self._number += 1
        if self._is_json:
            message = {"jsonrpc": "2.0", "id": self._number, "method": line.split()[0], "params": parameters}
            self._writer.write(json.dumps(message).encode() + b"\n")
            while True:
                found = json.loads(await self._reader.readline() or b"{}", parse_float=Fraction)
                if found.get("id") == self._number:
                    break
            if "error" in found:
                return Reply([], {}, {**found["error"]["data"], "message": found["error"]["message"]})
            rows = found["result"].pop("rows", None)
            return Reply(rows or [], found["result"])
        # The quotes of a shell differ from those of the text form.
        quoted = " ".join(json.dumps(word) if " " in word else word for word in shlex.split(line))
        self._writer.write(f"@{self._number} {quoted}\n".encode())
        rows = []
        while True:
            text = (await self._reader.readline()).decode()
            prefix, _, rest = text.partition(" ")
            if prefix != f"@{self._number}":
                assert text, line
                continue
            kind, fields = words(f"* {'row' + rest[1:] if rest.startswith('|') else rest}")
            if kind == "row":
                rows.append(fields)
            elif kind == "error":
                return Reply(rows, {}, fields)
            else:
                return Reply(rows, fields)


def filled(value: Any, names: dict[str, str]) -> Any:
    """A part of a case with its files."""
    if isinstance(value, str):
        for name, path in names.items():
            value = value.replace("{" + name + "}", path)
    elif isinstance(value, list):
        value = [filled(each, names) for each in value]
    elif isinstance(value, dict):
        value = {name: filled(each, names) for name, each in value.items()}
    return value


def as_words(value: Any) -> str:
    """The text form of a JSON value. Numbers are compared as numbers."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(as_words(each).replace("\\", "\\\\").replace(",", "\\,") for each in value)
    if is_range(value):
        return f"{as_words(value['start'])}-{'inf' if value['end'] is None else as_words(value['end'])}"
    if is_change(value):
        return ":".join(as_words(each) for each in value.values())
    if isinstance(value, Fraction):
        return repr(float(value))
    return str(value)


def is_range(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == {"start", "end"}


def is_change(value: Any) -> bool:
    """Whether a value is a change of a queue, such as `insert:12:3` in text form. The members have the order of the text form."""
    return isinstance(value, dict) and "change" in value


def same(text: Any, value: Any) -> bool:
    """Whether a value in text form equals a JSON value."""
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        try:
            return Fraction(str(text)) == Fraction(value)
        except ValueError:
            return False
    if is_range(value) or is_change(value) or isinstance(value, list) and value and all(is_range(each) or is_change(each) for each in value):
        return str(text) == as_words(value)
    if isinstance(value, dict) or isinstance(value, list) and any(isinstance(each, dict) for each in value):
        return bool(json.loads(str(text), parse_float=Fraction) == value)
    if isinstance(value, list) and any(isinstance(each, Fraction) for each in value):
        return [Fraction(each) for each in str(text).split(",")] == value
    return str(text) == as_words(value)


class ConformanceTests(Case):
    async def test_every_command_has_equal_replies_in_text_and_json(self) -> None:
        generated = generator()
        commands = {command.name: command for command in generated.commands()}
        missing = set(commands) - {line.split()[0] for line, _, _ in CASES}
        self.assertEqual(missing, set(), "commands without a case")
        pulse_server = await self.sound_server()
        files = {"one": self.tone(), "two": make_with_artwork(self.folder / "two.mp3", self.folder / "cover.png"),
                 "film": make(self.folder / "film.mp4", "-filter_complex", "testsrc=s=64x48:r=10:d=10[v]", "-map", "[v]", "-map", "0", "-c:v", "mpeg4")}
        peers, folders, clocks = [], [], []
        for form in ("words", "json"):
            folder = self.folder / form
            folder.mkdir()
            daemon = Daemon(folder, state=True, pulse_server=pulse_server)
            await daemon.start()
            self.addAsyncCleanup(daemon.stop)
            reader, writer = await asyncio.open_unix_connection(daemon.socket, limit=1 << 22)
            self.addCleanup(writer.close)
            await reader.readline()
            peers.append(Peer(reader, writer, form == "json"))
            folders.append(str(folder))
            clocks.append(await self.client(daemon))
        for line, parameters, expected in CASES:
            command = commands[line.split()[0]]
            pending_replies = [self.send(peer, line, parameters, {**files, "out": folder}) for peer, folder in zip(peers, folders)]
            tasks = [asyncio.create_task(each) for each in pending_replies]
            if command.name in NEEDS_TIME:
                for clock in clocks:
                    await clock.ping()
                    await clock.clock_advance(1)
            in_words, in_json = await asyncio.gather(*tasks)
            print(f"{line}: {'ok' if in_json.error is None else in_json.error['name']} {in_json.fields}"[:160])
            with self.subTest(line=line):
                self.check(generated, command, expected, in_words, in_json, folders, for_all=parameters.get("player") == "*")

    async def send(self, peer: Peer, line: str, parameters: dict[str, Any], names: dict[str, str]) -> Reply:
        """Sends a case with its files."""
        return await peer.send(filled(line, names), filled(parameters, names))

    def check(self, generated: Any, command: Any, expected: str, in_words: Reply, in_json: Reply, folders: list[str], *, for_all: bool = False) -> None:
        """Compares both replies with each other, with the specification and with the classes."""
        if in_json.error is not None or in_words.error is not None or expected:
            self.check_error(command, expected, in_words, in_json)
            return
        varying = VARYING if not command.name.startswith("record.") else VARYING | {"time", "pts", "duration", "size", "file"}
        varying = varying | {"kind", "requested", "reached"} if command.name == "explain" else varying
        self.compare(in_words.fields, in_json.fields, varying, folders)
        self.assertEqual(len(in_words.rows), len(in_json.rows))
        for words_row, json_row in zip(in_words.rows, in_json.rows):
            self.compare(words_row, json_row, varying, folders)
        # The classes have no field for the names of all players.
        self.check_fields(command.reply, {name: value for name, value in in_json.fields.items() if name != "players"} if for_all else in_json.fields)
        for row in in_json.rows:
            self.check_fields(command.rows, row)
        # The classes can decode the replies.
        kind = getattr(playhead, generated.reply_class(command), None)
        if command.name not in generated.BY_HAND and kind is not None:
            decode(kind, in_json.fields)
        elif in_json.fields:
            for field in command.reply:
                # A literal is one of several texts.
                READERS["str" if field.kind.startswith("Literal[") or field.kind in generated.shared_types() else field.kind](in_json.fields, field.wire)
        for row in in_json.rows:
            decode(getattr(playhead, generated.row_class(command)), row)

    def check_error(self, command: Any, expected: str, in_words: Reply, in_json: Reply) -> None:
        """Checks that both errors are the expected one, and that the specification lists it for the command."""
        assert in_words.error and in_json.error, (expected, in_words, in_json)
        self.assertEqual((in_words.error["name"], in_json.error["name"]), (expected, expected), in_json.error)
        self.assertEqual((in_words.error["operation"], in_json.error["operation"]), (command.name, command.name))
        self.assertEqual((in_words.error["code"], in_json.error["number"]), (in_json.error["number"], playhead.ErrorCode[expected.upper().replace("-", "_")]))
        self.assertIn(expected, command.errors, f"{command.name} does not list {expected}")

    def check_fields(self, documented: Any, found: dict[str, Any]) -> None:
        """The fields are those of the specification in its order; only marked ones are absent or null."""
        names = [field.wire for field in documented]
        self.assertEqual([name for name in names if name in found], list(found), f"documented: {names}")
        for field in documented:
            if field.wire not in found:
                self.assertTrue(field.optional, f"{field.wire} is absent")
            elif found[field.wire] is None:
                self.assertTrue(field.nullable, f"{field.wire} is null")

    def compare(self, in_words: dict[str, Any], in_json: dict[str, Any], varying: set[str], folders: list[str]) -> None:
        """Both have the same fields in the same order, with the same values."""
        self.assertEqual(list(in_words), list(in_json))
        for name, value in in_json.items():
            if name in varying or value == []:
                continue
            if isinstance(value, str):
                value = value.replace(folders[1], folders[0])
            self.assertTrue(same(in_words[name], value), f"{name}: {in_words[name]!r} in text form, {value!r} in JSON")

