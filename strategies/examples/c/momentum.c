/* Buys when the close is above the one `candles` before, with a stop loss; closes when it is below. */
#include "hindcast.h"

static u32 candles;
static double stop_loss;

EXPORT(init) i32 init(Frame *frame) {
  candles = (u32)read_number(frame, "candles", 20);
  stop_loss = read_number(frame, "stopLoss", 0.1);
  if (candles < 1) hindcast_abort("candles must be 1 or more", 25);
  /* The first decision needs this many visible candles. */
  frame->warmup = candles + 1;
  return 0;
}

/* Fills rows of the order table from the first on, and returns their number. */
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
