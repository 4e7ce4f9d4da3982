// Everlore: long-term memory. Written by `everlore connect opencode`; `everlore disconnect opencode` removes it.
import { spawn, spawnSync } from "node:child_process"

const COMMAND = ["everlore"]
const LIMIT_MS = 4000

const wordsFor = (event) => [...COMMAND.slice(1), "hook", "opencode", event]

// Sends an event and returns the context for the model; nothing that goes wrong reaches OpenCode.
const ask = (event, input) =>
  new Promise((resolve) => {
    try {
      const hook = spawn(COMMAND[0], wordsFor(event), { stdio: ["pipe", "pipe", "ignore"], timeout: LIMIT_MS })
      let out = ""
      hook.stdout.on("data", (chunk) => (out += chunk))
      hook.on("error", () => resolve(undefined))
      hook.on("close", () => resolve(contextOf(out)))
      hook.stdin.on("error", () => {})
      hook.stdin.end(JSON.stringify(input))
    } catch {
      resolve(undefined)
    }
  })

// Sends an event before anything else happens: OpenCode may end at any time after it.
const tell = (event, input) => {
  try {
    const options = { input: JSON.stringify(input), stdio: ["pipe", "ignore", "ignore"], timeout: LIMIT_MS }
    spawnSync(COMMAND[0], wordsFor(event), options)
  } catch {}
}

const contextOf = (out) => {
  try {
    return JSON.parse(out).hookSpecificOutput.additionalContext
  } catch {
    return undefined
  }
}

export const Everlore = async ({ client, directory }) => {
  const sessions = new Map()

  // What is known of a session: its parent, if a subagent has it, and the last prompt and answer.
  const sessionOf = async (id) => {
    if (!sessions.has(id)) {
      const found = await client.session.get({ path: { id } }).catch(() => undefined)
      sessions.set(id, { parent: found?.data?.parentID, started: false, prompt: undefined, answer: "" })
    }
    return sessions.get(id)
  }
  const about = (id, session) => ({
    session_id: id,
    parent_session_id: session.parent,
    prompt_id: session.prompt,
    cwd: directory,
  })

  // Returns the context for the start of a session, once; one that goes on from earlier has it.
  const start = async (id, session) => {
    if (session.started) return undefined
    session.started = true
    const earlier = await client.session.messages({ path: { id } }).catch(() => undefined)
    const goesOn = (earlier?.data ?? []).some((message) => message.info.id !== session.prompt)
    return ask("session.created", { ...about(id, session), source: goesOn ? "resume" : "startup" })
  }

  return {
    "chat.message": async (input, output) => {
      const session = await sessionOf(input.sessionID)
      const typed = output.parts.filter((part) => part.type === "text" && !part.synthetic)
      const prompt = typed.map((part) => part.text).join("\n")
      if (session.parent || !prompt) return
      session.prompt = output.message.id
      const begun = await start(input.sessionID, session)
      const found = await ask("chat.message", { ...about(input.sessionID, session), prompt })
      const context = [begun, found].filter(Boolean).join("\n\n")
      if (!context) return
      const place = { id: `${typed[0].id}m`, sessionID: input.sessionID, messageID: output.message.id }
      output.parts.push({ ...place, type: "text", text: context, synthetic: true })
    },
    "experimental.text.complete": async (input, output) => {
      const session = await sessionOf(input.sessionID)
      session.answer = output.text
    },
    "tool.execute.after": async (input, output) => {
      const session = await sessionOf(input.sessionID)
      if (session.parent) return
      const result = { output: output.output, exit_code: output.metadata?.exit }
      const call = { tool_name: input.tool, tool_input: input.args, tool_use_id: input.callID, tool_response: result }
      const context = await ask("tool.execute.after", { ...about(input.sessionID, session), ...call })
      if (context) output.output += `\n\n${context}`
    },
    "experimental.session.compacting": async (input) => {
      const session = await sessionOf(input.sessionID)
      if (!session.parent) tell("session.compacting", about(input.sessionID, session))
    },
    event: async ({ event }) => {
      const id = event.properties?.sessionID
      const session = sessions.get(id)
      if (event.type !== "session.idle" || !session?.answer || session.parent) return
      tell("session.idle", { ...about(id, session), last_assistant_message: session.answer })
      session.answer = ""
    },
    dispose: async () => {
      for (const [id, session] of sessions) {
        if (!session.parent) tell("session.end", about(id, session))
      }
    },
  }
}
