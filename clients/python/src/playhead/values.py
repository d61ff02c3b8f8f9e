"""What requests take and replies hold: exact times, places, numbers.

Times are fractions.Fraction, never float: what is on the wire is a decimal or a fraction, and neither goes through binary
floating point.
"""

from __future__ import annotations

import os
import urllib.parse
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar, TypeAlias

Value: TypeAlias = None | bool | int | Fraction | str | tuple[object, ...]
"""A value whose kind the field does not say, such as that of a key that is observed."""

Time: TypeAlias = int | Fraction | Decimal | str
"""Seconds, exactly; or any of the forms of protocol.md, such as `1:23.5`, `250ms`, `+5`, `50%`, `end`, `none`."""

Number: TypeAlias = int | float | Fraction | Decimal
"""A number that is no time: a volume, a rate."""

Place: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
"""A file's name (relative ones are of this program's folder), an address, or `fd:TOKEN`."""

LARGEST_DENOMINATOR = 2147483647
"""The daemon's times have no greater one."""


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A stretch of time in seconds, from `start` up to `end`; None is the end of what there is."""

    start: Fraction
    end: Fraction | None

    @staticmethod
    def parse(text: str) -> TimeRange:
        """Reads `START-END` as the daemon writes it."""
        start, dash, end = text.rpartition("-")
        if not dash or not start or not end:
            raise ValueError(f"{text!r} is no range")
        return TimeRange(Fraction(start), None if end == "inf" else Fraction(end))

    def __contains__(self, time: Fraction) -> bool:
        return self.start <= time and (self.end is None or time < self.end)


class Event:
    """What the daemon tells by itself; each kind of event is a class of its own."""

    wire_name: ClassVar[str] = ""


def moment(time: Time | None) -> int | str | None:
    """A time as it is sent: exactly, as seconds or as a fraction of them."""
    if time is None or isinstance(time, str):
        return time
    if isinstance(time, bool) or not isinstance(time, (int, Fraction, Decimal)):
        raise TypeError(f"a time is a Fraction, an int, a Decimal or a text such as '83.5', not {type(time).__name__} {time!r}")
    if isinstance(time, int):
        return time
    if isinstance(time, Decimal) and not time.is_finite():
        raise ValueError(f"{time} is no time")
    exact = Fraction(time)
    if exact.denominator > LARGEST_DENOMINATOR:
        exact = exact.limit_denominator(LARGEST_DENOMINATOR)
    return f"{exact.numerator}/{exact.denominator}"


def number(value: Number | None) -> int | float | None:
    """A number as it is sent: with as many digits as tell it from all others."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction, Decimal)):
        raise TypeError(f"a number is wanted, not {type(value).__name__} {value!r}")
    if isinstance(value, int):
        return value
    near = float(value)
    if near != near or near in (float("inf"), float("-inf")):
        raise ValueError(f"{value} cannot be sent")
    return near


def place(path: Place) -> str:
    """A place as it is sent: an absolute path, an address, or a `file://` URL for a name that is not UTF-8."""
    name = os.fspath(path)
    if isinstance(name, str) and not isinstance(path, os.PathLike) and ("://" in name or name.startswith("fd:")):
        return name
    if not name:
        raise ValueError("a path cannot be empty")
    raw = os.fsencode(name)
    absolute = raw if raw.startswith(b"/") else os.path.join(os.getcwdb(), raw)
    try:
        return absolute.decode("utf-8")
    except UnicodeDecodeError:
        return "file://" + urllib.parse.quote_from_bytes(absolute)


def texts(words: str | Sequence[str] | None) -> str | list[str] | None:
    """Several texts as they are sent: a string as it is, a sequence as an array."""
    return words if words is None or isinstance(words, str) else list(words)
