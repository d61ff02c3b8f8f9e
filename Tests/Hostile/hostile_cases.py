"""The known attacks on the daemon: the requests of each, and the replies that are correct.

A reply is correct if the reference of the protocol (docs/protocol) lists its error for such a file or server. A reply
that is missing is never correct.
"""

import contextlib
import dataclasses
import functools
import os
import pathlib
import random
from collections.abc import Callable, Iterator

import hostile_files
import hostile_server

DAEMON_LIMIT = 150 << 20
WORKER_LIMIT = 400 << 20
# The bytes that one opening reads (docs/protocol/sources.md): `opening-bytes`, 4 MiB ahead of it, and 1 MiB that the
# measurement cannot distinguish.
OPENING_LIMIT = (64 << 20) + (4 << 20) + (1 << 20)


@dataclasses.dataclass
class Step:
    """A request, and the names of the errors that are correct replies to it; `ok` for a request that must succeed."""

    request: str
    replies: str = "ok"
    # A regular expression that a row of the reply must match.
    row: str = ""


@dataclasses.dataclass
class Case:
    """An attack.

    Each sequence of steps has its own connection. The sequences run at once, the steps of one in their order.
    """

    name: str
    sequences: list[list[Step]]
    # Measures something after the last reply. Returns whether it is within its limit, and a text.
    measure: Callable[[], tuple[bool, str]] | None = None
    # Whether the attack mostly waits. It then runs during the other attacks.
    is_slow: bool = False


def one(name: str, *steps: Step) -> Case:
    """An attack with one connection."""
    return Case(name, [list(steps)])


def inspection(path: str, replies: str, tag_replies: str = "") -> list[Step]:
    """Opens an asset, and loads its properties and its tags. Tags can be read of some files whose audio cannot."""
    return [Step("asset.open " + path), Step("asset.load 1 duration tracks", replies), Step("asset.load 1 metadata", tag_replies or replies)]


