"""Files are found in mirrors or downloaded, checked, and appear whole or not at all."""

import hashlib
import http.server
import os
import re
import threading
from dataclasses import dataclass, field, replace

import pytest

from cvoting.atomic import WriteError
from cvoting.data import transfer as transfer_module
from cvoting.data.download import MIRROR_VARIABLE, fetch
from cvoting.data.source_file import SourceError, SourceFile, sha256_of
from cvoting.data.transfer import TransferError, transfer

CONTENT = bytes(range(256)) * 4000
SOURCE = SourceFile(
    name="train",
    path="set/train.csv",
    page="https://example.org/set",
    bytes=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    about="a test file",
)


@dataclass
class Server:
    """What a server has, how it misbehaves, and what it was asked for.

    Attributes:
        content: of the file.
        drops: after how many bytes each of the next answers breaks off.
        errors: status codes of the next answers.
        ranges: "right", "ignored" or "wrong".
        requests: the Range header of each request.
    """

    content: bytes = CONTENT
    drops: list[int] = field(default_factory=list)
    errors: list[int] = field(default_factory=list)
    ranges: str = "right"
    headers: dict[str, str] = field(default_factory=dict)
    requests: list[str | None] = field(default_factory=list)
    url: str = ""


def answer(server: Server, request: http.server.BaseHTTPRequestHandler) -> None:
    """One answer, as a server gives it that has the file and its faults."""
    asked = request.headers["Range"]
    server.requests.append(asked)
    if server.errors:
        request.send_response(server.errors.pop(0))
        for name, value in server.headers.items():
            request.send_header(name, value)
        request.end_headers()
        return
    total, start = len(server.content), 0
    if asked and server.ranges != "ignored":
        start = int(re.fullmatch(r"bytes=(\d+)-", asked)[1])
        request.send_response(416 if start >= total else 206)
        said = f"*/{total}" if start >= total else f"{start + (server.ranges == 'wrong')}-{total - 1}/{total}"
        request.send_header("Content-Range", f"bytes {said}")
    else:
        request.send_response(200)
    body = server.content[start:]
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    request.wfile.write(body[: server.drops.pop(0)] if server.drops else body)


@pytest.fixture
def server():
    """A server on this machine."""
    state = Server()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            answer(state, self)

        def log_message(self, *_):
            pass

    class Quiet(http.server.ThreadingHTTPServer):
        def handle_error(self, *_):
            pass  # the client went away

    with Quiet(("127.0.0.1", 0), Handler) as running:
        state.url = f"http://127.0.0.1:{running.server_port}/train.csv"
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield state
        running.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def _alone(monkeypatch):
    """No mirror and no proxy of the one who runs the tests."""
    monkeypatch.delenv(MIRROR_VARIABLE, raising=False)
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def mirror(tmp_path):
    """Makes a mirror folder that holds the given content."""

    def make(name, content=CONTENT):
        file = tmp_path / name / SOURCE.path
        file.parent.mkdir(parents=True)
        file.write_bytes(content)
        return tmp_path / name

    return make


def hurried(url, part, label):
    """A download that does not wait before it tries again."""
    transfer(url, part, label, pauses=(0.0, 0.0, 0.0), timeout=5.0)


def download(server, destination, **changes):
    fetch(replace(SOURCE, urls=(server.url,), **changes), [], destination, hurried)


def test_a_file_is_copied_from_the_first_mirror_that_has_it(mirror, tmp_path, server):
    fetch(replace(SOURCE, urls=(server.url,)), [tmp_path / "absent", mirror("second")], tmp_path / "raw" / SOURCE.path)
    assert (tmp_path / "raw" / SOURCE.path).read_bytes() == CONTENT
    assert server.requests == []


def test_mirrors_of_the_environment_come_after_those_of_the_parameters(mirror, tmp_path, monkeypatch):
    damaged = mirror("damaged", b"damaged")
    monkeypatch.setenv(MIRROR_VARIABLE, os.pathsep.join([str(damaged), "", str(mirror("good"))]))
    fetch(SOURCE, [], tmp_path / "first")
    fetch(SOURCE, [mirror("parameter")], tmp_path / "second")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes() == CONTENT


