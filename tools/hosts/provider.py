"""Recording model provider on loopback: speaks the wires of OpenAI (chat completions, responses), Anthropic and Gemini.

It keeps every request. It answers with a fixed sentence, or calls a tool of memory when the user's last message asks for it
and the host offers one.
"""

import http.server
import json
import threading
import uuid

# The word that memory must bring back, and the message that says it.
SECRET = "Quillon"
FACT = f"My sister Maren keeps a heron called {SECRET} in Bergen."
# A user's message with these words makes the model call a tool of memory: that which saves, if the message says the fact, else
# that which searches.
TOOL_CUE = "memory tool"
# Tools of hosts that find other tools (Claude Code, Qwen Code), and the one that calls what was found (Qwen Code).
SEARCH_TOOLS = ("ToolSearch", "tool_search")
CALL_TOOL = "tool_call"
ANSWER = "Understood, all of that is clear to me."
ANSWER_AFTER_TOOL = "The tool told me, thank you."


class Provider:
    """Provider on a free port, with what it was asked."""

    def __init__(self):
        self.requests = []
        self.lock = threading.Lock()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler_for(self))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def record(self, method, path, headers, body):
        with self.lock:
            self.requests.append({"method": method, "path": path, "headers": headers, "body": body})

    def take(self):
        """Returns the requests since the last call."""
        with self.lock:
            taken, self.requests = self.requests, []
        return taken

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def handler_for(provider):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_GET(self):
            provider.record("GET", self.path, dict(self.headers), None)
            self.send_json({"object": "list", "data": [{"id": "recorder", "object": "model"}], "models": []})

        do_HEAD = do_GET

        def do_POST(self):
            text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            try:
                body = json.loads(text)
            except ValueError:
                body = {"text": text.decode("utf-8", "replace")}
            provider.record("POST", self.path, dict(self.headers), body)
            reply = wire_reply(self.path.split("?")[0], body)
            if isinstance(reply, list):
                self.send_events(reply)
            elif reply is None:
                self.send_json({"error": {"message": f"no route {self.path}", "type": "not_found"}}, 404)
            else:
                self.send_json(reply)

        def send_json(self, value, status=200):
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def send_events(self, events):
            lines = []
            for event in events:
                name = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
                lines.append(f"{name}data: {event if isinstance(event, str) else json.dumps(event)}\n\n")
            data = "".join(lines).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler


def wire_reply(path, body):
    """Returns the answer on the wire: a value, a list of events for a stream, or None for an unknown route."""
    if path.endswith("/messages/count_tokens"):
        return {"input_tokens": 100}
    if path.endswith("/messages"):
        return anthropic(body)
    if path.endswith("/chat/completions"):
        return chat_completions(body)
    if path.endswith("/responses"):
        return responses(body)
    if path.endswith(":countTokens"):
        return {"totalTokens": 100}
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return gemini(body, path.endswith(":streamGenerateContent"))
    return None


def reply_to(said, called, tools):
    """Returns ("text", answer) or ("tool", name) for what users said, the tools that were called and those that are offered."""
    if TOOL_CUE not in said:
        return "text", ANSWER
    wanted = "memory_save" if f"{FACT} Keep" in said else "memory_recall"
    if any(name.endswith(wanted) or name == CALL_TOOL for name in called):
        return "text", ANSWER_AFTER_TOOL
    offered = [name for name in tools if name.endswith(wanted)]
    # Some hosts offer tools of servers only after a search for them, by their names or through a tool that calls others.
    offered += [name for name in tools if name in SEARCH_TOOLS and name not in called]
    offered += [name for name in tools if name == CALL_TOOL]
    return ("tool", offered[0]) if offered else ("text", ANSWER)


def arguments_of(tool):
    if tool in SEARCH_TOOLS:
        return {"query": "select:mcp__everlore__memory_recall", "max_results": 5}
    if tool == CALL_TOOL:
        return {"name": "mcp__everlore__memory_recall", "arguments": arguments_of("memory_recall")}
    return {"content": FACT} if tool.endswith("memory_save") else {"query": "heron of my sister"}


def text_of(content):
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [] if isinstance(part, dict) and isinstance(part.get("text", ""), str))


