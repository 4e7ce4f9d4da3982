"""LangGraph's store, in a real graph."""

from __future__ import annotations

from typing import TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore

import everlore
from everlore.adapters.langgraph import EverloreStore


@pytest.fixture
def store(tmp_path):
    with everlore.Memory.open(tmp_path) as memory:
        yield EverloreStore(memory)


class Chat(TypedDict):
    message: str
    answer: str


def test_a_graph_remembers_across_threads(store):
    def answer(state: Chat, *, store: BaseStore) -> dict:
        found = store.search(("users", "ana"), query=state["message"], limit=1)
        store.put(("users", "ana"), state["message"], {"text": state["message"]})
        return {"answer": found[0].value["text"] if found else "I don't know"}

    builder = StateGraph(Chat)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    graph = builder.compile(store=store)
    assert graph.invoke({"message": "I'm allergic to peanuts"})["answer"] == "I don't know"
    assert graph.invoke({"message": "what am I allergic to?"})["answer"] == "I'm allergic to peanuts"


def test_values_come_back_as_they_were_put(store):
    value = {"text": "喜欢龙井茶", "cups": 2, "times": ["早上", "下午"], "nested": {"hot": True}}
    store.put(("users", "小美"), "tea", value)
    item = store.get(("users", "小美"), "tea")
    assert item.value == value and item.key == "tea" and item.namespace == ("users", "小美")
    assert store.get(("users", "小美"), "coffee") is None and store.get(("users",), "tea") is None


def test_a_put_replaces_and_a_delete_removes(store):
    store.put(("a",), "k", {"text": "The meeting is in room 4"})
    store.put(("a",), "k", {"text": "The meeting is in room 9"})
    assert store.get(("a",), "k").value["text"].endswith("9")
    assert len(store.search(("a",))) == 1
    store.delete(("a",), "k")
    assert store.get(("a",), "k") is None and store.search(("a",)) == []


def test_equal_values_under_two_keys_are_two_items(store):
    for key in ("first", "second"):
        store.put(("a",), key, {"text": "The same text"})
    assert {item.key for item in store.search(("a",))} == {"first", "second"}


def test_search_goes_by_meaning_within_its_namespace(store):
    store.put(("docs", "en"), "1", {"text": "Staging runs on port 9443"})
    store.put(("docs", "zh"), "2", {"text": "在堡垒机上运行 make rollback 可以回滚"})
    store.put(("other",), "3", {"text": "Staging was painted green"})
    found = store.search(("docs",), query="which port does staging use?")
    assert found[0].key == "1" and found[0].score > 0 and all(item.namespace[0] == "docs" for item in found)
    assert store.search(("docs",), query="怎么回滚？")[0].key == "2"


def test_filters_offset_and_limit(store):
    for number in range(6):
        store.put(("n",), str(number), {"text": f"number {number}", "size": number, "odd": bool(number % 2)})
    sizes = lambda items: [item.value["size"] for item in items]
    assert sizes(store.search(("n",), filter={"odd": True})) == [1, 3, 5]
    assert sizes(store.search(("n",), filter={"size": {"$gte": 2, "$lt": 5}})) == [2, 3, 4]
    assert sizes(store.search(("n",), limit=2, offset=3)) == [3, 4]
    assert sizes(store.search(("n",), query="number 4", filter={"size": {"$ne": 0}}, limit=1)) == [4]


def test_namespaces_are_listed(store):
    for namespace in (("users", "ana", "facts"), ("users", "小美", "facts"), ("docs",)):
        store.put(namespace, "k", {"text": f"something in {'/'.join(namespace)}"})
    assert store.list_namespaces() == [("docs",), ("users", "ana", "facts"), ("users", "小美", "facts")]
    assert store.list_namespaces(prefix=("users",), max_depth=2) == [("users", "ana"), ("users", "小美")]
    assert store.list_namespaces(suffix=("facts",), limit=1) == [("users", "ana", "facts")]
    assert store.list_namespaces(prefix=("users", "*", "facts")) == store.list_namespaces(prefix=("users",))


async def test_it_can_be_awaited(store):
    await store.aput(("a",), "k", {"text": "茶在柜子里"})
    assert (await store.aget(("a",), "k")).value == {"text": "茶在柜子里"}
    assert (await store.asearch(("a",), query="茶在哪里？"))[0].key == "k"


def test_an_item_that_is_not_indexed_is_not_found_by_meaning(store):
    store.put(("a",), "k", {"text": "The vault code"}, index=False)
    assert store.search(("a",), query="vault code") == [] and store.get(("a",), "k") is not None


def test_the_memory_itself_recalls_items(store):
    store.put(("users", "ana"), "diet", {"text": "Ana is vegetarian"})
    assert store.memory.recall("what does Ana eat?")[0].content == "Ana is vegetarian"
