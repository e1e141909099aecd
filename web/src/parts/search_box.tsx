/** The search of a page, which the key `/` reaches. @param label Names it for screen readers. */
export function SearchBox({ label, placeholder = "Search  ( / )", value, maxLength, onChange, className = "" }: {
  readonly label: string;
  readonly placeholder?: string;
  readonly value: string;
  readonly maxLength?: number;
  readonly onChange: (value: string) => void;
  readonly className?: string;
}) {
  return (
    <input
      data-search
      type="search"
      aria-label={label}
      placeholder={placeholder}
      value={value}
      maxLength={maxLength}
      onChange={({ target }) => onChange(target.value)}
      className={`h-8 w-56 rounded-md border border-strong-line bg-surface px-2.5 text-sm ${className}`}
    />
  );
}
