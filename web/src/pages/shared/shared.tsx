import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { api, codeOf, type Shared } from "../../api.ts";
import { Failure } from "../../parts/failure.tsx";
import { formatTime } from "../../parts/format.ts";
import { VisitorHeader } from "../../parts/visitor_header.tsx";
import { Main } from "../../parts/landmark.tsx";
import { ReadOnly } from "../../parts/read_only.ts";
import { RunHeading } from "../../parts/run_heading.tsx";

// A link shows one of them.
const CompletedRun = lazy(async () => ({ default: (await import("../run/completed_run.tsx")).CompletedRun }));
const RunHeader = lazy(async () => ({ default: (await import("../run/run_header.tsx")).RunHeader }));
const RunFiles = lazy(async () => ({ default: (await import("../run/run_files.tsx")).RunFiles }));
const Compared = lazy(async () => ({ default: (await import("../compare/compared.tsx")).Compared }));
const OptimizationView = lazy(async () => ({
  default: (await import("../optimize/optimization_view.tsx")).OptimizationView,
}));

const route = getRouteApi("/shared/$token");

/** The page of a link, for readers without an account. */
export function SharedPage() {
  const { token } = route.useParams();
  const { data, error, refetch } = useQuery(api.shares.open.queryOptions({ token }, { staleTime: Infinity }));
  return (
    <div className="flex min-h-dvh flex-col">
      <VisitorHeader>
        <p className="text-sm text-muted">
          {data === undefined ? "A shared page" : `Shared with you to read, until ${formatTime(data.expires_at)} UTC`}
        </p>
      </VisitorHeader>
      <Main id="main" className="mx-auto flex w-full max-w-(--page-width) grow flex-col gap-3 px-4 py-4">
        {data !== undefined
          ? (
            <ReadOnly value>
              <Suspense>
                <Shown data={data} />
              </Suspense>
            </ReadOnly>
          )
          : error === null
          ? <p role="status" className="py-24 text-center text-muted">Loading what was shared …</p>
          : codeOf(error) === "SHARE_NOT_FOUND"
          ? <Gone />
          : <Failure error={error} reset={() => void refetch()} />}
      </Main>
      <footer className="px-4 py-3 text-center text-xs text-muted">
        A backtest is a simulation of the past and promises nothing.
      </footer>
    </div>
  );
}

function Shown({ data: { backtest, comparison, optimization } }: { readonly data: Shared }) {
  if (comparison !== null) {
    return (
      <>
        <h1 className="text-xl font-semibold">Comparison</h1>
        <Compared data={comparison} />
      </>
    );
  }
  if (optimization !== null) return <OptimizationView optimization={optimization} />;
  if (backtest?.result === undefined || backtest.result === null) return <Gone />;
  return (
    <>
      <RunHeader
        backtest={backtest}
        heading={<RunHeading run={backtest} />}
        actions={
          <div className="flex gap-2">
            <RunFiles id={backtest.id} isPortfolio={backtest.result.portfolio !== undefined} />
          </div>
        }
      />
      <CompletedRun backtest={backtest} result={backtest.result} />
    </>
  );
}

function Gone() {
  return (
    <div role="alert" className="mx-auto my-16 max-w-lg p-6 text-center">
      <h1 className="text-xl font-semibold">This link opens nothing any more</h1>
      <p className="mt-2 text-muted">
        It was revoked or has expired, what it showed was deleted, or the address is not whole. Ask the person who sent
        it for a new one.
      </p>
    </div>
  );
}
