import { getRouteApi } from "@tanstack/react-router";
import { NewRunForm } from "./new_run_form.tsx";
import { StartPage } from "./start_page.tsx";

const route = getRouteApi("/signed-in/runs/new");

/** A form for a new run, or for an earlier one with changes. */
export function NewRunPage() {
  const search = route.useSearch();
  return (
    <StartPage
      title={search.from === undefined ? "New run" : "Run again with changes"}
      note="Replay a strategy over past candles. Everything is filled in for a first run on the sample."
      search={search}
      form={NewRunForm}
    />
  );
}
