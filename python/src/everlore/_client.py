"""Memory on a server, over HTTP with nothing but the standard library.

No HTTP package is needed: agents' frameworks pin versions of theirs that contradict each other, and requests to a memory
server are few and short. Each thread keeps one connection open. The async client uses a few threads.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import socket
import ssl
import threading
import urllib.parse
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ._api import AsyncMemoryApi, MemoryApi
from ._calls import Call
from ._errors import Closed, RateLimited, error_from

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["AsyncClient", "Client"]

T = TypeVar("T")

#: Calls of an async client that run at the same time.
_MAX_THREADS = 8


class _Request(NamedTuple):
    """HTTP request for a call; one that saves is sent with a key, so that a repetition does not save twice."""

    method: str
    path: str
    query: Mapping[str, Any] = {}
    body: Mapping[str, Any] | None = None
    has_key: bool = False

    @property
    def is_repeatable(self) -> bool:
        return self.has_key or self.method == "GET"


def _memory(fields: Mapping[str, Any], part: str = "") -> str:
    return f"/v1/memories/{urllib.parse.quote(str(fields['id']), safe='')}{part}"


def _list(fields: Mapping[str, Any]) -> _Request:
    filters: dict[str, Any] = dict(fields.get("filter", {}))
    repeated = {"kinds": "kind", "statuses": "status", "tags": "tag"}
    query: dict[str, Any] = {repeated.get(name, name): value for name, value in filters.items()}
    query.update({name: fields[name] for name in ("limit", "after") if name in fields})
    if fields.get("oldest_first"):
        query["order"] = "oldest"
    return _Request("GET", "/v1/memories", query)


def _history(fields: Mapping[str, Any]) -> _Request:
    path = _memory(fields, "/history") if "id" in fields else "/v1/history"
    return _Request("GET", path, {name: fields[name] for name in ("run", "limit", "before") if name in fields})


_ROUTES: dict[str, Callable[[Mapping[str, Any]], _Request]] = {
    "remember": lambda fields: _Request("POST", "/v1/memories", body=fields, has_key=True),
    "observe": lambda fields: _Request("POST", "/v1/turns/batch", body=fields, has_key=True),
    "recall": lambda fields: _Request("POST", "/v1/recall", body=fields),
    "context": lambda fields: _Request("POST", "/v1/context", body=fields),
    "get": lambda fields: _Request("GET", _memory(fields)),
    "list": _list,
    "edit": lambda fields: _Request("PATCH", _memory(fields), body=fields["edit"]),
    "delete": lambda fields: _Request("DELETE", _memory(fields)),
    "forget": lambda fields: _Request("POST", _memory(fields, "/forget")),
    "history": _history,
    "undo": lambda fields: _Request("POST", "/v1/undo", body=fields),
    "redo": lambda fields: _Request("POST", "/v1/redo"),
    "extract": lambda fields: _Request("POST", "/v1/extract", body=fields),
}


class _Connections(threading.local):
    """Open connection of each thread, and the process that opened it."""

    current: http.client.HTTPConnection | None = None
    process_id = 0


class Client(MemoryApi):
    """Memory on a server that ``everlore serve`` runs.

    ``key`` is a key that ``everlore serve keys add`` made, which opens one agent and user only, or the owner's token;
    ``EVERLORE_URL`` and ``EVERLORE_KEY`` are used if ``url`` and ``key`` are left out::

        with Client("http://127.0.0.1:6636", key, user="ana") as memory:
            memory.remember("I'm allergic to peanuts")
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        agent: str | None = None,
        user: str | None = None,
        timeout: float = 30.0,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """Connects on first use."""
        address = urllib.parse.urlsplit(url or os.environ.get("EVERLORE_URL") or "http://127.0.0.1:6636")
        if address.scheme not in ("http", "https") or not address.hostname:
            raise error_from("invalid", f"{url!r} is no address of a server", "give one like http://127.0.0.1:6636")
        self._host, self._port, self._base = address.hostname, address.port, address.path.rstrip("/")
        self._ssl = (ssl_context or ssl.create_default_context()) if address.scheme == "https" else None
        self._key = key or os.environ.get("EVERLORE_KEY") or ""
        self._scope = {name: value for name, value in (("agent", agent), ("user", user)) if value}
        self._timeout, self._connections, self._is_closed = timeout, _Connections(), False

    @property
    def agent(self) -> str:
        """The agent that requests name; the server's or the key's if empty."""
        return self._scope.get("agent", "")

    @property
    def user(self) -> str:
        """The user that requests name; the server's or the key's if empty."""
        return self._scope.get("user", "")

    def close(self) -> None:
        """Closes the connection of this thread; further calls fail."""
        self._is_closed = True
        self._drop_connection()

    def _run(self, call: Call[T]) -> T:
        if self._is_closed:
            raise Closed("the client is closed", "make another Client", "closed")
        return call.read(self._send(_ROUTES[call.operation](call.request)))

    def _send(self, request: _Request) -> Any:
        headers = {"Authorization": f"Bearer {self._key}", "Accept": "application/json"}
        body = b"" if request.method != "GET" else None
        if request.body is not None:
            body, headers["Content-Type"] = json.dumps(request.body).encode(), "application/json"
        if request.has_key:
            headers["Idempotency-Key"] = str(uuid.uuid4())
        query = urllib.parse.urlencode({**self._scope, **request.query}, doseq=True)
        target = f"{self._base}{request.path}?{query}" if query else self._base + request.path
        return _read(*self._exchange(request, target, body, headers))

    def _exchange(
        self, request: _Request, target: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, bytes]:
        """Sends a request. A kept connection that the server has closed meanwhile is replaced, if repeating is safe."""
        is_fresh = not self._has_connection()
        try:
            return self._exchange_once(request.method, target, body, headers)
        except (http.client.HTTPException, OSError) as error:
            self._drop_connection()
            was_closed = isinstance(error, (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError))
            if is_fresh or not was_closed or not request.is_repeatable:
                raise self._unreachable(error) from error
        try:
            return self._exchange_once(request.method, target, body, headers)
        except (http.client.HTTPException, OSError) as error:
            self._drop_connection()
            raise self._unreachable(error) from error

    def _exchange_once(
        self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, bytes]:
        connection = self._connection()
        try:
            connection.request(method, target, body, dict(headers))
            response = connection.getresponse()
            return response.status, response.read()
        except BaseException:
            # A request that was interrupted leaves half an answer behind.
            self._drop_connection()
            raise

    def _has_connection(self) -> bool:
        return self._connections.current is not None and self._connections.process_id == os.getpid()

    def _connection(self) -> http.client.HTTPConnection:
        if self._has_connection() and self._connections.current is not None:
            return self._connections.current
        connection: http.client.HTTPConnection
        if self._ssl is not None:
            connection = http.client.HTTPSConnection(self._host, self._port, timeout=self._timeout, context=self._ssl)
        else:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
        connection.connect()
        # Small requests must not wait for each other's acknowledgement.
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connections.current, self._connections.process_id = connection, os.getpid()
        return connection

    def _drop_connection(self) -> None:
        connection, self._connections.current = self._connections.current, None
        if connection is not None:
            connection.close()

    def _unreachable(self, error: Exception) -> Exception:
        where = f"{self._host}:{self._port or (443 if self._ssl else 80)}"
        hint = "start it with `everlore serve`, or check the address"
        return error_from("unreachable", f"the server at {where} does not answer: {error}", hint)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self._host}:{self._port or ''}, agent={self.agent!r}, user={self.user!r})"


