"""A server that says it is busy is counted; one that fails in any other way is a fault."""

from __future__ import annotations

import json
import socket
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks as on Linux")

if sys.platform == "linux":
    from research.attack import Difference, talking
    from research.attack.server import _answers

BUSY = b'{"error":"the server is busy","remedy":"try again in a second"}'
LIST = b'{"items":[{"id":3}]}'


def reply(status, body):
    return b"HTTP/1.1 %d X\r\ncontent-length: %d\r\n\r\n%s" % (status, len(body), body)


def answers(*replies):
    here, there = socket.socketpair()
    with here, there:
        there.sendall(b"".join(replies))
        return _answers(here, len(replies))


def test_under_load_busy_answers_are_counted():
    assert answers(reply(200, LIST), reply(503, BUSY), reply(200, LIST)) == 1


@pytest.mark.parametrize("status", [500, 503])
def test_under_load_any_other_failure_is_a_fault(status):
    with pytest.raises(Difference, match=str(status)):
        answers(reply(200, LIST), reply(status, b"{}"))


def test_a_busy_server_is_asked_again(monkeypatch):
    replies = [(503, BUSY), (503, BUSY), (200, LIST)]
    monkeypatch.setattr(talking, "answer", lambda port, sent: replies.pop(0))
    assert talking.ask(0) == [3]
    replies.extend([(503, BUSY), (503, b"{}")])
    with pytest.raises(talking.Busy):
        talking.ask_once(0)
    with pytest.raises(Difference, match="status 503"):
        talking.ask_once(0)
    assert json.loads(BUSY)["error"].encode() == talking.BUSY
