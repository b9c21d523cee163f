// Written by `cmem install --for opencode`, removed by `cmem uninstall --for opencode`.
// Passes on to cmem what happens in a session, and to the session what cmem remembers. Whatever goes wrong here is
// silence: the session goes on without a memory.
import { spawnSync } from "node:child_process";

const CMEM = "cmem";

export const Cmem = async ({ directory }) => {
  // By session: whether its start was told, what waits to be told with the next message, whose subagent it is.
  const sessions = new Map();
  const session = (id) => {
    if (!sessions.has(id)) sessions.set(id, { starts: "startup", said: new Map(), parent: undefined });
    return sessions.get(id);
  };
  const assistant = new Map(); // Ids of the assistant's messages, and whose they are.
  const hints = new Map(); // By id of the call.

  const cmem = (event, sessionID, fields) => {
    try {
      const parent = session(sessionID).parent;
      const who = parent ? { sessionID: parent, agent_id: sessionID } : { sessionID };
      const input = JSON.stringify({ hook_event_name: event, cwd: directory, ...who, ...fields });
      const ran = spawnSync(CMEM, ["hook", "--agent", "opencode", event], {
        input,
        cwd: directory,
        encoding: "utf8",
        timeout: 10000,
        stdio: ["pipe", "pipe", "ignore"],
      });
      return JSON.parse(ran.stdout).hookSpecificOutput ?? {};
    } catch {
      return {};
    }
  };

  // Another version may give other shapes.
  const silent = (hook) => async (...given) => {
    try {
      await hook(...given);
    } catch {
      // As above.
    }
  };

  return {
    "chat.message": silent(async (input, output) => {
      const state = session(input.sessionID);
      if (state.parent) return;
      const texts = output.parts.filter((part) => part.type === "text" && !part.synthetic);
      const prompt = texts.map((part) => part.text).join("\n");
      const told = [];
      if (state.starts) {
        told.push(cmem("session.created", input.sessionID, { source: state.starts }).additionalContext);
        state.starts = undefined;
      }
      const messageID = output.message?.id;
      told.push(cmem("chat.message", input.sessionID, { prompt, messageID }).additionalContext);
      told.filter(Boolean).forEach((text, index) => {
        const id = `${texts[0]?.id ?? "prt_cmem"}${index}`;
        output.parts.push({ id, messageID, sessionID: input.sessionID, type: "text", text, synthetic: true });
      });
    }),
    "tool.execute.before": async (input, output) => {
      if (input.tool !== "read") return;
      const answer = cmem("tool.execute.before", input.sessionID, {
        tool: input.tool,
        callID: input.callID,
        args: output?.args,
      });
      if (answer.permissionDecision === "deny") throw new Error(answer.permissionDecisionReason);
      if (answer.additionalContext) hints.set(input.callID, answer.additionalContext);
    },
    "tool.execute.after": async (input, output) => {
      cmem("tool.execute.after", input.sessionID, {
        tool: input.tool,
        callID: input.callID,
        args: input.args,
        output,
      });
      const hint = hints.get(input.callID);
      if (hint && hints.delete(input.callID) && typeof output?.output === "string") {
        output.output += `\n\n${hint}`;
      }
    },
    event: silent(async ({ event }) => {
      const about = event.properties ?? {};
      switch (event.type) {
        case "session.created":
          session(about.info.id).parent = about.info.parentID;
          break;
        case "message.updated":
          if (about.info.role === "assistant") assistant.set(about.info.id, about.info.sessionID);
          break;
        case "message.part.updated": {
          const part = about.part;
          if (part.type !== "text" || !assistant.has(part.messageID)) break;
          const state = session(part.sessionID);
          // Only the last message counts.
          if (state.message !== part.messageID) state.said.clear();
          state.message = part.messageID;
          state.said.set(part.id, part.text);
          break;
        }
        case "session.compacted":
          session(about.sessionID).starts = "compact";
          break;
        case "session.idle": {
          const state = session(about.sessionID);
          cmem("session.idle", about.sessionID, { said: [...state.said.values()].join("\n") });
          state.said.clear();
          break;
        }
        case "session.deleted":
          cmem("session.deleted", about.info.id, {});
          sessions.delete(about.info.id);
          break;
      }
    }),
  };
};
