import { useRef } from "react";
import { Button } from "../../parts/button.tsx";
import { TextArea } from "../../parts/field.tsx";

const EXAMPLE = "symbol,exchange,from,to\nOAK,SAMPLE,,\nPINE,SAMPLE,,2024-05-18";

/** The members as CSV: typed, pasted, or read from a file. @param onFile Called with the text of a chosen file. */
export function MembersField({ error, onFile, ...rest }: React.ComponentProps<"textarea"> & {
  readonly error: string | undefined;
  readonly onFile: (text: string) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <div>
      <TextArea
        label="Members"
        isCode
        hint="The line symbol,exchange,from,to, then a line each: dates are optional, and to is the day after the last"
        placeholder={EXAMPLE}
        error={error}
        {...rest}
      />
      <Button onClick={() => input.current?.click()}>Read a CSV file</Button>
      <input
        ref={input}
        type="file"
        accept=".csv,.txt,text/csv,text/plain"
        aria-label="CSV file of members"
        hidden
        onChange={async ({ target }) => {
          const [file] = target.files ?? [];
          // The same file can be chosen again after a correction.
          const text = await file?.text();
          target.value = "";
          if (text !== undefined) onFile(text);
        }}
      />
    </div>
  );
}

/** Says why a text cannot be members; undefined where the service may judge. */
export function findMembersFault(text: string): string | undefined {
  return text.trim() === "" ? "Enter the members, a line each, below the line symbol,exchange,from,to" : undefined;
}
