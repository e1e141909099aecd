import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { api, describeError, type Share } from "../api.ts";
import { Button } from "./button.tsx";
import { SelectField } from "./field.tsx";
import { formatTime } from "./format.ts";
import { readRunSearch } from "./run_search.ts";
import type { ShareSubject } from "./share_subject.ts";

const DAYS = [
  { value: "1", label: "a day" },
  { value: "7", label: "7 days" },
  { value: "30", label: "30 days" },
  { value: "366", label: "a year" },
];
// A record may have no more.
const LISTED_MAX = 10;

/** The links of a record, and a form for another one. */
export function ShareLinks({ subject }: { readonly subject: ShareSubject }) {
  const queries = useQueryClient();
  const [days, setDays] = useState("30");
  const { backtest_id, backtest_ids, optimization_id } = subject;
  const filter = optimization_id === undefined
    ? { backtest_id: backtest_id ?? backtest_ids?.[0] }
    : { optimization_id };
  const list = api.shares.list.queryOptions({ ...filter, limit: LISTED_MAX });
  const { data, error } = useQuery(list);
  const onSettled = () => queries.invalidateQueries({ queryKey: api.shares.list.pathKey() });
  const make = useMutation(api.shares.create.mutationOptions({ onSettled }));
  const revoke = useMutation(api.shares.revoke.mutationOptions({
    onSettled,
    onSuccess: (_, { id }) => make.data?.share.id === id && make.reset(),
  }));
  // Those of the first run come with those of comparisons that begin with it.
  const isShown = ({ kind, backtest_ids: ids }: Share) =>
    backtest_ids === undefined ? kind !== "comparison" : kind === "comparison" && `${ids}` === `${backtest_ids}`;
  const links = data?.shares.filter(isShown) ?? [];
  return (
    <>
      <form
        className="flex flex-wrap items-start gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate({ share: { ...subject, expires_in_days: Number(days) } });
        }}
      >
        <div className="w-36">
          <SelectField
            label="Expires after"
            options={DAYS}
            value={days}
            onChange={({ target }) => setDays(target.value)}
          />
        </div>
        <Button type="submit" kind="primary" className="mt-6 h-9" disabled={make.isPending}>Make a link</Button>
      </form>
      {[error, make.error, revoke.error].map((each, i) =>
        each !== null && (
          <p key={i} role="alert" className="mt-2 text-sm break-words text-danger">{describeError(each)}</p>
        )
      )}
      {make.data !== undefined && <NewLink key={make.data.share.id} token={make.data.token} />}
      {links.length > 0 && (
        <ul aria-label="Links" className="mt-3 border-t border-line">
          {links.map((link) => (
            <Row
              key={link.id}
              link={link}
              onRevoke={() => revoke.mutate({ id: link.id })}
              isPending={revoke.isPending}
            />
          ))}
        </ul>
      )}
    </>
  );
}

/** A link that was just made. That of a run opens what its owner sees: the tab, the trade and the stretch of time. */
function NewLink({ token }: { readonly token: string }) {
  const [isCopied, setCopied] = useState(false);
  const { change: _panel, ...seen } = readRunSearch(useSearch({ strict: false }));
  const { href: path } = useRouter().buildLocation({ to: "/shared/$token", params: { token }, search: seen });
  const url = `${location.origin}${path}`;
  const copy = async () => {
    await navigator.clipboard.writeText(url);
    setCopied(true);
  };
  return (
    <div role="status" className="mt-3 rounded-lg border border-accent p-3">
      <p className="mb-2 text-sm">Copy it now: it is not shown again.</p>
      <div className="flex flex-wrap items-center gap-2">
        <code className="min-w-0 rounded-md bg-sunken px-2 py-1.5 text-sm break-all select-all">{url}</code>
        <Button onClick={copy}>{isCopied ? "✓ Copied" : "Copy"}</Button>
        <a href={path} target="_blank" rel="noreferrer" className="text-sm text-accent underline">Open it</a>
      </div>
    </div>
  );
}

function Row({ link: { created_at, expires_at }, onRevoke, isPending }: {
  readonly link: Share;
  readonly onRevoke: () => void;
  readonly isPending: boolean;
}) {
  return (
    <li className="flex flex-wrap items-center justify-between gap-2 border-b border-line/60 py-2 text-sm">
      <span>
        Made {formatTime(created_at)}, <span className="text-muted">expires {formatTime(expires_at)} UTC</span>
      </span>
      <Button
        kind="danger"
        aria-label={`Revoke the link made ${formatTime(created_at)}`}
        disabled={isPending}
        onClick={onRevoke}
      >
        Revoke
      </Button>
    </li>
  );
}
