"""A web server for tests. The query of each request controls the response.

    http_server.py FOLDER CONTROL-SOCKET [CERTIFICATE KEY [NEWEST-TLS-VERSION]]

The server connects to the control socket and writes a line for each event: `port N`, `request METHOD PATH RANGE`,
`header NAME: VALUE`, `gate NAME`. It reads commands from the same socket: `open NAME` opens a gate; the reply to
`connections` is `connections N RESUMED`, the number of connections so far and the number of resumed TLS sessions.

Parameters of the query of /FILE, which can be combined with &:
  status=N            responds with this status; times=N: only to the first N requests for this path; retry=S: a
                      Retry-After field
  plain               does not support ranges
  silent              sends no Content-Length, and closes the connection at the end
  chunked             sends chunks, without a length and without ranges
  cut=N               closes the connection after N bytes of each body; times=N as above
  gate=NAME&at=N      waits for the gate after N bytes of the body; can be repeated
  hold=NAME           waits for the gate before the response
  say=N               announces N bytes
  send=N              has N bytes, whatever it announces
  changing            a different ETag for each request
  endless             repeats the file endlessly, without a length
  pace=N              sends at most N bytes per second
  shifted             sends another range than requested
  redirect=N          redirects N times; redirect=loop: endlessly; to=URL: to this URL; endless: with an endless body
  headers=N           N bytes of header fields
  again=QUERY         this percent-encoded query instead, from the second request for this path
  icy=N               a station with a title every N bytes; title=HEX, repeatable: the titles' bytes; loop=N: the file N
                      times

The server is a proxy, too: `CONNECT HOST:PORT` connects its client to that address, or responds with 404.
"""
import http.server, os, socket, ssl, sys, threading, time, urllib.parse

folder, control_path = sys.argv[1], sys.argv[2]
control = socket.socket(socket.AF_UNIX)
control.connect(control_path)
lock = threading.Lock()
counts, gates = {}, {}
connections = []


def report(text):
    with lock:
        control.sendall((text + "\n").encode())


def gate(name):
    with lock:
        return gates.setdefault(name, threading.Event())


def listen():
    for line in control.makefile():
        words = line.split()
        if words[:1] == ["open"]:
            gate(words[1]).set()
        if words[:1] == ["connections"]:
            report("connections %d %d" % (len(connections), sum(connections)))
    os._exit(0)


