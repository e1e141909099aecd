import { useQuery } from "@tanstack/react-query";
import { api, describeError } from "../../api.ts";
import { RegisterStrategy } from "./register_strategy.tsx";
import { copyValues } from "./registration_form.ts";
import { useSource } from "./use_source.ts";

/** Registers a script that begins as another one, which its owner has opened, or the user's own. */
export function CopyStrategy({ from }: { readonly from: string }) {
  const strategy = useQuery(api.strategies.get.queryOptions({ slug: from }));
  const entry = strategy.data?.strategy;
  const source = useSource(from, entry?.latest_version ?? "", entry !== undefined);
  const error = strategy.error ?? source.error;
  if (entry === undefined || source.data === undefined) {
    return (
      <p role={error ? "alert" : "status"} className="min-h-96 text-muted">
        {error ? describeError(error) : "Loading the script …"}
      </p>
    );
  }
  return <RegisterStrategy way="script" start={copyValues(entry, source.data)} />;
}
