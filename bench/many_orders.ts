/** A module, as text, that places limit orders far below the price at each candle, for one candle each. */
export function manyOrders(count: number): string {
  return `(module
    (memory (export "memory") 1)
    (global $free (mut i32) (i32.const 8192))
    (func (export "abi_version") (result i32) (i32.const 1))
    (func (export "alloc") (param $size i32) (result i32) (local $block i32) (local $missing i32)
      (local.set $block (global.get $free))
      (global.set $free (i32.add (local.get $block) (i32.and (i32.add (local.get $size) (i32.const 7)) (i32.const -8))))
      (local.set $missing (i32.sub
        (i32.shr_u (i32.add (global.get $free) (i32.const 65535)) (i32.const 16)) (memory.size)))
      (if (i32.gt_s (local.get $missing) (i32.const 0)) (then (drop (memory.grow (local.get $missing)))))
      (local.get $block))
    (func (export "init") (param $frame i32) (result i32) (i32.const 0))
    (func (export "on_candle") (param $frame i32) (result i32) (local $order i32) (local $k i32)
      (local.set $order (i32.load offset=56 (local.get $frame)))
      (loop $next
        (i32.store (local.get $order) (i32.const 1))
        (i32.store offset=4 (local.get $order) (i32.const 1))
        (i32.store offset=8 (local.get $order) (i32.const 1))
        (i32.store offset=12 (local.get $order) (i32.const 1))
        (f64.store offset=16 (local.get $order) (f64.const 1))
        (f64.store offset=24 (local.get $order) (f64.const 0.01))
        (i32.store offset=88 (local.get $order) (i32.const 1))
        (local.set $order (i32.add (local.get $order) (i32.const 112)))
        (local.set $k (i32.add (local.get $k) (i32.const 1)))
        (br_if $next (i32.lt_u (local.get $k) (i32.const ${count}))))
      (i32.const ${count})))`;
}
