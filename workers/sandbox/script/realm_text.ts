import { LAYOUT } from "../contracts/layout.ts";
import * as book from "./realm/book.ts";
import * as columns from "./realm/columns.ts";
import * as inputs from "./realm/inputs.ts";
import * as marketOrders from "./realm/market_orders.ts";
import * as memory from "./realm/memory.ts";
import * as orders from "./realm/orders.ts";
import * as output from "./realm/output.ts";
import * as parameters from "./realm/parameters.ts";
import * as portfolio from "./realm/portfolio.ts";
import * as realm from "./realm/realm.ts";
import * as trades from "./realm/trades.ts";
import * as world from "./realm/world.ts";

/** A script that sets up the realm which evaluates it. Its value is the realm's door. */
export const REALM_TEXT = `"use strict"; (() => {
${
  [book, columns, inputs, marketOrders, memory, orders, output, parameters, portfolio, realm, trades, world].flatMap((
    part,
  ) => Object.values(part))
    .join("\n")
}
return openRealm(${JSON.stringify(LAYOUT)});
})()`;
