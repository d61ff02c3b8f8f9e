"""An object on the bus: its methods and properties as tables, implemented by coroutines.

dbus-fast's decorated classes use D-Bus signatures as annotations, which type checkers reject. MPRIS also specifies the
errors, which these classes cannot control.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio.message_bus import MessageBus

log = logging.getLogger("playhead.mpris")

PROPERTIES = "org.freedesktop.DBus.Properties"
ERROR = "org.freedesktop.DBus.Error."


class Refused(Exception):
    """An error reply: a name in org.freedesktop.DBus.Error, and a message."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = ERROR + name


class Text(str):
    """A text whose length is its UTF-8 length. dbus-fast 1.84 (Debian 12) writes the length in characters, and the
    bus then closes the connection.
    """

    __slots__ = ()

    def __len__(self) -> int:
        return len(self.encode())


def text(value: str) -> str:
    """Removes U+0000 and surrogates from a text, because the bus would close the connection.

    All sent texts must pass through this function.
    """
    return Text("".join("\ufffd" if character == "\0" or "\ud800" <= character <= "\udfff" else character for character in value))


def failure(message: Message, name: str, why: str) -> Message:
    """An error reply to a call."""
    return Message(
        message_type=MessageType.ERROR, destination=message.sender, reply_serial=message.serial, error_name=name, signature="s", body=[text(why)])


@dataclass(frozen=True, slots=True)
class Method:
    """A method: its parameters, as (name, signature) pairs, and its implementation.

    The effect of a call may take long. The implementation returns when all requests were sent. If it returns an
    awaitable, the reply follows after its completion.
    """

    takes: tuple[tuple[str, str], ...]
    call: Callable[..., Awaitable[Any]]
    gives: tuple[tuple[str, str], ...] = ()
    """The results, in the same form. With results, the implementation returns a list of values and no awaitable."""


@dataclass(frozen=True, slots=True)
class Property:
    """A property; a writable one has `assign`. `emits`: whether PropertiesChanged has it; "invalidates": only its
    name.
    """

    signature: str
    read: Callable[[], Awaitable[Any]]
    assign: Callable[[Any], Awaitable[None]] | None = None
    emits: Literal["true", "false", "invalidates"] = "true"


@dataclass(slots=True)
class Interface:
    """An interface: its methods, properties and signals."""

    methods: dict[str, Method] = field(default_factory=dict)
    properties: dict[str, Property] = field(default_factory=dict)
    signals: dict[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)


