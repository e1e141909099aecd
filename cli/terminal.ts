const encoder = new TextEncoder();

/** Prints a line to standard output. */
export function say(line = ""): void {
  write(Deno.stdout, `${line}\n`);
}

/** Prints why to standard error and ends the command with exit code 1. */
export function stop(message: string): never {
  write(Deno.stderr, `${message}\n`);
  Deno.exit(1);
}

/** Prints text as it is, without a line's end. */
export function print(text: string): void {
  write(Deno.stdout, text);
}

function write(stream: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let bytes = encoder.encode(text);
  while (bytes.length > 0) bytes = bytes.subarray(stream.writeSync(bytes));
}
