import { LAYOUT } from "../contracts/layout.ts";
import * as book from "./realm/book.ts";
import * as columns from "./realm/columns.ts";
import * as defaultValues from "./realm/default_values.ts";
import * as deciding from "./realm/deciding.ts";
import * as inputs from "./realm/inputs.ts";
import * as marketOrders from "./realm/market_orders.ts";
import * as memory from "./realm/memory.ts";
import * as nearNames from "./realm/near_names.ts";
import * as orders from "./realm/orders.ts";
import * as ownSeries from "./realm/own_series.ts";
import * as output from "./realm/output.ts";
import * as parameters from "./realm/parameters.ts";
import * as peeks from "./realm/peeks.ts";
import * as portfolio from "./realm/portfolio.ts";
import * as realm from "./realm/realm.ts";
import * as trades from "./realm/trades.ts";
import * as watch from "./realm/watch.ts";
import * as world from "./realm/world.ts";

const PARTS = [
  book,
  columns,
  deciding,
  defaultValues,
  inputs,
  marketOrders,
  memory,
  nearNames,
  orders,
  output,
  ownSeries,
  parameters,
  peeks,
  portfolio,
  realm,
  trades,
  watch,
  world,
];
const FUNCTIONS = joinFunctions();

/** The texts of all functions. In one realm the second of a name would take the place of the first. */
function joinFunctions(): string {
  const texts = new Map<string, string>();
  for (const [name, each] of PARTS.flatMap((part) => Object.entries(part))) {
    if (texts.has(name)) throw new Error(`Cannot set a realm up: it has two functions ${name}`);
    texts.set(name, String(each));
  }
  return [...texts.values()].join("\n");
}

/** A script that sets up the realm which evaluates it, for one script. Its value is the realm's door. */
export const REALM_TEXT = textOf(realm.openRealm);

/** The same for scripts one after the other. */
export const LASTING_REALM_TEXT = textOf(realm.openLastingRealm);

function textOf({ name }: typeof realm.openRealm | typeof realm.openLastingRealm): string {
  return `"use strict"; (() => {
${FUNCTIONS}
return ${name}(${JSON.stringify(LAYOUT)});
})()`;
}
