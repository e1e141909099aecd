import { useQuery } from "@tanstack/react-query";
import { api } from "../../api.ts";

/** Reads the text of a script's version, which never changes. @param enabled False reads nothing. */
export function useSource(slug: string, version: string, enabled = true) {
  return useQuery(
    api.strategies.artifact.queryOptions({ slug, version }, { enabled, staleTime: Infinity, select: decode }),
  );
}

function decode({ data }: { readonly data: string }): string {
  return new TextDecoder().decode(Uint8Array.from(atob(data), (char) => char.charCodeAt(0)));
}
