import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { api, describeError } from "../../api.ts";

/**
 * The lines that a run's strategy logged, and the stack of the error that ended it; as text only.
 *
 * @param showsEnd True for a run that failed: its stack stands last.
 */
export function Log({ id, showsEnd = false }: { readonly id: string; readonly showsEnd?: boolean }) {
  const lines = useRef<HTMLPreElement>(null);
  const { data, error } = useQuery(api.backtests.log.queryOptions({ id }, { staleTime: Infinity }));
  useEffect(() => {
    if (showsEnd && lines.current !== null) lines.current.scrollTop = lines.current.scrollHeight;
  }, [data, showsEnd]);
  if (error !== null) return <p role="alert" className="text-danger">{describeError(error)}</p>;
  if (data === undefined) return <p role="status" className="text-muted">Loading the log …</p>;
  if (data.log.length === 0) return <p className="text-muted">The strategy logged nothing.</p>;
  return (
    <pre
      ref={lines}
      tabIndex={0}
      role="region"
      aria-label="Log"
      className="max-h-128 overflow-auto rounded-md bg-sunken p-3 font-mono text-xs leading-5 whitespace-pre-wrap wrap-anywhere"
    >
      {data.log.join("\n")}
    </pre>
  );
}
