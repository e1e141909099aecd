import { useInfiniteQuery } from "@tanstack/react-query";
import { api, client, describeError, pagesOf, type Strategy } from "../../api.ts";
import { formatCount, formatTime } from "../../parts/format.ts";
import { MoreButton } from "../../parts/more_button.tsx";
import { useState } from "react";
import { Choice } from "../../parts/choice.tsx";
import { isReadable } from "./strategy_words.tsx";
import { useSource } from "./use_source.ts";

const PAGE = 50;

/** The versions of a strategy, highest first. Who may read its code can download modules and scripts, and read scripts. */
export function Versions({ strategy }: { readonly strategy: Strategy }) {
  const { slug, runtime_type } = strategy;
  const canRead = isReadable(strategy);
  const list = useInfiniteQuery(
    pagesOf(
      [...api.strategies.versions.pathKey(), slug],
      (cursor) => client.strategies.versions.query({ slug, limit: PAGE, ...cursor }),
    ),
  );
  const { data, error } = list;
  const isScript = runtime_type === "script";
  const versions = data?.pages.flatMap((page) => page.versions) ?? [];
  return (
    <section className="min-w-0 rounded-lg border border-line bg-surface p-4">
      <h2 className="font-semibold">Versions</h2>
      {error !== null && <p role="alert" className="text-danger">{describeError(error)}</p>}
      <div className="mt-1 min-h-20 overflow-x-auto" tabIndex={0} role="region" aria-label="Versions">
        <table className="w-full min-w-[40rem] text-left text-sm">
          <thead className="text-xs text-muted">
            <tr>
              {["Version", "Registered (UTC)", "Bytes", "Code"].map((heading) => (
                <th
                  key={heading}
                  scope="col"
                  className={`border-b border-line py-2 pr-6 font-medium ${heading === "Bytes" ? "text-right" : ""}`}
                >
                  {heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {versions.map(({ version, created_at, size_bytes, sha256, runtime_config }) => (
              <tr key={version} className="border-b border-line/60 last:border-0">
                <th scope="row" className="py-1.5 pr-6 font-medium">{version}</th>
                <td className="py-1.5 pr-6 whitespace-nowrap">{formatTime(created_at)}</td>
                <td className="py-1.5 pr-6 text-right">{formatCount(size_bytes)}</td>
                <td className="py-1.5 break-all text-muted">
                  {sha256 !== null && canRead
                    ? (
                      <a
                        href={`/api/strategies/${slug}/versions/${encodeURIComponent(version)}/artifact`}
                        download
                        title={sha256}
                        className="text-accent underline"
                      >
                        {isScript ? "Script" : "Module"} {sha256.slice(0, 12)}
                      </a>
                    )
                    : sha256 ?? String(runtime_config["endpoint"] ?? "–")}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <MoreButton pages={list} label="Load older versions" className="mt-2" />
      {isScript && canRead && versions.length > 0 && (
        <VersionSource
          slug={slug}
          versions={versions.map(({ version }) => version)}
        />
      )}
    </section>
  );
}

/** The text of one of a script's versions, for its readers: the highest one, or another that is chosen. */
function VersionSource({ slug, versions }: { readonly slug: string; readonly versions: readonly string[] }) {
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
