import { Button } from "./button.tsx";

/** Says that a form is filled in with what was typed before, and offers to begin anew. */
export function DraftNote({ draft: { isRestored, drop }, onAnew }: {
  readonly draft: { readonly isRestored: boolean; readonly drop: () => void };
  readonly onAnew: () => void;
}) {
  if (!isRestored) return null;
  return (
    <div
      role="status"
      className="mb-3 flex flex-wrap items-center gap-x-3 border-l-4 border-accent bg-sunken px-3 py-1 text-sm"
    >
      Filled in with what you typed before and did not send.
      <Button
        kind="quiet"
        onClick={() => {
          onAnew();
          drop();
        }}
      >
        Begin anew
      </Button>
    </div>
  );
}
