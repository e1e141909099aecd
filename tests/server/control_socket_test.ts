import { expect } from "@std/expect";
import { serveControl } from "../../server/control_socket.ts";

Deno.test("the control socket answers a fault and a malformed path without a word", async () => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const path = `${folder}/control.sock`;
  const grantAdmin = (email: string) =>
    email === "fault@example.com" ? Promise.reject(new Error("the reason")) : Promise.resolve("an id");
  const control = await serveControl(path, {
    grantAdmin,
    changeQuotas: (email, changes) => Promise.resolve(email === "" ? undefined : Object(changes)),
    invite: (email) => Promise.resolve(`for ${email}`),
    moveBytes: (after) => Promise.resolve(after === null ? null : { after }),
  });
  using client = Deno.createHttpClient({ proxy: { transport: "unix", path } });
  const ask = async (email: string, act = "admin") => {
    const answer = await fetch(`http://service/${act}/${email}`, { method: "POST", client });
    return [answer.status, await answer.text()];
  };
  expect(await ask("ada@example.com")).toEqual([204, ""]);
  expect(await ask("fault@example.com")).toEqual([500, ""]);
  expect(await ask("%E0%A4%A")).toEqual([400, ""]);
  expect(await ask("", "invitations")).toEqual([200, "for "]);
  expect(await ask("ada@example.com", "invitations")).toEqual([200, "for ada@example.com"]);
  const change = (changes: unknown) => `ada@example.com?changes=${encodeURIComponent(JSON.stringify(changes))}`;
  expect(await ask(change({ versionsMax: 5 }), "quotas")).toEqual([200, '{"versionsMax":5}']);
  expect(await ask(change({ versionsMax: 0 }), "quotas")).toEqual([500, ""]);
  expect(await ask("?changes={}", "quotas")).toEqual([404, ""]);
  expect(await ask("", "bytes")).toEqual([404, ""]);
  expect(await ask("?after=[1]", "bytes")).toEqual([200, '{"after":[1]}']);
  expect(await ask("ada@example.com", "others")).toEqual([400, ""]);
  await control.close();
  await Deno.remove(folder, { recursive: true });
});
