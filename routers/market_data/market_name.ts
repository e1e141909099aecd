import { z } from "zod";
import { mustBe } from "../common/errors.ts";

/** A symbol or an exchange: printable, without the spaces around it. */
export const marketNameSchema = z.string().trim().min(1).max(100).regex(/^\P{C}*$/u, mustBe("printable"));
