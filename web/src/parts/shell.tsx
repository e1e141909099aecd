import { useQuery } from "@tanstack/react-query";
import { Link, Outlet } from "@tanstack/react-router";
import { api } from "../api.ts";
import { useConnectionLost } from "../connection.ts";
import { AccountMenu } from "./account_menu.tsx";
import { Logo } from "./logo.tsx";
import { PageLinks } from "./page_links.tsx";
import { Shortcuts } from "./shortcuts.tsx";

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
