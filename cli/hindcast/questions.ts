/** Questions at the terminal. */
import { print } from "../terminal.ts";
import { usageError } from "../exit_codes.ts";

const [ENTER, LINE_FEED, BACKSPACE, DELETE, CTRL_C, CTRL_D] = [13, 10, 8, 127, 3, 4];

/** Everything that standard input holds. */
export async function readAll(): Promise<string> {
  return await new Response(Deno.stdin.readable).text();
}

/** Asks for a secret that is not shown while it is typed. @throws CommandError where nobody can answer. */
export async function askHidden(question: string): Promise<string> {
  if (!Deno.stdin.isTerminal()) {
    throw usageError("Cannot ask for it: standard input is no terminal; pipe a token to hindcast login --with-token");
  }
  // First: what is typed while the question appears must not be shown.
  Deno.stdin.setRaw(true);
  try {
    print(question);
    return await readHidden();
  } finally {
    Deno.stdin.setRaw(false);
    print("\n");
  }
}

async function readHidden(): Promise<string> {
  const typed: number[] = [];
  const buffer = new Uint8Array(1024);
  for (;;) {
    const count = await Deno.stdin.read(buffer);
    for (const byte of buffer.subarray(0, count ?? 0)) {
      if (byte === ENTER || byte === LINE_FEED || byte === CTRL_D) {
        return new TextDecoder().decode(Uint8Array.from(typed));
      }
      if (byte === CTRL_C) throw usageError("Nothing was changed");
      if (byte === BACKSPACE || byte === DELETE) typed.pop();
      else typed.push(byte);
    }
    if (count === null) return new TextDecoder().decode(Uint8Array.from(typed));
  }
}
