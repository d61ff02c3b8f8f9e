"""The values of requests and replies: exact times, locations, numbers.

Times are fractions.Fraction, never float: the protocol has decimals and fractions, and neither is converted to binary
floating point.
"""

from __future__ import annotations

import os
import urllib.parse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

Value: TypeAlias = None | bool | int | Fraction | str | tuple[object, ...]
"""A value whose type depends on the context, such as the value of an observed key."""

Time: TypeAlias = int | Fraction | Decimal | str
"""Exact seconds, or any of the text forms of the protocol, such as `1:23.5`, `250ms`, `+5`, `50%`, `end`, `none`."""

Number: TypeAlias = int | float | Fraction | Decimal
"""A number that is not a time: a volume, a rate."""

Location: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
"""A path (relative to the current directory), a URL, or `fd:TOKEN`."""

LARGEST_DENOMINATOR = 2147483647
"""The largest denominator of the daemon's times."""


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A time range in seconds, from `start` up to `end`; None: up to the end of the item."""

    start: Fraction
    end: Fraction | None

    def __contains__(self, time: Fraction) -> bool:
        return self.start <= time and (self.end is None or time < self.end)


class Event:
    """An event of the daemon. Each kind of event has a separate class."""


def wire_range(time_range: TimeRange | str | None) -> Mapping[str, int | str | None] | str | None:
    """The wire form of a range: an object with exact times, or the text as it is."""
    if not isinstance(time_range, TimeRange):
        return time_range
    return {"start": wire_time(time_range.start), "end": wire_time(time_range.end)}


def wire_time(time: Time | None) -> int | str | None:
    """The wire form of a time: exact, in seconds or as a fraction."""
    if time is None or isinstance(time, str):
        return time
    if isinstance(time, bool) or not isinstance(time, (int, Fraction, Decimal)):
        raise TypeError(f"a time must be a Fraction, an int, a Decimal or a text such as '83.5', not {type(time).__name__} {time!r}")
    if isinstance(time, int):
        return time
    if isinstance(time, Decimal) and not time.is_finite():
        raise ValueError(f"a time must be finite (got {time})")
    exact = Fraction(time)
    if exact.denominator > LARGEST_DENOMINATOR:
        exact = exact.limit_denominator(LARGEST_DENOMINATOR)
    return f"{exact.numerator}/{exact.denominator}"


def wire_number(value: Number | None) -> int | float | None:
    """The wire form of a number, with all significant digits."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction, Decimal)):
        raise TypeError(f"a number must be an int, float, Fraction or Decimal, not {type(value).__name__} {value!r}")
    if isinstance(value, int):
        return value
    near = float(value)
    if near != near or near in (float("inf"), float("-inf")):
        raise ValueError(f"a number must be finite (got {value})")
    return near


def wire_volume(volume: Number | str | None) -> int | float | str | None:
    """The wire form of a volume: a number, or a text such as `+5%`."""
    return volume if isinstance(volume, str) else wire_number(volume)


def wire_location(path: Location) -> str:
    """The wire form of a location: an absolute path, a URL, or a `file://` URL for a path that is not UTF-8."""
    name = os.fspath(path)
    if isinstance(name, str) and not isinstance(path, os.PathLike) and ("://" in name or name.startswith("fd:")):
        return name
    if not name:
        raise ValueError("a path must not be empty")
    raw = os.fsencode(name)
    absolute = raw if raw.startswith(b"/") else os.path.join(os.getcwdb(), raw)
    try:
        return absolute.decode("utf-8")
    except UnicodeDecodeError:
        return "file://" + urllib.parse.quote_from_bytes(absolute)


def wire_texts(values: str | Sequence[str] | None) -> str | list[str] | None:
    """The wire form of several texts: a string unchanged, a sequence as an array."""
    return values if values is None or isinstance(values, str) else list(values)
