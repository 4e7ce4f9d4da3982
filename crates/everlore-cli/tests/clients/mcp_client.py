"""The official Python client of MCP, on Everlore: every tool, resource and prompt, in both eras, over both transports.

Arguments: the program, the home, the address of a server, its token, and the keys of two users (Wang writes, Li reads).
"""

import asyncio
import json
import sys
import uuid

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

PROGRAM, HOME, URL, TOKEN, WANG, LI = sys.argv[1:]
SETS = "core,layers,anthropic,graph,search"
ERAS = {"legacy": "2025-11-25", "2026-07-28": "2026-07-28"}


def stdio(user: str, *args: str) -> StdioServerParameters:
    command = ["--home", HOME, "--agent", "python", "--user", user, "mcp", *args]
    return StdioServerParameters(command=PROGRAM, args=command)


def http(secret: str, query: str = ""):
    client = create_mcp_http_client(headers={"Authorization": f"Bearer {secret}"})
    return streamable_http_client(URL + query, http_client=client)


def text(result) -> str:
    return "".join(part.text for part in result.content if part.type == "text")


async def ok(client, name: str, **arguments):
    # The client checks what comes back against the output schema of the tool.
    result = await client.call_tool(name, arguments)
    assert not result.is_error, f"{name}: {text(result)}"
    assert result.structured_content is not None, name
    assert text(result).strip(), name
    return result.structured_content


async def wrong(client, name: str, **arguments) -> str:
    result = await client.call_tool(name, arguments)
    assert result.is_error, f"{name}: {text(result)}"
    return text(result)


async def core(client) -> None:
    tea = await ok(client, "memory_save", content="我喜欢喝龙井茶，不加糖。", type="user")
    move = await ok(client, "memory_save", content="We moved to Lisbon in February 2026.")
    assert tea["action"] == "created" and move["action"] == "created"
    found = await ok(client, "memory_recall", query="我喜欢喝什么茶？")
    assert found["memories"][0]["id"] == tea["id"], found
    found = await ok(client, "memory_recall", query="Where did we move to?", limit=1)
    assert "Lisbon" in found["memories"][0]["content"], found
    around = await ok(client, "memory_timeline", id=move["id"])
    assert {tea["id"], move["id"]} <= {one["id"] for one in around["memories"]}, around
    whole = await ok(client, "memory_get", ids=[tea["id"], move["id"]])
    assert whole["memories"][0]["content"] == "我喜欢喝龙井茶，不加糖。"
    await ok(client, "memory_update", id=tea["id"], content="我现在只喝普洱茶。")
    found = await ok(client, "memory_recall", query="我喝什么茶？")
    assert "普洱" in found["memories"][0]["content"], found
    begin = await ok(client, "memory_context", message="我喝什么茶？")
    assert "普洱" in begin["text"] and tea["id"] in begin["memories"], begin
    for memory in (tea, move):
        gone = await ok(client, "memory_forget", id=memory["id"])
        assert gone["action"] == "deleted"
    assert "not found" in await wrong(client, "memory_forget", id=tea["id"])
    assert "`content` is missing" in await wrong(client, "memory_save")
    assert "did you mean `query`" in await wrong(client, "memory_recall", querry="x", query="x")


async def others(client) -> None:
    await ok(client, "memory_add", file="user", section="茶", content="- 普洱")
    read = await ok(client, "memory_read", file="user")
    assert "普洱" in read["text"]
    await ok(client, "memory_replace", file="user", section="茶", old_text="普洱", new_text="tea")
    await ok(client, "memory_remove", file="user", section="茶")
    path = f"/memories/{uuid.uuid4()}.md"
    await ok(client, "memory", command="create", path=path, file_text="进度：第一步\n")
    assert "第一步" in (await ok(client, "memory", command="view", path=path))["text"]
    await ok(client, "memory", command="delete", path=path)
    name = f"王小明 {uuid.uuid4()}"
    entity = {"name": name, "entityType": "人", "observations": ["喜欢喝茶"]}
    friend = {"name": name + " friend", "entityType": "person", "observations": []}
    relation = {"from": name, "to": friend["name"], "relationType": "knows"}
    made = await ok(client, "create_entities", entities=[entity, friend])
    assert made["entities"] == [entity, friend]
    assert (await ok(client, "create_relations", relations=[relation]))["relations"] == [relation]
    added = [{"entityName": name, "contents": ["plays chess"]}]
    await ok(client, "add_observations", observations=added)
    opened = await ok(client, "open_nodes", names=[name])
    assert opened["entities"][0]["observations"] == ["喜欢喝茶", "plays chess"]
    assert opened["relations"] == [relation]
    assert (await ok(client, "search_nodes", query=name))["entities"]
    assert (await ok(client, "read_graph"))["entities"]
    deletions = [{"entityName": name, "observations": ["plays chess"]}]
    await ok(client, "delete_observations", deletions=deletions)
    await ok(client, "delete_relations", relations=[relation])
    await ok(client, "delete_entities", entityNames=[name, friend["name"]])
    note = await ok(client, "memory_save", content=f"The parrot {name} lives in the kitchen.")
    found = await client.call_tool("search", {"query": f"Where does the parrot {name} live?"})
    listed = json.loads(text(found))["results"]
    assert any(one["id"] == note["id"] for one in listed), listed
    fetched = json.loads(text(await client.call_tool("fetch", {"id": note["id"]})))
    assert "kitchen" in fetched["text"] and fetched["url"].startswith("memory://memories/")
    await ok(client, "memory_forget", id=note["id"])


