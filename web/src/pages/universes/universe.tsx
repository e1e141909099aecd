import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, client, codeOf, describeError, type Member, pagesOf, type Universe } from "../../api.ts";
import { Button, buttonClass } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import { DeleteButton } from "../../parts/delete_button.tsx";
import { Failure, NotFound } from "../../parts/failure.tsx";
import { formatCount, formatDate } from "../../parts/format.ts";
import { MoreButton } from "../../parts/more_button.tsx";
import { watchedFetch } from "../../connection.ts";
import { EditUniverse, NewMembers } from "./edit_universe.tsx";
import { describeVisibility } from "./universes.tsx";
import { chooseDates, DAY_MS, linear } from "../../parts/scale.ts";
import { ROW_CLASS, Table, type TableColumn, WIDE_ONLY } from "../../parts/table.tsx";

const route = getRouteApi("/signed-in/universes/$slug");
const PAGE = 200;

const DATES = 5;
// Rows without a date reach a little further than rows with one.
const MARGIN = 0.08;

const COLUMNS: readonly TableColumn[] = [
  { label: "Instrument", isText: true, width: "14rem", onPhone: "max-sm:w-32!" },
  { label: "From", isText: true, width: "7rem" },
  { label: "To, exclusive", isText: true, width: "7rem" },
  { label: "Time as a member", isText: true, onPhone: WIDE_ONLY },
];

/** One universe: its members with dates, its versions, and what its owner can do with it. */
export function UniversePage() {
  const { slug } = route.useParams();
  const { data, error, refetch } = useQuery(api.universes.get.queryOptions({ slug }));
  if (data === undefined) {
    if (codeOf(error) === "UNIVERSE_NOT_FOUND") return <NotFound />;
    if (error) return <Failure error={error} reset={() => void refetch()} />;
    return <p role="status" className="py-24 text-center text-muted">Loading the universe …</p>;
  }
  return <Shown key={slug} universe={data.universe} />;
}

function Shown({ universe }: { readonly universe: Universe }) {
  const { slug, description, is_owner, latest_version: latest } = universe;
  const [open, setOpen] = useState<"edit" | { readonly csv: string } | null>(null);
  const [fault, setFault] = useState("");
  const writeVersion = async () => {
    const before = open;
    try {
      const answer = await watchedFetch(csvAddress(slug, latest));
      if (!answer.ok) throw new Error(`The members could not be read: the service answered ${answer.status}.`);
      const csv = await answer.text();
      // Another form may have been opened meanwhile.
      setOpen((now) => now === before ? { csv } : now);
      setFault("");
    } catch (error) {
      setFault(describeError(error));
    }
  };
  const close = () => setOpen(null);
  return (
    <div className="mx-auto flex max-w-6xl flex-col gap-4">
      <header className="flex flex-wrap items-start gap-x-6 gap-y-2">
        <div className="min-w-0 grow basis-80">
          <p className="text-sm text-muted">
            <Link to="/universes" className="text-accent underline">Universes</Link>
          </p>
          <h1 className="text-xl font-semibold break-words">{slug}</h1>
          <p className="mt-0.5 text-sm break-words text-muted">
            {[describeVisibility(universe), description].filter(Boolean).join(" · ")}
          </p>
        </div>
        <div className="flex flex-wrap items-center gap-2">
          <p role="alert" className="text-sm text-danger empty:hidden">{fault}</p>
          {is_owner && (
            <>
              <Button onClick={() => setOpen(open === "edit" ? null : "edit")} aria-expanded={open === "edit"}>
                Edit
              </Button>
              <Button onClick={() => void writeVersion()}>New version</Button>
              <DeleteUniverse slug={slug} />
            </>
          )}
          <Link to="/runs/new" search={{ universe: slug }} className={buttonClass("primary")}>Run on it</Link>
        </div>
      </header>
      {open === "edit" && <EditUniverse universe={universe} onDone={close} />}
      {open !== null && open !== "edit" && <NewMembers universe={universe} csv={open.csv} onDone={close} />}
      <Members key={latest} universe={universe} />
    </div>
  );
}

