import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { api, describeError } from "../../api.ts";
import { Button } from "../../parts/button.tsx";

const route = getRouteApi("/signed-in/connect");

type AgentScope = "read" | "run";

const RIGHTS: Readonly<Record<AgentScope, string>> = {
  read: "Look at your runs, strategies and data",
  run: "Look at them, and submit runs, cancel, register strategies",
};

/** Where a person lets a program act for them that knows nothing but the service's address. */
export function ConnectPage() {
  const { request } = route.useSearch();
  const { data, error } = useQuery({ ...api.agents.find.queryOptions({ request }), retry: false, staleTime: Infinity });
  return (
    <div className="mx-auto w-full max-w-md">
      <h1 className="mb-3 text-xl font-semibold">Let a program in</h1>
      {error !== null && <Card role="alert">{describeError(error)}.</Card>}
      {error === null && data === undefined && <Card role="status">Looking for the program…</Card>}
      {data !== undefined && <Question request={request} {...data} />}
    </div>
  );
}

function Question({ request, name, returns_to: place, scope: asked }: {
  /** The query that the program's browser came with. */
  readonly request: string;
  readonly name: string;
  readonly returns_to: string;
  readonly scope: AgentScope;
}) {
  const { data } = useQuery(api.session.get.queryOptions());
  const [scope, setScope] = useState(asked);
  const answer = useMutation(api.agents.answer.mutationOptions({
    onSuccess: ({ redirect_to }) => globalThis.location.assign(redirect_to),
  }));
  const isClosed = answer.isPending || answer.isSuccess;
  return (
    <section className="rounded-lg border border-line bg-surface p-4">
      <p className="mb-3 wrap-anywhere">
        A program that calls itself <strong>{name}</strong> wants to act for <strong>{data?.user.email}</strong>.
      </p>
      <fieldset className="mb-3">
        <legend className="mb-1 text-muted">It may</legend>
        {(asked === "run" ? ["read", "run"] as const : ["read"] as const).map((each) => (
          <label key={each} className="flex items-baseline gap-2 py-0.5">
            <input
              type="radio"
              name="scope"
              checked={scope === each}
              onChange={() =>
                setScope(each)}
            />
            <span>
              {RIGHTS[each]} <span className="text-sm text-muted">(scope {each})</span>
            </span>
          </label>
        ))}
      </fieldset>
      <p className="mb-4 text-sm text-muted wrap-anywhere">
        Your answer goes to{" "}
        <strong>{place}</strong>. Go on only if you started it there yourself. It gets a token, which stands on your
        account page, where you can revoke it.
      </p>
      <div className="flex gap-2">
        <Button kind="primary" disabled={isClosed} onClick={() => answer.mutate({ request, scope })}>Let it in</Button>
        <Button kind="danger" disabled={isClosed} onClick={() => answer.mutate({ request, scope: null })}>
          Refuse
        </Button>
      </div>
      <p role={answer.isSuccess ? "status" : "alert"} className="mt-2 min-h-5 text-sm text-muted">
        {answer.error !== null && <span className="text-danger">{describeError(answer.error)}.</span>}
        {answer.isSuccess && "Your answer is sent. You can close this page once the program goes on."}
      </p>
    </section>
  );
}

function Card({ role, children }: { readonly role: "alert" | "status"; readonly children: ReactNode }) {
  return (
    <section role={role} className="rounded-lg border border-line bg-surface p-4 wrap-anywhere">{children}</section>
  );
}
