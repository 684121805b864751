"""The benchmark of the server, and the load that it makes."""

from __future__ import annotations

import json
import socketserver
import threading

import pytest

from research.bench import run_benchmark
from research.bench.speed import load

pytest.importorskip("fastapi", reason="needs the extra [serve]")
pytest.importorskip("uvicorn", reason="needs the extra [serve]")


def test_the_benchmark_runs_and_no_request_is_lost():
    record, lines = run_benchmark("serving", quick=True)
    for found in record["results"].values():
        ours = found["taylorank serve"]
        for part in ours.values():
            assert part["lost"] == 0
            assert part["answers"].keys() == {"200"}
        assert ours["flat out"]["requests"] > ours["at a rate"]["requests"] == 50
    assert record["reload"]["reloads"] >= 1
    assert record["reload"]["lost"] == record["reload"]["refused"] == 0
    assert min(record["memory"]["mb"]) > 10
    assert "requests lost" in " ".join(lines)
    json.dumps(record)


class Stalling(socketserver.StreamRequestHandler):
    """Answers at once but for the fifth request, which keeps everyone waiting; every seventh is refused."""

    lock, asked = threading.Lock(), 0

    def handle(self):
        while line := self.rfile.readline():
            while (header := self.rfile.readline()) != b"\r\n":
                if header.lower().startswith(b"content-length"):
                    length = int(header.split(b":")[1])
            assert line.startswith(b"POST")
            assert json.loads(self.rfile.read(length)) == {"user": 1}
            with Stalling.lock:
                Stalling.asked += 1
                number = Stalling.asked
                if number == 5:
                    threading.Event().wait(0.5)
            status = b"503 Busy" if number % 7 == 0 else b"200 OK"
            self.wfile.write(b"HTTP/1.1 %s\r\nContent-Length: 2\r\n\r\n{}" % status)


@pytest.fixture
def stalling(tmp_path):
    Stalling.asked = 0
    (tmp_path / "bodies").write_text('{"user": 1}\n')
    socketserver.ThreadingTCPServer.daemon_threads = True
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Stalling) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield str(server.server_address[1]), str(tmp_path / "bodies")
        server.shutdown()


def test_a_stall_counts_for_every_request_that_was_due(stalling):
    found = load.measure(*stalling, "1.0", "100", "4")
    assert (found["requests"], found["lost"]) == (100, 0)
    assert found["answers"] == {"200": 86, "503": 14}
    assert found["max_ms"] > 450
    assert found["p99_ms"] > 400  # about fifty were due meanwhile


def test_as_fast_as_it_goes_counts_what_it_gets(stalling):
    found = load.measure(*stalling, "0.8", "0", "2")
    assert found["lost"] == 0
    assert sum(found["answers"].values()) == found["requests"] > 10
    assert found["answers"]["503"] == found["requests"] // 7
