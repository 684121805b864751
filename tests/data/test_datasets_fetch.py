"""Downloads: resumed where that is safe, never spliced from two files, never used when wrong."""

import fcntl
import hashlib
import json
import os
import socket
import ssl
import threading

import pytest
from file_server import Site, serve

from taylorank.data.datasets.checksum import record_path
from taylorank.data.datasets.fetch import download
from taylorank.errors import DataError

CONTENT = bytes(range(256)) * 4096
MD5 = "md5:" + hashlib.md5(CONTENT).hexdigest()


@pytest.fixture
def site():
    with serve(Site(CONTENT)) as running:
        yield running


@pytest.fixture
def target(tmp_path):
    return tmp_path / "cache" / "file.bin"


def files(target):
    return sorted(path.name for path in target.parent.iterdir())


def break_off(site, target, *, after):
    site.break_after = after
    with pytest.raises(DataError, match="broke"):
        download(site.address, target)
    site.break_after = None


def test_a_download_is_whole_and_leaves_nothing_else(site, target):
    assert download(site.address, target, checksum=MD5) == target
    assert target.read_bytes() == CONTENT
    assert files(target) == ["file.bin"]


def test_progress_ends_with_everything(site, target):
    seen = []
    download(site.address, target, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_a_broken_connection_keeps_the_part_and_says_how_to_go_on(site, target):
    site.break_after = 1000
    with pytest.raises(DataError, match=r"broke after 1,000 of 1,048,576 bytes; run again to resume, or get it"):
        download(site.address, target)
    assert not target.exists()
    assert files(target) == ["file.bin.part", "file.bin.part.json"]


@pytest.mark.parametrize(
    ("etag", "modified", "condition"),
    [
        ('"v1"', None, '"v1"'),
        (None, "Mon, 01 Jan 2024 00:00:00 GMT", "Mon, 01 Jan 2024 00:00:00 GMT"),
        ('W/"v1"', "Mon, 01 Jan 2024 00:00:00 GMT", "Mon, 01 Jan 2024 00:00:00 GMT"),
        (None, None, None),
    ],
)
def test_a_second_attempt_asks_for_the_rest_only(site, target, etag, modified, condition):
    site.etag, site.modified = etag, modified
    break_off(site, target, after=300_000)
    done = []
    download(site.address, target, checksum=MD5, progress=lambda n, _: done.append(n))
    assert target.read_bytes() == CONTENT
    assert site.requests[-1]["range"] == "bytes=300000-"
    assert site.requests[-1].get("if-range") == condition
    assert done[0] > 300_000
    assert files(target) == ["file.bin"]


@pytest.mark.parametrize("honours_conditions", [True, False])
def test_a_file_that_changed_meanwhile_is_fetched_from_the_start(site, target, honours_conditions):
    break_off(site, target, after=300_000)
    site.content, site.etag, site.honours_conditions = CONTENT[::-1], '"v2"', honours_conditions
    download(site.address, target)
    assert target.read_bytes() == CONTENT[::-1]


def test_without_validators_a_change_of_length_is_noticed(site, target):
    site.etag = None
    break_off(site, target, after=300_000)
    site.content = CONTENT[::-1] + b"more"
    download(site.address, target)
    assert target.read_bytes() == site.content


def test_a_server_that_tells_nothing_is_asked_for_everything_again(site, target):
    site.etag, site.tells_length = None, False
    target.parent.mkdir(parents=True)
    (target.parent / "file.bin.part").write_bytes(b"half")
    (target.parent / "file.bin.part.json").write_text(
        json.dumps({"address": site.address, "etag": None, "modified": None, "total": None})
    )
    download(site.address, target)
    assert target.read_bytes() == CONTENT
    assert "range" not in site.requests[-1]


def test_a_server_without_ranges_starts_again(site, target):
    break_off(site, target, after=300_000)
    site.honours_ranges = False
    download(site.address, target, checksum=MD5)
    assert target.read_bytes() == CONTENT


def test_a_part_longer_than_the_file_is_dropped(site, target):
    break_off(site, target, after=300_000)
    site.content = CONTENT[:1000]
    download(site.address, target)
    assert target.read_bytes() == CONTENT[:1000]


@pytest.mark.parametrize("note", [None, "not JSON", '{"address": "elsewhere"}', "[]"])
def test_a_part_of_unknown_origin_is_not_continued(site, target, note):
    target.parent.mkdir(parents=True)
    (target.parent / "file.bin.part").write_bytes(b"other bytes")
    if note is not None:
        (target.parent / "file.bin.part.json").write_text(note)
    download(site.address, target, checksum=MD5)
    assert target.read_bytes() == CONTENT


def test_a_part_from_another_address_is_not_continued(site, target):
    break_off(site, target, after=300_000)
    with serve(Site(CONTENT[::-1])) as other:
        download(other.address, target)
    assert target.read_bytes() == CONTENT[::-1]


def test_a_wrong_file_is_put_aside_and_named(site, target):
    with pytest.raises(DataError, match=r"gave md5:.*, not md5:0{32}; kept as .*file\.bin\.bad"):
        download(site.address, target, checksum="md5:" + "0" * 32)
    assert files(target) == ["file.bin.bad"]


def test_without_a_published_checksum_the_first_one_is_recorded_and_holds(site, target):
    download(site.address, target)
    assert record_path(target).read_text() == f"{hashlib.sha256(CONTENT).hexdigest()}  file.bin\n"
    target.unlink()
    site.content = CONTENT[::-1]
    with pytest.raises(DataError, match=r"if the publisher replaced it, delete .*file\.bin\.sha256"):
        download(site.address, target)
    record_path(target).unlink()
    download(site.address, target)
    assert target.read_bytes() == CONTENT[::-1]


@pytest.mark.parametrize(("status", "words"), [(404, "HTTP 404 Not Found"), (503, "HTTP 503 Service Unavailable")])
def test_an_http_error_names_the_address_and_the_place(site, target, status, words):
    site.status = status
    with pytest.raises(DataError) as raised:
        download(site.address, target)
    text = str(raised.value)
    assert words in text
    assert site.address in text
    assert f"save it as {target}" in text
    assert "\n" not in text
    assert files(target) == []


def test_a_refused_connection_is_one_clear_line(target):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/file.bin"
    with pytest.raises(DataError, match=r"cannot download http://127\S+: Connection refused; get it another way"):
        download(address, target)


def test_without_network_the_line_says_so(target):
    with pytest.raises(DataError, match=r"cannot download http://no-such-host\.invalid/file\.bin: .+ save it as"):
        download("http://no-such-host.invalid/file.bin", target)


def test_a_silent_server_is_given_up(target):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/file.bin"
        with pytest.raises(DataError, match="timed out"):
            download(address, target, timeout=0.2)


def test_a_fault_of_the_network_is_not_called_one_of_the_disk(site, target, monkeypatch):
    def fail(response, size):
        raise ssl.SSLError(1, "decryption failed")

    monkeypatch.setattr("http.client.HTTPResponse.read", fail)
    with pytest.raises(DataError, match=r"cannot download http\S+: decryption failed; run again to resume"):
        download(site.address, target)


def test_an_interruption_keeps_the_part(site, target):
    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download(site.address, target, progress=interrupt)
    assert 0 < (target.parent / "file.bin.part").stat().st_size < len(CONTENT)
    download(site.address, target, checksum=MD5)
    assert "range" in site.requests[-1]
    assert target.read_bytes() == CONTENT


def test_a_second_process_waits_for_the_first_and_uses_its_file(site, target):
    target.parent.mkdir(parents=True)
    lock = os.open(target.parent, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    second = threading.Thread(target=download, args=(site.address, target))
    second.start()
    target.write_bytes(b"by the first")
    os.close(lock)
    second.join(10)
    assert not second.is_alive()
    assert target.read_bytes() == b"by the first"
    assert site.requests == []


def test_a_cache_that_cannot_be_made_is_named(site, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="set TAYLORANK_CACHE"):
        download(site.address, tmp_path / "file" / "sub" / "x.bin")
