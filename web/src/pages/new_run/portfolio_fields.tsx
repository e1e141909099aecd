import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { UseFormReturn } from "react-hook-form";
import { api } from "../../api.ts";
import { Choice } from "../../parts/choice.tsx";
import { CheckField, Field, FieldNote, SelectField } from "../../parts/field.tsx";
import { formatCount } from "../../parts/format.ts";
import { describeList, Picker } from "../../parts/picker.tsx";
import { FormSection } from "./form_section.tsx";
import { toItem, useInstruments } from "./market_section.tsx";
import type { ListedMarket, PortfolioForm } from "./portfolio_form.ts";
import { type Chosen, decidesOnMarkets, fitTimeframe, type RunForm } from "./run_form.ts";

const LIST_MAX = 100;
const MARKETS_MAX = 1_000;
const REACHES = ["one", "list", "universe"] as const satisfies readonly PortfolioForm["reach"][];
// For a strategy that decides on many markets at once.
const MANY = REACHES.filter((each) => each !== "one");
const REACH_WORDS = { one: "the instrument above", list: "several instruments", universe: "a universe" } as const;
const ACCOUNT_NOTE = "One account trades all of them. It is compared with the instrument above.";
const RANKS = [
  { value: "listed", label: "In the order of the list" },
  { value: "score", label: "By the strategy's score" },
];

interface FieldsProps {
  readonly form: UseFormReturn<RunForm>;
  /** The strategy that runs. */
  readonly chosen: Chosen;
}

/** Makes the run one of many markets with one account. The instrument above is then what it is compared with. */
export function PortfolioFields({ form, chosen }: FieldsProps) {
  return (
    <FormSection title="Markets">
      <Reach form={form} chosen={chosen} label="Run over" note={ACCOUNT_NOTE} />
      {form.watch("markets.reach") !== "one" && (
        <>
          <AccountFields form={form} />
          <MissingField form={form} />
        </>
      )}
    </FormSection>
  );
}

/** Makes an optimization one over many markets: each point is tried in each by itself, or with one account between them. */
export function ScanFields({ form, chosen }: FieldsProps) {
  const { reach, isShared } = form.watch("markets");
  return (
    <FormSection title="Markets">
      <Reach
        form={form}
        chosen={chosen}
        label="Try it in"
        note={isShared ? ACCOUNT_NOTE : "Each of them has an account of its own."}
      />
      {reach !== "one" && (
        <>
          <CheckField
            label="One account trades all of them"
            hint="Otherwise each is tried by itself, and points are ranked over them"
            {...form.register("markets.isShared")}
          />
          {isShared && <AccountFields form={form} />}
          <MissingField form={form} />
        </>
      )}
    </FormSection>
  );
}

/** How one account is shared. */
function AccountFields({ form: { register, formState: { errors } } }: { readonly form: UseFormReturn<RunForm> }) {
  const faults = errors.markets;
  return (
    <>
      <div className="grid grid-cols-2 gap-x-4">
        <Field
          label="Positions at a time"
          hint="Empty: all of them"
          inputMode="numeric"
          autoComplete="off"
          error={faults?.positions?.message}
          {...register("markets.positions", {
            validate: (typed) =>
              typed.trim() === "" || (/^\d+$/.test(typed.trim()) && Number(typed) >= 1)
                ? undefined
                : "Enter a whole number, 1 or more",
          })}
        />
        <SelectField
          label="Who comes first"
          hint="Where slots or money are short"
          options={RANKS}
          error={faults?.rank?.message}
          {...register("markets.rank")}
        />
      </div>
      <Field
        label="Account's currency"
        hint="Such as USD; needed where the instruments have several"
        autoComplete="off"
        spellCheck={false}
        error={faults?.currency?.message}
        {...register("markets.currency")}
      />
    </>
  );
}

function MissingField({ form }: { readonly form: UseFormReturn<RunForm> }) {
  return (
    <CheckField
      label="Leave out those without candles"
      hint="Otherwise they end it, and are named"
      {...form.register("markets.skipsMissing")}
    />
  );
}

/** One market, a list of them or a universe. @param note What many of them mean. */
function Reach({ form, chosen, label, note }: FieldsProps & {
  readonly label: string;
  readonly note: string;
}) {
  const { watch, setValue, formState: { errors } } = form;
  const reach = watch("markets.reach");
  const faults = errors.markets;
  return (
    <>
      <Choice
        label={label}
        values={decidesOnMarkets(chosen) ? MANY : REACHES}
        labelOf={(each) => REACH_WORDS[each]}
        value={reach}
        onChange={(value) => {
          setValue("markets.reach", value);
          form.clearErrors("markets");
        }}
      />
      {reach === "one"
        ? <FieldNote id="markets-note" error={faults?.instruments?.message ?? faults?.universe?.message} />
        : <p className="mt-1 mb-3 text-sm text-muted">{note}</p>}
      {reach === "list" && <MarketList form={form} />}
      {reach === "universe" && <UniversePicker form={form} />}
    </>
  );
}