def anthropic(body):
    messages = body.get("messages", [])
    said = "\n".join(text_of(message["content"]) for message in messages if message["role"] == "user")
    parts = [part for message in messages if isinstance(message["content"], list) for part in message["content"]]
    called = [part["name"] for part in parts if part.get("type") == "tool_use"]
    kind, value = reply_to(said, called, [tool.get("name", "") for tool in body.get("tools", [])])
    block = {"type": "text", "text": value} if kind == "text" else tool_use(value)
    stop = "end_turn" if kind == "text" else "tool_use"
    usage = {"input_tokens": 100, "output_tokens": 9, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    message = {
        "id": f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant", "model": body.get("model"),
        "content": [block], "stop_reason": stop, "stop_sequence": None, "usage": usage,
    }
    if not body.get("stream"):
        return message
    empty = {"type": "text", "text": ""} if kind == "text" else {**block, "input": {}}
    delta = {"type": "text_delta", "text": value} if kind == "text" else {"type": "input_json_delta", "partial_json": json.dumps(arguments_of(value))}
    return [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]


def tool_use(name):
    return {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex[:20]}", "name": name, "input": arguments_of(name)}


def chat_completions(body):
    messages = body.get("messages", [])
    said = "\n".join(text_of(message["content"]) for message in messages if message["role"] == "user")
    called = [call["function"]["name"] for message in messages for call in message.get("tool_calls") or []]
    tools = [tool.get("function", {}).get("name", "") for tool in body.get("tools") or []]
    kind, value = reply_to(said, called, tools)
    call = {"id": f"call_{uuid.uuid4().hex[:20]}", "type": "function", "function": {"name": value, "arguments": json.dumps(arguments_of(value))}}
    finish = "stop" if kind == "text" else "tool_calls"
    message = {"role": "assistant", "content": value} if kind == "text" else {"role": "assistant", "content": None, "tool_calls": [call]}
    base = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": 1_790_000_000, "model": body.get("model")}
    usage = {"prompt_tokens": 100, "completion_tokens": 9, "total_tokens": 109}
    if not body.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return {**base, "object": "chat.completion", "choices": [choice], "usage": usage}
    delta = {"role": "assistant", "content": value} if kind == "text" else {"role": "assistant", "tool_calls": [{"index": 0, **call}]}
    chunk = {**base, "object": "chat.completion.chunk"}
    return [
        {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        {**chunk, "choices": [], "usage": usage},
        "[DONE]",
    ]


def responses(body):
    items = body.get("input", [])
    items = [{"type": "message", "role": "user", "content": items}] if isinstance(items, str) else items
    said = "\n".join(text_of(item["content"]) for item in items if item.get("role") == "user")
    called = [item["name"] for item in items if item.get("type") == "function_call"]
    kind, value = reply_to(said, called, response_tools(body.get("tools") or []))
    response_id, item_id = f"resp_{uuid.uuid4().hex}", f"item_{uuid.uuid4().hex}"
    if kind == "text":
        content = [{"type": "output_text", "text": value, "annotations": []}]
        item = {"type": "message", "id": item_id, "role": "assistant", "status": "completed", "content": content}
    else:
        item = {
            "type": "function_call", "id": item_id, "call_id": f"call_{uuid.uuid4().hex[:20]}", "status": "completed",
            **named_call(value), "arguments": json.dumps(arguments_of(value)),
        }
    usage = {
        "input_tokens": 100, "output_tokens": 9, "total_tokens": 109,
        "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
    }
    response = {"id": response_id, "object": "response", "status": "completed", "model": body.get("model"), "output": [item], "usage": usage}
    if not body.get("stream"):
        return response
    events = [
        {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "status": "in_progress"}},
    ]
    if kind == "text":
        events.append({"type": "response.output_text.delta", "item_id": item_id, "output_index": 0, "content_index": 0, "delta": value})
    events.append({"type": "response.output_item.done", "output_index": 0, "item": item})
    events.append({"type": "response.completed", "response": response})
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def response_tools(tools):
    """Returns the names of tools; those of a namespace as NAMESPACE\\nNAME."""
    names = []
    for tool in tools:
        if tool.get("type") == "namespace":
            names += [f"{tool['name']}\n{inner}" for inner in response_tools(tool.get("tools", []))]
        else:
            names.append(tool.get("name", ""))
    return names


def named_call(name):
    namespace, _, own = name.rpartition("\n")
    return {"name": own, "namespace": namespace} if namespace else {"name": own}


def gemini(body, stream):
    contents = body.get("contents", [])
    parts = [part for content in contents for part in content.get("parts", [])]
    said = text_of([part for content in contents if content.get("role", "user") == "user" for part in content.get("parts", [])])
    called = [part["functionCall"]["name"] for part in parts if "functionCall" in part]
    declared = [tool for group in body.get("tools") or [] for tool in group.get("functionDeclarations", [])]
    kind, value = reply_to(said, called, [tool["name"] for tool in declared])
    part = {"text": value} if kind == "text" else {"functionCall": {"name": value, "args": arguments_of(value)}}
    if body.get("generationConfig", {}).get("responseMimeType") == "application/json":
        part = {"text": json.dumps({"reasoning": "short", "model_choice": "flash", "complexity_reasoning": "short", "complexity_score": 1})}
    candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 9, "totalTokenCount": 109}
    value = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "recorder"}
    return [value] if stream else value


def tool_results(requests):
    """Returns the results of tools in requests, as text."""
    found = []
    for request in requests:
        body = request["body"] or {}
        parts = [part for message in body.get("messages", []) if isinstance(message["content"], list) for part in message["content"]]
        parts += [part for content in body.get("contents", []) for part in content.get("parts", [])]
        found += [part for part in parts if part.get("type") == "tool_result" or "functionResponse" in part]
        found += [message for message in body.get("messages", []) if message["role"] == "tool"]
        items = body.get("input", [])
        found += [item for item in items if isinstance(item, dict) and item.get("type", "").endswith("_output")]
    return [json.dumps(result, ensure_ascii=False) for result in found]
