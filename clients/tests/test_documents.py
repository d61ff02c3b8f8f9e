"""Runs every command line of the documents, against a real daemon.

For each page, a bash on a terminal runs the blocks in their order, in a home folder with the media files that the page
names:

- `console`: each command must succeed, unless the page shows its error. An output that the page shows must be the
  printed one, except for numbers, ids and times. A last line `^C` means that the reader presses Ctrl-C.
- `sh`: a fragment is run as a whole. A block that starts with `#!` is a script: the second line is `# NAME: ...` or
  `# NAME ARGUMENT...: ...`, and later blocks run it by this name.
- `python`: likewise.
- `text` with lines `> ...` and `< ...`: a connection to the control socket. The lines are sent, the replies compared.
- `text`, `toml` and others after `<!-- file: PATH -->` are the contents of that file.
- `swift` after `<!-- listing: NAME -->` is the region of that name in Examples, which is compiled. Also in the articles of
  the library (`Sources/*/*.docc`) and in its doc comments.

`<!-- not run: REASON -->` before a block excludes it. The test prints these blocks; their number is limited.
`<!-- documents: WORD ... -->` prepares a page: `pulseaudio` is a PulseAudio with two silent sinks, in real time.

The README and the guide have a daemon that `playheadd &` starts, without options. A page that needs other options
starts its own daemon, and states why. The other pages have a daemon that may write to ~/Music.

The daemon runs on a virtual clock, which advances as long as a command runs.
"""

from __future__ import annotations

import functools
import itertools
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

import blocks
import media
import server
import terminal

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
BINARIES = pathlib.Path(os.environ.get("PLAYHEADD", str(REPOSITORY / ".build/debug/playheadd"))).resolve().parent
MAXIMUM_NOT_RUN = 9
"""The number of blocks that may be excluded. Raise it only for a command that no test can run."""
ONLY = os.environ.get("DOCUMENTS", "")
"""A part of the paths of the pages to run (default: all)."""
PAGES = [path for path in sorted([REPOSITORY / "README.md", *(REPOSITORY / "docs").rglob("*.md"), *(REPOSITORY / "clients").glob("**/README.md"),
                                  *(REPOSITORY / "Sources").glob("*/*.docc/*.md")])
         if ".build" not in path.parts and "reference" not in path.parts]
"""The pages. The examples of the generated reference are checked with the command table (ProtocolDocumentTests)."""
SOURCES = [path for path in sorted((REPOSITORY / "Sources").glob("Playhead*/**/*.swift")) if "/// ```" in path.read_text(encoding="utf-8")]
"""The sources with examples in doc comments."""


class Clock:
    """Advances the virtual clock of the daemon at a socket, as long as another client waits for a reply or an event."""

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path
        self._connection: socket.socket | None = None
        self._is_waiting = False
        self.step = 0.002

    def advance(self) -> bool:
        """Advances the clock by a step. Returns whether it did."""
        if not self._connection and not self._connect():
            return False
        is_waiting = self._is_waiting
        try:
            line = self._request(f"clock.advance {self.step}\nstats\n" if is_waiting else "stats\n")
        except OSError:
            self.close()
            return False
        counts = re.search(r" connections=(\d+) requests=(\d+) ", line)
        if not counts:
            # The daemon is stopping.
            self.close()
            return False
        others = int(counts[2]) - self._own
        if counts[1] == "1":
            self._idle_count = others
        # A client that is connected and has not sent its request does not wait yet.
        self._is_waiting = others > self._idle_count
        return is_waiting

    def _connect(self) -> bool:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(20)
        try:
            connection.connect(str(self._path))
            connection.recv(4096)
        except OSError:
            connection.close()
            return False
        self._connection, self._own, self._idle_count, self._is_waiting = connection, 0, 0, False
        return True

    def _request(self, requests: str) -> str:
        """Sends requests, and returns the last reply."""
        assert self._connection
        count = requests.count("\n")
        self._own += count
        self._connection.sendall(requests.encode())
        replies = b""
        while replies.count(b"\n") < count:
            data = self._connection.recv(65536)
            if not data:
                raise OSError("the daemon closed the connection")
            replies += data
        return replies.decode().splitlines()[-1]

    def close(self) -> None:
        if self._connection:
            self._connection.close()
            self._connection = None


