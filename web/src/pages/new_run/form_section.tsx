import type { ReactNode } from "react";

/** A titled part of the form. */
export function FormSection({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="min-w-0 rounded-lg border border-line bg-surface p-4">
      <h2 className="mb-3 font-semibold">{title}</h2>
      {children}
    </section>
  );
}
