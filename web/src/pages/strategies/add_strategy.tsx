import { Tabs } from "@base-ui/react/tabs";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useQuery } from "@tanstack/react-query";
import { TabList } from "../../parts/tab_list.tsx";
import { copyValues, startValues } from "./registration_form.ts";
import { ADD_WAYS, type AddWay } from "./strategies_search.ts";
import { RegisterStrategy } from "./register_strategy.tsx";
import { api, describeError } from "../../api.ts";
import { useSource } from "./use_source.ts";

const route = getRouteApi("/signed-in/strategies");
const LABELS: Readonly<Record<AddWay, string>> = {
  script: "Script",
  wasm: "WebAssembly module",
  remote: "Remote endpoint",
};

/** The ways to add a strategy, a tab each. @param from Slug of the script with which the new one begins. */
export function AddStrategy({ way, from }: { readonly way: AddWay; readonly from: string | undefined }) {
  const navigate = route.useNavigate();
  const choose = (value: AddWay) => void navigate({ search: (before) => ({ ...before, add: value }), replace: true });
  return (
    <section aria-label="Add a strategy" className="rounded-lg border border-line bg-surface">
      <Tabs.Root value={way} onValueChange={choose}>
        <div className="flex items-center justify-between border-b border-line pr-3 pl-2">
          <TabList values={ADD_WAYS} labels={LABELS} />
          <Link
            to="/strategies"
            search={({ kind }) => kind === undefined ? {} : { kind }}
            className="px-2 py-1 text-sm text-muted hover:text-text"
          >
            Close
          </Link>
        </div>
        <Tabs.Panel value={way} className="p-4">
          {way === "script" && from !== undefined
            ? <CopyStrategy key={from} from={from} />
            : <RegisterStrategy key={way} way={way} start={startValues(way)} />}
        </Tabs.Panel>
      </Tabs.Root>
    </section>
  );
}

/** Registers a script that begins as another one, which its owner has opened, or the user's own. */
function CopyStrategy({ from }: { readonly from: string }) {
  const strategy = useQuery(api.strategies.get.queryOptions({ slug: from }));
  const entry = strategy.data?.strategy;
  const source = useSource(from, entry?.latest_version ?? "", entry !== undefined);
  const error = strategy.error ?? source.error;
  if (entry === undefined || source.data === undefined) {
    return (
      <p role={error ? "alert" : "status"} className="min-h-96 text-muted">
        {error ? describeError(error) : "Loading the script …"}
      </p>
    );
  }
  return <RegisterStrategy way="script" start={copyValues(entry, source.data)} from={from} />;
}
