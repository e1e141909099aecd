import { getRouteApi, Link } from "@tanstack/react-router";
import { buttonClass } from "../../parts/button.tsx";
import { NotFound } from "../../parts/failure.tsx";
import { Main } from "../../parts/landmark.tsx";
import { Frame } from "../../parts/shell.tsx";
import { VisitorHeader } from "../../parts/visitor_header.tsx";

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
      <VisitorHeader>
        <Link to="/sign-in" className={`ml-auto ${buttonClass()}`}>Sign in</Link>
      </VisitorHeader>
      <Main id="main" className="px-4 py-4">
        <NotFound />
      </Main>
    </div>
  );
}
