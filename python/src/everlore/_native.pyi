"""The engine in this process, and the command line."""

from collections.abc import Callable
from os import PathLike

__version__: str

class NativeError(Exception):
    args: tuple[str, str, str]

class EngineHandle:
    @staticmethod
    def open(
        home: str | PathLike[str] | None = None, agent: str | None = None, user: str | None = None
    ) -> EngineHandle: ...
    @staticmethod
    def open_in_ram(agent: str, user: str) -> EngineHandle: ...
    def scope(self) -> tuple[str, str]: ...
    def call(self, operation: str, request: bytes) -> bytes: ...
    def start(
        self,
        operation: str,
        request: bytes,
        done: Callable[[bytes | None, tuple[str, str, str] | None], None],
    ) -> PendingCall: ...
    def close(self) -> None: ...

class PendingCall:
    def cancel(self) -> None: ...

def run_command(args: list[str]) -> int: ...
