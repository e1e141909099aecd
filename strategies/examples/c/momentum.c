/* Buys when the close is above the one `candles` before, with a stop loss; closes when it is below. */
#include "hindcast.h"

static u32 candles;
static double stop_loss;

void prepare(void) {
  candles = (u32)read_number("candles", 20);
  stop_loss = read_number("stopLoss", 0.1);
  if (candles < 1) give_up("candles must be 1 or more");
  /* The first decision needs this many visible candles. */
  frame->warmup = candles + 1;
}

void decide(void) {
  double now = frame->close[frame->count - 1], before = frame->close[frame->count - 1 - candles];
  if (now > before && frame->quantity == 0) {
    Order *order = buy();
    order->stop_loss_fraction = stop_loss;
    set_tag(order, "rise");
  } else if (now < before && frame->quantity > 0) {
    close_all(1);
  }
}
