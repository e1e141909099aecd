import { useState } from "react";
import { useForm } from "react-hook-form";
import type { Instrument } from "../../api.ts";
import { toField } from "../../parts/parameter_fields.ts";
import { type RefusedField, showRefusal } from "../../parts/show_refusal.ts";
import { type Chosen, decidesOnMarkets, type Earlier, fieldAt, type RunForm, startValues } from "./run_form.ts";

/** The values that a form of a run begins with. */
export interface RunStart {
  readonly first: Chosen;
  /** The instrument of a new run; undefined where the archive is empty. */
  readonly held: Instrument | undefined;
  /** The run or the optimization to start from. */
  readonly earlier: Earlier | undefined;
  /** The universe to run over, from the address. */
  readonly universe?: string | undefined;
}

/** The same, and the name of the form's draft. */
export interface DraftedStart extends RunStart {
  readonly draftName: string;
}

/** The form of a run with its strategy. An optimization has fields beside it. */
export function useRunForm({ first, held, earlier, universe }: RunStart) {
  const [chosen, setChosen] = useState(first);
  const [isLoading, setLoading] = useState(false);
  const form = useForm<RunForm>({ defaultValues: startValues(first, held, earlier, universe), mode: "onTouched" });
  return {
    form,
    chosen,
    /** A strategy that was chosen is still on its way: the form is that of another. */
    isLoading,
    setLoading,
    choose: (next: Chosen) => {
      setChosen(next);
      form.clearErrors("parameters");
      form.setValue("strategy", next.entry?.slug ?? "");
      form.setValue("parameters", next.fields.map((field) => toField(field.default)));
      const { reach, instruments } = form.getValues("markets");
      const isMany = decidesOnMarkets(next);
      if (isMany) form.setValue("markets.isShared", true);
      if (isMany && reach === "one") form.setValue("markets.reach", "list");
      // The list was opened for a strategy that needs one.
      if (!isMany && reach === "list" && instruments.length === 0) form.setValue("markets.reach", "one");
      form.clearErrors("markets");
    },
    /** Begins anew. */
    restart: () => {
      setChosen(first);
      form.reset();
    },
    /** Shows a refusal at its fields. @param otherAt Finds a field beside those of a run. */
    refuse: (error: unknown, otherAt: (path: string) => RefusedField<RunForm> | null = () => null) =>
      showRefusal(form.setError, error, (path) => {
        const name = fieldAt(path, chosen, form.getValues("inputs"));
        return name === null ? otherAt(path) : { name };
      }),
  };
}
