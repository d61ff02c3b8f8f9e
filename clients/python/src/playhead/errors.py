"""Errors: error replies of the daemon, and connections that end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from .generated_errors import ErrorCode

E = TypeVar("E", bound=Exception)


class PlayheadError(Exception):
    """An error reply of the daemon, or an error in an event.

    `number` and `name` never change their meaning. `code` is the number as a member of ErrorCode; None for an error
    that is newer than this package.
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
        """Creates the error from the fields of an event, or from the `data` of an error reply and its message."""
        number = fields.get("number", fields.get("code"))
        if not isinstance(number, int):
            raise ProtocolError(f"the error lacks a number: {fields!r}")
        operation, underlying = fields.get("operation"), fields.get("underlying")
        return cls(
            number, str(fields.get("name", number)), str(fields.get("message", "")),
            None if operation is None else str(operation), None if underlying is None else str(underlying))


class ProtocolError(Exception):
    """The data from the socket does not conform to the protocol."""


class Disconnected(Exception):
    """The connection failed or has ended. `reason` is the daemon's reason, if it sent one in a `closing` event."""

    def __init__(self, message: str, reason: PlayheadError | None = None) -> None:
        super().__init__(f"{message}: {reason}" if reason else message)
        self.reason = reason


class RequestTooLong(ValueError):
    """A request exceeds the line limit. `Player.edit` splits queue edits into several requests."""


class TooManyWaits(Exception):
    """Too many requests wait without a timeout, so that no other request could proceed."""


def fresh(error: E) -> E:
    """Copies an error to raise. A stored error that is raised repeatedly would accumulate tracebacks."""
    copied = type(error).__new__(type(error), *error.args)
    copied.__dict__.update(error.__dict__)
    copied.__cause__ = error.__cause__
    return copied
