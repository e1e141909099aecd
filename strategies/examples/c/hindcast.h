/* Bindings for C: version 1 of strategies/ABI.md, which explains every field. Include it in one source file. */
#ifndef HINDCAST_H
#define HINDCAST_H

typedef unsigned int u32;
typedef int i32;

#define EXPORT(name) __attribute__((export_name(#name)))
#define IMPORT(name) __attribute__((import_module("env"), import_name(#name)))

/* 0 in a price, distance or fraction of an order means none. */
typedef struct {
  i32 action, side, type, size_by;
  double size;
  double limit_price, stop_price;
  double stop_loss, take_profit;
  double stop_loss_fraction, take_profit_fraction;
  double trail_distance, trail_fraction;
  u32 candles_max, time_stop_candles, flags;
  i32 target;
  const char *tag;
  u32 tag_len;
} Order;

enum { PLACE = 1, CLOSE, CLOSE_TRADE, CANCEL, CANCEL_ALL, REPLACE, PROTECT };
enum { MARKET, LIMIT, STOP, STOP_LIMIT };
enum { BY_DEFAULT, BY_UNITS, BY_EQUITY_FRACTION, BY_CASH, BY_RISK_FRACTION };
enum { REDUCE_ONLY = 1 };

typedef struct {
  i32 number;
  double quantity, entry_price;
} Trade;

typedef struct {
  u32 abi_version, frame_size;
  const char *parameters;
  u32 parameters_len;
  u32 warmup, orders_max, trades_max, working_max;
  const double *time, *open, *high, *low, *close, *volume;
  Order *orders;
  const i32 *results;
  const Trade *trades;
  const i32 *working;
  u32 count, results_count;
  u32 working_orders, open_trades, trades_count, working_count;
  double cash, equity, quantity, entry_price, initial_balance;
  double timeframe_ms;
  u32 first_index, columns_capacity;
} Frame;

_Static_assert(sizeof(Order) == 112 && sizeof(Trade) == 24 && sizeof(Frame) == 152, "the layout of ABI version 1");

IMPORT(abort) _Noreturn void hindcast_abort(const char *message, u32 length);
IMPORT(log) void hindcast_log(const char *message, u32 length);

EXPORT(abi_version) i32 abi_version(void) { return 1; }

/* ---- Memory: blocks from the end of the linker's data on, never freed. ---- */

extern unsigned char __heap_base;
static u32 heap_end;

EXPORT(alloc) void *alloc(u32 size) {
  if (heap_end == 0) heap_end = ((u32)&__heap_base + 7) & ~7u;
  u32 block = heap_end;
  heap_end += (size + 7) & ~7u;
  i32 missing = (i32)((heap_end + 65535) >> 16) - (i32)__builtin_wasm_memory_size(0);
  if (missing > 0 && __builtin_wasm_memory_grow(0, missing) == (__SIZE_TYPE__)-1) return 0;
  return (void *)block;
}

/* ---- Parameters: one flat JSON object without spaces. ---- */

/* The start of a key's value; 0 if the key is absent. */
static inline const char *find_value(const Frame *frame, const char *key) {
  const char *at = frame->parameters, *end = at + frame->parameters_len;
  for (; at < end; at++) {
    if (*at != '"') continue;
    const char *wanted = key, *name = at + 1;
    while (name < end && *wanted && *name == *wanted) name++, wanted++;
    if (!*wanted && name + 1 < end && name[0] == '"' && name[1] == ':') return name + 2;
    /* Go to the end of this string, past escaped quotes. */
    for (at++; at < end && *at != '"'; at++) at += *at == '\\';
  }
  return 0;
}

/* A number of zero or more; `fallback` if the key is absent. Exact up to 15 digits and 22 decimal places: only the division rounds. */
static inline double read_number(const Frame *frame, const char *key, double fallback) {
  const char *at = find_value(frame, key), *end = frame->parameters + frame->parameters_len;
  if (!at) return fallback;
  double digits = 0, scale = 1;
  for (; at < end && *at >= '0' && *at <= '9'; at++) digits = digits * 10 + (*at - '0');
  if (at < end && *at == '.') {
    for (at++; at < end && *at >= '0' && *at <= '9'; at++) digits = digits * 10 + (*at - '0'), scale *= 10;
  }
  if (at + 1 < end && *at == 'e' && at[1] == '-') {
    i32 exponent = 0;
    for (at += 2; at < end && *at >= '0' && *at <= '9'; at++) exponent = exponent * 10 + (*at - '0');
    while (exponent-- > 0) scale *= 10;
  }
  return digits / scale;
}

#endif
