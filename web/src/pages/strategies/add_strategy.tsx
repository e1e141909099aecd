import { Tabs } from "@base-ui/react/tabs";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ADD_WAYS, type AddWay } from "./strategies_search.ts";
import { RegisterStrategy } from "./register_strategy.tsx";

const route = getRouteApi("/signed-in/strategies");
const LABELS: Readonly<Record<AddWay, string>> = { wasm: "WebAssembly module", remote: "Remote endpoint" };

/** The ways to add a strategy, a tab each. */
export function AddStrategy({ way }: { readonly way: AddWay }) {
  const navigate = route.useNavigate();
  const choose = (value: AddWay) => void navigate({ search: (before) => ({ ...before, add: value }), replace: true });
  return (
    <section aria-label="Add a strategy" className="rounded-lg border border-line bg-surface">
      <Tabs.Root value={way} onValueChange={choose}>
        <div className="flex items-center justify-between border-b border-line pr-3 pl-2">
          <Tabs.List className="flex gap-1 overflow-x-auto">
            {ADD_WAYS.map((each) => (
              <Tabs.Tab
                key={each}
                value={each}
                className="-mb-px border-b-2 border-transparent px-3 py-2 text-sm whitespace-nowrap text-muted hover:text-text data-active:border-accent data-active:font-medium data-active:text-text"
              >
                {LABELS[each]}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Link
            to="/strategies"
            search={({ kind }) => kind === undefined ? {} : { kind }}
            className="px-2 py-1 text-sm text-muted hover:text-text"
          >
            Close
          </Link>
        </div>
        <Tabs.Panel value={way} className="p-4">
          <RegisterStrategy key={way} way={way} />
        </Tabs.Panel>
      </Tabs.Root>
    </section>
  );
}
