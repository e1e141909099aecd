import { useEffect, useRef, useState } from "react";

const PAUSE_MS = 200;

/**
 * The search of a page, which the key `/` reaches.
 *
 * @param label Names it for screen readers.
 * @param onChange Called after a pause in the typing.
 */
export function SearchBox({ label, placeholder = "Search  ( / )", value, maxLength, onChange, className = "" }: {
  readonly label: string;
  readonly placeholder?: string;
  readonly value: string;
  readonly maxLength?: number;
  readonly onChange: (value: string) => void;
  readonly className?: string;
}) {
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // Another part of the page may clear the search; what is being typed wins.
  useEffect(() => {
    if (timer.current === undefined) setText(value);
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (typed: string) => {
    setText(typed);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      timer.current = undefined;
      onChange(typed);
    }, PAUSE_MS);
  };
  return (
    <input
      data-search
      type="search"
      aria-label={label}
      placeholder={placeholder}
      value={text}
      maxLength={maxLength}
      onChange={({ target }) => type(target.value)}
      className={`h-8 w-56 rounded-md border border-strong-line bg-surface px-2.5 text-sm ${className}`}
    />
  );
}
