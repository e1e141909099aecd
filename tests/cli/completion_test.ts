/** Completion in a real bash that has no package for it; tests/cli/shells.ts tries the other shells. */
import { expect } from "@std/expect";
import { askShell, installForShell } from "../support/shells.ts";

Deno.test("bash completes commands, options and files, and runs nothing of what was typed", async () => {
  const { folder, script } = await installForShell("bash");
  await Deno.writeTextFile(`${folder}/AAPL.csv`, "");
  const complete = (...words: readonly string[]) => {
    const typed = words.map((word) => `'${word}'`).join(" ");
    // Twice, as a shell's file that is read again does.
    const lines = `source ${script}; source ${script}; COMP_WORDS=(hindcast ${typed}); COMP_CWORD=${words.length}
_hindcast; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return askShell(folder, ["bash", "--norc", "--noprofile", "-c", lines]);
  };
  expect(await complete("ru")).toBe("run\n");
  expect((await complete("universes", "")).split("\n")).toEqual(["list", "show", "push", "delete", ""]);
  expect(await complete("run", "--tim")).toBe("--timeframe\n");
  expect(await complete("run", "$(touch ran)", "--bal")).toBe("--balance\n");
  await expect(Deno.stat(`${folder}/ran`)).rejects.toThrow();
  // Without words of ours, bash itself offers files.
  expect(await complete("import", "AA")).toBe("\n");
  expect(await askShell(folder, ["bash", "--norc", "-c", `source ${script}; complete -p hindcast`]))
    .toBe("complete -o default -F _hindcast hindcast\n");
  await Deno.remove(folder, { recursive: true });
});