class Page:
    """A page in its home folder, with the programs, the media files and a terminal."""

    def __init__(self, document: blocks.Document, files: media.Media, web: server.Server) -> None:
        self._document = document
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix="playhead-"))
        self._home = self._folder / "home"
        self._music = self._home / "Music"
        self._programs = self._home / "bin"
        self._runtime = self._folder / "run"
        for folder in (self._music, self._programs, self._folder / "bin"):
            folder.mkdir(parents=True)
        self._runtime.mkdir(mode=0o700)
        self._text = document.path.read_text(encoding="utf-8")
        files.provide(self._music, self._text)
        self._socket = self._runtime / "playhead/control.sock"
        self._sound: subprocess.Popen[bytes] | None = None
        self._scripts: set[str] = set()
        is_real = "pulseaudio" in document.settings
        self._clock = Clock(self._socket)
        self._write_programs(is_real)
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("NOTIFY_SOCKET", "WATCHDOG_", "LISTEN_", "PLAYHEAD", "XDG_", "LC_", "PULSE_"))}
        environment |= {
            "HOME": str(self._home), "XDG_RUNTIME_DIR": str(self._runtime), "LC_ALL": "C.UTF-8", "http_proxy": web.url, "PULSE_SERVER": "unix:/nonexistent",
            "PYTHONPATH": str(REPOSITORY / "clients/python/src"), "PATH": f"{self._folder / 'bin'}:{self._programs}:/usr/local/bin:/usr/bin:/bin",
            "DBUS_SESSION_BUS_ADDRESS": "disabled:", "TZ": "UTC"}
        if is_real:
            environment["PULSE_SERVER"] = self._start_sound_server(environment)
        self._terminal = terminal.Terminal(self._music, environment, (lambda: False) if is_real else self._clock.advance)
        (self._home / "playhead").symlink_to(REPOSITORY)
        if not re.search(r"^\$ playheadd(?!.* --socket).* &$", self._text, re.MULTILINE):
            self._start_daemon("playheadd &" if self._is_for_users else "playheadd --write-root ~/Music &")
            if is_real:
                self._wait_for_devices()

    @property
    def _is_for_users(self) -> bool:
        """Whether each command must work with a daemon without options: in the README, and in the guide."""
        path = self._document.path.relative_to(REPOSITORY)
        return path == pathlib.Path("README.md") or path.is_relative_to("docs/guide")

    def _write_programs(self, is_real: bool) -> None:
        """Writes `playheadd`, with the options that the test needs, and a link to `playhead`."""
        programs = self._folder / "bin"
        (programs / "playhead").symlink_to(BINARIES / "playhead")
        sound = "" if is_real else "--clock virtual"
        (programs / "playheadd").write_text(textwrap.dedent(f"""\
            #!/bin/bash
            case " $* " in *' --check-config '* | *' --help '* | *' --version '*) exec {BINARIES}/playheadd "$@" ;; esac
            options=({sound} --log-level critical)
            case " $* " in *' --output '*) ;; *) {':' if is_real else 'options+=(--output null)'} ;; esac
            case " $* " in *' --state '* | *' --no-state '*) ;; *) options+=(--state ~/.local/state/playhead) ;; esac
            exec setpriv --pdeathsig TERM {BINARIES}/playheadd "${{options[@]}}" "$@"
            """))
        (programs / "playheadd").chmod(0o755)

    def _start_sound_server(self, environment: dict[str, str]) -> str:
        path = self._runtime / "pulse.sock"
        (self._runtime / "cookie").write_bytes(bytes(256))
        environment["PULSE_COOKIE"] = str(self._runtime / "cookie")
        sinks = [argument for name in ("speakers", "headset") for argument in
                 ("-L", f"module-null-sink sink_name={name} rate=48000 channels=2 sink_properties=device.description={name.title()}")]
        self._sound = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--log-target=stderr", *sinks,
             "-L", f"module-native-protocol-unix socket={path} auth-anonymous=1"],
            env={**environment, "XDG_CONFIG_HOME": str(self._folder), "PULSE_SERVER": ""}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while self._sound.poll() is None:
            with socket.socket(socket.AF_UNIX) as connection:
                try:
                    connection.connect(str(path))
                    return f"unix:{path}"
                except OSError:
                    # It is starting.
                    time.sleep(0.01)
        raise AssertionError("PulseAudio did not start")

    def close(self) -> None:
        self._terminal.close()
        self._clock.close()
        if self._sound:
            self._sound.kill()
            self._sound.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def run(self, case: unittest.TestCase) -> None:
        for block in self._document.blocks:
            if block.reason is not None:
                continue
            where = f"{self._document.path.relative_to(REPOSITORY)}:{block.line}"
            if block.file is not None:
                path = self._path(block.file)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text.replace("/home/USER", str(self._home)))
            elif block.lines[:1] and block.lines[0].startswith("#!"):
                self._save_script(block, where)
            elif block.language == "console":
                for command in block.commands():
                    self._run_command(case, command, f"{self._document.path.relative_to(REPOSITORY)}:{command.line}")
            elif block.language in ("sh", "python"):
                self._run_fragment(case, block, where)
            elif block.is_transcript:
                self._run_transcript(case, block, where)
        for name in self._scripts:
            case.assertRegex("\n".join(line for block in self._document.blocks if block.language == "console" for line in block.lines),
                             rf"(?m)^[$>] .*\b{re.escape(name)}\b", f"{self._document.path}: no block runs {name}")

    def _path(self, name: str) -> pathlib.Path:
        return self._home / name.removeprefix("~/") if name.startswith("~/") else self._music / name

    def _save_script(self, block: blocks.Block, where: str) -> None:
        name = re.match(r"# ([a-z][a-z-]*)\b", block.lines[1])
        if not name:
            raise AssertionError(f"{where}: the second line of a script is `# NAME: ...`")
        path = self._programs / name[1]
        path.write_text(block.text)
        path.chmod(0o755)
        self._scripts.add(name[1])

    def _wait_for_devices(self) -> None:
        """Waits until the daemon knows the devices of the sound server."""
        connection = Transcript(self._socket, self._clock)
        connection.send("observe output.devices")
        while not re.search("key=output.devices .*new=(?!none)", connection.line()):
            pass
        connection.close()

    def _start_daemon(self, command: str) -> list[str]:
        self._terminal.run(command)
        self._clock.close()
        return self._terminal.wait_for(lambda lines: any("playheadd ready" in line for line in lines))

    def _run_command(self, case: unittest.TestCase, command: blocks.Command, where: str) -> None:
        expected = command.output
        is_interrupted = expected[-1:] == ("^C",)
        runs_script = any(re.search(rf"(^|[|&] ){name}\b", command.text) for name in self._scripts)
        self._clock.step = 0.05 if runs_script else 0.1 if re.search(r"\bwait\b(?!=)", command.text) else 0.01 if "watch" in command.text else 0.002
        try:
            if re.search(r" &(\s*#.*)?$", command.text):
                if re.match(r"(\S+=\S+ )*playheadd ", command.text):
                    status, lines = 0, self._start_daemon(command.text)
                else:
                    text = re.sub(r" &(\s*#.*)?$", "", command.text)
                    status, lines = self._terminal.run(f"{{ {text}; }} >~/.output 2>&1 &")
                    expected = ()
            elif is_interrupted:
                expected = expected[:-1]
                turns = itertools.count()
                status, lines = self._terminal.run(
                    command.text, lambda lines: next(turns) > 100 and self._differs((*expected, "..."), lines) is None)
                expected, status = (*expected, "..."), 0
            else:
                status, lines = self._terminal.run(command.text)
        except TimeoutError as error:
            case.fail(f"{where}: $ {command.text}: {error}")
        shows_error = any(re.match(r"playhead: |\{\"error\"|\S+\.toml:\d", line) for line in command.output)
        if status != 0 and not shows_error:
            case.fail(f"{where}: exit status {status}\n$ {command.text}\n" + "\n".join(lines))
        if expected and (difference := self._differs(expected, lines)):
            case.fail(f"{where}: another output (status {status})\n$ {command.text}\n{difference}")

    def _differs(self, expected: tuple[str, ...], lines: list[str]) -> str | None:
        return blocks.differs(expected, [self._documented(line) for line in lines])

    def _documented(self, line: str) -> str:
        """A printed line with the folders that the documents have."""
        return line.replace(str(self._home), "/home/USER").replace(str(self._runtime), "/run/user/1000")

    def _run_fragment(self, case: unittest.TestCase, block: blocks.Block, where: str) -> None:
        path = self._folder / "fragment"
        path.write_text(block.text)
        self._clock.step = 0.05
        try:
            status, lines = self._terminal.run(f"{'/usr/bin/python3' if block.language == 'python' else 'bash -eu'} {path}")
        except TimeoutError as error:
            case.fail(f"{where}: {error}")
        if status != 0:
            case.fail(f"{where}: exit status {status}\n" + "\n".join(lines))

    def _run_transcript(self, case: unittest.TestCase, block: blocks.Block, where: str) -> None:
        self._clock.step = 0.01
        connection = Transcript(self._socket, self._clock)
        try:
            for request, expected in block.exchanges():
                if request is not None:
                    connection.send(request.replace("/home/USER", str(self._home)))
                elif not expected:
                    # The transcript omits the greeting.
                    connection.line()
                for line in expected:
                    if difference := self._differs((line,), [connection.line()]):
                        case.fail(f"{where}: after {request}\n{difference}")
        finally:
            connection.close()