function Members({ universe: { slug, latest_version: latest } }: { readonly universe: Universe }) {
  const [chosen, setChosen] = useState(String(latest));
  const version = Number(chosen);
  const versions = useQuery(api.universes.versions.queryOptions({ slug, limit: PAGE })).data?.versions ?? [];
  const pages = useInfiniteQuery(
    pagesOf(
      [...api.universes.members.pathKey(), slug, version],
      (cursor) => client.universes.members.query({ slug, version, limit: PAGE, ...cursor }),
    ),
  );
  const { data, error } = pages;
  const shown = versions.find((each) => each.version === version);
  return (
    <section className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-3">
        <h2 className="font-semibold">Members</h2>
        <Choice
          label="Version"
          values={versions.length === 0 ? [chosen] : versions.map((each) => String(each.version))}
          value={chosen}
          onChange={setChosen}
        />
        {shown !== undefined && (
          <p className="mr-auto text-sm text-muted">
            {formatCount(shown.members)} rows, of {formatDate(shown.created_at)}
          </p>
        )}
        <a href={csvAddress(slug, version)} download={`${slug}-${version}.csv`} className={buttonClass()}>
          Download CSV
        </a>
      </div>
      {error !== null && <p role="alert" className="text-danger">{describeError(error)}</p>}
      <MemberTable
        members={data?.pages.flatMap(({ members }) => members) ?? []}
        isLoading={data === undefined && error === null}
      />
      <MoreButton pages={pages} label="Load more" isAuto />
    </section>
  );
}

function DeleteUniverse({ slug }: { readonly slug: string }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation(api.universes.delete.mutationOptions({
    onSuccess: async () => {
      await navigate({ to: "/universes", search: {} });
      queries.removeQueries({ queryKey: api.universes.get.queryKey({ slug }) });
      await queries.invalidateQueries({ queryKey: api.universes.list.pathKey() });
    },
  }));
  return (
    <DeleteButton
      title="Delete this universe?"
      text="It is deleted with all its versions. Results of its runs stay. This cannot be undone."
      label="Delete universe"
      removal={remove}
      onConfirm={() => remove.mutate({ slug })}
    />
  );
}

function csvAddress(slug: string, version: number): string {
  return `/api/universes/${encodeURIComponent(slug)}/members?version=${version}&format=csv`;
}

/** Members with their dates, and a line that shows when each was one. */
function MemberTable({ members, isLoading }: {
  readonly members: readonly Member[];
  readonly isLoading: boolean;
}) {
  const dates = members.flatMap(({ from, to }) => [from, to]).filter((date) => date !== null).map(Date.parse);
  const [first, last] = [Math.min(...dates), Math.max(...dates)];
  const x = linear([first, Math.max(last, first + DAY_MS)], [100 * MARGIN, 100 * (1 - MARGIN)]);
  return (
    <Table label="Members" columns={COLUMNS} minWidth="40rem" isLoading={isLoading}>
      {dates.length > 0 && (
        <tr aria-hidden="true" className={`border-b border-line ${WIDE_ONLY}`}>
          <td colSpan={3} />
          <td className="px-3">
            <svg className="h-4 w-full overflow-visible fill-muted text-2xs">
              {chooseDates(first, last, DATES).map((date) => (
                <text key={date} x={`${x(date)}%`} y="75%" textAnchor="middle">{formatDate(date)}</text>
              ))}
            </svg>
          </td>
        </tr>
      )}
      {members.map(({ symbol, exchange, from, to }) => {
        const [begin, end] = [from === null ? 0 : x(Date.parse(from)), to === null ? 100 : x(Date.parse(to))];
        return (
          <tr key={`${symbol} ${exchange} ${from}`} className={ROW_CLASS}>
            <th scope="row" className="truncate px-3 text-left font-medium" title={`${symbol} on ${exchange}`}>
              {symbol} <span className="font-normal text-muted">on {exchange}</span>
              <MemberBar begin={begin} end={end} look="mt-0.5 h-1 sm:hidden" />
            </th>
            <td className="px-3 text-left whitespace-nowrap">{from ?? "the beginning"}</td>
            <td className="px-3 text-left whitespace-nowrap">{to ?? "still a member"}</td>
            <td className={`px-3 ${WIDE_ONLY}`}>
              <MemberBar begin={begin} end={end} look="h-2.5" />
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

/** The part of the time, in percent, in which an instrument is a member; below its name where the screen is narrow. */
function MemberBar({ begin, end, look }: { readonly begin: number; readonly end: number; readonly look: string }) {
  return (
    <svg aria-hidden="true" className={`block w-full rounded bg-sunken ${look}`}>
      <rect x={`${begin}%`} width={`${Math.max(0.5, end - begin)}%`} height="100%" className="fill-accent/60" />
    </svg>
  );
}
