"""Anthropic's own client talks to a model through Everlore: only the base URL and the key are Everlore's."""

import anthropic
from anthropic import Anthropic

from proxy import KEY, URL, turns

client = Anthropic(base_url=f"{URL}/anthropic", api_key=KEY, max_retries=0)
MODEL = "scripted-chat"


def ask(text, session):
    return client.messages.with_raw_response.create(
        model=MODEL,
        max_tokens=100,
        system=[{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        messages=[{"role": "user", "content": text}],
        extra_headers={"x-memory-session": session},
    )


for number, (fact, question, answer) in enumerate(
    [("My dog is called Rex.", "What is my dog called?", "Rex."), ("我对花生过敏。", "我对什么过敏？", "花生。")]
):
    assert ask(fact, f"told-{number}").parse().content[0].text
    turns(2 + 6 * number)
    told = ask(question, f"asked-{number}")
    assert told.headers["x-everlore-memory"] == "added", told.headers
    assert told.parse().content[0].text == answer
    with client.messages.stream(
        model=MODEL,
        max_tokens=100,
        messages=[{"role": "user", "content": [{"type": "text", "text": question}]}],
        extra_headers={"x-memory-session": f"streamed-{number}"},
    ) as stream:
        assert "".join(stream.text_stream) == answer
        assert stream.get_final_message().stop_reason == "end_turn"
    turns(6 + 6 * number)
print("facts: told, asked for, streamed")

tools = [{"name": "weather", "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}}}]
messages = [{"role": "user", "content": "weather in Lisbon, please"}]
first = client.messages.create(model=MODEL, max_tokens=100, messages=messages, tools=tools)
call = first.content[0]
assert (first.stop_reason, call.name, call.input) == ("tool_use", "weather", {"city": "Lisbon"}), first
result = {"type": "tool_result", "tool_use_id": call.id, "content": [{"type": "text", "text": "sunny"}]}
messages += [{"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
final = client.messages.create(model=MODEL, max_tokens=100, messages=messages, tools=tools)
assert final.content[0].text == "It is sunny.", final
assert turns(14)[0] == "It is sunny."
print("tools: called, answered")

for status, error in [
    (400, anthropic.BadRequestError),
    (401, anthropic.AuthenticationError),
    (429, anthropic.RateLimitError),
    (500, anthropic.InternalServerError),
]:
    try:
        ask(f"fail {status}", "errors")
        raise SystemExit(f"{status} was not told")
    except error as told:
        assert told.status_code == status and f"scripted {status}" in told.body["error"]["message"], told
try:
    Anthropic(base_url=f"{URL}/anthropic", api_key="wrong", max_retries=0).models.list()
    raise SystemExit("a wrong key was taken")
except anthropic.AuthenticationError as told:
    assert told.body["error"]["type"] == "authentication_error", told.body
assert len(turns(14)) == 14
print("errors: told")

names = [model.id for model in client.models.list()]
assert names == [MODEL, "scripted-other", "everlore"], names
counted = client.messages.count_tokens(model=MODEL, messages=[{"role": "user", "content": "茶"}])
assert counted.input_tokens > 0
print("models, count_tokens: told")
