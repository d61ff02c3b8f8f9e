"""Tests of the parts that need neither bus nor daemon."""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from dataclasses import replace
from fractions import Fraction
from typing import Any
from unittest import mock

from bridging import playhead
from playhead import ArtworkImage, Status
from playhead_mpris import __main__ as program
from playhead_mpris.artwork import Artwork
from playhead_mpris.interfaces import address
from playhead_mpris.objects import Refused, text
from playhead_mpris.state import Assumed, Snapshot, Track, name_of

COVER = ArtworkImage("frontCover", "image/png", b"a cover")
STATE = Status(
    player="main", time_control_status="playing", reason_for_waiting_to_play=None, rate=1, item=1, index=0, count=2, time=Fraction(0), host_time=None,
    duration=Fraction(60), provides_precise_duration=True, volume=1, is_fading=False, is_muted=False, pan=0, action_at_item_end="advance", repeat="all", loop=None,
    passes=None, passes_left=None, item_status="readyToPlay", version=1, timebase_rate=1, default_rate=1, shuffle=None, on_failure="skip",
    automatically_waits_to_minimize_stalling=True, audio_time_pitch_algorithm="varispeed", chapter=None, chapter_title=None, replay_gain="off", crossfade=None)


def status(time: Fraction = Fraction(0), **changes: Any) -> Status:
    """The state of a player that plays its first entry."""
    return replace(STATE, time=time, **changes)


class PartTests(unittest.TestCase):
    def test_text_that_the_bus_cannot_carry_is_replaced(self) -> None:
        self.assertEqual(text("a\0b\ud800c\udfff😀é\n"), "a\ufffdb\ufffdc\ufffd😀é\n")

    def test_addresses_are_normalized_or_rejected(self) -> None:
        for uri, expected in [
            ("file:/x", "file:///x"), ("file:///x%20y#?", "file:///x%20y#?"), ("FILE:/x", "file:///x"), ("HTTP://Host/X", "http://Host/X"),
            ("file:x", "InvalidArgs"), ("http:x", "InvalidArgs"), ("http:", "InvalidArgs"), ("", "NotSupported"), ("/x", "NotSupported"),
            ("smb://host/x", "NotSupported"), ("fd:0123456789abcdef", "NotSupported"),
        ]:
            with self.subTest(uri=uri):
                try:
                    found = address(uri)
                except Refused as refused:
                    found = refused.name.rpartition(".")[2]
                self.assertEqual(found, expected)
        # An invalid URL has a title, too.
        self.assertEqual(name_of("http://[::1/x.flac"), "http://[::1/x.flac")

    def test_small_position_errors_accumulate_until_they_are_signalled(self) -> None:
        assumed = Assumed()
        is_signalled = [assumed.follow(status(), 100, False)]
        # Each second, the lag of the position grows by 0.1 s.
        for second in range(1, 8):
            is_signalled.append(assumed.follow(status(Fraction(9 * second, 10)), 100 + second, False))
        self.assertEqual(is_signalled, [False, False, False, True, False, False, True, False])
        # A new rate continues from the expected position. A new entry begins at 0.
        self.assertFalse(assumed.follow(status(Fraction(63, 10), rate=Fraction(2)), 107, False))
        self.assertFalse(assumed.follow(status(Fraction(83, 10), rate=Fraction(2)), 108, False))
        self.assertFalse(assumed.follow(status(Fraction(1, 10), item=2), 109, False))
        self.assertTrue(assumed.follow(status(Fraction(11, 10), item=2), 110, True))

    def test_without_control_every_capability_is_false(self) -> None:
        for control in (True, False):
            found = Snapshot(status(), 1, 1, Track(1, "/x"), True, control).properties()
            self.assertEqual({name: value for name, value in found.items() if name.startswith("Can")}, dict.fromkeys(
                ("CanGoNext", "CanGoPrevious", "CanPlay", "CanPause", "CanSeek", "CanControl"), control))

    def test_help_is_printed_without_a_socket(self) -> None:
        output = io.StringIO()
        with mock.patch("playhead.default_socket", side_effect=playhead.Disconnected("no folder")), \
                mock.patch("sys.argv", ["playhead-mpris", "--help"]), contextlib.redirect_stdout(output), self.assertRaises(SystemExit) as ended:
            program.run()
        self.assertEqual(ended.exception.code, 0)
        self.assertIn("$PLAYHEAD_SOCKET", output.getvalue())


class ArtworkTests(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="playhead-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.parent = self.folder / "cache"
        self.artwork = Artwork(self.parent)
        self.addCleanup(self.artwork.clear)

    def test_a_deleted_cache_is_created_again(self) -> None:
        first = self.artwork.store(COVER)
        shutil.rmtree(self.parent)
        second = self.artwork.store(COVER)
        self.assertNotEqual(first, second)
        # Only the artwork.
        pathlib.Path(second.removeprefix("file://")).unlink()
        self.assertEqual(self.artwork.store(COVER), second)
        self.assertEqual(pathlib.Path(second.removeprefix("file://")).read_bytes(), COVER.data)
        shutil.rmtree(self.parent)
        self.artwork.clear()

    def test_failed_writes_leave_no_files(self) -> None:
        (folder,) = [pathlib.Path(self.artwork.store(COVER).removeprefix("file://")).parent]
        before = sorted(folder.iterdir())
        with mock.patch("os.replace", side_effect=OSError(28, "no room")), self.assertRaises(OSError):
            self.artwork.store(ArtworkImage("frontCover", "image/png", b"another"))
        self.assertEqual(sorted(folder.iterdir()), before)
        (folder / "not ours").touch()
        self.artwork.clear()
        self.assertEqual(list(self.parent.iterdir()), [])

    def test_sweep_removes_artwork_of_killed_bridges_only(self) -> None:
        script = ("import os, pathlib, signal, sys\nfrom playhead import ArtworkImage\nfrom playhead_mpris.artwork import Artwork\n"
                  "Artwork(pathlib.Path(sys.argv[1])).store(ArtworkImage('frontCover', 'image/png', b'left'))\nos.kill(os.getpid(), signal.SIGKILL)\n")
        killed = subprocess.run([sys.executable, "-c", script, str(self.parent)], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        self.assertEqual((killed.returncode, len(list(self.parent.iterdir()))), (-signal.SIGKILL, 1))
        kept = pathlib.Path(self.artwork.store(COVER).removeprefix("file://"))
        other = Artwork(self.parent)
        other.sweep()
        self.assertEqual(list(self.parent.glob("*/*")), [kept])
        # Without a folder there is nothing to remove.
        Artwork(self.folder / "none").sweep()
