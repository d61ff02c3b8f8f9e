"""Tests of mediapatch with the programs that read the edited files: python3 -m unittest test_mediapatch."""

import pathlib
import struct
import subprocess
import tempfile
import unittest

import mediapatch as patch
from collection import recipes
from recipe import Signal

# Seconds of the audio. An odd number of frames at every rate.
SECONDS = 1.137


class PatchTests(unittest.TestCase):
    """Each test makes a file, edits it, and lets another program read it."""

    folder: tempfile.TemporaryDirectory[str]
    root: str

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = cls.folder.name
        signal = Signal(44_100, 2, SECONDS)
        cls.run_tool("ffmpeg", "-nostdin", "-v", "error", *signal.command(), f"{cls.root}/a.wav")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    @staticmethod
    def run_tool(*arguments: str) -> str:
        """Runs a program; returns its output."""
        return subprocess.run(arguments, check=True, capture_output=True, text=True).stdout

    def encode(self, name: str, *options: str) -> bytes:
        """A file that FFmpeg writes."""
        path = f"{self.root}/{name}"
        self.run_tool(
            "ffmpeg",
            "-nostdin",
            "-v",
            "error",
            "-y",
            "-i",
            f"{self.root}/a.wav",
            "-fflags",
            "+bitexact",
            *options,
            path,
        )
        return pathlib.Path(path).read_bytes()

    def write(self, name: str, data: bytes) -> str:
        """Writes a file; returns its path."""
        path = pathlib.Path(self.root) / name
        path.write_bytes(data)
        return str(path)

    def timestamps(self, name: str, data: bytes) -> list[int]:
        """The timestamps of the packets of a file, as ffprobe reads them."""
        path = self.write(name, data)
        arguments = ("-v", "error", "-show_entries", "packet=pts", "-of", "csv=p=0", path)
        return [int(line.strip(",")) for line in self.run_tool("ffprobe", *arguments).split()]

    def test_flac_with_variable_blocks_is_a_valid_stream(self) -> None:
        self.run_tool(
            "flac", "-s", "-f", "--no-padding", "-b", "4096", "-o", f"{self.root}/a.flac", f"{self.root}/a.wav"
        )
        self.run_tool(
            "flac", "-s", "-f", "--no-padding", "-b", "576", "-o", f"{self.root}/b.flac", f"{self.root}/a.wav"
        )
        first, second = (pathlib.Path(f"{self.root}/{name}.flac").read_bytes() for name in "ab")
        edited = patch.flac_with_variable_blocks(first, second)
        # The decoder compares every checksum.
        self.run_tool("flac", "-t", "-s", self.write("c.flac", edited))
        _, frames = patch.flac_parts(first)
        times = self.timestamps("c.flac", edited)
        self.assertEqual(times[:4], [0, 4_096, 4_672, 8_768])
        self.assertEqual(len(times), 2 * (len(frames) - 1))
        self.assertEqual(len(patch.flac_parts(patch.flac_without_first_frames(first, 0))[1]), len(frames))
        self.assertEqual(self.timestamps("d.flac", patch.flac_without_first_frames(first, 3))[0], 3 * 4_096)

    def test_the_granule_of_the_last_page_ends_the_audio(self) -> None:
        self.run_tool("oggenc", "-Q", "-s", "1", "-o", f"{self.root}/a.ogg", f"{self.root}/a.wav")
        data = pathlib.Path(f"{self.root}/a.ogg").read_bytes()
        sizes = []
        # libvorbis cuts no more than the last block.
        for delta in (0, -50):
            path = self.write("b.ogg", patch.ogg_end_granule(data, delta))
            self.run_tool("oggdec", "-Q", "-R", "-o", f"{self.root}/b.raw", path)
            sizes.append(pathlib.Path(f"{self.root}/b.raw").stat().st_size // 4)
        self.assertEqual(sizes, [int(SECONDS * 44_100), int(SECONDS * 44_100) - 50])
        self.assertEqual(patch.ogg_end_granule(data, 0), data)
        self.assertEqual(patch.ogg_pages(patch.ogg_granule(data, -2, 7))[-2].granule, 7)

    def test_mp4_edits_change_the_timestamps(self) -> None:
        data = self.encode("a.m4a", "-c:a", "aac")
        times = self.timestamps("b.m4a", patch.mp4_first_delta(data, 259))
        self.assertEqual([times[n + 1] - times[n] for n in range(3)], [259, 1_024, 1_024])
        jittered = self.timestamps("b.m4a", patch.mp4_jitter(data, 11, 1))
        moved = [time - number * 1_024 + 1_024 for number, time in enumerate(jittered)]
        self.assertTrue(max(moved) - min(moved) > 5 and -11 <= min(moved) and max(moved) <= 11, moved)
        self.assertNotIn(b"mdat", patch.mp4_without_media(data))

    def test_matroska_jitter_moves_the_timestamps(self) -> None:
        data = self.encode("a.mka", "-c:a", "aac")
        self.assertEqual(self.timestamps("b.mka", patch.matroska_jitter(data, 0, 1)), self.timestamps("a.mka", data))
        pairs = zip(self.timestamps("b.mka", patch.matroska_jitter(data, 4, 1)), self.timestamps("a.mka", data))
        moved = [new - old for new, old in pairs]
        self.assertTrue(-4 <= min(moved) < -1 and 1 < max(moved) <= 4, moved)
        times = self.timestamps("a.mka", data)
        shorter = self.timestamps("b.mka", patch.matroska_without_blocks(data, 0.5, 3))
        first = int(len(times) * 0.5)
        self.assertEqual(shorter, times[:first] + times[first + 3 :])

    def test_transport_stream_edits_move_the_clock(self) -> None:
        data = self.encode("a.ts", "-c:a", "aac", "-f", "mpegts")
        self.assertEqual(patch.ts_clock(data, lambda _, time: time), data)
        raw: list[int] = []

        def record(_: int, time: int) -> int:
            raw.append(time)
            return time

        patch.ts_clock(patch.ts_wrap(data, 0.5), record, False)
        self.assertTrue(max(raw) > (1 << 33) - 90_000 and min(raw) < 90_000, raw)
        before, after = self.timestamps("a.ts", data), self.timestamps("b.ts", patch.ts_irregular(data, 2, -1_920))
        self.assertEqual(sum(a != b for a, b in zip(before, after)) > 0, True)

    def test_asf_payloads_get_the_times_of_their_packets(self) -> None:
        data = self.encode("a.wma", "-c:a", "wmav2", "-b:a", "64k")
        before, after = self.timestamps("a.wma", data), self.timestamps("b.wma", patch.asf_packet_times(data))
        self.assertEqual(len(before), len(after))
        self.assertLess(len(set(after)), len(set(before)) / 2)

    def test_mp3_headers_are_edited_or_removed(self) -> None:
        self.run_tool("lame", "--quiet", "-V4", f"{self.root}/a.wav", f"{self.root}/a.mp3")
        data = pathlib.Path(f"{self.root}/a.mp3").read_bytes()
        _, frames = patch.mp3_frames(data)
        bare = patch.mp3_without_info_frame(data)
        self.assertEqual(len(patch.mp3_frames(bare)[1]), len(frames) - 1)
        self.assertEqual(len(self.timestamps("b.mp3", bare)), len(frames) - 1)
        self.assertEqual(len(self.timestamps("b.mp3", patch.mp3_with_vbri(data))), len(frames) - 1)
        self.assertIn(b"Xing\0\0\0\x0f\0\0\0\x07", patch.mp3_info_frame_count(data, 7))

    def test_monkeys_audio_decodes_to_the_original(self) -> None:
        for channels, frames in (("1", 5_000), ("2", 4_608), ("2", 73_728)):
            source = self.encode("b.wav", "-ac", channels, "-bitexact")
            self.write("b.ape", patch.monkeys_audio(source, frames))
            # The decoder compares the checksum of every frame.
            decode = ("ffmpeg", "-v", "error", "-xerror", "-err_detect", "crccheck+explode")
            sums = [
                self.run_tool(*decode, "-i", f"{self.root}/b.{name}", "-f", "md5", "-") for name in ("wav", "ape")
            ]
            self.assertEqual(sums[0], sums[1])
            count = -(-int(SECONDS * 44_100) // frames)
            self.assertEqual(len(self.timestamps("b.ape", patch.monkeys_audio(source, frames))), count)

    def test_dsdiff_has_the_audio_and_the_tag(self) -> None:
        source = self.encode("d.wav", "-ac", "1", "-bitexact", "-t", "0.4")
        path = self.write("d.dff", patch.dsdiff(source, patch.id3v2(("TIT2", b"\0A"))))
        values = []
        for file in (f"{self.root}/d.wav", path):
            raw = f"{self.root}/d.raw"
            self.run_tool("ffmpeg", "-v", "error", "-y", "-i", file, "-ar", "44100", "-f", "s16le", raw)
            data = pathlib.Path(raw).read_bytes()
            values.append(struct.unpack(f"<{len(data) // 2}h", data))
        original, decoded = values
        self.assertEqual(len(decoded), len(original))
        # The decoder's filter delays by less than a sample of the original.
        energy = sum(value * value for value in original)
        error = min(
            sum((decoded[index + delay] - value) ** 2 for index, value in enumerate(original[:-2])) for delay in (0, 1)
        )
        self.assertLess(error, energy / 10)
        self.assertIn(b"ID3 \0\0\0\0\0\0\0\x16ID3\x03", pathlib.Path(path).read_bytes())

    def test_tags_are_read_and_chunks_counted(self) -> None:
        def title(name: str, data: bytes) -> str:
            words = ("ffprobe", "-v", "error", "-show_entries", "format_tags=title", "-of", "csv=p=0")
            return self.run_tool(*words, self.write(name, data)).strip()

        frame = ("TIT2", b"\0A")
        mp3 = self.encode("t.mp3", "-c:a", "libmp3lame", "-id3v2_version", "0", "-write_xing", "0")
        self.assertEqual(title("t.mp3", patch.prepend_id3v2(mp3, frame)), "A")
        wavpack = self.encode("t.wv", "-c:a", "wavpack")
        self.assertEqual(title("t.wv", patch.append_ape_items(wavpack, ("Title", "B"))), "B")
        for name in ("t.wav", "t.aiff"):
            chunk = b"id3 " if name == "t.wav" else b"ID3 "
            data = self.encode(name, "-map_metadata", "-1")
            self.assertEqual(title(name, patch.append_chunk(data, chunk, patch.id3v2(frame))), "A")

    def test_files_of_another_structure_are_rejected(self) -> None:
        for edit in (
            patch.flac_parts,
            patch.ogg_pages,
            patch.mp3_frames,
            patch.matroska_blocks,
            patch.asf_packet_times,
            patch.monkeys_audio,
            patch.dsdiff,
            lambda data: patch.append_chunk(data, b"id3 ", b""),
        ):
            with self.assertRaises(patch.PatchError):
                edit(b"\x01" * 400)

    def test_recipes_have_unique_names_and_cover_every_folder(self) -> None:
        names = [recipe.name for recipe in recipes() if not recipe.is_intermediate]
        self.assertGreaterEqual(len(names), 400)
        self.assertEqual({name.split("/")[0] for name in names}, {"matrix", "encoders", "causes", "damage", "hls"})


if __name__ == "__main__":
    unittest.main()
