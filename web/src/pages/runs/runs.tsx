/** The user's runs. */
export function RunsPage() {
  return <h1 className="text-xl font-semibold">Runs</h1>;
}
