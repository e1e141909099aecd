import { useQuery } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useLayoutEffect, useMemo, useState } from "react";
import { useForm, type UseFormReturn } from "react-hook-form";
import { api, type BacktestRequest, type Instrument } from "../../api.ts";
import { Choice } from "../../parts/choice.tsx";
import { fieldsOf } from "../../parts/parameter_fields.ts";
import { toInputs } from "../new_run/inputs_form.ts";
import { startMarkets } from "../new_run/portfolio_form.ts";
import { dayAfter, findSample, type RunForm } from "../new_run/run_form.ts";
import { languageOf } from "./editor/script_language.ts";
import { useTrials } from "../../parts/use_trials.ts";
import { fitSchema, type RegistrationForm } from "./registration_form.ts";
import { EXAMPLES } from "./script_examples.ts";
import type { ScriptFault } from "./script_field.tsx";

// The editor and the charts are not part of the first load.
const ScriptField = lazy(async () => ({ default: (await import("./script_field.tsx")).ScriptField }));
const TrialPanel = lazy(async () => ({ default: (await import("./editor/trial_panel.tsx")).TrialPanel }));

const INSTRUMENTS_MAX = 100;
const TAG = "editor";
const NO_FAULT: ScriptFault = { message: "", goes: false };

interface WorkbenchProps {
  readonly form: UseFormReturn<RegistrationForm>;
  /** Why the service refused the text when it was registered; empty while it has not. */
  readonly refusal: string;
  /** Called when the text is run: an earlier refusal is over. */
  readonly onRun: () => void;
  /** The part below the editor. */
  readonly children: ReactNode;
}

/** The editor of a script, and beside it what the text does on the candles that are chosen there. */
export function ScriptWorkbench(props: WorkbenchProps) {
  const { data, isPending } = useQuery(api.marketData.instruments.queryOptions({ limit: INSTRUMENTS_MAX }));
  // Without the list, a text is still written and registered.
  return isPending
    ? <p role="status" className="min-h-[34rem] text-muted">Loading the editor …</p>
    : <Bench {...props} held={findSample(data?.instruments ?? [])} />;
}

function Bench({ form, refusal, onRun, children, held }: WorkbenchProps & { readonly held: Instrument | undefined }) {
  const market = useForm<RunForm>({ defaultValues: startMarket(held) });
  const trial = useTrials();
  const [failure, setFailure] = useState("");
  const { start } = trial;
  const run = market.handleSubmit((values) => {
    setFailure("");
    onRun();
    start(toTrial(form.getValues(), values));
  });
  const message = trial.refusal || failure;
  const fault = useMemo(
    () => refusal !== "" ? { message: refusal, goes: true } : message === "" ? NO_FAULT : { message, goes: false },
    [refusal, message],
  );
  useRunKey(run);
  return (
    <div className="grid items-start gap-x-6 gap-y-4 lg:grid-cols-2 lg:grid-rows-[auto_1fr]">
      <div className="min-w-0">
        <ExampleChoice form={form} market={market} />
        <Suspense fallback={<p role="status" className="min-h-[34rem] text-muted">Loading the editor …</p>}>
          <ScriptField form={form} fault={fault} onRun={() => void run()} />
        </Suspense>
      </div>
      <div className="min-w-0 lg:row-span-2">
        <Suspense>
          <TrialPanel
            form={market}
            trial={trial}
            onRun={() => void run()}
            onFailure={useCallback((reason: string) => setFailure(reason), [])}
          />
        </Suspense>
      </div>
      <div className="flex min-w-0 flex-col gap-2">{children}</div>
    </div>
  );
}

/** Scripts to begin with, until one of them is changed. */
function ExampleChoice(
  { form, market }: { readonly form: UseFormReturn<RegistrationForm>; readonly market: UseFormReturn<RunForm> },
) {
  const [source, schema] = form.watch(["source", "schema"]);
  const fitted = fitSchema({ source, schema });
  useEffect(() => {
    if (fitted !== schema) form.setValue("schema", fitted);
  }, [fitted, schema]);
  const shown = EXAMPLES.findIndex((each) => each.source === source);
  if (shown < 0) return null;
  return (
    <div className="mb-2">
      <Choice
        label="Begin with"
        values={EXAMPLES.map((_, n) => String(n))}
        labelOf={(n) => EXAMPLES[Number(n)]!.label}
        value={String(shown)}
        onChange={(n) => {
          const { source, schema, inputs } = EXAMPLES[Number(n)]!;
          form.setValue("source", source);
          form.setValue("schema", JSON.stringify(schema, null, 2));
          market.setValue("inputs", inputs.map((each) => ({ ...each })));
        }}
      />
    </div>
  );
}

/** Ctrl+Enter, or the command key, runs from anywhere on the page; the editor has a key of its own. */
function useRunKey(run: () => Promise<void>): void {
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.repeat || event.defaultPrevented) return;
      event.preventDefault();
      void run();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [run]);
}

function startMarket(held: Instrument | undefined): RunForm {
  return {
    strategy: "",
    symbol: held?.symbol ?? "",
    exchange: held?.exchange ?? "",
    timeframe: "1h",
    start: held?.first?.slice(0, 10) ?? "",
    end: dayAfter(held?.last ?? null),
    balance: "10000",
    parameters: [],
    profile: "",
    execution: [],
    markets: startMarkets(undefined),
    inputs: [],
  };
}

/** The run of a text, with the defaults of its parameter schema. */
function toTrial(form: RegistrationForm, market: RunForm): BacktestRequest {
  const { name, source } = form;
  const language = languageOf(source);
  return {
    symbol: market.symbol.trim(),
    exchange: market.exchange.trim(),
    strategy: name.trim() || "Draft",
    start_date: market.start,
    end_date: market.end,
    initial_balance: Number(market.balance),
    tags: [TAG],
    parameters: {
      // A class has its own defaults.
      ...(language === "python" ? {} : defaultsOf(fitSchema(form), source)),
      ...toInputs(market.inputs),
      timeframe: market.timeframe,
      runtime: { type: "script", source, language },
    },
  };
}

/** The defaults of the parameters that a text names: a script refuses others where no registered schema declares them. */
function defaultsOf(schema: string, source: string): Record<string, unknown> {
  try {
    const fields = fieldsOf({ parameter_schema: JSON.parse(schema), default_config: {} });
    return Object.fromEntries(
      fields.flatMap((field) =>
        field.default === undefined || !source.includes(field.name) ? [] : [[field.name, field.default]]
      ),
    );
  } catch {
    // The field of the schema says what is wrong with it.
    return {};
  }
}
