"""A web server for the documents: a proxy that serves every `http://` address from one folder, and a station."""

from __future__ import annotations

import http.server
import pathlib
import re
import threading


class Server:
    """Serves the files of a folder by the last part of the requested path, with ranges. `/live` is a station."""

    def __init__(self, folder: pathlib.Path, station: pathlib.Path) -> None:
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                name = re.sub(r"[?#].*", "", self.path).rsplit("/", 1)[-1]
                if name == "live":
                    self.send_station()
                    return
                path = folder / name
                if not path.is_file():
                    self.send_error(404)
                    return
                data = path.read_bytes()
                first, last = 0, len(data) - 1
                if wanted := re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "")):
                    first, last = int(wanted[1]), min(last, int(wanted[2] or last))
                    self.send_response(206)
                    self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
                else:
                    self.send_response(200)
                self.send_header("Accept-Ranges", "bytes")
                self.send_header("Content-Length", str(last + 1 - first))
                self.end_headers()
                self.wfile.write(data[first: last + 1])

            def send_station(self) -> None:
                self.send_response(200)
                for field in ("Content-Type: audio/mpeg", "icy-name: Radio Example", "icy-genre: Test", "icy-metaint: 8192", "Connection: close"):
                    self.send_header(*field.split(": "))
                self.end_headers()
                title = b"StreamTitle='The Testers - Live';"
                title = bytes([(len(title) + 15) // 16]) + title.ljust((len(title) + 15) // 16 * 16, b"\0")
                data = station.read_bytes()
                position, block = 0, 0
                while True:
                    part = (data[position:] + data)[:8192]
                    position = (position + 8192) % len(data)
                    self.wfile.write(part + (title if block % 16 == 0 else b"\0"))
                    block += 1

            def handle(self) -> None:
                try:
                    super().handle()
                except OSError:
                    # The client closed the connection.
                    pass

            def log_message(self, format: str, *arguments: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
