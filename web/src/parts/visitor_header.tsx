import type { ReactNode } from "react";
import { Logo } from "./logo.tsx";

/** The top of a page that needs no account: the name of the service, and what the page has to say. */
export function VisitorHeader({ children }: { readonly children: ReactNode }) {
  return (
    <header className="border-b border-line bg-surface">
      <div className="mx-auto flex min-h-12 max-w-(--page-width) flex-wrap items-center gap-x-4 gap-y-1 px-4 py-1">
        <a href="/" className="flex items-center gap-2 font-semibold">
          <Logo />
          Hindcast
        </a>
        {children}
      </div>
    </header>
  );
}
