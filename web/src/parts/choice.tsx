/** A short list to choose from, with its label before it. */
export function Choice<Value extends string>(
  { label, values, labelOf = (each) => each, value, isBareOnPhone = false, onChange }: {
    readonly label: string;
    /** A phone has no room for the label. */
    readonly isBareOnPhone?: boolean;
    readonly values: readonly Value[];
    /** The words of a value; absent: the value itself. */
    readonly labelOf?: (value: Value) => string;
    readonly value: Value;
    readonly onChange: (value: Value) => void;
  },
) {
  return (
    <label className="flex min-w-0 items-center gap-1.5 text-sm text-muted">
      <span className={isBareOnPhone ? "max-sm:sr-only" : ""}>{label}</span>
      <select
        value={value}
        onChange={({ target }) => onChange(values.find((each) => each === target.value) ?? value)}
        className={`h-7 max-w-48 min-w-0 truncate rounded-md border border-strong-line bg-surface px-1.5 text-text ${
          isBareOnPhone ? "max-sm:max-w-32" : ""
        }`}
      >
        {values.map((each) => <option key={each} value={each}>{labelOf(each)}</option>)}
      </select>
    </label>
  );
}