async def resources(client) -> None:
    listed = [str(one.uri) for one in (await client.list_resources()).resources]
    assert listed[:2] == ["memory://context", "memory://recent"], listed
    assert "memory://knowledge-graph" in listed, listed
    templates = (await client.list_resource_templates()).resource_templates
    assert [one.uri_template for one in templates] == [
        "memory://layers/{name}",
        "memory://memories/{id}",
    ]
    for uri in listed:
        read = await client.read_resource(uri)
        assert read.contents[0].uri == uri
    saved = await ok(client, "memory_save", content="用户的猫叫团团。")
    read = await client.read_resource(f"memory://memories/{saved['id']}")
    assert "团团" in read.contents[0].text
    assert "团团" in (await client.read_resource("memory://recent")).contents[0].text
    await ok(client, "memory_forget", id=saved["id"])
    try:
        await client.read_resource("memory://memories/01a1df8d13ae")
        raise AssertionError("what is not there was read")
    except Exception as error:
        assert "there is no resource" in str(error), error


async def prompts(client) -> None:
    listed = (await client.list_prompts()).prompts
    assert [one.name for one in listed] == ["recall", "remember", "reflect"]
    asked = await client.get_prompt("recall", {"query": "我的猫叫什么？"})
    assert "长期记忆" in asked.messages[0].content.text
    kept = await client.get_prompt("remember", {"text": "The cat is called Tuan."})
    assert "memory_save" in kept.messages[0].content.text
    assert "回顾" in (await client.get_prompt("reflect", {"language": "zh"})).messages[0].content.text


async def everything(server, mode: str) -> None:
    async with Client(server, mode=mode, read_timeout_seconds=60) as client:
        assert client.protocol_version == ERAS[mode], client.protocol_version
        if mode == "legacy":
            assert client.server_info.name == "everlore"
            assert 0 < len(client.instructions.encode()) < 2048
        tools = (await client.list_tools()).tools
        names = [tool.name for tool in tools]
        assert len(names) == 23 and names[0] == "memory_recall", names
        for tool in tools:
            assert tool.annotations.open_world_hint is False and tool.output_schema, tool.name
            assert len(tool.description.encode()) < 2048, tool.name
        again = (await client.list_tools()).tools
        assert [tool.model_dump() for tool in again] == [tool.model_dump() for tool in tools]
        await core(client)
        await others(client)
        await resources(client)
        await prompts(client)


async def few_by_default() -> None:
    core_names = [
        "memory_recall", "memory_timeline", "memory_get", "memory_save", "memory_update",
        "memory_forget", "memory_context",
    ]
    async with Client(stdio("few")) as client:
        assert client.protocol_version == "2026-07-28"
        assert [tool.name for tool in (await client.list_tools()).tools] == core_names
    async with Client(http(TOKEN)) as client:
        assert client.protocol_version == "2026-07-28"
        assert [tool.name for tool in (await client.list_tools()).tools] == core_names


async def each_key_sees_its_own() -> None:
    async with Client(http(WANG)) as wang, Client(http(LI)) as li:
        saved = await ok(wang, "memory_save", content="小王的保险箱密码写在蓝色本子里。")
        assert (await ok(wang, "memory_recall", query="保险箱密码在哪里？"))["found"]
        assert not (await ok(li, "memory_recall", query="保险箱密码在哪里？"))["found"]
        assert (await ok(li, "memory_get", ids=[saved["id"]]))["missing"] == [saved["id"]]
        assert "保险箱" not in (await li.read_resource("memory://recent")).contents[0].text
        # Li's key only reads: what would change something is not offered, and refused.
        offered = [tool.name for tool in (await li.list_tools()).tools]
        assert offered == ["memory_recall", "memory_timeline", "memory_get", "memory_context"]
        assert "may only read" in await wrong(li, "memory_save", content="x")
    refused = httpx2.post(URL, json={}, headers={"Authorization": "Bearer nothing"})
    assert refused.status_code == 401, refused
    refused = httpx2.post(URL + "?user=li", json={}, headers={"Authorization": f"Bearer {WANG}"})
    assert refused.status_code == 403, refused


async def main() -> None:
    for mode in ERAS:
        await everything(stdio(f"stdio {mode}", "--tools", SETS), mode)
        print(f"stdio, {mode}: every tool, resource and prompt")
        await everything(http(TOKEN, f"?user=http-{mode}&tools={SETS}"), mode)
        print(f"http, {mode}: every tool, resource and prompt")
    await few_by_default()
    await each_key_sees_its_own()
    print("keys keep to their scopes and roles")


asyncio.run(main())
