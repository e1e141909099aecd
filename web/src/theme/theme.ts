import { useSyncExternalStore } from "react";

/** The palettes; `system` follows the device's preference. */
export const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

const KEY = "hindcast.theme";
const listeners = new Set<() => void>();
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
let isPrinting = false;
prefersDark.addEventListener("change", notify);
addEventListener("beforeprint", () => setPrinting(true));
addEventListener("afterprint", () => setPrinting(false));

/** Shows the page in the palette that was chosen before. */
export function applyTheme(): void {
  const theme = readTheme();
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Chooses a palette, in this browser for good. */
export function chooseTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
  applyTheme();
  notify();
}

/** The chosen palette. */
export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, readTheme);
}

/** `light` or `dark`, as shown; for drawings that CSS does not reach. */
export function useShownTheme(): "light" | "dark" {
  return useSyncExternalStore(subscribe, readShownTheme);
}

/** Calls back with the palette that is shown, now and after each change; for pages without React. */
export function followShownTheme(show: (theme: "light" | "dark") => void): void {
  show(readShownTheme());
  subscribe(() => show(readShownTheme()));
}

/** A colour of the tokens as it is shown now, such as `rgb(1, 2, 3)`. @param name As in `gain`. */
export function readColor(name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  document.documentElement.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}

/** True while the page is drawn on paper, which is always light. */
export function usePrinting(): boolean {
  return useSyncExternalStore(subscribe, () => isPrinting);
}

function setPrinting(printing: boolean): void {
  isPrinting = printing;
  applyTheme();
  notify();
}

function readTheme(): Theme {
  if (isPrinting) return "light";
  const stored = readStored();
  return THEMES.find((theme) => theme === stored) ?? "system";
}

/** A report that was opened from the service has no storage. */
function readStored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function readShownTheme(): "light" | "dark" {
  const theme = readTheme();
  return theme === "system" ? (prefersDark.matches ? "dark" : "light") : theme;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function notify(): void {
  for (const listener of listeners) listener();
}
