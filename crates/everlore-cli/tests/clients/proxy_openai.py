"""OpenAI's own client talks to a model through Everlore: only the base URL and the key are Everlore's."""

import openai
from openai import OpenAI

from proxy import KEY, URL, turns

client = OpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0)
MODEL = "scripted-chat"


def ask(text, session, **more):
    return client.chat.completions.with_raw_response.create(
        model=MODEL,
        messages=[{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}],
        extra_headers={"x-memory-session": session},
        **more,
    )


# A fact of one session is used in another.
for number, (fact, question, answer) in enumerate(
    [("My dog is called Rex.", "What is my dog called?", "Rex."), ("我对花生过敏。", "我对什么过敏？", "花生。")]
):
    assert ask(fact, f"told-{number}").parse().choices[0].message.content
    turns(2 + 6 * number)
    told = ask(question, f"asked-{number}")
    assert told.headers["x-everlore-memory"] == "added", told.headers
    assert told.parse().choices[0].message.content == answer
    stream = client.chat.completions.create(
        model=MODEL,
        messages=[{"role": "user", "content": question}],
        stream=True,
        stream_options={"include_usage": True},
        extra_headers={"x-memory-session": f"streamed-{number}"},
    )
    chunks = list(stream)
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == answer
    assert chunks[-1].usage.total_tokens > 0
    turns(6 + 6 * number)
print("facts: told, asked for, streamed")

# Tools in a loop.
tools = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        },
    }
]
messages = [{"role": "user", "content": "weather in Lisbon, please"}]
first = client.chat.completions.create(model=MODEL, messages=messages, tools=tools)
call = first.choices[0].message.tool_calls[0]
assert (call.function.name, call.function.arguments) == ("weather", '{"city":"Lisbon"}'), call
messages += [first.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "sunny"}]
with client.chat.completions.stream(model=MODEL, messages=messages, tools=tools) as stream:
    final = stream.get_final_completion()
assert final.choices[0].message.content == "It is sunny.", final
assert turns(14)[0] == "It is sunny."
print("tools: called, answered")

# Errors are the provider's own; a wrong key is refused in the client's shape.
for status, error in [
    (400, openai.BadRequestError),
    (401, openai.AuthenticationError),
    (429, openai.RateLimitError),
    (500, openai.InternalServerError),
]:
    try:
        ask(f"fail {status}", "errors")
        raise SystemExit(f"{status} was not told")
    except error as told:
        assert told.status_code == status and f"scripted {status}" in told.body["message"], told
try:
    OpenAI(base_url=f"{URL}/v1", api_key="wrong", max_retries=0).models.list()
    raise SystemExit("a wrong key was taken")
except openai.AuthenticationError as told:
    assert told.body["code"] == "unauthorized", told.body
assert len(turns(14)) == 14
print("errors: told")

# Responses, whole and streamed, in a conversation that the provider stores.
one = client.responses.create(model=MODEL, input="My dog likes walks.")
assert one.output_text == "Noted.", one
turns(16)
two = client.responses.with_raw_response.create(
    model=MODEL, input=[{"role": "user", "content": "What is my dog called?"}], previous_response_id=one.id
)
assert two.headers["x-everlore-session"].startswith("chat-"), two.headers
assert two.parse().output_text == "Rex."
turns(18)
with client.responses.stream(model=MODEL, input="我对什么过敏？") as stream:
    texts = [event.delta for event in stream if event.type == "response.output_text.delta"]
assert "".join(texts) == "花生。", texts
turns(20)
print("responses: whole, streamed")

# Models and embeddings.
names = [model.id for model in client.models.list()]
assert names == [MODEL, "scripted-other", "everlore", "everlore-builtin"], names
assert client.models.retrieve("everlore").owned_by == "everlore"
texts = ["My dog is called Rex.", "The puppy has a name."]
packed = client.embeddings.create(model="everlore-builtin", input=texts)
plain = client.embeddings.create(model="everlore-builtin", input=texts, encoding_format="float")
assert len(packed.data) == 2 and len(packed.data[0].embedding) == 256
for one, other in zip(packed.data, plain.data):
    assert all(abs(a - b) < 1e-6 for a, b in zip(one.embedding, other.embedding, strict=True))
assert ask("My dog is a poodle.", "alias").parse().model == MODEL
print("models, embeddings: listed, made")
