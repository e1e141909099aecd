import { getRouteApi, Link } from "@tanstack/react-router";
import { buttonClass } from "../../parts/button.tsx";
import { NotFound } from "../../parts/failure.tsx";
import { Main } from "../../parts/landmark.tsx";
import { Logo } from "../../parts/logo.tsx";
import { Frame } from "../../parts/shell.tsx";

const route = getRouteApi("/$");

/** An address without a page: with the usual frame for a user, and with the way to sign in for a visitor. */
export function UnknownPage() {
  const { isSignedIn } = route.useRouteContext();
  if (isSignedIn) {
    return (
      <Frame>
        <NotFound />
      </Frame>
    );
  }
  return (
    <div className="flex min-h-dvh flex-col">
      <header className="border-b border-line bg-surface">
        <div className="mx-auto flex h-12 max-w-(--page-width) items-center gap-4 px-4">
          <a href="/" className="mr-auto flex items-center gap-2 font-semibold">
            <Logo />
            Hindcast
          </a>
          <Link to="/sign-in" className={buttonClass()}>Sign in</Link>
        </div>
      </header>
      <Main id="main" className="px-4 py-4">
        <NotFound />
      </Main>
    </div>
  );
}
