import { useMutation } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { api, describeError, issuesOf, type MonteCarlo } from "../../../api.ts";
import { Button } from "../../../parts/button.tsx";
import { Field, SelectField } from "../../../parts/field.tsx";
import { METHOD_HINTS, METHOD_NAMES } from "./path_words.ts";

type Method = MonteCarlo["method"];

interface Values {
  readonly method: Method;
  readonly runs: string;
  readonly days: string;
  readonly seed: string;
  readonly ruin: string;
}

const METHODS = ["trades", "returns", "candles"] as const satisfies readonly Method[];
const WHOLE = { value: /^\d{1,15}$/, message: "Enter a whole number" };
const ISSUE_FIELDS = {
  method: "/monte_carlo/method",
  runs: "/monte_carlo/runs",
  days: "/monte_carlo/block_days",
  seed: "/monte_carlo/seed",
  ruin: "/monte_carlo/ruin_drawdown",
} as const;

const DEFAULTS: Values = { method: "returns", runs: "1000", days: "", seed: "1", ruin: "50" };

/** Starts a simulation. What the service refuses stands at its field. */
export function StartForm({ backtestId, onStarted }: {
  readonly backtestId: string;
  readonly onStarted: (id: string) => Promise<void>;
}) {
  const start = useMutation(
    api.monteCarlo.create.mutationOptions({ onSuccess: ({ monte_carlo }) => onStarted(monte_carlo.id) }),
  );
  const { register, handleSubmit, watch, formState: { errors } } = useForm<Values>({ defaultValues: DEFAULTS });
  const method = watch("method");
  const hasBlocks = method !== "trades";
  const submit = handleSubmit((values) => start.mutate({ monte_carlo: toRequest(backtestId, values) }));
  const issues = issuesOf(start.error);
  const errorOf = (field: keyof Values) => {
    const issue = issues.find(({ path }) => path === ISSUE_FIELDS[field]);
    return errors[field]?.message ?? (issue === undefined ? undefined : `It ${issue.message}`);
  };
  return (
    <form
      noValidate
      onSubmit={submit}
      className="grid items-start gap-x-3 rounded-lg border border-line p-4 sm:grid-cols-2 lg:grid-cols-[2fr_1fr_1fr_1.5fr_1fr_auto]"
    >
      <SelectField
        label="Method"
        hint={METHOD_HINTS[method]}
        error={errorOf("method")}
        options={METHODS.map((value) => ({ value, label: METHOD_NAMES[value] }))}
        {...register("method")}
      />
      <Field
        label="Paths"
        hint={method === "candles" ? "1 to 10,000; endpoints: 1 to 100" : "1 to 10,000"}
        inputMode="numeric"
        error={errorOf("runs")}
        {...register("runs", { required: "Enter a number", pattern: WHOLE })}
      />
      <Field
        label="Days of a block"
        hint={hasBlocks ? "On average" : "This method has none"}
        inputMode="numeric"
        placeholder={hasBlocks ? "Automatic" : ""}
        disabled={!hasBlocks}
        error={errorOf("days")}
        {...register("days", { pattern: WHOLE })}
      />
      <Field
        label="Ruin at a drawdown of"
        hint="In percent"
        inputMode="decimal"
        error={errorOf("ruin")}
        {...register("ruin", { required: "Enter a number", validate: (text) => Number(text) > 0 || "Enter a number" })}
      />
      <Field
        label="Seed"
        hint="Equal seeds, equal paths"
        inputMode="numeric"
        error={errorOf("seed")}
        {...register("seed", { required: "Enter a number", pattern: WHOLE })}
      />
      <Button type="submit" kind="primary" className="h-9 lg:mt-6" disabled={start.isPending}>Simulate</Button>
      <p role="alert" className="text-sm break-words text-danger empty:hidden sm:col-span-full">
        {start.error === null || issues.length > 0 ? "" : describeError(start.error)}
      </p>
    </form>
  );
}

function toRequest(backtestId: string, { method, runs, days, seed, ruin }: Values) {
  return {
    backtest_id: backtestId,
    method,
    runs: Number(runs),
    seed: Number(seed),
    ruin_drawdown: Number(ruin) / 100,
    ...(method === "trades" || days === "" ? {} : { block_days: Number(days) }),
  };
}
