import { z } from "zod";
import { mustBe } from "./errors.ts";

export const timeZoneSchema = z.string().max(100).refine(isTimeZone, mustBe("an IANA time zone such as Europe/Berlin"));

function isTimeZone(name: string): boolean {
  try {
    Temporal.Now.zonedDateTimeISO(name);
    return true;
  } catch {
    return false;
  }
}
