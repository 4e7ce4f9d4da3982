"""Calls: the operation, its request and the reader of its answer, whoever carries it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar, Union

from . import _values as values

__all__ = ["Call", "Moment", "TurnLike"]

T = TypeVar("T")

#: A time: a ``datetime``, or RFC 3339.
Moment = Union[datetime, str]
#: A turn: its text, a pair of role and text, or a mapping with ``text`` (or ``content``), ``role``, ``speaker``, ``time``.
TurnLike = Union[str, "tuple[str, str]", Mapping[str, Any]]

_TURN_FIELDS = {"text", "content", "role", "speaker", "session", "time"}


@dataclass(frozen=True)
class Call(Generic[T]):
    """Operation, request, and the reader of the answer."""

    operation: str
    request: Mapping[str, Any]
    read: Callable[[Mapping[str, Any]], T]


def remember(content: str, fields: Mapping[str, Any]) -> Call[values.Saved]:
    return Call("remember", {"content": content, **_given(fields)}, values.read_saved)


def observe(turns: Iterable[TurnLike], session: str | None) -> Call[tuple[values.Saved, ...]]:
    listed = [turns] if isinstance(turns, (str, Mapping)) else list(turns)
    return Call("observe", {"turns": [_turn(turn, session) for turn in listed]}, values.read_all_saved)


def recall(query: str, filters: Mapping[str, Any], limits: Mapping[str, Any]) -> Call[values.Recall]:
    return Call("recall", {"query": query, **_filter(filters), **_given(limits)}, values.read_recall)


def context(query: str, options: Mapping[str, Any]) -> Call[values.Context]:
    return Call("context", {"query": query, **_given(options)}, values.read_context)


def get(id: str) -> Call[values.StoredMemory]:
    return Call("get", {"id": id}, values.read_memory)


def list_page(filters: Mapping[str, Any], page: Mapping[str, Any]) -> Call[values.Page]:
    return Call("list", {**_filter(filters), **_given(page)}, values.read_page)


def edit(id: str, fields: Mapping[str, Any]) -> Call[values.StoredMemory]:
    return Call("edit", {"id": id, "edit": _given(fields)}, values.read_memory)


def delete(id: str) -> Call[int]:
    return Call("delete", {"id": id}, lambda json: int(json["seq"]))


def forget(id: str) -> Call[values.Forgotten]:
    return Call("forget", {"id": id}, values.read_forgotten)


def history(page: Mapping[str, Any]) -> Call[tuple[values.Change, ...]]:
    return Call("history", _given(page), values.read_changes)


def undo(seq: int | None, run: str | None) -> Call[values.Undone]:
    return Call("undo", _given({"seq": seq, "run": run}), values.read_undone)


def redo() -> Call[values.Undone]:
    return Call("redo", {}, values.read_undone)


def extract(session: str | None) -> Call[tuple[values.Extraction, ...]]:
    return Call("extract", _given({"session": session}), values.read_extractions)


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields that were given, with times written and tuples as lists."""
    return {name: _plain(value) for name, value in fields.items() if value is not None}


def _plain(value: Any) -> Any:
    return values.write_time(value) if isinstance(value, datetime) else value


def _filter(filters: Mapping[str, Any]) -> dict[str, Any]:
    given = _given(filters)
    for name in ("kinds", "statuses", "tags"):
        if isinstance(given.get(name), str):
            given[name] = [given[name]]
    return {"filter": given} if given else {}


def _turn(turn: TurnLike, session: str | None) -> dict[str, Any]:
    if isinstance(turn, str):
        fields: dict[str, Any] = {"text": turn, "role": "user"}
    elif isinstance(turn, Mapping):
        fields = dict(turn)
    else:
        role, text = turn
        fields = {"text": text, "role": role}
    unknown = sorted(set(fields) - _TURN_FIELDS)
    if unknown:
        raise TypeError(f"a turn has no field {unknown[0]!r}: use {', '.join(sorted(_TURN_FIELDS))}")
    if "content" in fields:
        fields["text"] = fields.pop("content")
    return {"session": session, **_given(fields)} if session else _given(fields)


def tags_of(tags: Sequence[str] | None) -> list[str] | None:
    """Returns tags as a list; one string is one tag."""
    if tags is None:
        return None
    return [tags] if isinstance(tags, str) else list(tags)
