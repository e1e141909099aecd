/** How far something is. @param progress From 0 to 1. */
export function ProgressBar({ label, progress }: { readonly label: string; readonly progress: number }) {
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuenow={Math.floor(progress * 100)}
      aria-valuemin={0}
      aria-valuemax={100}
      className="h-2 overflow-hidden rounded-full bg-sunken"
    >
      <div className="h-full rounded-full bg-accent transition-[width]" style={{ width: `${progress * 100}%` }} />
    </div>
  );
}
