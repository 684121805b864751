"""Servers as users start and end them."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
from processes import SECONDS, TAYLORANK, Running

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")

RESET = b"\x01\0\0\0\0\0\0\0"  # a connection ends at once, whatever is on its way


def taylorank(*arguments):
    done = subprocess.run([*TAYLORANK, *map(str, arguments)], capture_output=True, text=True, timeout=SECONDS)
    return done.returncode, done.stderr


def test_headers_that_do_not_end_are_hung_up_on(folder):
    with Running(folder / "rg2.tr", "--timeout", "0.5") as server:
        server.ready()
        for begun in (b"", b"POST /v1/recommend HTTP/1.1\r\nhost: local", b"GET / HTTP/1.1\r\nx: " + b"y" * 100_000):
            with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as link:
                link.sendall(begun)
                assert ended(link)
        with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as link:
            for _ in range(2):
                link.sendall(b"GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n")
                reply = b""
                while not reply.endswith(b"}"):
                    reply += link.recv(1 << 16)
                assert reply.startswith(b"HTTP/1.1 200")
                time.sleep(1)  # waiting for the next request has another limit
            link.sendall(b"GET /heal")
            assert ended(link)


def ended(link):
    """Whether the server hangs up, with or without a reset."""
    try:
        return link.recv(1 << 16) == b""
    except ConnectionError:
        return True


def test_sigterm_ends_it_when_what_has_begun_is_answered(folder):
    with Running(folder / "rg2.tr") as server:
        server.ready()
        slow = server.connection()
        slow.putrequest("POST", "/v1/recommend")
        slow.putheader("content-length", "11")
        slow.endheaders()
        slow.send(b'{"use')
        server.until(lambda: b"taylorank_in_flight 2.0" in server.ask("GET", "/metrics")[1])
        server.process.send_signal(signal.SIGTERM)
        server.until(lambda: refuses(server.port))
        assert server.process.poll() is None
        slow.send(b'r": 5}')
        assert slow.getresponse().status == 200
        slow.close()
        assert server.ended() == (0, "")


def refuses(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return True
    return False


def test_reload_under_load_loses_no_request_and_sighup_looks_at_once(folder, tmp_path):
    shutil.copy(folder / "rg2.tr", tmp_path / "m.tr")
    with Running(tmp_path / "m.tr", "--poll", "0") as server:
        server.ready()
        statuses, stop = [], threading.Event()

        def load():
            connection = server.connection()
            while not stop.is_set():
                connection.request("POST", "/v1/recommend", b'{"user": 5}')
                reply = connection.getresponse()
                reply.read()
                statuses.append(reply.status)
            connection.close()

        clients = [threading.Thread(target=load) for _ in range(4)]
        for client in clients:
            client.start()
        for name in ("ials", "ease", "rg2"):
            shutil.copy(folder / f"{name}.tr", tmp_path / "next.tr")
            os.replace(tmp_path / "next.tr", tmp_path / "m.tr")
            server.process.send_signal(signal.SIGHUP)
            kind = {"ials": b'"IALS"', "ease": b'"EASE"', "rg2": b'"RG2"'}[name]
            server.until(lambda kind=kind: kind in server.ask("GET", "/v1/models")[1])
        (tmp_path / "m.tr").write_bytes(b"no model")
        server.process.send_signal(signal.SIGHUP)
        server.until(lambda: b"m.tr is damaged" in server.ask("GET", "/health/ready")[1])
        stop.set()
        for client in clients:
            client.join()
        assert len(statuses) > 20
        assert set(statuses) == {200}
        assert "was not taken in" in server.stop()[1]


def test_a_file_that_is_replaced_is_noticed_by_itself(folder, tmp_path):
    shutil.copy(folder / "rg2.tr", tmp_path / "m.tr")
    with Running(tmp_path / "m.tr", "--poll", "0.1") as server:
        server.ready()
        shutil.copy(folder / "ease.tr", tmp_path / "m.tr")  # in place, as cp does
        server.until(lambda: b'"EASE"' in server.ask("GET", "/v1/models")[1])


def test_two_workers_share_a_port_and_one_that_is_killed_is_replaced(folder, tmp_path):
    shutil.copy(folder / "rg2.tr", tmp_path / "m.tr")
    with Running(tmp_path / "m.tr", "--workers", "2", "--poll", "0") as server:
        server.ready()
        children = f"/proc/{server.process.pid}/task/{server.process.pid}/children"
        server.until(lambda: len(workers(children)) == 2)
        before = workers(children)
        os.kill(before[0], signal.SIGKILL)
        server.until(lambda: len(workers(children)) == 2 and set(workers(children)) != set(before))
        for _ in range(20):
            assert server.ask("POST", "/v1/recommend", {"user": 5})[0] == 200
        counted = server.ask("GET", "/metrics")[1].decode()
        line = next(line for line in counted.splitlines() if line.startswith("taylorank_batch_size_count"))
        assert float(line.split()[-1]) >= 20  # summed over workers
        shutil.copy(folder / "ease.tr", tmp_path / "m.tr")
        server.process.send_signal(signal.SIGHUP)
        server.until(lambda: all(b'"EASE"' in server.ask("GET", "/v1/models")[1] for _ in range(12)))
        status, errors = server.stop()
        assert status == 0
        assert "another is started" in errors
        assert "was replaced and is in use" in errors  # and the newest worker may have begun with it
        assert not any(os.path.exists(f"/proc/{pid}") for pid in workers_of(before))


def workers(path):
    """Processes that a worker supervisor has started, without the helper of multiprocessing."""
    with open(path) as file:
        pids = [int(pid) for pid in file.read().split()]
    return [pid for pid in pids if b"spawn_main" in command(pid)]


def command(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


def workers_of(pids):
    return [pid for pid in pids if b"spawn_main" in command(pid)]


def test_clients_that_hang_up_and_kill_9_leave_nothing_behind(folder):
    with Running(folder / "rg2.tr") as server:
        server.ready()
        body = b'{"user": 5, "explain": true}'
        head = b"POST /v1/recommend HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n" % len(body)
        for cut in (10, len(head), len(head) + 5, len(head) + len(body)):
            for _ in range(10):
                with socket.create_connection(("127.0.0.1", server.port)) as connection:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                    connection.send((head + body)[:cut])
        assert server.ask("POST", "/v1/recommend", {"user": 5})[0] == 200
        server.until(lambda: b"taylorank_in_flight 1.0" in server.ask("GET", "/metrics")[1])
        still_open = server.connection()
        still_open.request("GET", "/health/live")
        assert still_open.getresponse().read()
        assert server.stop(signal.SIGKILL) == (-signal.SIGKILL, "")
        with Running(folder / "rg2.tr", port=server.port) as again:
            again.ready()
            assert again.ask("POST", "/v1/recommend", {"user": 5})[0] == 200
        still_open.close()


def test_a_port_in_use_is_one_clear_line(folder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, errors = taylorank("serve", folder / "rg2.tr", "--port", port)
    assert status == 2
    assert errors == f"taylorank: port {port} of 127.0.0.1 is in use; choose another with --port\n"


@pytest.mark.parametrize("workers", [1, 2])
def test_a_model_that_cannot_be_read_is_one_clear_line(tmp_path, workers):
    (tmp_path / "m.tr").write_bytes(b"no model")
    status, errors = taylorank("serve", tmp_path / "m.tr", "--port", "0", "--workers", workers)
    assert status == 2
    lines = set(errors.splitlines())
    assert len(lines) == 1
    assert "m.tr is damaged or not a model" in lines.pop()


def test_the_end_of_the_parent_is_the_end_of_its_workers(folder):
    with Running(folder / "rg2.tr", "--workers", "2") as server:
        server.ready()
        children = workers(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
        assert children
        server.process.kill()
        server.process.wait()
        end = time.monotonic() + SECONDS
        while workers_of(children) and time.monotonic() < end:
            time.sleep(0.05)
        assert not workers_of(children)