def test_a_wrong_file_is_named_with_both_checksums_and_leaves_nothing(mirror, tmp_path):
    damaged = mirror("damaged", CONTENT[:-1])
    found = hashlib.sha256(CONTENT[:-1]).hexdigest()
    with pytest.raises(SourceError) as caught:
        fetch(SOURCE, [damaged], tmp_path / "raw" / SOURCE.path)
    message = str(caught.value)
    assert (
        f"searched {damaged / SOURCE.path}: SHA-256 {found} (1,023,999 bytes), expected {SOURCE.sha256} "
        "(1,024,000 bytes): the file is damaged or another; delete it and fetch it again"
    ) in message
    assert os.listdir((tmp_path / "raw" / SOURCE.path).parent) == []


@pytest.mark.parametrize("existing", [CONTENT, b"something else"])
def test_a_wrong_file_never_replaces_what_is_there(mirror, tmp_path, server, existing):
    target = tmp_path / "train.csv"
    target.write_bytes(existing)
    server.content = b"damaged"
    source = replace(SOURCE, urls=(server.url,))
    if existing == CONTENT:
        fetch(source, [mirror("damaged", b"damaged")], target, hurried)
    else:
        with pytest.raises(SourceError, match="no right copy found"):
            fetch(source, [mirror("damaged", b"damaged")], target, hurried)
    assert target.read_bytes() == existing
    assert not (tmp_path / "train.csv.part").exists()


def test_a_right_file_replaces_a_wrong_one(mirror, tmp_path):
    (tmp_path / "train.csv").write_bytes(b"something else")
    fetch(SOURCE, [mirror("good")], tmp_path / "train.csv")
    assert (tmp_path / "train.csv").read_bytes() == CONTENT


def test_without_a_mirror_the_file_is_downloaded_and_progress_shown(server, tmp_path, capsys):
    download(server, tmp_path / "raw" / "train.csv")
    assert (tmp_path / "raw" / "train.csv").read_bytes() == CONTENT
    assert os.listdir(tmp_path / "raw") == ["train.csv"]
    assert re.search(r"fetching set/train.csv: 1024/1024 kB, .* elapsed, .* left", capsys.readouterr().err)


def test_the_second_address_is_asked_when_the_first_has_nothing(server, tmp_path):
    server.errors = [404]
    fetch(replace(SOURCE, urls=(server.url, server.url)), [], tmp_path / "train.csv", hurried)
    assert len(server.requests) == 2


def test_a_broken_connection_goes_on_where_it_broke(server, tmp_path, capsys):
    server.drops = [300_000, 200_000]
    download(server, tmp_path / "train.csv")
    assert server.requests == [None, "bytes=300000-", "bytes=500000-"]
    assert "fetching set/train.csv: continues after 500 of 1024 kB" in capsys.readouterr().err
    assert sha256_of(tmp_path / "train.csv") == SOURCE.sha256


def test_a_download_that_brings_something_each_time_is_never_given_up(server, tmp_path):
    server.drops = [100_000] * 9
    download(server, tmp_path / "train.csv")
    assert len(server.requests) == 10


def test_what_an_earlier_command_received_is_not_asked_for_again(server, tmp_path):
    server.drops = [300_000, 0, 0, 0, 0]
    with pytest.raises(
        SourceError, match=r"connection lost after 300,000 of 1,024,000 bytes, 4 times without a new byte"
    ):
        download(server, tmp_path / "train.csv")
    assert os.listdir(tmp_path) == ["train.csv.part"]
    download(server, tmp_path / "train.csv")
    assert server.requests[-1] == "bytes=300000-"
    assert os.listdir(tmp_path) == ["train.csv"]


def test_a_part_file_that_is_whole_is_not_downloaded_again(server, tmp_path):
    (tmp_path / "train.csv.part").write_bytes(CONTENT)
    download(server, tmp_path / "train.csv")
    assert server.requests == [f"bytes={len(CONTENT)}-"]
    assert (tmp_path / "train.csv").read_bytes() == CONTENT


@pytest.mark.parametrize("ranges", ["ignored", "wrong"])
def test_a_server_without_ranges_sends_the_file_from_its_beginning(server, tmp_path, ranges):
    server.ranges, server.drops = ranges, [300_000]
    download(server, tmp_path / "train.csv")
    assert (tmp_path / "train.csv").read_bytes() == CONTENT
    assert server.requests == [None, "bytes=300000-"] + ([None] if ranges == "wrong" else [])


