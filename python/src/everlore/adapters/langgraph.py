"""LangGraph: a ``BaseStore`` with search, for graphs that remember across threads.

Each item is a memory of the kind ``reference``: its text is searched by meaning, its value comes back as it was put. An
item that contradicts an older one supersedes it: search leaves the older one out, and ``get`` still returns it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from .. import MemoryApi, StoredMemory

__all__ = ["EverloreStore"]

#: Metadata of an item: namespace, key and value.
_ITEM = "langgraph"
#: Kinds and statuses that items have; deleted ones are gone, archived ones were pruned by upkeep.
_KIND, _STATUSES = "reference", ["active", "superseded"]
_PAGE = 500

Namespace = tuple[str, ...]


class EverloreStore(BaseStore):
    """Store on an Everlore memory: ``builder.compile(store=EverloreStore(Memory.open()))``."""

    def __init__(self, memory: MemoryApi, *, fields: list[str] | None = None) -> None:
        """Searches the named fields of values; all texts in them by default."""
        self.memory, self.fields = memory, fields

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Runs operations in their order."""
        return [self._run(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Runs operations in their order, on a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _run(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            found = self._find(op.namespace, op.key)
            return _item(found) if found else None
        if isinstance(op, PutOp):
            self._put(op)
            return None
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise ValueError(f"unknown operation: {type(op).__name__}")

    def _find(self, namespace: Namespace, key: str) -> StoredMemory | None:
        tags = [_namespace_tag(namespace), _key_tag(key)]
        page = self.memory.list(kinds=[_KIND], statuses=_STATUSES, tags=tags)
        return next((found for found in page if _address(found) == (namespace, key)), None)

    def _put(self, op: PutOp) -> None:
        if op.ttl is not None:
            raise NotImplementedError("items have no time to live; upkeep archives what is of no use")
        found = self._find(op.namespace, op.key)
        if op.value is None:
            if found:
                self.memory.delete(found.id)
            return
        text = _text(op.value, op.index if isinstance(op.index, list) else self.fields)
        stored: dict[str, Any] = {"namespace": list(op.namespace), "key": op.key, "value": dict(op.value)}
        metadata = {_ITEM: stored}
        tags = [*_prefix_tags(op.namespace), _namespace_tag(op.namespace), _key_tag(op.key)]
        if op.index is False:
            stored["hidden"] = True
        if found and found.status == "active":
            self.memory.edit(found.id, content=text, metadata=metadata)
            return
        if found:
            self.memory.delete(found.id)
        name = "/".join((*op.namespace, op.key))
        self.memory.remember(text, kind=_KIND, name=name, tags=tags, metadata=metadata)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        prefix = op.namespace_prefix
        tags = [_prefix_tag(prefix)] if prefix else []
        scored: list[tuple[StoredMemory, float | None]]
        if op.query:
            wanted = _PAGE if op.filter else op.offset + op.limit
            hits = self.memory.recall(op.query, kinds=[_KIND], tags=tags, limit=wanted).hits
            scored = [(hit, hit.score) for hit in hits if not _stored(hit).get("hidden")]
        else:
            scored = [(found, None) for found in self._all(tags)]
        matching = [
            _search_item(found, score)
            for found, score in scored
            if _ITEM in found.metadata and _matches(_stored(found)["value"], op.filter)
        ]
        return matching[op.offset : op.offset + op.limit]

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        found = {_address(item)[0][: op.max_depth] for item in self._all([]) if _meets(item, op.match_conditions)}
        return sorted(found)[op.offset : op.offset + op.limit]

    def _all(self, tags: list[str]) -> Iterator[StoredMemory]:
        after: str | None = None
        while True:
            page = self.memory.list(
                kinds=[_KIND], statuses=_STATUSES, tags=tags, limit=_PAGE, after=after, oldest_first=True
            )
            yield from (found for found in page if _ITEM in found.metadata)
            after = page.next
            if after is None:
                return


def _namespace_tag(namespace: Namespace) -> str:
    return f"in:{json.dumps(namespace, ensure_ascii=False)}"


def _prefix_tag(prefix: Namespace) -> str:
    return f"under:{json.dumps(prefix, ensure_ascii=False)}"


def _prefix_tags(namespace: Namespace) -> list[str]:
    return [_prefix_tag(namespace[:length]) for length in range(1, len(namespace) + 1)]


def _key_tag(key: str) -> str:
    return f"key:{key}"


def _stored(found: StoredMemory) -> Mapping[str, Any]:
    stored: Mapping[str, Any] = found.metadata.get(_ITEM, {})
    return stored


def _address(found: StoredMemory) -> tuple[Namespace, str]:
    stored = _stored(found)
    return tuple(stored.get("namespace", ())), stored.get("key", "")


def _item(found: StoredMemory) -> Item:
    namespace, key = _address(found)
    times = {"created_at": found.created_at, "updated_at": found.updated_at}
    return Item(value=dict(_stored(found)["value"]), key=key, namespace=namespace, **times)


def _search_item(found: StoredMemory, score: float | None) -> SearchItem:
    namespace, key = _address(found)
    value = dict(_stored(found)["value"])
    return SearchItem(namespace, key, value, found.created_at, found.updated_at, score)


def _text(value: Mapping[str, Any], fields: list[str] | None) -> str:
    """Returns the text to search: the strings of the value, or of some of its fields."""
    chosen = {field: value[field] for field in fields if field in value} if fields else value
    texts = [text for text in _strings(chosen) if text.strip()]
    return "\n".join(texts) or json.dumps(value, ensure_ascii=False)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _strings(part)


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda value, wanted: bool(value == wanted),
    "$ne": lambda value, wanted: bool(value != wanted),
    "$gt": lambda value, wanted: value is not None and bool(value > wanted),
    "$gte": lambda value, wanted: value is not None and bool(value >= wanted),
    "$lt": lambda value, wanted: value is not None and bool(value < wanted),
    "$lte": lambda value, wanted: value is not None and bool(value <= wanted),
}


def _matches(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    return all(_field_matches(value.get(field), condition) for field, condition in (wanted or {}).items())


def _field_matches(value: Any, condition: Any) -> bool:
    if not isinstance(condition, Mapping) or not any(name.startswith("$") for name in condition):
        return bool(value == condition)
    unknown = next((name for name in condition if name not in _COMPARE), None)
    if unknown:
        raise ValueError(f"unknown operator {unknown}: use {', '.join(_COMPARE)}")
    return all(_COMPARE[name](value, wanted) for name, wanted in condition.items())


def _meets(item: StoredMemory, conditions: tuple[MatchCondition, ...] | None) -> bool:
    namespace = _address(item)[0]
    return all(_meets_one(namespace, condition) for condition in conditions or ())


def _meets_one(namespace: Namespace, condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
    return all(wanted in ("*", found) for wanted, found in zip(path, part))