class Transcript:
    """A connection that is read line by line, while the clock advances."""

    def __init__(self, path: pathlib.Path, clock: Clock) -> None:
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(str(path))
        self._connection.settimeout(0.001)
        self._clock = clock
        self._data = b""

    def send(self, line: str) -> None:
        self._connection.sendall(line.encode() + b"\n")

    def line(self) -> str:
        end = time.monotonic() + terminal.LIMIT
        while b"\n" not in self._data:
            try:
                data = self._connection.recv(65536)
                if not data:
                    raise AssertionError("the daemon closed the connection")
                self._data += data
            except TimeoutError:
                if time.monotonic() > end:
                    raise AssertionError("no reply") from None
                self._clock.advance()
        line, self._data = self._data.split(b"\n", 1)
        return line.decode()

    def close(self) -> None:
        self._connection.close()


class DocumentTests(unittest.TestCase):
    files: media.Media
    web: server.Server
    folder: pathlib.Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="playhead-media-"))
        cls.files = media.Media(cls.folder)
        for name in ("one.flac", "two.flac", "three.mp3"):
            cls.files.file(name)
        (cls.folder / "station.m3u").write_text("http://radio.example/live\n")
        subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", str(cls.folder / "one.flac"), "-c:a", "aac", "-f", "hls", "-hls_time", "6",
                        "-hls_list_size", "0", str(cls.folder / "stream.m3u8")], check=True)
        cls.web = server.Server(cls.folder, cls.folder / "three.mp3")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.web.close()
        shutil.rmtree(cls.folder)

    def page(self, path: pathlib.Path) -> None:
        document = blocks.read(path)
        if not any(block.is_run for block in document.blocks):
            return
        page = Page(document, self.files, self.web)
        try:
            page.run(self)
        finally:
            page.close()

    def test_excluded_blocks_have_a_reason_and_are_few(self) -> None:
        excluded = [(path.relative_to(REPOSITORY), block) for path in PAGES for block in blocks.read(path).blocks if block.reason is not None]
        for path, block in excluded:
            print(f"not run: {path}:{block.line}: {block.reason}", file=sys.stderr)
        self.assertLessEqual(len(excluded), MAXIMUM_NOT_RUN)

    def test_blocks_have_a_language(self) -> None:
        for path in PAGES:
            for block in blocks.read(path).blocks:
                self.assertTrue(block.language, f"{path.relative_to(REPOSITORY)}:{block.line}: the block has no language")

    def test_listings_are_compiled(self) -> None:
        regions: dict[str, str] = {}
        for source in sorted((REPOSITORY / "Examples/Sources").rglob("*.swift")):
            for region in re.finditer(r"^ *// listing: ([a-z-]+)\n(.*?)^ *// end of listing\n", source.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
                self.assertNotIn(region[1], regions)
                regions[region[1]] = textwrap.dedent(region[2])
        shown: set[str] = set()
        for path in PAGES + SOURCES:
            for block in blocks.read(path).blocks:
                if block.language == "swift" and block.reason is None:
                    where = f"{path.relative_to(REPOSITORY)}:{block.line}"
                    self.assertIsNotNone(block.listing, f"{where}: the block has no `<!-- listing: NAME -->`")
                    assert block.listing
                    self.assertEqual(block.text, regions.get(block.listing), f"{where}: differs from the region {block.listing} in Examples")
                    shown.add(block.listing)
        self.assertEqual(shown, set(regions), "regions that no document shows")


def _add_pages() -> None:
    """Adds a test for each page."""
    for path in PAGES:
        name = str(path.relative_to(REPOSITORY))
        if ONLY in name:
            setattr(DocumentTests, f"test_page_{re.sub('[^A-Za-z0-9]', '_', name)}", functools.partialmethod(DocumentTests.page, path))


_add_pages()

if __name__ == "__main__":
    unittest.main()
