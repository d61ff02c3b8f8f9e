"""Runs the examples."""

from __future__ import annotations

import asyncio
import os
import pathlib
import sys
from fractions import Fraction

from support import HERE, Case, playhead


class ExampleTests(Case):
    async def run_example(self, name: str, *arguments: str) -> asyncio.subprocess.Process:
        environment = {**os.environ, "PYTHONPATH": str(HERE.parent / "src")}
        process = await asyncio.create_subprocess_exec(
            sys.executable, str(HERE.parent / "examples" / name), *arguments, env=environment,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
        self.addAsyncCleanup(self.end, process)
        return process

    async def end(self, process: asyncio.subprocess.Process) -> None:
        if process.returncode is None:
            process.kill()
        await process.communicate()

    async def line(self, process: asyncio.subprocess.Process) -> str:
        assert process.stdout
        return (await process.stdout.readline()).decode().strip()

    async def test_cues_are_printed_when_they_are_heard(self) -> None:
        daemon = await self.daemon()
        client = await self.client(daemon)
        cues = await self.run_example("cues.py", "--socket", daemon.socket, self.tone(seconds=2), "0.5", "1:01", "1.25")
        self.assertEqual(await self.line(cues), "playing")
        await client.clock_advance(1)
        self.assertEqual(await self.line(cues), "0.500  (0.0 ms late)")
        await client.clock_advance(2)
        self.assertEqual(await self.line(cues), "1.250  (0.0 ms late)")
        await cues.communicate()
        self.assertEqual((cues.returncode, [row.player for row in (await client.player_list()).rows]), (0, ["main"]))

    async def test_an_alarm_fades_in_and_reports_its_end(self) -> None:
        daemon = await self.daemon()
        client = await self.client(daemon)
        alarm = await self.run_example("alarm.py", "--socket", daemon.socket, "--fade", "1", "now", self.tone(seconds=2))
        self.assertRegex(await self.line(alarm), "^begins at ")
        await client.main.wait("status=playing")
        self.assertEqual((await client.main.status()).volume, 1)
        await client.clock_advance(3)
        self.assertEqual(await self.line(alarm), "over")

    async def test_a_missing_alarm_file_is_reported_at_once(self) -> None:
        daemon = await self.daemon()
        alarm = await self.run_example("alarm.py", "--socket", daemon.socket, "06:30", str(self.folder / "nothing.flac"))
        _, errors = await alarm.communicate()
        self.assertEqual(alarm.returncode, 1)
        self.assertIn("(file-not-found)", errors.decode())

    async def test_a_memo_is_recorded_with_levels_paused_named_listed_and_played(self) -> None:
        daemon = await self.daemon(virtual=False, pulse_server=await self.sound_server())
        options = ("--socket", daemon.socket, "--folder", str(self.folder / "memos"))
        memo = await self.run_example("memo.py", *options, "record", "one")
        assert memo.stdin

        async def until(what: str) -> str:
            while what not in (line := await self.line(memo)):
                self.assertIsNone(memo.returncode)
            return line

        await until("recording")
        self.assertRegex(await until(" dB"), r"^[0-9.]+ s  \[ *\] -160.0 dB$")
        memo.stdin.write(b"p\n")
        await until("paused")
        memo.stdin.write(b"p\n")
        await until("recording")
        await until(" dB")
        memo.stdin.write(b"\n")
        self.assertRegex(await until("one: "), r"^one: [0-9.]+ s$")
        await memo.communicate()
        self.assertEqual(memo.returncode, 0)
        # Renaming fails: the names of both memos do not change.
        again = await self.run_example("memo.py", *options, "record", "one")
        _, errors = await again.communicate()
        self.assertIn("(file-exists)", errors.decode())
        await (await self.run_example("memo.py", *options, "name", "one", "idea")).communicate()
        listed, errors = await (await self.run_example("memo.py", *options, "list")).communicate()
        self.assertEqual(errors.decode(), "")
        self.assertRegex(listed.decode(), r"^[-0-9]+ [:0-9]+ +[0-9.]+ s  idea\n$")
        played = await self.run_example("memo.py", *options, "play", "idea")
        output, errors = await played.communicate()
        self.assertEqual((played.returncode, output.decode(), errors.decode()), (0, "playing idea\n", ""))

    async def test_segments_repeat_until_they_are_transcribed(self) -> None:
        # In real time: the reply to a seek during playback follows when the audio has reached the device.
        daemon = await self.daemon(virtual=False)
        client = await self.client(daemon)
        typed = await self.run_example("transcribe.py", "--socket", daemon.socket, "--length", "0.5", self.tone(seconds=2))
        player = client.player("transcription")
        assert typed.stdin
        typed.stdin.write(b"one\n\n")
        self.assertEqual([await self.line(typed) for _ in range(3)], ["1", "00:00:00,000 --> 00:00:00,500", "one"])
        self.assertEqual(await self.line(typed), "")
        async with player.observe("player.loop", "item.events") as events:
            loop: object = None
            async for event in events:
                if isinstance(event, playhead.Changed):
                    loop = event.new
                if isinstance(event, playhead.Transition) and loop == playhead.TimeRange(Fraction(1), Fraction(3, 2)):
                    self.assertEqual((event.time, event.from_), (1, event.to))
                    break
        output, _ = await typed.communicate(b"<\ntwo\n")
        self.assertEqual(output.decode().split(), ["2", "00:00:00,500", "-->", "00:00:01,000", "two"])

    async def test_an_example_without_a_daemon_reports_an_error(self) -> None:
        alarm = await self.run_example("cues.py", "--socket", str(self.folder / "none.sock"), "x", "1")
        _, errors = await alarm.communicate()
        self.assertEqual((alarm.returncode, errors.decode().split(": ")[:2]), (1, ["cues.py", f"no daemon at {self.folder}/none.sock"]))

    def test_all_examples_are_run(self) -> None:
        run = pathlib.Path(__file__).read_text(encoding="utf-8")
        for example in (HERE.parent / "examples").glob("*.py"):
            self.assertIn(f'"{example.name}"', run)
