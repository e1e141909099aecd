import { z } from "zod";
import { CURRENCY } from "../../market/feeds/quote_currency.ts";
import { mustBe } from "../common/errors.ts";

/** A currency as it is written in requests, such as USD. */
export const currencySchema = z.string().regex(CURRENCY, mustBe("3 to 10 capitals or digits, such as USD"));
