"""An interactive bash on a pseudo-terminal, in which the commands of a page are run as a reader types them."""

from __future__ import annotations

import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable

COLUMNS = 100
MARK = "\x1e"
"""Begins and ends the exit status that bash prints when a command has ended."""
LIMIT = 15
"""The time limit of a command in seconds, far longer than any command needs."""


class Terminal:
    def __init__(self, folder: pathlib.Path, environment: dict[str, str], idle: Callable[[], bool]) -> None:
        """`idle` is called repeatedly while a command runs, and returns whether it did anything."""
        self._idle = idle
        self._control, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
        attributes = termios.tcgetattr(terminal)
        attributes[3] &= ~termios.ECHO
        termios.tcsetattr(terminal, termios.TCSANOW, attributes)
        self._process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "bash", "--norc", "--noprofile", "--noediting", "-i"], cwd=folder, stdin=terminal, stdout=terminal,
            stderr=terminal, start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            env={**environment, "PS1": "", "PS2": "", "PROMPT_COMMAND": rf"printf '\036%d\036' $?", "HISTFILE": "", "TERM": "xterm", "NO_COLOR": "1"})
        os.close(terminal)
        self._pending = ""
        self._wait()
        self.run("set +H; set -o pipefail; stty -echo")

    def run(self, command: str, until: Callable[[list[str]], bool] | None = None) -> tuple[int, list[str]]:
        """Runs a command. Returns its exit status and the lines that it printed.

        `until`: the command runs until its output satisfies this; then the terminal sends Ctrl-C.
        """
        os.write(self._control, (command + "\n").encode())
        return self._wait(until)

    def _wait(self, until: Callable[[list[str]], bool] | None = None) -> tuple[int, list[str]]:
        # The limit only ends a test that would hang.
        end = time.monotonic() + LIMIT
        interrupted = False
        while not (found := re.search(f"{MARK}(\\d+){MARK}", self._pending)):
            if time.monotonic() > end:
                raise TimeoutError(f"the command does not end; it printed {screen(self._pending)[:12]}")
            if until and not interrupted and until(screen(self._pending)):
                os.write(self._control, b"\x03")
                interrupted = True
            self._read(0 if self._idle() else 0.001)
        text, self._pending = self._pending[: found.start()], self._pending[found.end():]
        return int(found[1]), screen(text)

    def wait_for(self, matches: Callable[[list[str]], bool]) -> list[str]:
        """Waits until the output of background jobs satisfies a condition, and returns it."""
        end = time.monotonic() + LIMIT
        while not matches(screen(self._pending)):
            if time.monotonic() > end:
                return screen(self._pending)
            self._read(0 if self._idle() else 0.001)
        text, self._pending = self._pending, ""
        return screen(text)

    def _read(self, seconds: float) -> None:
        if select.select([self._control], [], [], seconds)[0]:
            try:
                self._pending += os.read(self._control, 65536).decode(errors="replace")
            except OSError as error:
                raise EOFError("bash ended") from error

    def close(self) -> None:
        """Ends bash and its jobs."""
        if self._process.poll() is None:
            try:
                self.run("kill -CONT $(jobs -p) 2>/dev/null; kill $(jobs -p) 2>/dev/null; wait")
            except (EOFError, TimeoutError, OSError):
                pass
            self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        os.close(self._control)


def screen(text: str) -> list[str]:
    """The lines on the screen after a program printed `text`, without colours and without bash's notes about jobs."""
    # The alternate screen disappears at its end. Until then, it shows what follows the last return to its first row.
    text = re.sub(r"\x1b\[\?1049h.*?\x1b\[\?1049l", "", text, flags=re.DOTALL)
    if "\x1b[?1049h" in text:
        text = text[max(text.rfind("\x1b[H"), text.rfind("\x1b[?1049h")):]
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-ln-z]|\x1b\[m|\x1b\[[0-9;]*m", lambda match: "\0" if match[0].endswith("K") else "", text)
    lines = []
    for line in text.replace("\r\n", "\n").split("\n"):
        # A carriage return starts the line again.
        parts = [part.replace("\0", "") for part in line.split("\r")]
        lines.append(next((part for part in reversed(parts) if part.strip()), "").rstrip())
    lines = [line for line in lines if not re.match(r"\[\d+\]([+-]? |$)|\[\d+\]\s+\d+$", line)]
    while lines and not lines[-1]:
        lines.pop()
    return lines
