import type { ComponentProps } from "react";

const KINDS = {
  primary: "border-transparent bg-accent text-on-accent hover:bg-accent/90",
  plain: "border-strong-line/60 bg-surface hover:bg-sunken",
  quiet: "border-transparent hover:bg-sunken text-muted hover:text-text",
  danger: "border-danger/60 bg-surface text-danger hover:bg-sunken",
} as const;

type ButtonKind = keyof typeof KINDS;

/** The look of a button, for links that act as one. */
export function buttonClass(kind: ButtonKind = "plain"): string {
  return `inline-flex h-8 items-center justify-center gap-1.5 whitespace-nowrap rounded-md border px-3 text-sm font-medium
    transition-colors disabled:opacity-55 ${KINDS[kind]}`;
}

/** A button; `plain` unless said otherwise. */
export function Button({ kind, className = "", ...rest }: ComponentProps<"button"> & { readonly kind?: ButtonKind }) {
  return <button type="button" {...rest} className={`${buttonClass(kind)} ${className}`} />;
}
