import { useEffect, useRef } from "react";
import { Button } from "./button.tsx";

/** The part of an infinite query that loads its next page. */
interface Pages {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly fetchNextPage: () => Promise<unknown>;
}

// The next page is asked for before its place is seen.
const AHEAD_PX = 600;

/**
 * Loads the next page of a list; nothing is there where the list is whole.
 *
 * @param isAuto Loads it as soon as the reader comes near; for lists that nothing follows on the page.
 */
export function MoreButton({ pages, label = "Show more", className = "self-center", isAuto = false }: {
  readonly pages: Pages;
  readonly label?: string;
  readonly className?: string;
  readonly isAuto?: boolean;
}) {
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = pages;
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isAuto || !hasNextPage || isFetchingNextPage || button.current === null) return;
    const watch = new IntersectionObserver(([entry]) => entry?.isIntersecting && void fetchNextPage(), {
      rootMargin: `${AHEAD_PX}px`,
    });
    watch.observe(button.current);
    return () => watch.disconnect();
  }, [isAuto, hasNextPage, isFetchingNextPage, fetchNextPage]);
  if (!hasNextPage) return null;
  return (
    <Button ref={button} className={className} disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
      {isFetchingNextPage ? "Loading …" : label}
    </Button>
  );
}
