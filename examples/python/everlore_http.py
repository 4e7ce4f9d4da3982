"""Memory over HTTP with nothing but Python's standard library.

    everlore serve
    EVERLORE_URL=http://127.0.0.1:6636 EVERLORE_TOKEN="$(cat ~/.everlore/server.token)" python3 everlore_http.py
"""

import json
import os
import urllib.error
import urllib.parse
import urllib.request
import uuid


class Everlore:
    """Client for the memory of one agent and one user."""

    def __init__(self, url: str, token: str, agent: str = "default", user: str = "default"):
        self.url, self.token = url.rstrip("/"), token
        self.scope = urllib.parse.urlencode({"agent": agent, "user": user})

    def request(self, method: str, path: str, body=None, headers=None):
        """Sends a request; raises an error that says what to do."""
        separator = "&" if "?" in path else "?"
        request = urllib.request.Request(
            f"{self.url}{path}{separator}{self.scope}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/json",
                **(headers or {}),
            },
        )
        try:
            with urllib.request.urlopen(request) as response:
                return json.load(response), response.headers
        except urllib.error.HTTPError as error:
            problem = json.load(error)
            raise RuntimeError(f"{problem['title']}: {problem['detail']} ({problem['code']})") from None

    def remember(self, content: str, **more) -> str:
        """Saves a statement and returns its id. The idempotency key makes a retry save it only once."""
        saved, _ = self.request(
            "POST", "/v1/memories", {"content": content, **more}, {"Idempotency-Key": str(uuid.uuid4())}
        )
        return saved["id"]

    def observe(self, text: str, session: str, role: str = "user") -> None:
        """Stores a turn of a conversation, word for word."""
        self.request("POST", "/v1/turns", {"text": text, "session": session, "role": role})

    def context(self, query: str) -> str:
        """Returns the text to append to the system prompt before answering; empty if no memory is relevant."""
        return self.request("POST", "/v1/context", {"query": query})[0]["text"]

    def recall(self, query: str, limit: int = 5) -> list[str]:
        """Returns the best memories for a question."""
        recall, _ = self.request("POST", "/v1/recall", {"query": query, "limit": limit})
        return [hit["content"] for hit in recall["hits"]]

    def edit(self, id: str, content: str) -> None:
        """Changes a memory, unless another client changed it since it was read."""
        _, headers = self.request("GET", f"/v1/memories/{id}")
        self.request("PATCH", f"/v1/memories/{id}", {"content": content}, {"If-Match": headers["ETag"]})


def main() -> None:
    memory = Everlore(os.environ["EVERLORE_URL"], os.environ["EVERLORE_TOKEN"], user="python-example")
    id = memory.remember("Mei prefers oolong tea in the afternoon", kind="user")
    memory.remember("小美对花生过敏", kind="user")
    memory.observe("The deployment window is on Thursday at nine.", session="planning")
    print("recall:", memory.recall("What does Mei drink?")[0])
    print("回忆:", memory.recall("小美对什么过敏？")[0])
    print("context:", "Thursday" in memory.context("When is the deployment window?"))
    memory.edit(id, "Mei prefers jasmine tea in the afternoon 茉莉花茶")
    print("edited:", memory.recall("What does Mei drink?")[0])


if __name__ == "__main__":
    main()
