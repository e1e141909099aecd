/* Buys when the close is above the one `candles` before, with a stop loss; closes when it is below. Yours to change. */
#include "hindcast.h"

/* ---- Memory: given out from the end of what the linker has laid out, never taken back. ---- */

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

/* A number of zero or more without an exponent, as `20` and `0.05` are; `fallback` where there is no such key. */
static double read_number(const Frame *frame, const char *key, double fallback) {
  const char *at = frame->parameters, *end = at + frame->parameters_len;
  for (; at < end; at++) {
    if (*at != '"') continue;
    const char *wanted = key, *name = at + 1;
    while (name < end && *wanted && *name == *wanted) name++, wanted++;
    if (!*wanted && name + 1 < end && name[0] == '"' && name[1] == ':') break;
    /* To the end of this text, past quotes that are escaped. */
    for (at++; at < end && *at != '"'; at++) at += *at == '\\';
  }
  if (at >= end) return fallback;
  while (*at != ':') at++;
  double digits = 0, scale = 1;
  for (at++; at < end && *at >= '0' && *at <= '9'; at++) digits = digits * 10 + (*at - '0');
  if (at < end && *at == '.') {
    for (at++; at < end && *at >= '0' && *at <= '9'; at++) digits = digits * 10 + (*at - '0'), scale *= 10;
  }
  return digits / scale;
}

/* ---- The strategy. ---- */

static u32 candles;
static double stop_loss;

EXPORT(abi_version) i32 abi_version(void) { return 1; }

EXPORT(init) i32 init(Frame *frame) {
  candles = (u32)read_number(frame, "candles", 20);
  stop_loss = read_number(frame, "stopLoss", 0.1);
  if (candles < 1) hindcast_abort("candles must be 1 or more", 25);
  /* No decision before this many candles are visible. */
  frame->warmup = candles + 1;
  return 0;
}

EXPORT(on_candle) i32 on_candle(Frame *frame) {
  double now = frame->close[frame->count - 1], before = frame->close[frame->count - 1 - candles];
  Order *order = frame->orders;
  if (now > before && frame->quantity == 0) {
    order->action = PLACE;
    order->side = 1;
    order->stop_loss_fraction = stop_loss;
    order->tag = "rise";
    order->tag_len = 4;
    return 1;
  }
  if (now < before && frame->quantity > 0) {
    order->action = CLOSE;
    order->size = 1;
    return 1;
  }
  return 0;
}
