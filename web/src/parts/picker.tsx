import { Combobox } from "@base-ui/react/combobox";
import { type KeyboardEvent, useId, useState } from "react";
import { describeError } from "../api.ts";
import { controlClass, FieldNote } from "./field.tsx";

/** A line of a picker's list. */
interface PickerItem {
  readonly key: string;
  readonly name: string;
  readonly detail?: string | undefined;
  /** A word at the end of the line. */
  readonly tag?: string | undefined;
}

/**
 * A labelled field that opens a list with a search; for lists too long for a select.
 *
 * @param items The lines that fit the search, as the service found them.
 * @param isLoading The lines still are those of an earlier search; those that do not fit are left out.
 * @param note The last words of the list: that nothing was found, that there are more, that it is loading.
 */
export function Picker({ label, hint, error, chosen, items, isLoading, note, searchLabel, onSearch, onPick }: {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
  readonly chosen: PickerItem;
  readonly items: readonly PickerItem[];
  readonly isLoading: boolean;
  readonly note: string;
  readonly searchLabel: string;
  readonly onSearch: (text: string) => void;
  readonly onPick: (key: string) => void;
}) {
  const id = useId();
  const [text, setText] = useState("");
  const [isOpen, setOpen] = useState(false);
  const search = (typed: string) => {
    setText(typed);
    onSearch(typed);
  };
  return (
    <div className="min-w-0">
      <Combobox.Root
        items={isLoading ? items.filter((item) => mentions(item, text)) : items}
        value={chosen}
        filter={null}
        autoHighlight
        isItemEqualToValue={(a: PickerItem, b: PickerItem) => a.key === b.key}
        itemToStringLabel={({ name }: PickerItem) => name}
        onValueChange={(item) => item !== null && onPick(item.key)}
        inputValue={text}
        onInputValueChange={(typed, { reason }) => reason === "input-change" && search(typed)}
        open={isOpen}
        onOpenChange={(opens) => {
          setOpen(opens);
          if (!opens) search("");
        }}
      >
        <Combobox.Label className="mb-1 block text-sm font-medium">{label}</Combobox.Label>
        <Combobox.Trigger
          aria-describedby={`${id}-note`}
          // Of its own, a closed field picks a line for each letter, unseen.
          onKeyDown={(event) => {
            if (!isLetter(event)) return;
            event.preventDefault();
            event.preventBaseUIHandler();
            search(text + event.key);
            setOpen(true);
          }}
          className={`${controlClass(error)} flex items-center justify-between gap-2 text-left`}
        >
          <span className="min-w-0 truncate">{chosen.name}</span>
          <span aria-hidden="true" className="text-xs text-muted">▾</span>
        </Combobox.Trigger>
        <Combobox.Portal>
          <Combobox.Positioner align="start" sideOffset={4} className="z-20">
            <Combobox.Popup
              aria-label={label}
              className="flex max-h-[min(26rem,var(--available-height))] w-[max(var(--anchor-width),min(26rem,calc(100vw-2rem)))] flex-col rounded-md border border-line bg-surface shadow-lg"
            >
              <Combobox.Input
                aria-label={searchLabel}
                placeholder={searchLabel}
                className="m-2 h-8 shrink-0 rounded-md border border-strong-line bg-surface px-2.5 text-base"
              />
              <Combobox.List className="min-h-0 overflow-y-auto overscroll-contain border-t border-line empty:hidden">
                {(item: PickerItem) => <Line key={item.key} item={item} />}
              </Combobox.List>
              <Combobox.Status className="border-t border-line px-3 py-1.5 text-xs text-muted empty:hidden">
                {note}
              </Combobox.Status>
            </Combobox.Popup>
          </Combobox.Positioner>
        </Combobox.Portal>
      </Combobox.Root>
      <FieldNote id={`${id}-note`} hint={hint} error={error} />
    </div>
  );
}

function Line({ item }: { readonly item: PickerItem }) {
  const { name, detail, tag } = item;
  return (
    <Combobox.Item
      value={item}
      className="flex cursor-default items-baseline gap-3 px-3 py-1.5 data-highlighted:bg-sunken data-selected:font-medium"
    >
      <span className="min-w-0 grow">
        <span className="block truncate">{name}</span>
        {detail !== undefined && <span className="line-clamp-2 text-xs font-normal text-muted">{detail}</span>}
      </span>
      {tag !== undefined && <span className="shrink-0 text-xs text-muted">{tag}</span>}
    </Combobox.Item>
  );
}

/** True for a key that begins a search. A space presses the field. */
function isLetter({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return key.length === 1 && key !== " " && !ctrlKey && !metaKey && !altKey;
}

function mentions({ key, name, detail }: PickerItem, text: string): boolean {
  return `${key} ${name} ${detail}`.toLowerCase().includes(text.toLowerCase());
}

/** A query for the lines that fit a search. */
interface LineQuery {
  readonly data: { readonly next_cursor?: string | null } | undefined;
  readonly error: unknown;
  readonly isPlaceholderData: boolean;
}

/** A picker's `isLoading` and `note`. @param count The lines that fit. */
export function describeList({ data, error, isPlaceholderData }: LineQuery, count: number) {
  return { isLoading: isPlaceholderData, note: noteOf() };

  function noteOf(): string {
    if (error) return describeError(error);
    if (data === undefined || isPlaceholderData) return "Loading …";
    if (count === 0) return "Nothing fits this search.";
    return typeof data.next_cursor === "string" ? `The first ${count}. Type to find others.` : "";
  }
}