function MarketList(
  { form: { register, watch, setValue, clearErrors, formState: { errors } } }: {
    readonly form: UseFormReturn<RunForm>;
  },
) {
  register("markets.instruments", {
    validate: (listed, { markets }) =>
      markets.reach === "list" && listed.length === 0 ? "Add at least one instrument" : undefined,
  });
  const [search, setSearch] = useState("");
  const list = useInstruments(search);
  const chosen = watch("markets.instruments");
  const isChosen = (one: ListedMarket) =>
    chosen.some(({ symbol, exchange }) => symbol === one.symbol && exchange === one.exchange);
  const held = (list.data?.instruments ?? []).filter((each) => !isChosen(each));
  const items = held.map(toItem);
  const set = (next: ListedMarket[]) => {
    setValue("markets.instruments", next);
    // A refusal of another list says nothing about this one.
    clearErrors("markets");
  };
  return (
    <>
      <Picker
        label="Instruments"
        searchLabel="Search instruments to add"
        chosen={{ key: "", name: chosen.length === 0 ? "Add an instrument …" : "Add another instrument …" }}
        hint={chosen.length === 0 ? "" : `${formatCount(chosen.length)} of at most ${formatCount(MARKETS_MAX)}`}
        error={errors.markets?.instruments?.message ?? errors.markets?.instruments?.root?.message}
        items={items}
        {...describeList(list, items.length)}
        onSearch={setSearch}
        onPick={(key) => {
          const found = held.find((each) => toItem(each).key === key);
          if (found === undefined) return;
          set([...chosen, { symbol: found.symbol, exchange: found.exchange }]);
          setValue("timeframe", fitTimeframe(watch("timeframe"), found));
        }}
      />
      <ul aria-label="Chosen instruments" className="mb-3 flex max-h-40 flex-wrap gap-1.5 overflow-y-auto empty:hidden">
        {chosen.map((each, i) => (
          <li
            key={`${each.symbol} ${each.exchange} ${each.from}`}
            className="flex min-w-0 items-center gap-1 rounded-md bg-sunken pl-2 text-sm"
          >
            <span className="truncate">{describeMarket(each)}</span>
            <button
              type="button"
              aria-label={`Remove ${describeMarket(each)}`}
              onClick={() => set(chosen.filter((_, other) => other !== i))}
              className="grid size-7 shrink-0 place-items-center rounded-md text-muted hover:text-text"
            >
              ✕
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

function UniversePicker(
  { form: { register, watch, setValue, clearErrors, formState: { errors } } }: {
    readonly form: UseFormReturn<RunForm>;
  },
) {
  register("markets.universe", {
    validate: (slug, { markets }) => markets.reach === "universe" && slug === "" ? "Choose a universe" : undefined,
  });
  const [search, setSearch] = useState("");
  const chosen = watch("markets.universe");
  const list = useQuery(
    api.universes.list.queryOptions(
      { limit: LIST_MAX, ...(search === "" ? {} : { search: search.slice(0, 100) }) },
      { placeholderData: keepPreviousData },
    ),
  );
  const items = (list.data?.universes ?? []).map(({ slug, description, members, is_owner }) => ({
    key: slug,
    name: slug,
    detail: [`${formatCount(members)} members`, description].filter(Boolean).join(" · "),
    tag: is_owner ? "Yours" : "Public",
  }));
  const isEmpty = list.data !== undefined && items.length === 0 && search === "";
  return (
    <>
      <Picker
        label="Universe"
        searchLabel="Search universes"
        chosen={{ key: chosen.split("@")[0]!, name: chosen || "Choose a universe …" }}
        hint={chosen.includes("@") ? "This version; choose it again for the newest" : "Its newest version"}
        error={errors.markets?.universe?.message}
        items={items}
        {...describeList(list, items.length)}
        onSearch={setSearch}
        onPick={(slug) => {
          setValue("markets.universe", slug);
          clearErrors("markets");
        }}
      />
      {isEmpty && (
        <p className="mb-2 text-sm">
          There is none yet.{" "}
          <Link to="/universes" search={{ add: true }} className="text-accent underline">Make a universe</Link>
        </p>
      )}
    </>
  );
}

function describeMarket({ symbol, exchange, from, to }: ListedMarket): string {
  const dates = from || to ? `, ${from ?? "…"} to ${to ?? "…"}` : "";
  return `${symbol} on ${exchange}${dates}`;
}
