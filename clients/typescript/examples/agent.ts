/**
 * An agent of the Vercel AI SDK that remembers its contact from one conversation to the next.
 *
 * With AI_MODEL, such as `anthropic/claude-sonnet-4.5`, and AI_GATEWAY_API_KEY a paid model answers.
 * Without them a scripted one does, in this process: the tools and the memory are the real ones.
 */
import { ToolLoopAgent, type LanguageModel } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { createMemoryClient } from "graph-memory-reconciler";
import { contactTools } from "./tools.ts";

/** Stands for a model: it calls a tool, and then says what the tool answered. */
function scripted(toolName: string, input: object): LanguageModel {
  const none = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0, text: 0, reasoning: 0 };
  const usage = { inputTokens: none, outputTokens: none };
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const [answered] = prompt.flatMap(({ role, content }) => (role === "tool" ? content : []));
      if (answered?.type === "tool-result" && answered.output.type === "error-text")
        throw new Error(answered.output.value);
      if (answered?.type === "tool-result" && answered.output.type === "text") {
        const text = answered.output.value;
        const finishReason = { unified: "stop" as const, raw: undefined };
        return { content: [{ type: "text", text }], finishReason, usage, warnings: [] };
      }
      const call = { toolCallId: crypto.randomUUID(), toolName, input: JSON.stringify(input) };
      const finishReason = { unified: "tool-calls" as const, raw: undefined };
      return { content: [{ type: "tool-call", ...call }], finishReason, usage, warnings: [] };
    },
  });
}

const { RECONCILER_URL = "http://127.0.0.1:8766", RECONCILER_TOKEN = "", AI_MODEL } = process.env;
const server = { baseUrl: RECONCILER_URL, token: RECONCILER_TOKEN };
await createMemoryClient({ ...server, retryMs: 0 }).access(); // a wrong token or address ends it here
const memory = createMemoryClient(server);
const city = (name: string) => ({ text: `Lives in ${name}.`, attribute: "city", value: name });
const conversations = [
  ["I moved to Pune.", scripted("add_contact_note", { ...city("Pune"), said_by: "contact" })],
  ["By now I live in Goa.", scripted("add_contact_note", { ...city("Goa"), said_by: "contact" })],
  ["Where do I live?", scripted("recall_contact", { query: "Where does the contact live?" })],
] as const;

for (const [number, [prompt, standIn]] of conversations.entries()) {
  const tools = contactTools(memory, "noor", `chat-${number + 1}`);
  const agent = new ToolLoopAgent({ model: AI_MODEL ?? standIn, tools });
  const { text } = await agent.generate({ prompt });
  console.log(`> ${prompt}\n${text}\n`);
}