def relay(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        connections.append(getattr(self.connection, "session_reused", False) is True)

    def log_message(self, *_):
        pass

    def is_within_times(self, query, name):
        """Whether this is one of the first `times` requests for this path."""
        if "times" not in query:
            return True
        with lock:
            key = (name, self.path)
            counts[key] = counts.get(key, 0) + 1
            return counts[key] <= int(query["times"][0])

    def do_GET(self):
        address = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(address.query, keep_blank_values=True)
        # In one message, because the socket buffers only about 280 unread messages.
        lines = ["request GET %s %s" % (self.path, self.headers.get("Range", "-"))]
        for field in ("User-Agent", "Icy-MetaData", "X-Test", "X-Api-Key", "Cookie", "Authorization"):
            if field in self.headers:
                lines.append("header %s: %s" % (field, self.headers[field]))
        report("\n".join(lines))
        try:
            if "again" in query:
                with lock:
                    counts[self.path] = counts.get(self.path, 0) + 1
                    if counts[self.path] > 1:
                        query = urllib.parse.parse_qs(query["again"][0], keep_blank_values=True)
            self.respond(address.path, query)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def do_CONNECT(self):
        report("request CONNECT %s -" % self.path)
        self.close_connection = True
        host, port = self.path.rsplit(":", 1)
        try:
            server = socket.create_connection((host, int(port)))
        except OSError:
            self.send_response(404)
            return self.end_headers()
        self.send_response(200, "Connection established")
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        threading.Thread(target=relay, args=(server, self.connection), daemon=True).start()
        relay(self.connection, server)

    def respond(self, path, query):
        if "hold" in query:
            report("gate " + query["hold"][0])
            gate(query["hold"][0]).wait()
        if "redirect" in query:
            return self.redirect(path, query)
        if "status" in query and self.is_within_times(query, "status"):
            self.send_response(int(query["status"][0]))
            if "retry" in query:
                self.send_header("Retry-After", query["retry"][0])
            self.send_header("Content-Length", "0")
            return self.end_headers()
        try:
            with open(os.path.join(folder, path.lstrip("/")), "rb") as file:
                data = file.read()
        except OSError:
            self.send_response(404)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        if "icy" in query:
            return self.station(data, query)
        total = int(query["say"][0]) if "say" in query else len(data)
        if "send" in query:
            data = data[: int(query["send"][0])]
        start, requested_range = 0, self.headers.get("Range")
        if "endless" in query:
            query["silent"] = [""]
        ranged = requested_range is not None and not {"plain", "chunked", "silent"} & set(query)
        if ranged:
            start = int(requested_range.removeprefix("bytes=").split("-")[0])
            if start >= len(data):
                self.send_response(416)
                self.send_header("Content-Range", "bytes */%d" % len(data))
                self.send_header("Content-Length", "0")
                return self.end_headers()
            self.send_response(206)
            first = start + (1 if "shifted" in query else 0)
            self.send_header("Content-Range", "bytes %d-%d/%d" % (first, total - 1, total))
        else:
            self.send_response(200)
        if "headers" in query:
            for index in range(int(query["headers"][0]) // 1000):
                self.send_header("X-%d" % index, "x" * 990)
        with lock:
            counts["etag"] = counts.get("etag", 0) + ("changing" in query)
            self.send_header("ETag", '"%d"' % (counts["etag"] if "changing" in query else 0))
        self.send_header("Content-Type", query.get("type", ["audio/flac"])[0])
        if "chunked" in query:
            self.send_header("Transfer-Encoding", "chunked")
        elif "silent" in query:
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(total - start))
        if not {"plain", "chunked", "silent"} & set(query):
            self.send_header("Accept-Ranges", "bytes")
        self.end_headers()
        # Until the client closes the connection.
        while "endless" in query:
            self.wfile.write(data)
        self.body(data[start:], query)

    def body(self, data, query):
        cut = int(query["cut"][0]) if "cut" in query and self.is_within_times(query, "cut") else len(data)
        sent, stops = 0, dict(zip(map(int, query.get("at", [])), query.get("gate", [])))
        for end in sorted({min(cut, len(data))} | {stop for stop in stops if stop < cut}):
            self.send_chunk(data[sent:end], query)
            sent = end
            if sent in stops:
                report("gate " + stops[sent])
                gate(stops[sent]).wait()
        if "chunked" in query and cut >= len(data):
            self.wfile.write(b"0\r\n\r\n")
        if cut < len(data) or "say" in query:
            self.close_connection = True

    def send_chunk(self, data, query):
        if "pace" in query:
            chunk = max(1, int(query["pace"][0]) // 20)
            for start in range(0, len(data), chunk):
                self.wfile.write(data[start : start + chunk])
                time.sleep(0.05)
            return
        if "chunked" not in query:
            return self.wfile.write(data)
        for start in range(0, len(data), 4096):
            chunk = data[start : start + 4096]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))

    def redirect(self, path, query):
        count = query["redirect"][0]
        rest = "loop" if count == "loop" else int(count) - 1
        location = path if rest == 0 else "%s?redirect=%s" % (path, rest)
        self.send_response(302)
        self.send_header("Location", query.get("to", [location])[0])
        if "endless" not in query:
            self.send_header("Content-Length", "0")
        self.end_headers()
        while "endless" in query:
            self.wfile.write(bytes(65536))

    def station(self, data, query):
        interval = int(query["icy"][0])
        titles = [bytes.fromhex(title) for title in query.get("title", [])]
        self.send_response(200)
        self.send_header("Content-Type", "audio/mpeg")
        self.send_header("icy-name", "Test Radio")
        self.send_header("icy-genre", "Test")
        self.send_header("icy-br", "128")
        self.send_header("icy-url", "http://radio.test/")
        mixed = self.headers.get("Icy-MetaData") == "1"
        if mixed:
            self.send_header("icy-metaint", str(interval))
        self.end_headers()
        self.close_connection = True
        data = data * int(query.get("loop", ["1"])[0])
        if not mixed:
            return self.body(data, query)
        out = bytearray()
        for position in range(0, len(data), interval):
            chunk = data[position : position + interval]
            out += chunk
            if len(chunk) < interval:
                break
            text = titles.pop(0) if titles else b""
            text += bytes(-len(text) % 16)
            out += bytes([len(text) // 16]) + text
        self.body(bytes(out), query)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        pass


server = Server(("127.0.0.1", 0), Handler)
if len(sys.argv) > 4:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[3], sys.argv[4])
    if len(sys.argv) > 5:
        # OpenSSL's default security level has no cipher for old versions.
        context.set_ciphers("DEFAULT@SECLEVEL=0")
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion[sys.argv[5]]
    server.socket = context.wrap_socket(server.socket, server_side=True)
report("port %d" % server.server_address[1])
threading.Thread(target=listen, daemon=True).start()
server.serve_forever()
