// Calls the plugin as OpenCode does: opencode_plugin.mjs PLUGIN PROJECT QUESTION
// Prints the parts of the user's message, the output of a failed tool, and what a subagent's message became.
const [plugin, directory, question] = process.argv.slice(2)
const { Everlore } = await import(plugin)
const parents = { ses_child: "ses_main" }
const client = {
  session: {
    get: async ({ path }) => ({ data: { id: path.id, parentID: parents[path.id] } }),
    messages: async () => ({ data: [] }),
  },
}
const hooks = await Everlore({ client, directory })

const say = async (sessionID, id, text) => {
  const parts = [{ id: "prt_1", sessionID, messageID: id, type: "text", text }]
  await hooks["chat.message"]({ sessionID }, { message: { id }, parts })
  return parts
}

const parts = await say("ses_main", "msg_1", question)
const child = await say("ses_child", "msg_2", "I am a subagent and I live in Oslo.")
const result = { title: "", output: "ld: cannot find -lssl", metadata: { exit: 1 } }
await hooks["tool.execute.after"]({ tool: "bash", sessionID: "ses_main", callID: "call_1", args: { command: "make" } }, result)
await hooks["experimental.text.complete"]({ sessionID: "ses_child", messageID: "msg_3", partID: "prt_3" }, { text: "From the subagent." })
await hooks["experimental.text.complete"]({ sessionID: "ses_main", messageID: "msg_4", partID: "prt_4" }, { text: "It is port 5433." })
for (const sessionID of ["ses_child", "ses_main"]) {
  await hooks.event({ event: { type: "session.idle", properties: { sessionID } } })
}
await hooks["experimental.session.compacting"]({ sessionID: "ses_main" }, { context: [] })
await hooks.dispose()
console.log(JSON.stringify({ parts, child, output: result.output }))
