"""The fenced blocks of a Markdown document, and the comparison of a printed output with a documented one."""

from __future__ import annotations

import dataclasses
import pathlib
import re

RUN = ("sh", "console", "python")
"""The languages of the blocks that are run."""


@dataclasses.dataclass(frozen=True)
class Command:
    """A command of a `console` block, with the output that the document shows for it."""

    text: str
    output: tuple[str, ...]
    line: int


@dataclasses.dataclass(frozen=True)
class Block:
    """A fenced block. `line` is that of the opening fence."""

    language: str
    lines: tuple[str, ...]
    line: int
    reason: str | None = None
    """Why the block is not run (`<!-- not run: REASON -->`)."""
    file: str | None = None
    """The file that has the text of the block (`<!-- file: PATH -->`)."""
    listing: str | None = None
    """The name of the region of Examples with the same text (`<!-- listing: NAME -->`)."""

    @property
    def text(self) -> str:
        return "".join(line + "\n" for line in self.lines)

    @property
    def is_transcript(self) -> bool:
        """Whether the block shows the lines of a connection."""
        return self.language == "text" and any(line.startswith("> ") for line in self.lines)

    @property
    def is_run(self) -> bool:
        return self.reason is None and (self.language in RUN or self.is_transcript)

    def commands(self) -> list[Command]:
        """The commands of a `console` block: `$ COMMAND`, continued by lines `> ...`, then the output."""
        commands: list[tuple[list[str], list[str], int]] = []
        for number, line in enumerate(self.lines, self.line + 1):
            if line.startswith("$ "):
                commands.append(([line[2:]], [], number))
            elif not commands:
                raise ValueError(f"line {number}: an output without a command: {line}")
            elif line.startswith("> ") and not commands[-1][1]:
                commands[-1][0].append(line[2:])
            else:
                commands[-1][1].append(line)
        return [Command("\n".join(text), tuple(output), line) for text, output, line in commands]

    def exchanges(self) -> list[tuple[str | None, list[str]]]:
        """A transcript of a connection: each line that the client sends (`> `) with the lines that follow it (`< `)."""
        exchanges: list[tuple[str | None, list[str]]] = [(None, [])]
        for line in self.lines:
            if line.startswith("> "):
                exchanges.append((line[2:], []))
            elif line.startswith("< "):
                exchanges[-1][1].append(line[2:])
        return exchanges


@dataclasses.dataclass(frozen=True)
class Document:
    path: pathlib.Path
    blocks: tuple[Block, ...]
    settings: frozenset[str]
    """The words of `<!-- documents: WORD ... -->`: what the runner prepares for the page."""


def lines_of(path: pathlib.Path) -> list[str]:
    """The lines of a document. Of a Swift file: the text of its doc comments, and an empty line for each line of code."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if path.suffix != ".swift":
        return lines
    return [match[1] if (match := re.match(r" *///(?: (.*)|$)", line)) and match[1] else "" for line in lines]


def read(path: pathlib.Path) -> Document:
    """Reads a document. The comments before a block belong to it."""
    blocks: list[Block] = []
    settings: set[str] = set()
    comments: dict[str, str] = {}
    inside: tuple[str, int, str] | None = None
    lines: list[str] = []
    for number, line in enumerate(lines_of(path), 1):
        fence = re.match(r"( *)```(\S*)$", line)
        if inside is not None:
            if fence and not fence[2]:
                blocks.append(Block(inside[0], tuple(lines), inside[1], comments.get("not run"), comments.get("file"), comments.get("listing")))
                comments, inside = {}, None
            else:
                lines.append(line.removeprefix(inside[2]))
        elif fence:
            inside, lines = (fence[2], number, fence[1]), []
        elif comment := re.fullmatch(r" *<!-- ([a-z ]+): (.+) -->", line):
            if comment[1] == "documents":
                settings.update(comment[2].split())
            else:
                comments[comment[1]] = comment[2]
        elif line.strip():
            comments = {}
    if inside is not None:
        raise ValueError(f"{path}: the block at line {inside[1]} has no end")
    return Document(path, tuple(blocks), frozenset(settings))


def normal(line: str) -> str:
    """A line without what differs from run to run: numbers, ids, times, and the spaces that align them."""
    line = re.sub(r"\b[0-9a-f]{16,}\b", "ID", line)
    # Bars of progress and levels.
    line = re.sub(r"[━╸╺─]{3,}|\[[=#| ]*\]", "BAR", line)
    line = re.sub(r"[▁▂▃▄▅▆▇█]+", "", line)
    line = re.sub(r"-?(\d+[Tt:.,/-])*\d+(e-?\d+)?[Zz]?", "N", line)
    # An unlimited time, and a time that is not known yet.
    line = re.sub(r"-?\binf\b|(?<=\s)-(?=\s)", "N", line)
    line = re.sub(r"-{3,}", "-", line)
    return re.sub(r"\s+", " ", line).strip()


def differs(expected: tuple[str, ...], actual: list[str]) -> str | None:
    """How an output differs from the documented one, or None. A line `...` matches any number of lines; `...` in a
    line matches any text.
    """
    wanted = [normal(line) for line in expected]
    got = [normal(line) for line in actual]
    if _matches(wanted, got):
        return None
    return "documented:\n  " + "\n  ".join(expected) + "\nprinted:\n  " + "\n  ".join(actual[:60])


def _matches(wanted: list[str], got: list[str]) -> bool:
    if not wanted:
        return not got
    if wanted[0] == "...":
        return any(_matches(wanted[1:], got[index:]) for index in range(len(got) + 1))
    if not got:
        return False
    pattern = ".*".join(re.escape(part) for part in wanted[0].split("..."))
    return re.fullmatch(pattern, got[0]) is not None and _matches(wanted[1:], got[1:])
