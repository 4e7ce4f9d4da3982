"""mem0's own client, unchanged, against a server: address, token, and a key for the agent `default` and the user `li`."""

import asyncio
import sys

from mem0 import AsyncMemoryClient, MemoryClient
from mem0.exceptions import AuthenticationError, MemoryNotFoundError, ValidationError

host, token, key = sys.argv[1:]


def refused(kind, call, *words):
    try:
        call()
    except kind as error:
        text = f"{error} {getattr(error, 'message', '')}"
        assert all(word in text for word in words), text
        return
    raise AssertionError("this should have been refused")


def texts(answer):
    return [item["memory"] for item in answer["results"]]


def adds_and_finds(client):
    messages = [
        {"role": "user", "content": "My name is Alice and I live in Lisbon."},
        {"role": "assistant", "content": "Nice to meet you, Alice."},
        {"role": "user", "content": "The spare key lies under the blue flowerpot."},
    ]
    answer = client.add(messages, user_id="alice")
    assert answer["status"] == "SUCCEEDED" and answer["event_id"], answer
    assert all(result["event"] == "ADD" for result in answer["results"]), answer
    mine = {"user_id": "alice"}
    assert any("Lisbon" in text for text in texts(client.search("Where does Alice live?", filters=mine)))
    assert "flowerpot" in texts(client.search("Where is the spare key?", filters=mine))[0]
    answer = client.add("我叫王芳，我对花生过敏。", user_id="王芳")
    assert answer["results"], answer
    found = texts(client.search("对什么过敏？", filters={"user_id": "王芳"}))
    assert any("花生" in text for text in found), found
    # Adding the same again adds nothing.
    before = client.get_all(filters={"user_id": "王芳"})["count"]
    client.add("我叫王芳，我对花生过敏。", user_id="王芳")
    after = client.get_all(filters={"user_id": "王芳"})
    assert after["count"] == before, after
    assert not any("flowerpot" in text for text in texts(client.search("flowerpot", filters={"user_id": "王芳"})))
    print("add and search, English and Chinese")


def keeps_as_it_is(client):
    answer = client.add(
        "Prefers aisle seats 靠走道",
        user_id="bob",
        agent_id="travel",
        app_id="booking",
        run_id="trip-1",
        metadata={"priority": 3, "team": "红队"},
        infer=False,
        timestamp=1_772_355_600,
        expiration_date="2999-12-31",
    )
    [result] = answer["results"]
    assert result["event"] == "ADD" and result["data"]["memory"] == "Prefers aisle seats 靠走道"
    item = client.get(result["id"])
    expected = {
        "memory": "Prefers aisle seats 靠走道",
        "user_id": "bob",
        "agent_id": "travel",
        "app_id": "booking",
        "run_id": "trip-1",
        "metadata": {"priority": 3, "team": "红队"},
        "expiration_date": "2999-12-31",
        "created_at": "2026-03-01T09:00:00.000000+00:00",
    }
    assert {name: item[name] for name in expected} == expected, item
    client.add("Gone by now", user_id="bob", infer=False, expiration_date="2020-01-01")
    shown = client.get_all(filters={"user_id": "bob"})
    assert texts(shown) == ["Prefers aisle seats 靠走道"], shown
    assert client.get_all(filters={"user_id": "bob"}, show_expired=True)["count"] == 2
    print("add without infer, with every id, metadata and an end")
    return result["id"]


