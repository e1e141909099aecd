/** Completion in Debian's zsh and fish: `deno task test:debian`. */
import { expect } from "@std/expect";
import { askShell, installForShell } from "../support/shells.ts";

Deno.test("fish completes commands and options with their words", async () => {
  const { folder, script } = await installForShell("fish");
  const complete = (line: string) =>
    askShell(folder, ["fish", "--no-config", "-c", `source ${script}; complete -C '${line}'`]);
  expect(await complete("hindcast ru")).toMatch(/^run\t/);
  expect(await complete("hindcast universes p")).toMatch(/^push\t/);
  expect(await complete("hindcast run --tim")).toMatch(/^--timeframe\t/);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("zsh completes commands and options", async () => {
  const { folder, script } = await installForShell("zsh");
  // A terminal of its own, since zsh completes in one alone; what does not come ends the test.
  const typed = `zmodload zsh/zpty; zpty shell zsh -f -i
zpty -w shell "PS1=''; autoload -U compinit; compinit -u; source ${script}; echo REA''DY"
zpty -r shell said '*READY*'
zpty -w -n shell $'hindcast optimi\\t'; zpty -r shell said '*optimi*ze*'; print -r -- "$said"; zpty -d shell`;
  expect(await askShell(folder, ["timeout", "60", "zsh", "-f", "-c", typed])).toMatch(/optimi[^]*ze/);
  await Deno.remove(folder, { recursive: true });
});
