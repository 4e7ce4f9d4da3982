"""Refusals of the server reach each client as the exception that its users catch, with our sentence; over TLS."""

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
    """Returns the exception, which must have exactly this class and contain these words."""
    try:
        call()
    except kind as error:
        assert type(error) is kind and words in f"{error} {getattr(error, 'message', '')}", repr(error)
        assert code is None or error.status_code == code, error.status_code
        return error
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
    for headers, words in [(HOST, "does not answer to this host name"), (ORIGIN, "pages of other sites may not use")]:
        error = refused(module.PermissionDeniedError, lambda: client(headers=headers).models.list(), words)
        kind = error.body["type"] if module is openai else error.body["error"]["type"]
        assert kind == "permission_error", error.body
    refused(too_long, lambda: long(client()), "longer than 2048 bytes", 413)
    print(f"{module.__name__}: key, host, origin and length are refused")


def mem0(key=KEY, headers=None):
    return MemoryClient(host=URL, api_key=key, client=httpx.Client(headers=headers))


refused(ValueError, lambda: mem0("wrong"), "unknown token or key")
refused(ValueError, lambda: mem0(headers=HOST), "does not answer to this host name")
refused(ValueError, lambda: mem0(headers=ORIGIN), "pages of other sites may not use")
print("mem0: key, host and origin are refused")


def viking(key=KEY, headers=None):
    client = SyncHTTPClient(url=URL, api_key=key, extra_headers=headers)
    client.initialize()
    return client.ls("viking://")


refused(UnauthenticatedError, lambda: viking("wrong"), "unknown token or key")
refused(PermissionDeniedError, lambda: viking(headers=HOST), "does not answer to this host name")
refused(PermissionDeniedError, lambda: viking(headers=ORIGIN), "pages of other sites may not use")
print("openviking: key, host and origin are refused")

for module, client in [(openai, openai_client()), (anthropic, anthropic_client())]:
    error = refused(module.RateLimitError, lambda: often(client.models.list), "too many requests")
    assert int(error.response.headers["retry-after"]) >= 1, error.response.headers
print("too many requests are refused")
