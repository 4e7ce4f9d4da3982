"""The recording provider answers on every wire, with streams and tool calls, and keeps what it was asked."""

import json
import unittest
import urllib.request

from provider import ANSWER, ANSWER_AFTER_TOOL, FACT, SECRET, Provider, tool_results

ASK = "Please ask your memory tool."


class ProviderTest(unittest.TestCase):
    def setUp(self):
        self.provider = Provider()
        self.addCleanup(self.provider.stop)

    def post(self, path, body):
        request = urllib.request.Request(
            self.provider.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as response:
            return response.read().decode()

    def test_every_wire_streams_an_answer(self):
        user = [{"role": "user", "content": FACT}]
        for path, body in [
            ("/v1/messages", {"messages": user}),
            ("/v1/chat/completions", {"messages": user}),
            ("/v1/responses", {"input": [{"type": "message", **user[0]}]}),
        ]:
            self.assertIn(ANSWER, self.post(path, body))
            streamed = self.post(path, {**body, "stream": True})
            self.assertTrue(ANSWER in streamed and "data: " in streamed, streamed)
        contents = {"contents": [{"role": "user", "parts": [{"text": FACT}]}]}
        self.assertIn(ANSWER, self.post("/v1beta/models/m:generateContent", contents))
        self.assertIn("data: ", self.post("/v1beta/models/m:streamGenerateContent?alt=sse", contents))
        self.assertEqual(len(self.provider.take()), 8)
        self.assertEqual(self.provider.take(), [])

    def test_a_tool_is_called_once_and_its_result_is_found(self):
        tools = [{"function": {"name": "everlore__memory_recall"}}]
        messages = [{"role": "user", "content": ASK}]
        reply = json.loads(self.post("/v1/chat/completions", {"messages": messages, "tools": tools}))["choices"][0]["message"]
        self.assertEqual(reply["tool_calls"][0]["function"]["name"], "everlore__memory_recall")
        messages += [reply, {"role": "tool", "tool_call_id": "1", "content": SECRET}]
        self.assertIn(ANSWER_AFTER_TOOL, self.post("/v1/chat/completions", {"messages": messages, "tools": tools}))
        self.assertIn(SECRET, "".join(tool_results(self.provider.take())))

    def test_a_fact_to_keep_is_saved(self):
        body = {"messages": [{"role": "user", "content": f"{FACT} Keep that with your memory tool."}], "tools": [{"name": "memory_save"}]}
        reply = json.loads(self.post("/v1/messages", body))["content"][0]
        self.assertEqual((reply["name"], reply["input"]), ("memory_save", {"content": FACT}))

    def test_a_side_request_gets_an_answer_and_an_unknown_route_a_refusal(self):
        with self.assertRaises(urllib.error.HTTPError):
            self.post("/v1/unknown", {})


if __name__ == "__main__":
    unittest.main()
