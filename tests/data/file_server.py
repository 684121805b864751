"""A small web server on this machine whose faults the tests choose."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Site:
    """One file, how it is served, and what was asked for."""

    content: bytes = b""
    etag: str | None = '"v1"'
    modified: str | None = None
    status: int = 200
    break_after: int | None = None
    honours_ranges: bool = True
    honours_conditions: bool = True
    tells_length: bool = True
    address: str = ""
    requests: list[dict[str, str]] = field(default_factory=list)

    def start_for(self, headers: dict[str, str]) -> int:
        """Where the answer starts: after what the client has, if the file is still the same."""
        wanted = headers.get("range", "")
        if not wanted or not self.honours_ranges:
            return 0
        condition = headers.get("if-range")
        if self.honours_conditions and condition is not None and condition not in (self.etag, self.modified):
            return 0
        return int(wanted.removeprefix("bytes=").rstrip("-"))


@contextmanager
def serve(site: Site) -> Iterator[Site]:
    """Serve the site until the block ends; `site.address` says where."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            site.requests.append(headers)
            start = site.start_for(headers)
            if site.status != 200:
                self.send_error(site.status)
                return
            if start and start >= len(site.content):
                self.send_error(416)
                return
            self._answer(start)

        def _answer(self, start: int) -> None:
            body = site.content[start:]
            self.send_response(206 if start else 200)
            if site.tells_length:
                self.send_header("Content-Length", str(len(body)))
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(site.content) - 1}/{len(site.content)}")
            if site.etag:
                self.send_header("ETag", site.etag)
            if site.modified:
                self.send_header("Last-Modified", site.modified)
            self.end_headers()
            self.wfile.write(body if site.break_after is None else body[: site.break_after])

        def log_message(self, format: str, *values: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.address = f"http://127.0.0.1:{server.server_address[1]}/file.bin"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
