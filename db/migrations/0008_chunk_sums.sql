-- The sum is now of the stored bytes and no longer of the unpacked candles, which are five times as many.
UPDATE "candle_chunks" SET "sha256" = encode(sha256("data"), 'hex');
