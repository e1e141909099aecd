import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { Menu } from "@base-ui/react/menu";
import { Dialog } from "@base-ui/react/dialog";
import { type ReactNode, useLayoutEffect, useState } from "react";
import { api, queryClient } from "../api.ts";
import { useConnectionLost } from "../connection.ts";
import { listDrafts } from "./draft.ts";
import { Logo } from "./logo.tsx";
import { Main } from "./landmark.tsx";
import { PageLinks } from "./page_links.tsx";
import { signOut } from "../account_routes.ts";
import { MENU_ITEM_CLASS, MenuPanel } from "./menu_panel.tsx";
import { chooseTheme, THEMES, useTheme } from "../theme/theme.ts";
import { buttonClass } from "./button.tsx";
import { leaveTour, Tour } from "./tour.tsx";

const KEYS = [
  ["/", "search"],
  ["n", "new run"],
  ["j, k", "next and previous row"],
  ["Enter", "open the row"],
  ["?", "this help"],
] as const;

/** The frame around each page of a signed-in user, with the page of the address. */
export function Shell() {
  return (
    <Frame>
      <Outlet />
    </Frame>
  );
}

/** The frame around each page of a signed-in user. */
export function Frame({ children }: { readonly children: ReactNode }) {
  const { data } = useQuery(api.session.get.queryOptions());
  return (
    <div className="flex min-h-dvh flex-col">
      <a href="#main" className="sr-only focus:not-sr-only focus:absolute focus:z-20 focus:bg-surface focus:p-2">
        Skip to content
      </a>
      <header className="sticky top-0 z-10 border-b border-line bg-surface">
        <div className="mx-auto flex h-12 max-w-(--page-width) items-center gap-4 px-4">
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
      <Main id="main" className="mx-auto w-full max-w-(--page-width) grow px-4 py-4 max-sm:py-2">
        {children}
        <Tour />
      </Main>
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

/** The user's menu: the palette, and the way out. */
function AccountMenu({ email }: { readonly email: string }) {
  const navigate = useNavigate();
  const theme = useTheme();
  const leave = async () => {
    const drafts = listDrafts();
    if (drafts.length > 0 && !confirm("Signing out deletes what you typed here and did not send. Sign out?")) return;
    await signOut();
    for (const key of drafts) localStorage.removeItem(key);
    leaveTour();
    queryClient.clear();
    await navigate({ to: "/sign-in" });
  };
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger className="flex h-8 max-w-24 items-center sm:max-w-48 rounded-md px-2 text-sm text-muted hover:bg-sunken">
        <span className="sr-only">Account of</span>
        <span className="truncate">{email}</span>
      </Menu.Trigger>
      <MenuPanel align="end">
        <Menu.RadioGroup value={theme} onValueChange={chooseTheme}>
          {THEMES.map((each) => (
            <Menu.RadioItem key={each} value={each} className={MENU_ITEM_CLASS} closeOnClick={false}>
              <span className="w-4">
                <Menu.RadioItemIndicator>✓</Menu.RadioItemIndicator>
              </span>
              {each === "system" ? "Theme of the device" : each === "light" ? "Light" : "Dark"}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Separator className="my-1 border-t border-line" />
        <Menu.Item className={MENU_ITEM_CLASS} onClick={() => void navigate({ to: "/account" })}>
          <span className="w-4" />Account
        </Menu.Item>
        <Menu.Item className={MENU_ITEM_CLASS} nativeButton={false} render={<a href="/docs" />}>
          <span className="w-4" />API reference
        </Menu.Item>
        <Menu.Item className={MENU_ITEM_CLASS} onClick={leave}>
          <span className="w-4" />Sign out
        </Menu.Item>
      </MenuPanel>
    </Menu.Root>
  );
}

/** The keys that work on every page, and their help. A page marks its search with `data-search` and its rows with `data-row`. */
function Shortcuts() {
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  // A key that is pressed as soon as the page is drawn counts.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const act = {
        "/": () => document.querySelector<HTMLElement>("[data-search]")?.focus(),
        n: () => void navigate({ to: "/runs/new" }),
        j: () => moveRow(1),
        k: () => moveRow(-1),
        "?": () => setOpen(true),
      }[event.key];
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [navigate]);
  return (
    <Dialog.Root open={isOpen} onOpenChange={setOpen}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-20 bg-page/70" />
        <Dialog.Popup className="fixed top-1/4 left-1/2 z-30 w-[min(22rem,calc(100vw-2rem))] -translate-x-1/2 rounded-lg border border-line bg-surface p-5 shadow-xl">
          <Dialog.Title className="text-lg font-semibold">Keys</Dialog.Title>
          <dl className="my-3">
            {KEYS.map(([key, does]) => (
              <div key={key} className="flex justify-between border-b border-line/60 py-1">
                <dt>
                  <kbd className="font-mono text-sm">{key}</kbd>
                </dt>
                <dd className="text-muted">{does}</dd>
              </div>
            ))}
          </dl>
          <Dialog.Close className={buttonClass()}>Close</Dialog.Close>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null;
}

function moveRow(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
  const at = rows.findIndex((row) => row === document.activeElement);
  rows[at === -1 ? 0 : Math.max(0, Math.min(rows.length - 1, at + by))]?.focus();
}
