import { useState } from "react";
import { describeError } from "../../api.ts";
import { Choice } from "../../parts/choice.tsx";
import { useSource } from "./use_source.ts";

/** The text of one of a script's versions, for its owner: the highest one, or another that is chosen. */
export function VersionSource({ slug, versions }: { readonly slug: string; readonly versions: readonly string[] }) {
  const [chosen, setChosen] = useState<string>();
  const version = chosen ?? versions[0] ?? "";
  const { data, error } = useSource(slug, version);
  return (
    <div className="mt-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h3 className="text-sm font-semibold">Source of version {version}</h3>
        {versions.length > 1 && (
          <Choice label="Version of the source" values={versions} value={version} onChange={setChosen} />
        )}
      </div>
      {error !== null && <p role="alert" className="text-danger">{describeError(error)}</p>}
      <pre
        tabIndex={0}
        aria-label="Source"
        role="region"
        className="mt-2 max-h-128 min-h-20 overflow-auto rounded-md bg-sunken p-3 font-mono text-xs leading-5"
      >
        {data !== undefined && <code>{data}</code>}
      </pre>
    </div>
  );
}
