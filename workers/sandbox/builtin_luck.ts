/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** The entry of a Web Worker without permissions that measures how much of an optimization's best trial is luck. */
import { measureOverfitting, type Trials } from "../../research/overfitting.ts";
import { brokenBy } from "../outcome.ts";

self.onmessage = ({ data }: MessageEvent<Trials>) => {
  try {
    self.postMessage({ type: "completed", overfitting: measureOverfitting(data) });
  } catch (error) {
    self.postMessage(brokenBy(error));
  }
};