class Cases:
    """Makes the files of the attacks in the folder of a corpus.

    address: the URL of the hostile server.
    """

    def __init__(self, corpus: hostile_files.Corpus, address: str):
        self.corpus, self.address = corpus, address

    def __iter__(self) -> Iterator[Case]:
        yield from self.small_files()
        yield from self.lists()
        yield from self.bombs()
        yield from self.zeros()
        yield from self.images()
        yield from self.servers()

    def file(self, name: str, data: bytes) -> str:
        path = self.corpus.path(name)
        pathlib.Path(path).write_bytes(data)
        return path

    def small_files(self) -> Iterator[Case]:
        """Files that crash libgme. The daemon accepts no format of libgme."""
        generator = random.Random(self.corpus.seed)
        hes = self.file("hes.mp3", hostile_server.HES)
        yield one("hes of 33 bytes, load", Step("load %s wait=ready" % hes, "unknown-format"))
        yield one("hes of 33 bytes, append", Step("append %s wait=ready" % hes, "unknown-format"))
        yield one("hes of 33 bytes, asset.load", *inspection(hes, "unknown-format"))
        yield one("hes of 33 bytes, scan", Step("scan " + hes, row="status=failed error=unknown-format"))
        yield one("hes of 33 bytes, waveform", Step("waveform " + hes, "unknown-format"))
        files = {
            "gbs of 300 bytes": self.file("gbs.mp3", b"GBS\1" + generator.randbytes(296)),
            "ay of 300 bytes": self.file("ay.mp3", b"ZXAYEMUL" + generator.randbytes(292)),
        }
        for name, path in files.items():
            yield one(name + ", load", Step("load %s wait=ready" % path, "unknown-format"))
            yield one(name + ", asset.load", *inspection(path, "unknown-format"))

    def lists(self) -> Iterator[Case]:
        """Playlists, CUE sheets and HLS playlists with a file that crashes libgme."""
        self.file("hes.mp3", hostile_server.HES)
        playlist = self.file("list.m3u", b"#EXTM3U\nhes.mp3\n")
        yield one("hes in a playlist", Step("load %s wait=ready" % playlist, "unknown-format"))
        sheet = b'FILE "hes.mp3" MP3\n  TRACK 01 AUDIO\n    INDEX 01 00:00:00\n  TRACK 02 AUDIO\n    INDEX 01 00:01:00\n'
        cue = self.file("sheet.cue", sheet)
        yield one("hes in a CUE sheet", Step("load %s wait=ready" % cue, "unknown-format"))
        stream = self.file("stream.m3u8", hostile_server.hls("hes.mp3"))
        yield one("hes in a local HLS stream", Step("load %s wait=ready" % stream, "unknown-format"))
        yield one("hes in a local stream, asset.load", *inspection(stream, "unknown-format", "ok"))
        address = self.address + "/hls-hes.m3u8"
        yield one("hes in an HLS stream", Step("load %s wait=ready" % address, "unknown-format"))
        yield one("hes in an HLS stream, asset.load", *inspection(address, "unknown-format", "ok"))
        yield one("hes from a slow server", Step("load %s/late-hes.mp3" % self.address), Step("state.save"),
                  Step("wait ready timeout=10", "unknown-format"))

    def bombs(self) -> Iterator[Case]:
        """Files that are much larger when they are unpacked or read."""
        # A compressed frame of ID3 is a warning of `asset.metadata`, and the audio plays.
        replies = {"id3-compressed": "ok", "sparse-2g": "media-limit-exceeded"}
        for name in ["gzip-4g", "gzip-1g", "zip-1g", "id3-compressed", "sparse-2g"]:
            path, reply = self.corpus.special(name), replies.get(name, "unknown-format")
            yield one(name + ", load", Step("load %s wait=ready" % path, reply))
            yield one(name + ", asset.load", *inspection(path, reply, "ok" if name == "sparse-2g" else ""))
        yield one("id3-compressed, asset.metadata", Step("asset.open " + self.corpus.special("id3-compressed")),
                  Step("asset.metadata 1", row="warning=TIT2 code=3005"))
        copies = []
        for number in range(4):
            copies.append(self.corpus.path("sparse-%d.mp3" % number))
            with contextlib.suppress(FileExistsError):
                os.link(self.corpus.special("sparse-2g"), copies[-1])
        yield one("sparse-2g, four at once", Step("append " + " ".join(copies)), Step("wait ready timeout=30", "media-limit-exceeded"))

    def zeros(self) -> Iterator[Case]:
        """Audio, then 2 GB of zeros. The audio plays and is measured; a waveform of such a file fails."""
        for name in ["mp3-zeros", "ac3-zeros", "dts-zeros"]:
            path = self.corpus.special(name)
            yield one(name + ", load and play", Step("load %s wait=ready" % path), Step("play"), Step("seek 15"), Step("wait ended timeout=20"))
            yield one(name + ", asset.load", *inspection(path, "ok"))
            yield one(name + ", scan", Step("scan " + path, row="status=measured .*fault=media-limit-exceeded"))
            yield one(name + ", waveform", Step("waveform " + path, "media-limit-exceeded"))

    def images(self) -> Iterator[Case]:
        """Artwork and video frames of 8192 x 8192, which exceed the limit of images."""
        for name in ["covers-8", "covers-40"]:
            path = self.corpus.special(name)
            yield one(name + ", load", Step("load %s wait=ready" % path), Step("play"),
                      Step("item.artwork {item} file=%s replace" % self.corpus.path("cover.png")))
            yield one(name + ", asset.load", *inspection(path, "ok"))
        video, still = self.corpus.special("video-8192"), self.corpus.special("png-8192")

        def image(name: str) -> Step:
            return Step("image %s 0 file=%s replace" % (video, self.corpus.path(name)), "media-limit-exceeded")

        yield one("image of 8192 x 8192", image("image.png"))
        yield Case("image of 8192 x 8192, 12 at once", [[image("image-%d.png" % number)] for number in range(12)])
        yield one("load of 8192 x 8192", Step("load %s wait=ready" % still, "unknown-format"), Step("load %s wait=ready" % video), Step("play"))
        yield one("asset.load of 8192 x 8192", *inspection(still, "unknown-format"))
        yield one("asset.load of a video of 8192 x 8192", *inspection(video, "ok"))

    def servers(self) -> Iterator[Case]:
        """Each kind of the server. The slow kinds run at once, each with a player and with an asset."""
        for kind, replies in SERVER_REPLIES.items():
            yield one("server: " + kind, Step("load %s/%s.mp3 wait=ready" % (self.address, kind), replies))
            # The tags of zeros are readable: there are none.
            tag_replies = "ok" if kind in {"zeros", "chunks"} else ""
            yield one("server: %s, asset.load" % kind, *inspection("%s/%s.mp3" % (self.address, kind), replies, tag_replies))
        slow = []
        for number, (kind, (replies, option)) in enumerate(SLOW_SERVER_REPLIES.items()):
            player = "slow%d" % number
            slow.append([Step("player.create " + player), Step("load %s/%s.mp3 player=%s wait=ready %s" % (self.address, kind, player, option), replies),
                         Step("player.close " + player)])
            slow.append(inspection("%s/%s.mp3 %s" % (self.address, kind, option), replies)[:2])
        yield Case("servers: " + ", ".join(SLOW_SERVER_REPLIES), slow, is_slow=True)
        yield one("server: zeros, two at once", Step("load {0}/zeros.mp3?1 {0}/zeros.mp3?2".format(self.address)),
                  Step("wait ready timeout=20", "media-limit-exceeded"))
        yield one("server: zeros in an HLS stream", Step("load %s/hls-zeros.m3u8 wait=ready" % self.address, "unknown-format"))
        for kind in ["zeros", "id3", "chunks"]:
            # The current entry is opened for its properties, and at the same time for decoding.
            name = "/%s.mp3?entry" % kind
            step = Step("load %s%s wait=ready" % (self.address, name), "media-limit-exceeded")
            yield Case("server: bytes of an entry, " + kind, [[step]], functools.partial(measure_bytes, name, 2))
            name = "/%s.mp3?asset" % kind
            steps = inspection(self.address + name, "media-limit-exceeded")[:2]
            yield Case("server: bytes of an asset, " + kind, [steps], functools.partial(measure_bytes, name, 1))


