import { FRAME } from "../contracts/abi.ts";
import { STATE, WINDOW_ROWS } from "./driver.ts";

const COLUMNS = ["time", "open", "high", "low", "close", "volume"];
const MASK = WINDOW_ROWS - 1;

const state = (type: "i32" | "i64" | "f64", offset: number) => `(${type}.load $host offset=${offset} (i32.const 0))`;
const address = (n: number) => STATE.columns + 4 * n;
const window = (n: number) => STATE.windows + 8 * WINDOW_ROWS * n;

const readAddress = (column: string, n: number) => `(local.set $${column} ${state("i32", address(n))})`;
const showRow = (column: string, n: number) =>
  `(f64.store $guest (i32.add (local.get $${column}) (local.get $row)) (f64.load $host offset=${
    window(n)
  } (local.get $slot)))`;

/** The source of driver_bytes.ts. It writes each field of the frame before each call, because a guest may have changed it. */
export const DRIVER_TEXT = `(module
  (import "guest" "memory" (memory $guest 0))
  (import "host" "memory" (memory $host 1))
  (import "host" "shared" (memory $shared 1 1 shared))
  (import "guest" "on_candle" (func $on_candle (param i32) (result i32)))
  (func (export "decide") (param $i i32) (param $until i32) (result i32)
    (local $frame i32) (local $rows i32) (local $slot i32) (local $row i32)
    ${COLUMNS.map((column) => `(local $${column} i32)`).join(" ")}
    (local $cash f64) (local $quantity f64)
    (local.set $frame ${state("i32", STATE.frame)})
    (local.set $rows ${state("i32", STATE.rows)})
    (local.set $cash ${state("f64", STATE.cash)})
    (local.set $quantity ${state("f64", STATE.quantity)})
    ${COLUMNS.map(readAddress).join("\n    ")}
    (loop $next
      (i32.store $shared (i32.const 0) (i32.sub (local.get $i) ${state("i32", STATE.firstIndex)}))
      (local.set $slot (i32.shl (i32.and (local.get $i) (i32.const ${MASK})) (i32.const 3)))
      (local.set $row (i32.shl (local.get $i) (i32.const 3)))
      ${COLUMNS.map(showRow).join("\n      ")}
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (i32.store $guest offset=${FRAME.count} (local.get $frame) (local.get $i))
      (i32.store $guest offset=${FRAME.resultsCount} (local.get $frame) (local.get $rows))
      ;; Two words each: working orders and open trades, then the rows of both tables.
      (i64.store $guest offset=${FRAME.workingOrders} (local.get $frame) ${state("i64", STATE.workingOrders)})
      (i64.store $guest offset=${FRAME.tradesCount} (local.get $frame) ${state("i64", STATE.tradesCount)})
      (f64.store $guest offset=${FRAME.cash} (local.get $frame) (local.get $cash))
      (f64.store $guest offset=${FRAME.equity} (local.get $frame)
        (f64.add (local.get $cash)
          (f64.mul (local.get $quantity) (f64.load $host offset=${
  window(COLUMNS.indexOf("close"))
} (local.get $slot)))))
      (f64.store $guest offset=${FRAME.quantity} (local.get $frame) (local.get $quantity))
      (f64.store $guest offset=${FRAME.entryPrice} (local.get $frame) ${state("f64", STATE.entryPrice)})
      (f64.store $guest offset=${FRAME.initialBalance} (local.get $frame) ${state("f64", STATE.initialBalance)})
      (local.set $rows (call $on_candle (local.get $frame)))
      (br_if $next
        (i32.and
          (i32.eqz (i32.or (local.get $rows) ${state("i32", STATE.aborted)}))
          (i32.lt_u (local.get $i) (local.get $until)))))
    (i32.store $shared (i32.const 0) (i32.sub (local.get $i) ${state("i32", STATE.firstIndex)}))
    (i32.store $host offset=${STATE.rows} (i32.const 0) (local.get $rows))
    (local.get $i)))
`;
