import type { Instrument } from "../api.ts";

/** Where an instrument's candles come from, in words. */
export const PROVIDER_NAMES: Readonly<Record<Instrument["provider"], string>> = {
  provider_a: "Provider A",
  provider_b: "Provider B",
  import: "Files",
  sample: "Sample",
};

/** A message of the service with the names of providers in words. */
export function nameProviders(message: string): string {
  return message.replace(
    /\bprovider_[ab]\b/g,
    (name) => name === "provider_a" ? PROVIDER_NAMES.provider_a : PROVIDER_NAMES.provider_b,
  );
}