class AsyncClient(AsyncMemoryApi):
    """Memory on a server, to await; takes the arguments of ``Client``."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        agent: str | None = None,
        user: str | None = None,
        timeout: float = 30.0,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """Connects on first use."""
        self._client = Client(url, key, agent=agent, user=user, timeout=timeout, ssl_context=ssl_context)
        self._threads = ThreadPoolExecutor(_MAX_THREADS, thread_name_prefix="everlore")

    @property
    def agent(self) -> str:
        """The agent that requests name; the server's or the key's if empty."""
        return self._client.agent

    @property
    def user(self) -> str:
        """The user that requests name; the server's or the key's if empty."""
        return self._client.user

    async def close(self) -> None:
        """Ends the threads with their connections; further calls fail."""
        self._client.close()
        await asyncio.to_thread(self._threads.shutdown)

    async def _run(self, call: Call[T]) -> T:
        if self._client._is_closed:
            raise Closed("the client is closed", "make another AsyncClient", "closed")
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._client._run, call)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"Async{self._client!r}"


def _read(status: int, body: bytes) -> Any:
    """Returns the answer, or raises the problem that the server tells (RFC 9457)."""
    try:
        answer = json.loads(body)
    except ValueError:
        answer = {}
    if status < 400:
        return answer
    problem = answer if isinstance(answer, dict) else {}
    title = problem.get("title", f"the server answered with status {status}")
    error = error_from(problem.get("code", "internal"), title, problem.get("detail", "check the address"))
    if isinstance(error, RateLimited):
        error.retry_after = problem.get("retry_after")
    raise error
