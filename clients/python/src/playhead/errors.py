"""What goes wrong: refusals of the daemon, and connections that end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from .generated_errors import ErrorCode

E = TypeVar("E", bound=Exception)


class PlayheadError(Exception):
    """The daemon refused, or told of something that failed.

    `number` and `name` never change their meaning; `code` is the number as a member of ErrorCode, None for one that is newer than
    this package.
    """

    def __init__(self, number: int, name: str, message: str, operation: str | None = None, underlying: str | None = None) -> None:
        super().__init__(f"{message} ({name})")
        self.number = number
        self.name = name
        self.message = message
        self.operation = operation
        self.underlying = underlying
        try:
            self.code: ErrorCode | None = ErrorCode(number)
        except ValueError:
            self.code = None

    @classmethod
    def of(cls, fields: Mapping[str, object]) -> PlayheadError:
        """The error that an event tells of, or the `data` of a refusal with its message."""
        number = fields.get("number", fields.get("code"))
        if not isinstance(number, int):
            raise ProtocolError(f"an error without a number: {fields!r}")
        operation, underlying = fields.get("operation"), fields.get("underlying")
        return cls(
            number, str(fields.get("name", number)), str(fields.get("message", "")),
            None if operation is None else str(operation), None if underlying is None else str(underlying))


class ProtocolError(Exception):
    """What came from the socket is not what protocol.md says."""


class Disconnected(Exception):
    """There is no connection (any more). `reason` is the daemon's own, where it gave one in a `closing` event."""

    def __init__(self, message: str, reason: PlayheadError | None = None) -> None:
        super().__init__(f"{message}: {reason}" if reason else message)
        self.reason = reason


class RequestTooLong(ValueError):
    """A request does not fit into a line. `Player.edit` cuts edits of a queue into as many as are needed."""


class TooManyWaits(Exception):
    """So many requests wait without a time limit that there would be no room for others. Those that were cancelled count, for the daemon waits on."""


def fresh(error: E) -> E:
    """A copy to raise: an error that is kept, and raised more than once, would gather the traces of all who got it."""
    copied = type(error).__new__(type(error), *error.args)
    copied.__dict__.update(error.__dict__)
    copied.__cause__ = error.__cause__
    return copied
