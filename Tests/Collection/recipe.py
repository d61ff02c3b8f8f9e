"""How a file of the collection is made: recipes, their steps, and the signals that they begin with."""

import dataclasses
from collections.abc import Callable
from typing import Any


@dataclasses.dataclass(frozen=True)
class Run:
    """Runs a program: `{in}` is the file before this step, `{out}` the one to write, `{other:NAME}` another
    recipe's file.
    """

    words: tuple[str, ...]
    extension: str


@dataclasses.dataclass(frozen=True)
class Edit:
    """Edits the bytes with a function of mediapatch. `other` names a recipe whose file is the second argument."""

    function: Callable[..., bytes]
    arguments: tuple[Any, ...] = ()
    other: str | None = None
    options: tuple[tuple[str, Any], ...] = ()


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How a file is made."""

    name: str
    source: str
    steps: tuple[Run | Edit, ...]
    # Not part of the collection: only the start of other recipes.
    is_intermediate: bool = False
    # The folder `name` holds all files that the last step writes.
    is_folder: bool = False


@dataclasses.dataclass(frozen=True)
class Signal:
    """Noise, sweeps and clicks, distinguishable at every position, without noise where a codec would model that."""

    rate: int
    channels: int
    seconds: float
    codec: str = "pcm_s16le"
    is_tonal: bool = False

    def command(self) -> tuple[str, ...]:
        """The arguments of FFmpeg, without the output."""
        parts = []
        for channel in range(self.channels):
            low, high = 180 + 37 * channel, min(self.rate / 5, 1_400 + 90 * channel)
            text = (
                f"0.25*sin(2*PI*({low}+{self.rate / 140:.1f}*t)*t)*(0.6+0.4*sin(3.1*t*t))"
                f"+0.15*sin(2*PI*({high:.0f}-61*t)*t)"
            )
            if not self.is_tonal:
                text += f"+0.4*(random({channel})-0.5)*pow(0.5+0.5*sin(9*t*t+t+{channel})\\,3)"
                text += f"+0.5*lt(mod(t+{0.07 * channel:.2f}\\,0.43)\\,0.0006)"
            parts.append(text)
        frames = int(self.seconds * self.rate)
        return (
            "-f",
            "lavfi",
            "-i",
            f"aevalsrc=exprs='{'|'.join(parts)}':s={self.rate}:d={self.seconds + 1}," f"atrim=end_sample={frames}",
            "-fflags",
            "+bitexact",
            "-c:a",
            self.codec,
        )


SIGNALS = {
    "m8": Signal(8_000, 1, 2.113),
    "m16": Signal(16_000, 1, 2.113),
    "s11": Signal(11_025, 2, 1.713),
    "m11": Signal(11_025, 1, 1.713),
    "s22": Signal(22_050, 2, 1.713),
    "m22": Signal(22_050, 1, 1.713),
    "s32": Signal(32_000, 2, 1.713),
    "s44": Signal(44_100, 2, 1.913),
    "m44": Signal(44_100, 1, 1.913),
    "t44": Signal(44_100, 2, 1.913, is_tonal=True),
    "s48": Signal(48_000, 2, 1.913),
    "m48": Signal(48_000, 1, 1.913),
    "x48": Signal(48_000, 6, 1.313),
    "h96": Signal(96_000, 2, 1.113, "pcm_s24le"),
    "x96": Signal(96_000, 6, 1.013, "pcm_s24le"),
    "d44": Signal(44_100, 2, 1.513, "pcm_s24le"),
    "p44": Signal(44_100, 2, 0.713),
    "p48": Signal(48_000, 2, 0.713, "pcm_s24le"),
    "f44": Signal(44_100, 2, 1.513, "pcm_f32le"),
    "l44": Signal(44_100, 2, 3.913),
    "l48": Signal(48_000, 2, 3.913),
}


def ffmpeg(options: str, extension: str) -> Run:
    """FFmpeg with options for the output."""
    return Run(
        ("ffmpeg", "-i", "{in}", "-map_metadata", "-1", "-fflags", "+bitexact", *options.split(), "{out}"), extension
    )


def with_video(options: str, extension: str) -> Run:
    """FFmpeg with a video track beside the audio."""
    return Run(
        (
            "ffmpeg",
            "-f",
            "lavfi",
            "-i",
            "testsrc=duration=2:size=64x48:rate=25",
            "-i",
            "{in}",
            "-fflags",
            "+bitexact",
            *options.split(),
            "{out}",
        ),
        extension,
    )


def tool(words: str, extension: str) -> Run:
    """Another program."""
    return Run(tuple(words.split()), extension)


def edit(function: Callable[..., bytes], *arguments: Any, other: str | None = None, **options: Any) -> Edit:
    """An edit of mediapatch."""
    return Edit(function, arguments, other, tuple(sorted(options.items())))


def recipe(name: str, source: str, *steps: Run | Edit, is_intermediate: bool = False) -> Recipe:
    """A recipe in a line."""
    return Recipe(name, source, steps, is_intermediate)
