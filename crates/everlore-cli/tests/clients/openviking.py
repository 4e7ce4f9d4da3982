"""The official client of OpenViking on Everlore: unchanged but for the address and the key."""

import sys
import tempfile
import time
from pathlib import Path

from openviking_sdk import SyncHTTPClient, TextPart, UnimplementedError
from openviking_sdk.errors import (
    InvalidArgumentError,
    NotFoundError,
    PermissionDeniedError,
    UnauthenticatedError,
)

URL, KEY, OTHER_KEY = sys.argv[1:4]
USER = "王"
GUIDES = [
    ("deploy.md", "# Deploy\n\nBack up the database first.\n\n## Roll back\n\nPress the blue button in the console.\n", "how to roll back", "blue button"),
    ("部署.md", "# 部署\n\n先备份数据库。\n\n## 回滚\n\n在控制台里按蓝色按钮。\n", "怎么回滚", "蓝色按钮"),
]
TALKS = [
    ("weekend", [("user", "I moved to Lisbon last month and I am allergic to peanuts."), ("assistant", "Noted.")], "what is the user allergic to", "peanut"),
    ("周末 聊天", [("user", "我对花生过敏，我住在杭州。"), ("assistant", "记住了。")], "我对什么过敏", "花生"),
]


def fails(kind, call):
    try:
        call()
    except kind as error:
        return str(error)
    raise AssertionError(f"{kind.__name__} was expected")


def until(holds):
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)


def texts(found):
    hits = found["memories"] + found["resources"]
    return " ".join(hit["abstract"] + " " + (hit["overview"] or "") for hit in hits)


client = SyncHTTPClient(url=URL, api_key=KEY)
client.initialize()
assert client.health()

# The tree.
assert [entry["name"] for entry in client.ls("viking://")] == ["agent", "resources", "user"]
assert client.stat("viking://resources")["isDir"]

# Resources: added from files, listed, read at three levels, found, searched.
with tempfile.TemporaryDirectory() as folder:
    for name, text, _, _ in GUIDES:
        path = Path(folder) / name
        path.write_text(text, encoding="utf-8")
        added = client.add_resource(str(path), to="viking://resources/ops", wait=True)
        assert added["root_uri"] == f"viking://resources/ops/{name}", added
    fails(InvalidArgumentError, lambda: client.add_resource(folder))
fails(InvalidArgumentError, lambda: client.add_resource("https://example.com/a.md"))
page = client.ls_page("viking://resources/ops", limit=1)
assert len(page["result"]) == 1 and page["has_more"]
assert [entry["name"] for entry in client.ls("viking://resources/ops")] == ["deploy.md", "部署.md"]
for name, text, query, word in GUIDES:
    uri = f"viking://resources/ops/{name}"
    full, overview, abstract = client.read(uri), client.overview(uri), client.abstract(uri)
    assert word in full and overview and abstract and "\n" not in abstract, (full, overview, abstract)
    assert client.download_bytes(uri).decode() == full
    found = client.find(query, target_uri="viking://resources")
    assert found["resources"][0]["uri"] == uri and word in texts(found), found
    lines = client.grep("viking://resources", word)
    assert lines["count"] == 1 and word in lines["matches"][0]["content"], lines
    assert not client.stat(uri)["isDir"]
assert client.read("viking://resources/ops/deploy.md", limit=1).count("\n") == 0
assert set(client.glob("**/*.md", uri="viking://resources")["matches"]) == {
    f"viking://resources/ops/{name}" for name, *_ in GUIDES
}
assert "deploy.md" in client.overview("viking://resources/ops")
assert any(entry["rel_path"] == "ops/部署.md" for entry in client.tree("viking://resources"))

# Sessions: created, filled, committed; then their memories are found.
for name, messages, query, word in TALKS:
    created = client.create_session(name)
    assert created["session_id"] == name
    session = client.session(name, must_exist=True)
    assert session.load()["message_count"] == 0
    role, content = messages[0]
    session.add_message(role, content)
    role, content = messages[1]
    added = session.add_message(role, parts=[TextPart(text=content)])
    assert added["message_count"] == 2, added
    committed = session.commit()
    assert committed["status"] == "accepted", committed
    until(lambda: client.get_task(committed["task_id"])["status"] == "completed")
    assert session.load()["message_count"] == 2
    context = session.get_session_context()
    assert [message["role"] for message in context["messages"]] == ["user", "assistant"], context
    found = client.find(query)
    assert found["memories"] and word in texts(found), found
    assert found["memories"][0]["uri"].startswith(f"viking://user/{USER}/memories/"), found
    uri = found["memories"][0]["uri"]
    assert client.read(uri) and client.abstract(uri) and client.overview(uri)
    assert word in client.search_context(query, session_id=name)["rendered"]
assert {entry["session_id"] for entry in client.list_sessions()} == {name for name, *_ in TALKS}
assert client.session_exists("weekend") and not client.session_exists("never")
batch = client.batch_add_messages("batch", [{"role": "user", "content": "hello"}, {"role": "user", "content": "你好"}])
assert batch["added"] == 2
assert client.wait_processed() is not None

# Writing and removing.
written = client.write(f"viking://user/{USER}/memories/preferences/coffee", "No coffee after noon.")
assert client.read(written["uri"]) == "No coffee after noon."
client.write(written["uri"], "No coffee at all.")
assert client.read(written["uri"]) == "No coffee at all."
client.mkdir("viking://resources/new")
client.rm(written["uri"])
fails(NotFoundError, lambda: client.read(written["uri"]))
fails(InvalidArgumentError, lambda: client.rm("viking://resources/ops"))
client.rm("viking://resources/ops", recursive=True)
assert client.ls("viking://resources") == []
client.delete_session("weekend")
assert not client.session_exists("weekend")

# Invalid, foreign and missing entries raise the client's own exceptions.
assert "deploy" in fails(NotFoundError, lambda: client.stat("viking://resources/deploy.md"))
for uri in ["viking://user/other/memories", "viking://resources/../user", "viking://resources/%2e%2e/x", "viking://temp/x", "viking://resources/a%00b"]:
    fails(InvalidArgumentError, lambda: client.ls(uri))
fails(UnimplementedError, lambda: client.mv("viking://resources/a", "viking://resources/b"))
stranger = SyncHTTPClient(url=URL, api_key="evl_no")
stranger.initialize()
fails(UnauthenticatedError, lambda: stranger.ls("viking://"))
other = SyncHTTPClient(url=URL, api_key=OTHER_KEY)
other.initialize()
assert other.find("allergic to peanuts 花生过敏")["total"] == 0
assert other.list_sessions() == []
fails(PermissionDeniedError, lambda: other.write("viking://resources/a.md", "x"))
wrong = SyncHTTPClient(url=URL, api_key=OTHER_KEY, user="someone")
wrong.initialize()
fails(PermissionDeniedError, lambda: wrong.ls("viking://"))
print("listed, read at three levels, found, added, talked and committed in English and Chinese")
