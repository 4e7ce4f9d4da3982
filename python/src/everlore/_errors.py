"""Errors, by what the caller can do about them."""

from __future__ import annotations

__all__ = [
    "AmbiguousId",
    "Closed",
    "Conflict",
    "Damaged",
    "Denied",
    "EverloreError",
    "Invalid",
    "NotFound",
    "RateLimited",
    "ReadOnly",
    "TooLong",
    "Unavailable",
]


class EverloreError(Exception):
    """Error of a call. ``code`` is a short, stable word, ``hint`` says what to do."""

    def __init__(self, message: str, hint: str = "", code: str = "internal") -> None:
        super().__init__(message, hint, code)
        self.message, self.hint, self.code = message, hint, code

    def __str__(self) -> str:
        return f"{self.message}: {self.hint}" if self.hint else self.message


class NotFound(EverloreError, LookupError):
    """The named memory does not exist in this scope."""


class AmbiguousId(EverloreError, LookupError):
    """A shortened id matches more than one memory."""


class Invalid(EverloreError, ValueError):
    """The input cannot be accepted as it is."""


class TooLong(Invalid):
    """The input is too long."""


class Conflict(EverloreError):
    """Another writer changed the same memory first."""


class Denied(EverloreError, PermissionError):
    """The key or token may not do this."""


class ReadOnly(EverloreError, PermissionError):
    """The home can be read but not written."""


class RateLimited(EverloreError):
    """The server accepts no more requests for now; ``retry_after`` seconds may help."""

    retry_after: float | None = None


class Unavailable(EverloreError):
    """The database, a model or the server does not answer. Retrying may help."""


class Damaged(EverloreError):
    """The stored data contradicts itself, or a newer version wrote it."""


class Closed(EverloreError):
    """The memory was closed, or cannot be used in this process."""


_CODES: dict[type[EverloreError], tuple[str, ...]] = {
    NotFound: ("not_found", "gone", "no_route"),
    AmbiguousId: ("ambiguous",),
    Invalid: ("invalid", "usage", "not_done", "no_method", "unsupported_type"),
    TooLong: ("too_long", "too_large"),
    Conflict: ("conflict", "changed", "key_reused", "in_progress"),
    Denied: ("role", "scope", "unauthorized", "foreign_host", "foreign_origin", "keys_unreadable"),
    ReadOnly: ("read_only",),
    RateLimited: ("too_often",),
    Unavailable: ("store", "moving", "remote", "io", "busy", "not_ready", "too_slow", "unreachable"),
    Damaged: ("damaged", "too_new"),
    Closed: ("closed", "forked"),
}
_BY_CODE = {code: kind for kind, codes in _CODES.items() for code in codes}


def error_from(code: str, message: str, hint: str) -> EverloreError:
    """Returns the exception for a code."""
    return _BY_CODE.get(code, EverloreError)(message, hint, code)
