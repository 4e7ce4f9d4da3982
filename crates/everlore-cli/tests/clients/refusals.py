"""What the server's guards refuse reaches each client as the exception that its users catch, with our sentence; over TLS."""

import logging
import os

import anthropic
import httpx
import openai
from mem0 import MemoryClient
from openviking_sdk import SyncHTTPClient
from openviking_sdk.errors import PermissionDeniedError, UnauthenticatedError

URL, KEY = os.environ["URL"], os.environ["KEY"]
ANTHROPIC_URL, ANTHROPIC_KEY = os.environ["ANTHROPIC_URL"], os.environ["ANTHROPIC_KEY"]
HOST = {"Host": "evil.example"}
ORIGIN = {"Origin": "https://evil.example"}
logging.disable(logging.ERROR)
assert URL.startswith("https://")


def refused(kind, call, words, code=None):
    """The exception, which must be of this very class and say this."""
    try:
        call()
    except kind as told:
        assert type(told) is kind and words in f"{told} {getattr(told, 'message', '')}", repr(told)
        assert code is None or told.status_code == code, told.status_code
        return told
    raise AssertionError(f"{kind.__name__} was expected")


def often(call):
    for _ in range(100):
        call()


def messages(client):
    return client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "长" * 2_000}])


def chat(client):
    return client.chat.completions.create(model="m", messages=[{"role": "user", "content": "长" * 2_000}])


def openai_client(key=KEY, headers=None):
    return openai.OpenAI(base_url=f"{URL}/v1", api_key=key, max_retries=0, default_headers=headers)


def anthropic_client(key=ANTHROPIC_KEY, headers=None):
    return anthropic.Anthropic(base_url=f"{ANTHROPIC_URL}/anthropic", api_key=key, max_retries=0, default_headers=headers)


for module, client, long, too_long in [
    (openai, openai_client, chat, openai.APIStatusError),
    (anthropic, anthropic_client, messages, anthropic.RequestTooLargeError),
]:
    refused(module.AuthenticationError, lambda: client("wrong").models.list(), "unknown token or key")
    for headers, words in [(HOST, "this server is not called that"), (ORIGIN, "pages of other sites may not ask")]:
        told = refused(module.PermissionDeniedError, lambda: client(headers=headers).models.list(), words)
        kind = told.body["type"] if module is openai else told.body["error"]["type"]
        assert kind == "permission_error", told.body
    refused(too_long, lambda: long(client()), "longer than 2048 bytes", 413)
    print(f"{module.__name__}: key, host, origin and length are told")


def mem0(key=KEY, headers=None):
    return MemoryClient(host=URL, api_key=key, client=httpx.Client(headers=headers))


refused(ValueError, lambda: mem0("wrong"), "unknown token or key")
refused(ValueError, lambda: mem0(headers=HOST), "this server is not called that")
refused(ValueError, lambda: mem0(headers=ORIGIN), "pages of other sites may not ask")
print("mem0: key, host and origin are told")


def viking(key=KEY, headers=None):
    client = SyncHTTPClient(url=URL, api_key=key, extra_headers=headers)
    client.initialize()
    return client.ls("viking://")


refused(UnauthenticatedError, lambda: viking("wrong"), "unknown token or key")
refused(PermissionDeniedError, lambda: viking(headers=HOST), "this server is not called that")
refused(PermissionDeniedError, lambda: viking(headers=ORIGIN), "pages of other sites may not ask")
print("openviking: key, host and origin are told")

for module, client in [(openai, openai_client()), (anthropic, anthropic_client())]:
    told = refused(module.RateLimitError, lambda: often(client.models.list), "too many requests")
    assert int(told.response.headers["retry-after"]) >= 1, told.response.headers
print("too many requests are told")