@pytest.mark.parametrize("part", [b"of another version", CONTENT + b"longer"])
def test_a_part_of_another_file_is_replaced(server, tmp_path, part):
    (tmp_path / "train.csv.part").write_bytes(part)
    download(server, tmp_path / "train.csv")
    assert (tmp_path / "train.csv").read_bytes() == CONTENT
    assert server.requests[-1] is None


def test_a_busy_server_is_asked_again(server, tmp_path):
    server.errors = [503, 429, 500]
    download(server, tmp_path / "train.csv")
    assert len(server.requests) == 4


def test_the_pause_a_server_asks_for_is_kept_within_reason(server, tmp_path, monkeypatch):
    slept = []
    monkeypatch.setattr(transfer_module.time, "sleep", slept.append)
    server.errors, server.headers = [429, 503], {"Retry-After": "7000"}
    transfer(server.url, tmp_path / "part", "a file", pauses=(1.0, 2.0, 4.0))
    assert slept == [60, 60]


def test_a_server_without_the_file_is_asked_once(server, tmp_path):
    server.errors = [404] * 9
    with pytest.raises(SourceError, match=rf"tried {server.url}: HTTP 404 Not Found"):
        download(server, tmp_path / "train.csv")
    assert len(server.requests) == 1


def test_a_wrong_file_from_an_address_is_deleted_and_named_with_both_checksums(server, tmp_path):
    server.content = b"<html>sign in</html>"
    found = hashlib.sha256(server.content).hexdigest()
    with pytest.raises(SourceError) as caught:
        download(server, tmp_path / "train.csv", reexport=True)
    assert (
        f"tried {server.url}: SHA-256 {found} (20 bytes), expected {SOURCE.sha256} (1,024,000 bytes); if you trust "
        f"this file, say so in the dataset: `checksums: {{train: {found}}}`; what was received is deleted"
    ) in str(caught.value)
    assert os.listdir(tmp_path) == []
    fetch(replace(SOURCE, urls=(server.url,), reexport=True).accepting(found), [], tmp_path / "train.csv", hurried)
    assert (tmp_path / "train.csv").read_bytes() == server.content


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/train.csv", "http://no-such-host.invalid/train.csv"])
def test_without_a_network_nobody_waits(tmp_path, address):
    def impatient(*arguments):
        transfer(*arguments, pauses=(3600.0,))

    with pytest.raises(SourceError, match=rf"tried {address}: no connection \(.+\)"):
        fetch(replace(SOURCE, urls=(address,)), [], tmp_path / "train.csv", impatient)
    assert os.listdir(tmp_path) == []


def test_a_server_that_says_nothing_is_given_up(tmp_path, server, monkeypatch):
    monkeypatch.setattr(http.server.BaseHTTPRequestHandler, "end_headers", lambda _: threading.Event().wait(0.3))
    with pytest.raises(TransferError, match=r"connection lost \(timed out\), 2 times without a new byte"):
        transfer(server.url, tmp_path / "part", "a file", pauses=(0.0,), timeout=0.1)


def test_a_full_disk_is_an_error_of_its_own(server, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(transfer_module.Progress, "step", full)
    with pytest.raises(WriteError, match=r"train.csv.part: not written \(No space left on device\): make room"):
        download(server, tmp_path / "train.csv")
    assert not (tmp_path / "train.csv").exists()


def test_a_file_found_nowhere_is_explained(tmp_path, monkeypatch):
    monkeypatch.setenv(MIRROR_VARIABLE, str(tmp_path / "b"))
    with pytest.raises(SourceError) as caught:
        fetch(SOURCE, [tmp_path / "a"], tmp_path / "raw" / "train.csv")
    message = str(caught.value)
    for folder in ("a", "b"):
        assert f"searched {tmp_path / folder / SOURCE.path}: no such file" in message
    assert "Get it from https://example.org/set and put it at <folder>/set/train.csv" in message
    assert MIRROR_VARIABLE in message


def test_without_any_mirror_the_error_says_that_none_is_named(tmp_path):
    with pytest.raises(SourceError, match="searched no folder: no mirrors given, CVOTING_MIRROR not set"):
        fetch(SOURCE, [], tmp_path / "train.csv")
