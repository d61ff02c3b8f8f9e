"""An HTTP server that sends what no player wants: zeros without an end, wrong lengths, single bytes, loops, nothing.

Each name below /  is one kind; the extension does not matter: /zeros.mp3, /id3.mp3, /longer.mp3, ...
"""

import collections
import functools
import http.server
import select
import socket
import socketserver
import struct
import threading
import time
import urllib.parse
import zlib

HES = b"HESM\xf0" + bytes(28)
KINDS = ["zeros", "id3", "longer", "shorter", "negative", "drip", "loop", "chain", "silent", "headers", "gzip", "chunks", "list", "late-hes", "reset",
         "hes", "hls-hes", "hls-zeros"]
# For each path with its query: the bytes that the client has read from each connection, of the zeros without an end.
_read: dict[str, dict[int, int]] = collections.defaultdict(dict)
_read_lock = threading.Lock()


def read_bytes(name: str) -> list[int]:
    """The bytes that the client has read of a path with its query, for each connection. Exact to 1 MiB."""
    with _read_lock:
        return sorted(_read[name].values())


def unread_bytes(connection: socket.socket) -> int | None:
    """The bytes that were written to the connection, and the client has not read: those in both buffers of the kernel.

    None if the client has closed the connection: the kernel has discarded both buffers then.
    """
    ends, counts = {":%04X" % connection.getpeername()[1], ":%04X" % connection.getsockname()[1]}, []
    with open("/proc/net/tcp", encoding="ascii") as file:
        for row in file:
            fields = row.split()
            if {fields[1][-5:], fields[2][-5:]} == ends:
                counts.append(sum(int(number, 16) for number in fields[4].split(":")))
    closed = select.poll()
    closed.register(connection, select.POLLRDHUP)
    return sum(counts) if len(counts) == 2 and not closed.poll(0) else None


def hls(segment: str) -> bytes:
    """An HLS playlist of one segment."""
    return b"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n" + segment.encode() + b"\n#EXT-X-ENDLIST\n"


@functools.cache
def gzip_bomb() -> bytes:
    """256 MB of zeros, compressed."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(packer.compress(bytes(1 << 24)) for _ in range(16)) + packer.flush()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.close_connection = True
        address = urllib.parse.urlsplit(self.path)
        kind = address.path.strip("/").split(".")[0]
        try:
            getattr(self, "send_" + kind.replace("-", "_"), self.send_nothing)(address)
        except (OSError, ValueError):
            pass

    do_HEAD = do_GET

    def begin(self, status=200, length=None, **fields):
        self.send_response(status)
        self.send_header("Content-Type", "audio/mpeg")
        if length is not None:
            self.send_header("Content-Length", str(length))
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def zeros(self, seconds=120.0):
        end, count = time.monotonic() + seconds, 0
        block = bytes(1 << 16)
        while time.monotonic() < end:
            self.wfile.write(block)
            count += len(block)
            if count % (1 << 20) == 0:
                unread = unread_bytes(self.connection)
                if unread is None:
                    return
                with _read_lock:
                    _read[self.path][id(self)] = count - unread

    def send_nothing(self, _):
        self.begin(404, 0)

    def send_zeros(self, _):
        self.begin()
        self.zeros()

    def send_id3(self, _):
        """A tag of 256 MB."""
        self.begin(length=300 << 20)
        self.wfile.write(b"ID3\4\0\0\x7f\x7f\x7f\x7f")
        self.zeros()

    def send_longer(self, _):
        self.begin(length=1 << 40)
        self.wfile.write(b"\xff\xfb\x90\x64" + bytes(413))

    def send_shorter(self, _):
        self.begin(length=4)
        self.wfile.write((b"\xff\xfb\x90\x64" + bytes(413)) * 500)

    def send_negative(self, _):
        self.begin(length=-5)
        self.wfile.write(bytes(5_000))

    def send_drip(self, _):
        self.begin(length=1_000_000)
        for _ in range(120):
            self.wfile.write(b"\xff")
            time.sleep(1)

    def send_loop(self, address):
        self.begin(302, 0, Location=address.path)

    def send_chain(self, address):
        number = int(address.query or 0)
        self.begin(302, 0, Location="%s?%d" % (address.path, number + 1))

    def send_silent(self, _):
        time.sleep(120)

    def send_headers(self, _):
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            self.wfile.write(b"X-A: " + b"a" * 60_000 + b"\r\n")

    def send_gzip(self, _):
        data = gzip_bomb()
        self.begin(length=len(data), Content_Encoding="gzip")
        self.wfile.write(data)

    def send_chunks(self, _):
        self.begin(Transfer_Encoding="chunked")
        self.wfile.write(b"FFFFFFFFFFFFFFF\r\n")
        self.zeros(20)

    def send_list(self, address):
        """A playlist of itself."""
        self.begin()
        self.wfile.write(b"#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n" + address.path.encode() + b"\n")

    def send_late_hes(self, _):
        """The file that crashes libgme, after 1.2 s: the daemon has saved its state before."""
        time.sleep(1.2)
        self.begin(length=len(HES))
        self.wfile.write(HES)

    def send_hes(self, _):
        self.begin(length=len(HES))
        self.wfile.write(HES)

    def send_hls_hes(self, _):
        self.begin()
        self.wfile.write(hls("hes.mp3"))

    def send_hls_zeros(self, _):
        self.begin()
        self.wfile.write(hls("zeros.ts"))

    def send_reset(self, _):
        self.begin(length=1_000_000)
        self.wfile.write(bytes(1_000))
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        """A client that has gone is no error of the server."""


def start() -> str:
    """Starts the server on loopback; its address."""
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return "http://127.0.0.1:%d" % server.server_address[1]