def filters(client):
    for fits in [
        {"user_id": "bob"},
        {"agent_id": "travel"},
        {"run_id": "trip-1"},
        {"AND": [{"user_id": "bob"}, {"app_id": "booking"}]},
        {"AND": [{"user_id": "bob"}, {"created_at": {"gte": "2026-03-01", "lte": "2026-03-01"}}]},
        {"OR": [{"user_id": "nobody"}, {"run_id": "trip-1"}]},
        {"AND": [{"user_id": "*"}, {"NOT": [{"user_id": "alice"}, {"user_id": "王芳"}]}]},
        {"user_id": {"in": ["bob", "nobody"]}},
        {"user_id": "bob", "metadata": {"team": "红队"}},
        {"user_id": "bob", "metadata": {"priority": {"gte": 2}}},
        {"user_id": "bob", "keywords": {"icontains": "AISLE"}},
    ]:
        assert texts(client.get_all(filters=fits)) == ["Prefers aisle seats 靠走道"], fits
        assert texts(client.search("which seat 走道", filters=fits)) == ["Prefers aisle seats 靠走道"], fits
    for misses in [{"user_id": "nobody"}, {"user_id": "bob", "metadata": {"priority": {"gt": 3}}}]:
        assert client.get_all(filters=misses)["results"] == [], misses
        assert client.search("which seat", filters=misses)["results"] == [], misses
    refused(ValidationError, lambda: client.search("x", filters={"colour": "red", "user_id": "bob"}), "colour")
    refused(ValidationError, lambda: client.search("x", filters={"user_id": {"like": "b%"}}), "like")
    refused(ValidationError, lambda: client.search("x", filters={"metadata": {"a": 1}}), "names no owner")
    refused(ValidationError, lambda: client.get_all(filters={"AND": {"user_id": "bob"}}), "AND")
    refused(ValidationError, lambda: client.add("x", run_id="a", colour="red"), "colour")
    refused(ValidationError, lambda: client.add([{"role": "user", "content": [{"type": "image_url"}]}], user_id="a"))
    answer = client.add("My cat is called Miso.", user_id="cat", custom_instructions="only cats")
    assert answer["ignored"] == ["custom_instructions"], answer
    found = client.search("cat", filters={"user_id": "cat"}, top_k=1, fields=["memory"], threshold=0.0)
    assert all(set(item) == {"id", "memory"} for item in found["results"]), found
    print("filters, and what is refused")


def pages(client):
    for number in range(7):
        client.add(f"Note number {number} 第{number}条", user_id="pages", infer=False)
    seen, page = [], 1
    while True:
        answer = client.get_all(filters={"user_id": "pages"}, page=page, page_size=3)
        assert answer["count"] == 7, answer
        seen += texts(answer)
        if answer["next"] is None:
            break
        page += 1
    assert page == 3 and seen == [f"Note number {n} 第{n}条" for n in reversed(range(7))], seen
    print("pages")


def changes(client, identity):
    changed = client.update(identity, text="Prefers window seats 靠窗", metadata={"priority": 1})
    assert changed["memory"] == "Prefers window seats 靠窗" and changed["metadata"] == {"priority": 1}, changed
    assert client.get(identity)["app_id"] == "booking"
    client.update(identity, expiration_date=None)
    assert client.get(identity)["expiration_date"] is None
    client.feedback(identity, feedback="POSITIVE", feedback_reason="对")
    assert client.get(identity)["feedback"] == "POSITIVE"
    lines = client.history(identity)
    assert [line["event"] for line in lines][:2] == ["ADD", "UPDATE"], lines
    assert (lines[1]["old_memory"], lines[1]["new_memory"]) == (
        "Prefers aisle seats 靠走道",
        "Prefers window seats 靠窗",
    ), lines
    refused(ValidationError, lambda: client.update(identity, timestamp=5), "timestamp of a memory")
    other = client.add("Second 第二", user_id="bob", infer=False)["results"][0]["id"]
    client.batch_update([{"memory_id": identity, "text": "One 一"}, {"memory_id": other, "text": "Two 二"}])
    assert (client.get(identity)["memory"], client.get(other)["memory"]) == ("One 一", "Two 二")
    client.batch_delete([{"memory_id": other}])
    refused(MemoryNotFoundError, lambda: client.get(other), "not found")
    refused(MemoryNotFoundError, lambda: client.batch_delete([{"memory_id": identity}, {"memory_id": other}]))
    client.get(identity)
    client.delete(identity)
    refused(MemoryNotFoundError, lambda: client.get(identity))
    assert client.history(identity)[-1]["event"] == "DELETE"
    refused(MemoryNotFoundError, lambda: client.get("no-such-id"))
    print("update, feedback, history, batch and delete")


