"""A web server that does what a test wants: Python's own, and what a request's query says.

    http_server.py FOLDER CONTROL-SOCKET [CERTIFICATE KEY [NEWEST-TLS-VERSION]]

It connects to the control socket, and says there a line for each thing that happens: `port N`, `request METHOD PATH RANGE`,
`gate NAME`. It reads lines there: `open NAME` opens a gate; `connections` is answered with `connections N RESUMED`, the number
of connections so far, and how many of them resumed a TLS session.

What a query may say of /FILE (several at once, joined by &):
  status=N            answers with this status; times=N: only the first N requests for this path; retry=S: Retry-After
  plain               knows no ranges
  silent              sends no Content-Length (and closes at the end)
  chunked             sends in chunks, without a length and without ranges
  cut=N               closes after N bytes of each body; times=N as above
  gate=NAME&at=N      after N bytes of the body waits for the gate; may be repeated
  hold=NAME           waits for the gate before it answers
  say=N               says that the resource has N bytes
  send=N              has N bytes, whatever it says
  changing            another ETag with each request
  endless             sends it again and again, for ever, without a length
  pace=N              sends no more than so many bytes a second
  shifted             gives another range than was asked for
  redirect=N          sends on N times; redirect=loop: for ever; to=URL: there; endless: with a body that does not end
  headers=N           so many bytes of header
  again=QUERY         from the second request for this path on: that instead, percent-encoded
  icy=N               a station, with a title each N bytes: title=HEX (of the bytes), repeated; loop=N: the file so many times

It is a proxy, too: `CONNECT HOST:PORT` joins its client with whoever listens there, or answers 404.
"""
import http.server, os, socket, ssl, sys, threading, time, urllib.parse

folder, control_path = sys.argv[1], sys.argv[2]
control = socket.socket(socket.AF_UNIX)
control.connect(control_path)
lock = threading.Lock()
counts, gates = {}, {}
connections = []


def say(text):
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
            say("connections %d %d" % (len(connections), sum(connections)))
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

    def first(self, query, name):
        """How often this path was asked for is less than `times` says."""
        if "times" not in query:
            return True
        with lock:
            key = (name, self.path)
            counts[key] = counts.get(key, 0) + 1
            return counts[key] <= int(query["times"][0])

    def do_GET(self):
        address = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(address.query, keep_blank_values=True)
        # In one message: the socket holds some 280 that the test has not read.
        lines = ["request GET %s %s" % (self.path, self.headers.get("Range", "-"))]
        for field in ("User-Agent", "Icy-MetaData", "X-Test", "X-Api-Key", "Cookie", "Authorization"):
            if field in self.headers:
                lines.append("header %s: %s" % (field, self.headers[field]))
        say("\n".join(lines))
        try:
            if "again" in query:
                with lock:
                    counts[self.path] = counts.get(self.path, 0) + 1
                    if counts[self.path] > 1:
                        query = urllib.parse.parse_qs(query["again"][0], keep_blank_values=True)
            self.answer(address.path, query)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def do_CONNECT(self):
        say("request CONNECT %s -" % self.path)
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

    def answer(self, path, query):
        if "hold" in query:
            say("gate " + query["hold"][0])
            gate(query["hold"][0]).wait()
        if "redirect" in query:
            return self.redirect(path, query)
        if "status" in query and self.first(query, "status"):
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
        start, wanted = 0, self.headers.get("Range")
        if "endless" in query:
            query["silent"] = [""]
        ranged = wanted is not None and not {"plain", "chunked", "silent"} & set(query)
        if ranged:
            start = int(wanted.removeprefix("bytes=").split("-")[0])
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
        # Until nobody takes it any more.
        while "endless" in query:
            self.wfile.write(data)
        self.body(data[start:], query)

    def body(self, data, query):
        cut = int(query["cut"][0]) if "cut" in query and self.first(query, "cut") else len(data)
        sent, stops = 0, dict(zip(map(int, query.get("at", [])), query.get("gate", [])))
        for end in sorted({min(cut, len(data))} | {stop for stop in stops if stop < cut}):
            self.send_piece(data[sent:end], query)
            sent = end
            if sent in stops:
                say("gate " + stops[sent])
                gate(stops[sent]).wait()
        if "chunked" in query and cut >= len(data):
            self.wfile.write(b"0\r\n\r\n")
        if cut < len(data) or "say" in query:
            self.close_connection = True

    def send_piece(self, data, query):
        if "pace" in query:
            piece = max(1, int(query["pace"][0]) // 20)
            for start in range(0, len(data), piece):
                self.wfile.write(data[start : start + piece])
                time.sleep(0.05)
            return
        if "chunked" not in query:
            return self.wfile.write(data)
        for start in range(0, len(data), 4096):
            piece = data[start : start + 4096]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))

    def redirect(self, path, query):
        count = query["redirect"][0]
        rest = "loop" if count == "loop" else int(count) - 1
        place = path if rest == 0 else "%s?redirect=%s" % (path, rest)
        self.send_response(302)
        self.send_header("Location", query.get("to", [place])[0])
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
        for place in range(0, len(data), interval):
            piece = data[place : place + interval]
            out += piece
            if len(piece) < interval:
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
say("port %d" % server.server_address[1])
threading.Thread(target=listen, daemon=True).start()
server.serve_forever()
