"""Values that calls return: plain, frozen, and the same for the engine in this process and for a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

__all__ = [
    "Change",
    "Context",
    "ContextEntry",
    "Extraction",
    "Forgotten",
    "Hit",
    "Page",
    "Recall",
    "Saved",
    "StoredMemory",
    "Undone",
]

_Json = Mapping[str, Any]


@dataclass(frozen=True)
class StoredMemory:
    """One stored statement or turn, with its source."""

    id: str
    content: str
    kind: str
    status: str
    agent: str
    user: str
    name: str
    description: str
    tags: tuple[str, ...]
    importance: float
    confidence: float
    weight: float
    metadata: Mapping[str, Any] = field(repr=False)
    session: str | None
    speaker: str | None
    role: str | None
    at: datetime
    created_at: datetime
    updated_at: datetime
    superseded_by: str | None
    uri: str
    version: int


@dataclass(frozen=True)
class Hit(StoredMemory):
    """Memory with its score for a query. ``unverified`` warns that it reads like an instruction that nobody approved."""

    score: float
    newer: str | None
    unverified: bool


@dataclass(frozen=True)
class Recall:
    """Hits of a query, best first; true if there are any. ``confidence`` is the probability that the best one answers it."""

    hits: tuple[Hit, ...]
    confidence: float
    abstained: bool
    candidates: int
    without_meaning: str | None

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, index: int) -> Hit:
        return self.hits[index]


@dataclass(frozen=True)
class ContextEntry:
    """Memory shown in a block, and how much of it: ``L0`` one line, ``L1`` an overview, ``L2`` the full text."""

    id: str
    tier: str
    score: float


@dataclass(frozen=True)
class Context:
    """Block for a system prompt; false if nothing is relevant."""

    text: str
    tokens: int
    entries: tuple[ContextEntry, ...]

    def __bool__(self) -> bool:
        return bool(self.text)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Saved:
    """Receipt of a save. ``known`` says that the same memory existed and was renewed; ``run`` undoes all of it."""

    id: str
    uri: str
    kind: str
    seq: int
    known: bool
    masked: tuple[str, ...]
    superseded: tuple[str, ...]
    run: str | None


@dataclass(frozen=True)
class Change:
    """Line of the journal. ``before`` and ``after`` are ``None`` where there was no memory, or its text was erased."""

    seq: int
    at: datetime
    op: str
    id: str
    actor: str
    cause: str
    run: str | None
    before: StoredMemory | None
    after: StoredMemory | None


@dataclass(frozen=True)
class Page:
    """Page of memories. ``next`` is the value of ``after`` for the next one, ``None`` on the last."""

    memories: tuple[StoredMemory, ...]
    next: str | None

    def __iter__(self) -> Iterator[StoredMemory]:
        return iter(self.memories)

    def __len__(self) -> int:
        return len(self.memories)


@dataclass(frozen=True)
class Undone:
    """Sequence numbers of the changes that were taken back."""

    changes: tuple[int, ...]


@dataclass(frozen=True)
class Forgotten:
    """Receipt of an erasure. ``warnings`` name places that may still hold the text, such as backups."""

    ids: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Extraction:
    """Report about one session: ``stored`` has the texts that became memories, ``run`` undoes them."""

    session: str | None
    turns: int
    by: str
    stored: tuple[str, ...]
    run: str | None


def read_time(text: str) -> datetime:
    """Reads RFC 3339; Python 3.10 knows neither ``Z`` nor fractions of other than three or six digits.

    >>> read_time("2026-03-02T09:30:00.5Z").isoformat()
    '2026-03-02T09:30:00.500000+00:00'
    """
    moment, _, fraction = text.removesuffix("Z").partition(".")
    read = datetime.fromisoformat(moment).replace(microsecond=int(fraction[:6].ljust(6, "0") or 0))
    return read if read.tzinfo else read.replace(tzinfo=timezone.utc)


def write_time(moment: datetime | str) -> str:
    """Writes RFC 3339; a time without a zone is local, as everywhere in Python.

    >>> from datetime import datetime, timezone
    >>> write_time(datetime(2026, 3, 2, tzinfo=timezone.utc))
    '2026-03-02T00:00:00+00:00'
    """
    return moment if isinstance(moment, str) else moment.astimezone(timezone.utc).isoformat()


def read_memory(json: _Json) -> StoredMemory:
    """Reads a memory."""
    return StoredMemory(**_memory_fields(json))


def read_recall(json: _Json) -> Recall:
    """Reads the answer of a recall."""
    return Recall(
        hits=tuple(map(_read_hit, json["hits"])),
        confidence=json["confidence"],
        abstained=json["abstained"],
        candidates=json["candidates"],
        without_meaning=json.get("without_meaning"),
    )


def read_context(json: _Json) -> Context:
    """Reads a block."""
    entries = (ContextEntry(entry["id"], entry["tier"], entry["score"]) for entry in json["entries"])
    return Context(json["text"], json["tokens"], tuple(entries))


def read_saved(json: _Json) -> Saved:
    """Reads the receipt of a save."""
    return Saved(
        id=json["id"],
        uri=json["uri"],
        kind=json["kind"],
        seq=json["receipt"]["seq"],
        known=json["receipt"].get("known", False),
        masked=tuple(json.get("masked", ())),
        superseded=tuple(older["id"] for older in json.get("superseded", ())),
        run=(json.get("undo") or {}).get("run"),
    )


def read_all_saved(json: _Json) -> tuple[Saved, ...]:
    """Reads the receipts of turns."""
    return tuple(map(read_saved, json["saved"]))


def read_page(json: _Json) -> Page:
    """Reads a page of memories."""
    return Page(tuple(map(read_memory, json["memories"])), json["next"])


def read_changes(json: _Json) -> tuple[Change, ...]:
    """Reads a page of the journal."""
    return tuple(map(_read_change, json["changes"]))


def read_undone(json: _Json) -> Undone:
    """Reads what was undone."""
    return Undone(tuple(json["undone"]))


def read_forgotten(json: _Json) -> Forgotten:
    """Reads the receipt of an erasure."""
    ids = tuple(report["id"] for report in json["forgotten"])
    return Forgotten(ids, tuple(json.get("warnings", ())))


def read_extractions(json: _Json) -> tuple[Extraction, ...]:
    """Reads the reports of extractions."""
    return tuple(map(_read_extraction, json["extractions"]))


def _memory_fields(json: _Json) -> dict[str, Any]:
    source = json["source"]
    return {
        "id": json["id"],
        "content": json["content"],
        "kind": json["kind"],
        "status": json["status"],
        "agent": json["scope"]["agent"],
        "user": json["scope"]["user"],
        "name": json.get("name", ""),
        "description": json.get("description", ""),
        "tags": tuple(json.get("tags", ())),
        "importance": json["importance"],
        "confidence": json["confidence"],
        "weight": json["weight"],
        "metadata": json.get("metadata", {}),
        "session": source.get("session"),
        "speaker": source.get("speaker"),
        "role": source.get("role"),
        "at": read_time(json["at"]),
        "created_at": read_time(json["created_at"]),
        "updated_at": read_time(json["updated_at"]),
        "superseded_by": json.get("superseded_by"),
        "uri": json["uri"],
        "version": json["version"],
    }


def _read_hit(json: _Json) -> Hit:
    unverified = json.get("unverified", False)
    return Hit(**_memory_fields(json), score=json["score"], newer=json.get("newer"), unverified=unverified)


def _read_change(json: _Json) -> Change:
    before, after = json.get("before"), json.get("after")
    return Change(
        seq=json["seq"],
        at=read_time(json["at"]),
        op=json["op"],
        id=json["id"],
        actor=json["actor"],
        cause=json["cause"],
        run=json.get("run"),
        before=read_memory(before) if before else None,
        after=read_memory(after) if after else None,
    )


def _read_extraction(json: _Json) -> Extraction:
    stored = (draft["statement"] for draft in json["drafts"] if "id" in draft)
    return Extraction(json.get("session"), json["turns"], json["by"], tuple(stored), json.get("run"))