def measure_bytes(name: str, opening_count: int) -> tuple[bool, str]:
    """Compares the bytes that the daemon read from the server with the limit of so many openings."""
    counts, limit = hostile_server.read_bytes(name), opening_count * OPENING_LIMIT
    return 0 < sum(counts) <= limit, "%d MB in %d connections, limit %d MB" % (sum(counts) >> 20, len(counts), limit >> 20)


# The kinds of the server that end soon, with the correct replies.
SERVER_REPLIES = {
    "zeros": "media-limit-exceeded",
    "id3": "media-limit-exceeded",
    # The four bytes that the server declares are the header of a frame.
    "shorter": "damaged-file",
    "negative": "bad-http-response",
    "loop": "too-many-redirects",
    "chain": "too-many-redirects",
    "headers": "bad-http-response",
    # The daemon accepts no compressed transfers; the bytes are a gzip file.
    "gzip": "unknown-format",
    "chunks": "media-limit-exceeded",
    "list": "stream-playlist-cycle",
    "late-hes": "unknown-format",
}

# The kinds that last until the daemon stops waiting, with the correct replies and the option that shortens the wait.
# Five attempts after a lost connection take 15.5 s, which no option changes.
SLOW_SERVER_REPLIES = {
    "longer": ("connection-lost", ""),
    "reset": ("connection-lost", ""),
    "drip": ("opening-timed-out network-timed-out", "timeout=1"),
    "silent": ("network-timed-out", "timeout=1"),
}