class BusObject:
    """Handles the calls on one path. Requests that change the player are sent in order, without waiting for the
    replies of earlier ones.
    """

    def __init__(self, bus: MessageBus, path: str, interfaces: Mapping[str, Interface]) -> None:
        self._bus = bus
        self._path = path
        self._interfaces = interfaces
        self._turn = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        bus.add_message_handler(self._handle)

    def changed(self, interface: str, values: Mapping[str, Any], *invalidated: str) -> None:
        """Emits PropertiesChanged; `invalidated` are the names without values."""
        table = self._interfaces[interface].properties
        body = [interface, {name: Variant(table[name].signature, value) for name, value in values.items()}, list(invalidated)]
        self._bus.send(Message.new_signal(self._path, PROPERTIES, "PropertiesChanged", "sa{sv}as", body))

    def signal(self, interface: str, name: str, *values: Any) -> None:
        """Emits a signal."""
        signature = "".join(kind for _, kind in self._interfaces[interface].signals[name])
        self._bus.send(Message.new_signal(self._path, interface, name, signature, list(values)))

    def _handle(self, message: Message) -> bool:
        if message.message_type is not MessageType.METHOD_CALL or message.path != self._path:
            return False
        if message.interface == "org.freedesktop.DBus.Peer":
            return False
        task = asyncio.get_running_loop().create_task(self._answer(message))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return True

    async def _answer(self, message: Message) -> None:
        try:
            signature, body = await self._carry_out(message)
            reply = Message.new_method_return(message, signature, body)
        except Refused as refused:
            reply = failure(message, refused.name, str(refused))
        except Exception as error:
            log.exception("%s.%s failed", message.interface, message.member)
            reply = failure(message, ERROR + "Failed", repr(error))
        # Send no reply if the message has the flag NO_REPLY_EXPECTED.
        if not message.flags.value & 1:
            self._bus.send(reply)

    async def _carry_out(self, message: Message) -> tuple[str, list[Any]]:
        if message.interface == "org.freedesktop.DBus.Introspectable" and message.member == "Introspect":
            return "s", [self.introspection()]
        if message.interface == PROPERTIES:
            return await self._properties(message)
        for name, interface in self._interfaces.items():
            method = interface.methods.get(message.member or "")
            if method is None or message.interface not in (None, "", name):
                continue
            wanted = "".join(kind for _, kind in method.takes)
            if message.signature != wanted:
                raise Refused("InvalidArgs", f"the signature of {message.member} must be ({wanted}) (got ({message.signature}))")
            async with self._turn:
                answer = await method.call(*message.body)
            if method.gives:
                return "".join(kind for _, kind in method.gives), answer
            if answer is not None:
                await answer
            return "", []
        raise Refused("UnknownMethod", f"unknown method {message.member} of {message.interface}")

    async def _properties(self, message: Message) -> tuple[str, list[Any]]:
        wanted = {"Get": "ss", "GetAll": "s", "Set": "ssv"}.get(message.member or "")
        if wanted is None:
            raise Refused("UnknownMethod", f"unknown method {message.member} of {PROPERTIES}")
        if message.signature != wanted:
            raise Refused("InvalidArgs", f"the signature of {message.member} must be ({wanted}) (got ({message.signature}))")
        interface = self._interfaces.get(message.body[0])
        if interface is None:
            raise Refused("UnknownInterface", f"unknown interface {message.body[0]}")
        if message.member == "GetAll":
            return "a{sv}", [{name: Variant(each.signature, await each.read()) for name, each in interface.properties.items()}]
        found = interface.properties.get(message.body[1])
        if found is None:
            raise Refused("UnknownProperty", f"unknown property {message.body[1]} of {message.body[0]}")
        if message.member == "Get":
            return "v", [Variant(found.signature, await found.read())]
        value = message.body[2]
        if found.assign is None:
            raise Refused("PropertyReadOnly", f"{message.body[1]} is read-only")
        if value.signature != found.signature:
            raise Refused("InvalidArgs", f"{message.body[1]} must have the type {found.signature} (got {value.signature})")
        async with self._turn:
            await found.assign(value.value)
        return "", []

    def introspection(self) -> str:
        """The introspection data, in D-Bus's XML format."""
        lines = ['<!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"',
                 ' "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">', "<node>"]
        for name, interface in self._interfaces.items():
            lines.append(f' <interface name="{name}">')
            for member, method in interface.methods.items():
                lines.append(f'  <method name="{member}">')
                lines += [f'   <arg name="{argument}" type="{kind}" direction="in"/>' for argument, kind in method.takes]
                lines += [f'   <arg name="{argument}" type="{kind}" direction="out"/>' for argument, kind in method.gives]
                lines.append("  </method>")
            for member, arguments in interface.signals.items():
                lines.append(f'  <signal name="{member}">')
                lines += [f'   <arg name="{argument}" type="{kind}"/>' for argument, kind in arguments]
                lines.append("  </signal>")
            for member, each in interface.properties.items():
                access = "readwrite" if each.assign else "read"
                lines.append(f'  <property name="{member}" type="{each.signature}" access="{access}">')
                lines.append(f'   <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="{each.emits}"/>')
                lines.append("  </property>")
            lines.append(" </interface>")
        lines.append(f""" <interface name="{PROPERTIES}">
  <method name="Get"><arg name="interface" type="s" direction="in"/><arg name="name" type="s" direction="in"/>
   <arg name="value" type="v" direction="out"/></method>
  <method name="GetAll"><arg name="interface" type="s" direction="in"/><arg name="values" type="a{{sv}}" direction="out"/></method>
  <method name="Set"><arg name="interface" type="s" direction="in"/><arg name="name" type="s" direction="in"/>
   <arg name="value" type="v" direction="in"/></method>
  <signal name="PropertiesChanged"><arg name="interface" type="s"/><arg name="changed" type="a{{sv}}"/>
   <arg name="invalidated" type="as"/></signal>
 </interface>
</node>""")
        return "\n".join(lines)
