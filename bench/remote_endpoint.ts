/** The endpoint of bench/remote_bench.ts: it reads every request and never does anything. */
const onListen = ({ port }: Deno.NetAddr) =>
  void Deno.stdout.write(new TextEncoder().encode(`http://127.0.0.1:${port}/\n`));
const headers = Deno.args.includes("--gzip") ? { "accept-encoding": "gzip" } : {};

Deno.serve({ hostname: "127.0.0.1", port: 0, onListen }, async (http) => {
  const isPacked = http.headers.get("content-encoding") === "gzip";
  const body = isPacked ? http.body!.pipeThrough(new DecompressionStream("gzip")) : http.body;
  const { asked }: { asked: number } = await new Response(body).json();
  return new Response(`{"version":1,"decisions":[${"[],".repeat(asked - 1)}[]]}`, { headers });
});
