import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link, linkOptions } from "@tanstack/react-router";
import { useState } from "react";
import { api, client, describeError, pagesOf, type Universe } from "../../api.ts";
import { buttonClass } from "../../parts/button.tsx";
import { formatCount, formatDate } from "../../parts/format.ts";
import { LinkRow, RowLink } from "../../parts/link_row.tsx";
import { MoreButton } from "../../parts/more_button.tsx";
import { SearchBox } from "../../parts/search_box.tsx";
import { Table, type TableColumn, TALL_ROW_CLASS, WIDE_ONLY } from "../../parts/table.tsx";
import { NewUniverse } from "./new_universe.tsx";

const PAGE = 100;
const route = getRouteApi("/signed-in/universes");
const COLUMNS: readonly TableColumn[] = [
  { label: "Name", isText: true, width: "16rem", onPhone: "max-sm:w-40!" },
  { label: "Description", isText: true, onPhone: WIDE_ONLY },
  { label: "Members", width: "7rem" },
  { label: "Version", width: "6rem", onPhone: WIDE_ONLY },
  { label: "Visibility", isText: true, width: "8rem", onPhone: WIDE_ONLY },
  { label: "Changed", isText: true, width: "8rem", onPhone: WIDE_ONLY },
];

/** Lists of instruments with dates: the user's own, and those that others made public. */
export function UniversesPage() {
  const { add } = route.useSearch();
  const [search, setSearch] = useState("");
  const filters = search === "" ? {} : { search: search.slice(0, 100) };
  const pages = useInfiniteQuery({
    ...pagesOf(
      [...api.universes.list.pathKey(), "pages", filters],
      (cursor) => client.universes.list.query({ limit: PAGE, ...filters, ...cursor }),
    ),
    placeholderData: (before) => before,
  });
  const { data, error, isPlaceholderData } = pages;
  const rows = data?.pages.flatMap(({ universes }) => universes) ?? [];
  return (
    <div className="flex flex-col gap-3">
      <header className="flex flex-wrap items-center gap-3">
        <h1 className="mr-auto text-xl font-semibold">Universes</h1>
        <SearchBox label="Search the universes by name or description" value={search} onChange={setSearch} />
        {!add && <Link to="/universes" search={{ add: true }} className={buttonClass("primary")}>Make a universe</Link>}
      </header>
      {add && <NewUniverse />}
      {error !== null && <p role="alert" className="text-danger">{describeError(error)}</p>}
      <Table
        label="Universes"
        columns={COLUMNS}
        minWidth="56rem"
        rowClass={TALL_ROW_CLASS}
        isLoading={data === undefined && error === null}
        isStale={isPlaceholderData}
        empty={search === ""
          ? "No universe yet. One is a list of instruments with the dates between which each is a member."
          : "No universe fits this search."}
      >
        {rows.map((each) => <Row key={each.slug} universe={each} />)}
      </Table>
      <MoreButton pages={pages} label="Load more" isAuto />
    </div>
  );
}

function Row({ universe }: { readonly universe: Universe }) {
  const { slug, description, members, latest_version: version, updated_at: changed } = universe;
  const link = linkOptions({ to: "/universes/$slug", params: { slug } });
  return (
    <LinkRow link={link} className={TALL_ROW_CLASS}>
      <td className="px-3 text-left">
        <RowLink link={link} text={slug} />
      </td>
      <td className={`px-3 text-left text-muted ${WIDE_ONLY}`}>
        <span className="line-clamp-2 break-words">{description}</span>
      </td>
      <td className="px-3">{formatCount(members)}</td>
      <td className={`px-3 ${WIDE_ONLY}`}>{formatCount(version)}</td>
      <td className={`px-3 text-left ${WIDE_ONLY}`}>{describeVisibility(universe)}</td>
      <td className={`px-3 text-left whitespace-nowrap text-muted ${WIDE_ONLY}`}>{formatDate(changed)}</td>
    </LinkRow>
  );
}

/** Says who can see a universe. */
export function describeVisibility({ is_owner, is_public }: Universe): string {
  return is_owner ? is_public ? "Yours, public" : "Yours" : "Public";
}
