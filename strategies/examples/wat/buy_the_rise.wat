;; Buys when a candle closes higher than the one before, closes everything when one closes lower.
(module
  ;; A strategy may call two functions: `log` and `abort`.
  (import "env" "log" (func $log (param $pointer i32) (param $length i32)))

  (memory (export "memory") 1)
  (data (i32.const 16) "ready")
  (data (i32.const 32) "rise")

  ;; The start of free memory: the bytes below 1,024 are in use.
  (global $free (mut i32) (i32.const 1024))

  (func (export "abi_version") (result i32)
    i32.const 1)

  ;; Returns the next `size` bytes, rounded up to a multiple of 8, and grows the memory if needed. 0: out of memory.
  (func (export "alloc") (param $size i32) (result i32)
    (local $block i32)
    (local $missing i32)
    (local.set $block (global.get $free))
    (global.set $free
      (i32.add (local.get $block) (i32.and (i32.add (local.get $size) (i32.const 7)) (i32.const -8))))
    (local.set $missing
      (i32.sub
        (i32.shr_u (i32.add (global.get $free) (i32.const 65535)) (i32.const 16))
        (memory.size)))
    (if (i32.gt_s (local.get $missing) (i32.const 0))
      (then
        (if (i32.eq (memory.grow (local.get $missing)) (i32.const -1))
          (then (return (i32.const 0))))))
    (local.get $block))

  ;; Requests a warm-up of two candles. It has no parameters, so it does not read them.
  (func (export "init") (param $frame i32) (result i32)
    (i32.store offset=16 (local.get $frame) (i32.const 2))
    (call $log (i32.const 16) (i32.const 5))
    (i32.const 0))

  (func (export "on_candle") (param $frame i32) (result i32)
    (local $last i32)
    (local $order i32)
    (local $now f64)
    (local $before f64)
    ;; The address of the last close: the column's address and 8 bytes for each earlier candle.
    (local.set $last
      (i32.add
        (i32.load offset=48 (local.get $frame))
        (i32.shl (i32.sub (i32.load offset=72 (local.get $frame)) (i32.const 1)) (i32.const 3))))
    (local.set $now (f64.load (local.get $last)))
    (local.set $before (f64.load (i32.sub (local.get $last) (i32.const 8))))
    (local.set $order (i32.load offset=56 (local.get $frame)))

    ;; Flat, and it rose: place (1) a buy (1) at market (0), sized by default (0), with a stop loss 10% below the entry.
    (if (i32.and
          (f64.eq (f64.load offset=112 (local.get $frame)) (f64.const 0))
          (f64.gt (local.get $now) (local.get $before)))
      (then
        (i32.store (local.get $order) (i32.const 1))
        (i32.store offset=4 (local.get $order) (i32.const 1))
        (f64.store offset=56 (local.get $order) (f64.const 0.1))
        (i32.store offset=104 (local.get $order) (i32.const 32))
        (i32.store offset=108 (local.get $order) (i32.const 4))
        (return (i32.const 1))))

    ;; In the market, and it fell: close (2) all of it (size 1).
    (if (i32.and
          (f64.gt (f64.load offset=112 (local.get $frame)) (f64.const 0))
          (f64.lt (local.get $now) (local.get $before)))
      (then
        (i32.store (local.get $order) (i32.const 2))
        (f64.store offset=16 (local.get $order) (f64.const 1))
        (return (i32.const 1))))
    (i32.const 0)))
