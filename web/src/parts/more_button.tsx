import { Button } from "./button.tsx";

/** The part of an infinite query that loads its next page. */
interface Pages {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly fetchNextPage: () => Promise<unknown>;
}

/** Loads the next page of a list; nothing is there where the list is whole. */
export function MoreButton({ pages, label = "Show more", className = "self-center" }: {
  readonly pages: Pages;
  readonly label?: string;
  readonly className?: string;
}) {
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = pages;
  if (!hasNextPage) return null;
  return (
    <Button className={className} disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
      {isFetchingNextPage ? "Loading …" : label}
    </Button>
  );
}
