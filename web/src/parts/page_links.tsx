import { Link, useLocation } from "@tanstack/react-router";
import { useId, useRef } from "react";

const PAGES = [
  { to: "/runs", label: "Runs", isExact: true },
  { to: "/runs/new", label: "New run", isExact: true },
  { to: "/optimizations", label: "Optimize", isExact: false },
  { to: "/strategies", label: "Strategies", isExact: false },
  { to: "/universes", label: "Universes", isExact: false },
  { to: "/compare", label: "Compare", isExact: false },
  { to: "/data", label: "Market data", isExact: false },
] as const;

const ADMIN = { to: "/admin", label: "Admin", isExact: false } as const;

type Page = (typeof PAGES)[number] | typeof ADMIN;

/** Links to the pages: a row where all of them fit, else a list that a button opens. */
export function PageLinks({ isAdmin }: { readonly isAdmin: boolean }) {
  const pages = [...PAGES, ...(isAdmin ? [ADMIN] : [])];
  return (
    <nav aria-label="Pages" className="min-w-0 grow">
      <div className="flex items-center gap-1 max-lg:hidden">
        {pages.map((page) => <PageLink key={page.to} page={page} look="px-2.5 py-1.5" />)}
      </div>
      <PageList pages={pages} />
    </nav>
  );
}

function PageList({ pages }: { readonly pages: readonly Page[] }) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const path = useLocation({ select: ({ pathname }) => pathname });
  const shown = pages.find(({ to, isExact }) => path === to || (!isExact && path.startsWith(`${to}/`)));
  return (
    <>
      <button
        type="button"
        popoverTarget={id}
        className="flex h-8 items-center gap-1.5 rounded-md px-2 text-sm font-medium hover:bg-sunken lg:hidden"
      >
        {shown === undefined ? "Pages" : (
          <>
            <span className="sr-only">Pages, shown:</span>
            {shown.label}
          </>
        )}
        <span aria-hidden="true" className="text-xs text-muted">▾</span>
      </button>
      <div
        ref={list}
        id={id}
        popover="auto"
        className="inset-auto top-12 left-4 mt-1 w-48 rounded-md border border-line bg-surface p-1 text-text shadow-lg"
        onClick={() => list.current?.hidePopover()}
      >
        {pages.map((page) => <PageLink key={page.to} page={page} look="block px-3 py-2" />)}
      </div>
    </>
  );
}

function PageLink({ page: { to, label, isExact }, look }: { readonly page: Page; readonly look: string }) {
  return (
    <Link
      to={to}
      className={`rounded-md text-sm whitespace-nowrap text-muted hover:bg-sunken hover:text-text ${look}`}
      activeOptions={{ exact: isExact, includeSearch: false }}
      activeProps={{ className: "!text-text bg-sunken font-medium" }}
    >
      {label}
    </Link>
  );
}
