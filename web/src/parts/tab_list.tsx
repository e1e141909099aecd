import { Tabs } from "@base-ui/react/tabs";

/** The tabs of a Tabs.Root. @param labels The words of each value. */
export function TabList<Value extends string>({ values, labels, className = "" }: {
  readonly values: readonly Value[];
  readonly labels: Readonly<Record<Value, string>>;
  readonly className?: string;
}) {
  return (
    <Tabs.List className={`flex gap-1 overflow-x-auto ${className}`}>
      {values.map((each) => (
        <Tabs.Tab
          key={each}
          value={each}
          className="-mb-px border-b-2 border-transparent px-3 py-2 text-sm whitespace-nowrap text-muted hover:text-text data-active:border-accent data-active:font-medium data-active:text-text"
        >
          {labels[each]}
        </Tabs.Tab>
      ))}
    </Tabs.List>
  );
}
