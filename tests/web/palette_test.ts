/** The console's colours can be read, in both palettes, and gain and loss be told apart without red and green. */
import { expect } from "@std/expect";

const CSS = await Deno.readTextFile(new URL("../../web/src/theme/tokens.css", import.meta.url));
const PALETTES = ["light", "dark"] as const;
const TEXTS = ["text", "muted", "accent", "gain", "loss", "warn", "danger"] as const;
const GROUNDS = ["page", "surface", "sunken"] as const;

type Color = readonly [red: number, green: number, blue: number];

function color(name: string, palette: (typeof PALETTES)[number]): Color {
  const found = new RegExp(`--${name}: light-dark\\(#(\\w{6}), #(\\w{6})\\)`).exec(CSS)?.[palette === "light" ? 1 : 2];
  if (found === undefined) throw new Error(`There is no colour ${name}`);
  const part = (at: number) => Number.parseInt(found.slice(at, at + 2), 16) / 255;
  return [part(0), part(2), part(4)];
}

/** Relative luminance, as WCAG 2 defines it. */
function luminance(of: Color): number {
  const [red, green, blue] = linear(of);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function linear(of: Color): Color {
  const part = (value: number) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  return [part(of[0]), part(of[1]), part(of[2])];
}

function contrast(a: Color, b: Color): number {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high! + 0.05) / (low! + 0.05);
}

/** A colour as an eye without green (deutan) or red (protan) cones sees it: Vienot, Brettel and Mollon (1999), in linear light. */
function seenBy(kind: "deutan" | "protan", of: Color): Color {
  const [red, green, blue] = linear(of);
  const [a, b] = kind === "deutan" ? [0.29275, 0.70725] : [0.11238, 0.88762];
  const yellow = a * red + b * green;
  return [
    yellow,
    yellow,
    kind === "deutan" ? -0.02234 * red + 0.02234 * green + blue : 0.00401 * red - 0.00401 * green + blue,
  ];
}

Deno.test("every text has a contrast of at least 4.5 on every ground, and borders of fields one of 3", () => {
  for (const palette of PALETTES) {
    for (const ground of GROUNDS) {
      for (const text of TEXTS) {
        const found = contrast(color(text, palette), color(ground, palette));
        expect([palette, ground, text, found >= 4.5 ? "" : found]).toEqual([palette, ground, text, ""]);
      }
    }
    expect(contrast(color("on-accent", palette), color("accent", palette))).toBeGreaterThanOrEqual(4.5);
    expect(contrast(color("strong-line", palette), color("surface", palette))).toBeGreaterThanOrEqual(3);
  }
});

Deno.test("gain and loss differ in blue for eyes without red or green", () => {
  for (const palette of PALETTES) {
    for (const kind of ["deutan", "protan"] as const) {
      const [gain, loss] = [seenBy(kind, color("gain", palette)), seenBy(kind, color("loss", palette))];
      // The share of blue against yellow: a green and a red of equal lightness would have the same.
      const hue = ([yellow, , blue]: Color) => blue / (yellow + blue);
      expect([palette, kind, hue(gain) - hue(loss) > 0.25]).toEqual([palette, kind, true]);
    }
  }
});
