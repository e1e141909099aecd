import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { api } from "../api.ts";
import { useConnectionLost } from "../connection.ts";
import { AccountMenu } from "./account_menu.tsx";
import { Logo } from "./logo.tsx";
import { Shortcuts } from "./shortcuts.tsx";

const PAGES = [
  { to: "/runs", label: "Runs", isExact: true },
  { to: "/runs/new", label: "New run", isExact: true },
  { to: "/optimizations", label: "Optimize", isExact: false },
  { to: "/strategies", label: "Strategies", isExact: false },
  { to: "/compare", label: "Compare", isExact: false },
  { to: "/data", label: "Market data", isExact: false },
] as const;

const ADMIN = { to: "/admin", label: "Admin", isExact: false } as const;

/** The frame around each page of a signed-in user. */
export function Shell() {
  const { data } = useQuery(api.session.get.queryOptions());
  return (
    <div className="flex min-h-dvh flex-col">
      <a href="#main" className="sr-only focus:not-sr-only focus:absolute focus:z-20 focus:bg-surface focus:p-2">
        Skip to content
      </a>
      <header className="sticky top-0 z-10 border-b border-line bg-surface">
        <div className="mx-auto flex h-12 max-w-[1600px] items-center gap-4 px-4">
          <Link to="/runs" aria-label="Hindcast, your runs" className="flex items-center gap-2 font-semibold">
            <Logo />
            <span className="max-sm:sr-only">Hindcast</span>
          </Link>
          <PageLinks isAdmin={data?.user.role === "admin"} />
          <AccountMenu email={data?.user.email ?? ""} />
        </div>
      </header>
      <ConnectionNote />
      <Shortcuts />
      <main id="main" className="mx-auto w-full max-w-[1600px] grow px-4 py-4">
        <Outlet />
      </main>
    </div>
  );
}

/** Links to the pages. Where they are wider than the screen they fade at its edge, and the shown page's link is in view. */
function PageLinks({ isAdmin }: { readonly isAdmin: boolean }) {
  const nav = useRef<HTMLElement>(null);
  const path = useLocation({ select: ({ pathname }) => pathname });
  useEffect(() => {
    nav.current?.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [path, isAdmin]);
  return (
    <nav
      ref={nav}
      aria-label="Pages"
      className="-mr-4 -ml-4 flex min-w-0 grow scroll-px-8 items-center gap-1 overflow-x-auto mask-r-from-[calc(100%-2rem)] mask-l-from-[calc(100%-1rem)] pr-8 pl-4"
    >
      {[...PAGES, ...(isAdmin ? [ADMIN] : [])].map(({ to, label, isExact }) => (
        <Link
          key={to}
          to={to}
          className="rounded-md px-2.5 py-1.5 text-sm whitespace-nowrap text-muted hover:bg-sunken hover:text-text"
          activeOptions={{ exact: isExact, includeSearch: false }}
          activeProps={{ className: "!text-text bg-sunken font-medium" }}
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}

function ConnectionNote() {
  const isLost = useConnectionLost();
  return (
    <div role="status">
      {isLost && (
        <p className="border-b border-line bg-sunken px-4 py-2 text-center text-sm text-warn">
          The connection to the service is lost. This page tries again every two seconds.
        </p>
      )}
    </div>
  );
}
