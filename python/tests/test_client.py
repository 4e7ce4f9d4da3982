"""The HTTP client against a real server. Needs no extension module: it runs beside the debug server too."""

from __future__ import annotations

import asyncio
import socket
import threading
from datetime import datetime, timedelta, timezone

import pytest

import everlore
from contract import AsyncContract, Contract


class TestClient(Contract):
    """The contract of every memory, over HTTP."""

    @pytest.fixture
    def memory(self, server, request):
        with everlore.Client(*server, agent="tests", user=request.node.name[:60]) as client:
            yield client


class TestAsyncClient(AsyncContract):
    """The contract of every memory to await, over HTTP."""

    @pytest.fixture
    def opener(self, server, request):
        async def open_client():
            return everlore.AsyncClient(*server, agent="tests", user=request.node.name[:60])

        return open_client


def test_a_wrong_key_is_denied(server):
    with pytest.raises(everlore.Denied) as denied:
        everlore.Client(server[0], "wrong").recall("anything")
    assert denied.value.code == "unauthorized" and denied.value.hint


def test_a_server_that_is_not_there_is_named():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(everlore.Unavailable, match=f"127.0.0.1:{port}.*everlore serve"):
        everlore.Client(f"http://127.0.0.1:{port}", "key").recall("anything")


def test_an_address_that_is_none_is_refused():
    with pytest.raises(everlore.Invalid, match="http://127.0.0.1:6636"):
        everlore.Client("localhost", "key")


def test_address_and_key_come_from_the_environment(server, monkeypatch):
    monkeypatch.setenv("EVERLORE_URL", server[0])
    monkeypatch.setenv("EVERLORE_KEY", server[1])
    with everlore.Client(user="environment") as client:
        assert client.remember("The password policy changed").id


def test_a_connection_that_the_server_closed_is_replaced(server):
    client = everlore.Client(*server, user="reconnect")
    saved = client.remember("The gate code is on the fridge")
    connection = client._connections.current
    connection.sock.shutdown(socket.SHUT_RDWR)
    assert client.get(saved.id).content == "The gate code is on the fridge"
    assert client._connections.current is not connection


def test_every_thread_has_a_connection_of_its_own(server):
    client, seen = everlore.Client(*server, user="threads"), []

    def save(number: int) -> None:
        client.remember(f"Locker {number} belongs to team {number}")
        seen.append(client._connections.current)

    threads = [threading.Thread(target=save, args=(number,)) for number in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(set(map(id, seen))) == 4 and len(client.list()) == 4


async def test_many_calls_run_at_once(server):
    async with everlore.AsyncClient(*server, user="gather") as client:
        saved = await asyncio.gather(*(client.remember(f"Shelf {n} holds box {n}") for n in range(20)))
        assert len({one.id for one in saved}) == 20


def test_times_cross_the_wire(server):
    client = everlore.Client(*server, user="times")
    moment = datetime(2026, 3, 2, 9, 30, tzinfo=timezone(timedelta(hours=8)))
    saved = client.remember("会议在三月二日", at=moment)
    assert client.get(saved.id).at == moment


def test_the_package_loads_no_engine_for_a_client():
    import subprocess
    import sys

    code = "import everlore, sys; everlore.Client; print('everlore._native' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "False"
