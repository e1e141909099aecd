// Below the ports that systems give out by themselves, so that no connection of another test takes one meanwhile.
const FIRST = 20_000;
const COUNT = 10_000;

/** A port of 127.0.0.1 on which nothing listens, and which nothing is given unless it asks for it by number. */
export function freePort(): number {
  for (;;) {
    try {
      const port = FIRST + Math.floor(Math.random() * COUNT);
      Deno.listen({ hostname: "127.0.0.1", port }).close();
      return port;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
}
