import { expect } from "@std/expect";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { ANSWER_BYTES_MAX } from "../../server/agents/answers.ts";
import { blockIn, readPage } from "./pages.ts";
import type { TestService } from "./service.ts";

const ATTEMPTS_MAX = 20;

/** Connects the official client as docs/agents.md says, and counts its calls. */
export async function connectAgent(service: Pick<TestService, "url">, token: string) {
  const client = new Client({ name: "a test", version: "1" });
  const text = blockIn(await readPage("docs/agents.md"), "json", "mcpServers");
  const { mcpServers: { hindcast } } = JSON.parse(
    text.replace("http://127.0.0.1:8000", service.url).replace("hc_...", token),
  );
  const options = { requestInit: { headers: hindcast.headers } };
  await client.connect(new StreamableHTTPClientTransport(new URL(hindcast.url), options));
  let calls = 0;
  const ask = async (name: string, input: Record<string, unknown>) => {
    calls++;
    return await askOnce(name, input, 1);
  };
  const askOnce = async (
    name: string,
    input: Record<string, unknown>,
    attempt: number,
  ): Promise<{ text: string; isError: boolean | undefined }> => {
    const { content, isError } = await client.callTool({ name, arguments: input });
    const [first] = content;
    const text = first?.type === "text" ? first.text : "";
    expect([name, new TextEncoder().encode(text).length <= ANSWER_BYTES_MAX]).toEqual([name, true]);
    // A busy machine checks no code in time: an agent tries again.
    const isBusy = isError === true && attempt < ATTEMPTS_MAX && text.includes('"UNAVAILABLE"');
    return isBusy ? await askOnce(name, input, attempt + 1) : { text, isError };
  };
  return {
    client,
    calls: () => calls,
    text: async (name: string, input: Record<string, unknown>) => (await ask(name, input)).text,
    call: async (name: string, input: Record<string, unknown>): Promise<Record<string, unknown>> => {
      const { text, isError } = await ask(name, input);
      if (isError === true) throw new Error(`${name}: ${text}`);
      let answer = JSON.parse(text);
      // A machine that is busy answers later: that is no call of the agent's way.
      while (answer.status === "queued" || answer.status === "running") {
        const kind = name === "optimize" ? "optimization" : name === "stress_test" ? name : "backtest";
        answer = JSON.parse((await askOnce("wait_for", { kind, id: answer.id }, 1)).text);
      }
      return answer;
    },
    refused: async (name: string, input: Record<string, unknown>): Promise<object> => {
      const { text, isError } = await ask(name, input);
      expect([name, isError]).toEqual([name, true]);
      const { error: { code, message } } = JSON.parse(text);
      return { code, message };
    },
    close: () => client.close(),
  };
}
