/* The memory that a strategy and Hindcast share, as C sees it: version 1 of strategies/ABI.md. Every field is explained there. */
#ifndef HINDCAST_H
#define HINDCAST_H

typedef unsigned int u32;
typedef int i32;

#define EXPORT(name) __attribute__((export_name(#name)))
#define IMPORT(name) __attribute__((import_module("env"), import_name(#name)))

/* 0 in a price, distance or fraction of an order is "none". */
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
} Frame;

_Static_assert(sizeof(Order) == 112 && sizeof(Trade) == 24 && sizeof(Frame) == 136, "the layout of ABI version 1");

IMPORT(abort) _Noreturn void hindcast_abort(const char *message, u32 length);
IMPORT(log) void hindcast_log(const char *message, u32 length);

#endif
