"""Converts JSON objects to dataclasses, according to their annotations."""

from __future__ import annotations

import dataclasses
import functools
import re
import types
import typing
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeVar, cast

from .errors import ProtocolError
from .values import TimeRange

T = TypeVar("T")
Reader = Callable[[object], Any]


def camel(name: str) -> str:
    """The wire name of a field such as `time_control_status`."""
    return re.sub(r"_([a-z0-9])", lambda found: found.group(1).upper(), name)


def decode(kind: type[T], fields: Mapping[str, object]) -> T:
    """Converts an object to the dataclass `kind`. Unknown fields are ignored; a missing field is a ProtocolError."""
    arguments: dict[str, object] = {}
    for name, wire, read, needed in _plan(cast(Any, kind)):
        if wire in fields:
            try:
                arguments[name] = read(fields[wire])
            except (TypeError, ValueError, ZeroDivisionError) as error:
                raise ProtocolError(f"{wire} of {kind.__name__} has an invalid value: {fields[wire]!r}") from error
        elif needed:
            raise ProtocolError(f"{kind.__name__} lacks {wire}: {dict(fields)!r}")
        elif needed is None:
            arguments[name] = None
    return kind(**arguments)


@functools.lru_cache(maxsize=None)
def _plan(kind: Any) -> list[tuple[str, str, Reader, bool | None]]:
    """For each field: its name, its wire name, its reader, and whether it is required (None: None if it is missing)."""
    hints = typing.get_type_hints(kind)
    plan: list[tuple[str, str, Reader, bool | None]] = []
    for field in dataclasses.fields(kind):
        read, optional = _reader(hints[field.name])
        has_default = field.default is not dataclasses.MISSING
        plan.append((field.name, field.metadata.get("wire", camel(field.name)), read, False if has_default else None if optional else True))
    return plan


def _reader(hint: Any) -> tuple[Reader, bool]:
    """The reader for a type, and whether the value can be None."""
    if typing.get_origin(hint) is tuple:
        return functools.partial(_sequence, _reader(typing.get_args(hint)[0])[0]), False
    if typing.get_origin(hint) is Mapping:
        return _mapping, False
    if typing.get_origin(hint) is typing.Literal:
        # A newer daemon may have more words.
        return _text, False
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        kinds = [kind for kind in typing.get_args(hint) if kind is not type(None)]
        if len(kinds) == 1:
            return functools.partial(_optional, _reader(kinds[0])[0]), True
        return value, True
    if hint is object:
        return value, True
    if dataclasses.is_dataclass(hint) and hint is not TimeRange:
        return functools.partial(_object, hint), False
    readers: dict[Any, Reader] = {int: _int, float: _float, bool: _bool, str: _text, Fraction: _time, TimeRange: _range}
    return readers[hint], False


def value(found: object) -> Any:
    """Returns a value unchanged, with tuples for arrays."""
    return tuple(value(each) for each in found) if isinstance(found, list) else found


def _optional(read: Reader, found: object) -> Any:
    return None if found is None or found in ("indefinite", "inf", "-inf", "invalid", "none") and read is not _text else read(found)


def _sequence(read: Reader, found: object) -> tuple[Any, ...]:
    if found is None:
        return ()
    if not isinstance(found, list):
        raise TypeError
    return tuple(read(each) for each in found)


def _object(kind: type[Any], found: object) -> Any:
    if not isinstance(found, dict):
        raise TypeError
    return decode(kind, found)


def _mapping(found: object) -> Mapping[str, object]:
    if not isinstance(found, dict):
        raise TypeError
    return found


def _int(found: object) -> int:
    if isinstance(found, bool) or not isinstance(found, int):
        raise TypeError
    return found


def _float(found: object) -> float:
    if isinstance(found, bool) or not isinstance(found, (int, Fraction)):
        raise TypeError
    return float(found)


def _bool(found: object) -> bool:
    if not isinstance(found, bool):
        raise TypeError
    return found


def _text(found: object) -> str:
    if not isinstance(found, str):
        raise TypeError
    return found


def _time(found: object) -> Fraction:
    if isinstance(found, bool) or not isinstance(found, (int, Fraction, str)):
        raise TypeError
    return Fraction(found)


def _range(found: object) -> TimeRange:
    if not isinstance(found, dict):
        raise TypeError
    end = found["end"]
    return TimeRange(_time(found["start"]), None if end is None else _time(end))


def _one(read: Callable[[object], T], fields: Mapping[str, object], wire: str) -> T:
    try:
        return read(fields[wire])
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise ProtocolError(f"the reply lacks {wire}, or its value is invalid: {dict(fields)!r}") from error


def read_int(fields: Mapping[str, object], wire: str) -> int:
    """A field that is a whole number."""
    return _one(_int, fields, wire)


def read_float(fields: Mapping[str, object], wire: str) -> float:
    """A field that is a number, but not a time."""
    return _one(_float, fields, wire)


def read_bool(fields: Mapping[str, object], wire: str) -> bool:
    """A field that is true or false."""
    return _one(_bool, fields, wire)


def read_text(fields: Mapping[str, object], wire: str) -> str:
    """A field that is a string."""
    return _one(_text, fields, wire)


def read_time(fields: Mapping[str, object], wire: str) -> Fraction:
    """A field that is a time, in seconds."""
    return _one(_time, fields, wire)


def read_value(fields: Mapping[str, object], wire: str) -> Any:
    """A field of any kind."""
    return _one(value, fields, wire)