def removes(client):
    # The turns that a memory was extracted from are deleted with it.
    client.add("My favourite colour is turquoise.", user_id="dora")
    for item in client.get_all(filters={"user_id": "dora"})["results"]:
        client.delete(item["id"])
    assert client.search("turquoise", filters={"user_id": "dora"})["results"] == []
    client.add("Remember the milk 牛奶", user_id="dora", run_id="a", infer=False)
    client.add("Remember the bread", user_id="dora", run_id="b", infer=False)
    client.delete_all(user_id="dora", run_id="a")
    assert texts(client.get_all(filters={"user_id": "dora"})) == ["Remember the bread"]
    refused(ValidationError, lambda: client.delete_all(), "names no owner")
    client.add("Books trains", agent_id="travel", infer=False)
    names = {(entity["type"], entity["name"]) for entity in client.users()["results"]}
    assert {("user", "dora"), ("user", "alice"), ("agent", "travel")} <= names, names
    client.delete_users(user_id="dora")
    assert client.get_all(filters={"user_id": "dora"})["count"] == 0
    for missing in [
        lambda: client.create_memory_export("{}", user_id="bob"),
        lambda: client.get_summary({"user_id": "bob"}),
        lambda: client.get_profile("bob"),
    ]:
        refused(Exception, missing, "not supported")
    print("delete_all, entities, and what is not done")


def confined(owner):
    client = MemoryClient(host=host, api_key=key)
    client.add("Li's bicycle is green.", user_id="li")
    assert client.get_all(filters={"user_id": "li"})["count"] >= 1
    for call in [
        lambda: client.add("x", user_id="alice"),
        lambda: client.add("x", user_id="li", agent_id="travel"),
        lambda: client.search("Lisbon", filters={"user_id": "alice"}),
        lambda: client.get_all(filters={"agent_id": "travel"}),
        lambda: client.delete_all(user_id="alice"),
        lambda: client.delete_users(user_id="alice"),
    ]:
        refused(AuthenticationError, call, "another agent or user")
    foreign = owner.get_all(filters={"user_id": "alice"})["results"][0]["id"]
    for call in [
        lambda: client.get(foreign),
        lambda: client.update(foreign, text="x"),
        lambda: client.delete(foreign),
        lambda: client.history(foreign),
        lambda: client.feedback(foreign, feedback="NEGATIVE"),
        lambda: client.batch_delete([{"memory_id": foreign}]),
    ]:
        refused(MemoryNotFoundError, call)
    wide = client.search("Lisbon flowerpot", filters={"OR": [{"user_id": "alice"}, {"user_id": "li"}]})
    assert all(item["user_id"] == "li" for item in wide["results"]), wide
    assert {entity["name"] for entity in client.users()["results"]} == {"li"}
    refused(ValueError, lambda: MemoryClient(host=host, api_key="evl_wrong"), "token or key")
    print("a key stays in its scope")


async def asynchronously():
    async with AsyncMemoryClient(host=host, api_key=token) as client:
        answer = await client.add("我住在杭州，喜欢喝茶。", user_id="异步")
        assert answer["status"] == "SUCCEEDED", answer
        found = await client.search("住在哪里？", filters={"user_id": "异步"})
        assert any("杭州" in text for text in texts(found)), found
        listed = await client.get_all(filters={"user_id": "异步"})
        identity = listed["results"][0]["id"]
        await client.update(identity, text="住在苏州")
        assert (await client.get(identity))["memory"] == "住在苏州"
        assert (await client.history(identity))[-1]["event"] == "UPDATE"
        await client.delete(identity)
        await client.delete_all(user_id="异步")
        assert (await client.get_all(filters={"user_id": "异步"}))["count"] == 0
    print("the asynchronous client")


owner = MemoryClient(host=host, api_key=token)
adds_and_finds(owner)
identity = keeps_as_it_is(owner)
filters(owner)
pages(owner)
changes(owner, identity)
removes(owner)
confined(owner)
asyncio.run(asynchronously())
owner.reset()
assert owner.users()["results"] == []
print("reset")
