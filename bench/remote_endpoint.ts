/** The endpoint of bench/remote_bench.ts: it reads every request and does nothing, or with `--orders` places two orders a candle. */
const onListen = ({ port }: Deno.NetAddr) =>
  void Deno.stdout.write(new TextEncoder().encode(`http://127.0.0.1:${port}/\n`));
const PAGE = 2000;
const headers = Deno.args.includes("--gzip") ? { "accept-encoding": "gzip" } : {};

Deno.serve({ hostname: "127.0.0.1", port: 0, onListen }, async (http) => {
  const isPacked = http.headers.get("content-encoding") === "gzip";
  const body = isPacked ? http.body!.pipeThrough(new DecompressionStream("gzip")) : http.body;
  const { asked, first_asked }: { asked: number; first_asked: number } = await new Response(body).json();
  if (Deno.args.includes("--orders")) {
    const decided = Math.min(asked, PAGE);
    const list = '[{"action":"close","tag":"out"},{"side":"buy","size":0.01,"tag":"in","stop_loss_fraction":0.5}]';
    const decisions = `[${`${list},`.repeat(decided - 1)}${list}]`;
    const more = decided < asked;
    return new Response(`{"version":1,"first_asked":${first_asked},"more":${more},"decisions":${decisions}}`);
  }
  return new Response(`{"version":1,"decisions":[${"[],".repeat(asked - 1)}[]]}`, { headers });
});
