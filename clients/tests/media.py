"""The media files that the documents name, generated with FFmpeg once in a test run."""

from __future__ import annotations

import pathlib
import subprocess


def _tone(frequency: int, seconds: float, *options: str, rate: int = 44100) -> list[str]:
    return ["-f", "lavfi", "-i", f"sine={frequency}:r={rate}:d={seconds}", *options]


def _tags(title: str, artist: str = "The Testers", album: str = "One More", track: str = "1") -> list[str]:
    return ["-metadata", f"title={title}", "-metadata", f"artist={artist}", "-metadata", f"album={album}", "-metadata", f"track={track}"]


# A video and two audio tracks.
_FILM = ["-f", "lavfi", "-i", "testsrc=s=160x90:r=4:d=100", "-f", "lavfi", "-i", "sine=220:r=22050:d=100", "-f", "lavfi", "-i", "sine=440:r=22050:d=100",
         "-map", "0", "-map", "1", "-map", "2", "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "libmp3lame", "-b:a", "32k",
         "-metadata:s:a:0", "language=eng", "-metadata:s:a:1", "language=ger"]

RECIPES: dict[str, list[str]] = {
    "A side.flac": [*_tone(440, 183.2), "-ac", "2", *_tags("A side")],
    "B side.mp3": [*_tone(330, 120), "-ac", "2", "-b:a", "48k", *_tags("B side", track="2")],
    "one.flac": [*_tone(440, 120, rate=22050), *_tags("One")],
    "two.flac": [*_tone(550, 90, rate=22050), *_tags("Two", track="2")],
    "three.mp3": [*_tone(660, 60), "-b:a", "48k", *_tags("Three", track="3")],
    "album.flac": [*_tone(500, 200), *_tags("One More")],
    "talk.mp3": [*_tone(200, 1300, rate=8000), "-b:a", "16k", *_tags("A talk", "A speaker", "Talks")],
    "cover.mp3": [*_tone(300, 5), "-f", "lavfi", "-i", "color=red:s=64x64:d=1:r=1", "-map", "0", "-map", "1", "-b:a", "32k", "-c:v", "mjpeg", "-frames:v", "1",
                  "-disposition:v", "attached_pic", *_tags("Cover")],
    "old.mp3": [*_tone(200, 5), "-b:a", "32k", *_tags("Old")],
    "bell.wav": [*_tone(880, 2)],
    "thunder.wav": [*_tone(60, 6)],
    "rain.wav": [*_tone(900, 12)],
    "announcement.wav": [*_tone(700, 4)],
    "film.mkv": _FILM,
    "chapters/1.mp3": [*_tone(210, 20), "-b:a", "32k", *_tags("Chapter one", "An author", "A book", "1")],
    "chapters/2.mp3": [*_tone(220, 20), "-b:a", "32k", *_tags("Chapter two", "An author", "A book", "2")],
    "book.m4b": [*_tone(230, 60), "-i", "{folder}/book.txt", "-map", "0", "-map_metadata", "1", "-f", "mp4", "-b:a", "32k"],
}
"""FFmpeg's arguments for each file, without the output."""

TEXTS = {
    "book.txt": ";FFMETADATA1\ntitle=A book\nartist=An author\n" + "".join(
        f"[CHAPTER]\nTIMEBASE=1/1\nSTART={20 * number}\nEND={20 * number + 20}\ntitle=Chapter {number + 1}\n" for number in range(3)),
    "album.cue": 'PERFORMER "The Testers"\nTITLE "One More"\nFILE "album.flac" WAVE\n' + "".join(
        f'  TRACK 0{number + 1} AUDIO\n    TITLE "{title}"\n    INDEX 01 0{number}:00:00\n' for number, title in enumerate(["First", "Second", "Third"])),
    "evening.m3u8": "#EXTM3U\none.flac\ntwo.flac\n",
}


class Media:
    """The files, made at their first use."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder
        for name, text in TEXTS.items():
            (folder / name).write_text(text)

    def file(self, name: str) -> pathlib.Path:
        path = self._folder / name
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            arguments = [argument.replace("{folder}", str(self._folder)) for argument in RECIPES[name]]
            subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", *arguments, str(path)], check=True)
        return path

    def provide(self, folder: pathlib.Path, text: str) -> None:
        """Links the files that the text names into a folder."""
        text += "".join(contents for name, contents in TEXTS.items() if name in text)
        for name in [*RECIPES, *TEXTS]:
            if name in text or name.split("/")[0] + "/" in text and "/" in name:
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.hardlink_to(self.file(name))
