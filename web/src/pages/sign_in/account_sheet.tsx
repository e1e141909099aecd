import type { ReactNode } from "react";
import { Logo } from "../../parts/logo.tsx";
import { Main } from "../../parts/landmark.tsx";

/** The page of somebody who is not signed in: a sheet in its middle. */
export function AccountSheet({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <Main className="grid min-h-dvh place-items-center p-4">
      <div className="w-full max-w-sm">
        <div className="mb-5 flex items-center justify-center gap-2 text-lg font-semibold">
          <Logo />Hindcast
        </div>
        <div className="rounded-lg border border-line bg-surface p-6 shadow-sm">
          <h1 className="mb-4 text-xl font-semibold">{title}</h1>
          {children}
        </div>
      </div>
    </Main>
  );
}
