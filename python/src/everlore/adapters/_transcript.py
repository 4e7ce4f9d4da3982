"""Conversation of a session, kept as turns: what frameworks call chat history.

Messages of plain text become turns, word for word: they can be recalled later and memories can be extracted from them.
Anything else, such as a call of a tool, becomes a turn of the role ``tool`` that holds its JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .. import MemoryApi, StoredMemory

#: Key of the JSON object in a turn that holds no plain text.
ITEM_KEY = "everlore_item"

#: Memories per request.
_PAGE = 500


@dataclass(frozen=True)
class Said:
    """Message of plain text."""

    role: str
    text: str


@dataclass(frozen=True)
class Item:
    """Anything else, as JSON."""

    value: Any


class Transcript:
    """Turns of one session, oldest first."""

    def __init__(self, memory: MemoryApi, session: str) -> None:
        self.memory, self.session = memory, session

    def add(self, entries: Iterable[Said | Item]) -> None:
        """Stores entries, all or none."""
        turns = [_turn(entry) for entry in entries]
        if turns:
            self.memory.observe(turns, session=self.session)

    def entries(self) -> list[Said | Item]:
        """Returns the whole conversation."""
        return [_entry(turn) for turn in self.turns()]

    def last(self, limit: int) -> list[Said | Item]:
        """Returns the newest entries, oldest first."""
        newest = self.turns(newest_first=True)
        return [_entry(turn) for turn, _ in zip(newest, range(limit))][::-1] if limit > 0 else []

    def pop(self) -> Said | Item | None:
        """Deletes the newest entry and returns it. The journal keeps it, so that this can be undone."""
        newest = next(self.turns(newest_first=True), None)
        if newest is None:
            return None
        self.memory.delete(newest.id)
        return _entry(newest)

    def clear(self) -> None:
        """Deletes all turns. The journal keeps them, so that this can be undone."""
        for turn in list(self.turns()):
            self.memory.delete(turn.id)

    def turns(self, newest_first: bool = False) -> Iterator[StoredMemory]:
        """Yields the stored turns."""
        after: str | None = None
        while True:
            page = self.memory.list(
                kinds=["turn"], session=self.session, limit=_PAGE, after=after, oldest_first=not newest_first
            )
            yield from page.memories
            after = page.next
            if after is None:
                return


def _turn(entry: Said | Item) -> tuple[str, str]:
    if isinstance(entry, Said):
        return entry.role, entry.text
    return "tool", json.dumps({ITEM_KEY: entry.value}, ensure_ascii=False)


def _entry(turn: StoredMemory) -> Said | Item:
    role = turn.role or "user"
    if role == "tool" and turn.content.startswith(f'{{"{ITEM_KEY}"'):
        try:
            return Item(json.loads(turn.content)[ITEM_KEY])
        except ValueError:
            # A masked secret may have cut it; the text is still what was said.
            pass
    return Said(role, turn.content)
