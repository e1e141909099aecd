/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/**
 * The attempts of hostile JavaScript: a test puts this file in the place of the sandbox's own Worker. It answers with the result of each
 * attempt.
 */
self.onmessage = async ({ data }: MessageEvent<{ job: { parametersJson: string } }>) => {
  const { port, file, folder }: Record<string, string> = JSON.parse(data.job.parametersJson);
  const url = `http://127.0.0.1:${port}/`;
  const attempts: Record<string, () => unknown> = {
    "read a file": () => Deno.readTextFileSync(file!),
    "read a file, in Node's way": async () => (await import("node:fs")).readFileSync(file!),
    "read our own code": () => Deno.readTextFileSync(new URL(import.meta.url)),
    "list a folder": () => [...Deno.readDirSync(folder!)],
    "see whether a file exists": () => Deno.statSync(file!),
    "import a file": () => import(`file://${file}`),
    "read what Linux tells of us": () => Deno.readTextFileSync("/proc/self/environ"),
    "write a file": () => Deno.writeTextFileSync(`${folder}/written`, "here"),
    "write a file, in Node's way": async () => (await import("node:fs")).writeFileSync(`${folder}/written`, "here"),
    "make a temporary file": () => Deno.makeTempFileSync(),
    "remove a file": () => Deno.removeSync(file!),
    "change a file's mode": () => Deno.chmodSync(file!, 0o777),
    "read a variable": () => Deno.env.get("PATH"),
    "read all variables": () => Deno.env.toObject(),
    "set a variable": () => Deno.env.set("HERE", "1"),
    "read a variable, in Node's way": async () => {
      const { PATH } = (await import("node:process")).env;
      if (PATH === undefined) throw new Deno.errors.NotCapable("there is none");
    },
    "fetch": () => fetch(url),
    "fetch, in Node's way": async () => {
      const { get } = await import("node:http");
      await new Promise((resolve, reject) => get(url, resolve).on("error", reject));
    },
    "connect": () => Deno.connect({ hostname: "127.0.0.1", port: Number(port) }),
    "connect, in Node's way": async () => {
      const { connect } = await import("node:net");
      await new Promise<void>((resolve, reject) =>
        connect(Number(port), "127.0.0.1").on("connect", () => resolve()).on("error", reject)
      );
    },
    "open a WebSocket": () =>
      new Promise<void>((resolve, reject) => {
        const socket = new WebSocket(url.replace("http", "ws"));
        socket.onopen = () => resolve();
        socket.onerror = () => reject(new Deno.errors.NotCapable("the socket failed"));
      }),
    "import from the network": () => import(`${url}x.js`),
    "look up a name": () => Deno.resolveDns("example.com", "A"),
    "listen": () => Deno.listen({ port: 0 }),
    "listen on a socket file": () => Deno.listen({ transport: "unix", path: `${folder}/socket` }),
    "start a program": () => new Deno.Command("/bin/true").outputSync(),
    "start a program, in Node's way": async () => {
      const { error } = (await import("node:child_process")).spawnSync("/bin/true");
      if (error) throw error;
    },
    "end another process": () => Deno.kill(1, "SIGTERM"),
    "load a library": () => Deno.dlopen("libc.so.6", {}),
    "ask who we are": () => Deno.hostname(),
    "ask for the user": () => Deno.uid(),
    "ask for a permission": async () => {
      if ((await Deno.permissions.request({ name: "read" })).state !== "granted") {
        throw new Deno.errors.NotCapable("denied");
      }
    },
    "start a Worker with more rights": () =>
      new Promise<void>((resolve, reject) => {
        const source = `Deno.readTextFileSync(${JSON.stringify(file)}); self.postMessage("read");`;
        const inner = new Worker(`data:application/javascript,${encodeURIComponent(source)}`, {
          type: "module",
          deno: { permissions: { read: true } },
        });
        inner.onmessage = () => resolve();
        inner.onerror = (event) => {
          event.preventDefault();
          reject(new Deno.errors.NotCapable(event.message));
        };
      }),
  };
  const outcomes: Record<string, string> = {};
  for (const [what, attempt] of Object.entries(attempts)) {
    try {
      await attempt();
      outcomes[what] = "done";
    } catch (error) {
      outcomes[what] = error instanceof Error ? error.name : "refused";
    }
  }
  self.postMessage({ type: "failed", code: "STRATEGY_FAILED", message: JSON.stringify(outcomes) });
};
