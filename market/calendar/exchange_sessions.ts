import type { AssetClass, Instrument, Session } from "../../db/instruments.ts";

const WORKDAYS = [1, 2, 3, 4, 5];
const EVERY_DAY = [1, 2, 3, 4, 5, 6, 7];

function exchange(timezone: string, open: string, close: string, extended: Session["extended"] = null): Session {
  return { timezone, open, close, weekdays: WORKDAYS, extended };
}

/** A day of UTC, every day: the session of crypto, and of stored days, which are dates. */
export const UTC_DAYS: Session = {
  timezone: "UTC",
  open: "00:00",
  close: "24:00",
  weekdays: EVERY_DAY,
  extended: null,
};

const NEW_YORK = exchange("America/New_York", "09:30", "16:00", { open: "04:00", close: "20:00" });
const CHINA = exchange("Asia/Shanghai", "09:30", "15:00");
const INDIA = exchange("Asia/Kolkata", "09:15", "15:30");

/** The continuous trade of the largest exchanges, of today; a closing auction after it is extended trade. */
export const EXCHANGE_SESSIONS = {
  NASDAQ: NEW_YORK,
  NYSE: NEW_YORK,
  ARCA: NEW_YORK,
  AMEX: NEW_YORK,
  LSE: exchange("Europe/London", "08:00", "16:30"),
  XETRA: exchange("Europe/Berlin", "09:00", "17:30"),
  EURONEXT: exchange("Europe/Paris", "09:00", "17:30"),
  TSE: exchange("Asia/Tokyo", "09:00", "15:30"),
  HKEX: exchange("Asia/Hong_Kong", "09:30", "16:00"),
  SSE: CHINA,
  SZSE: CHINA,
  NSE: INDIA,
  BSE: INDIA,
  ASX: exchange("Australia/Sydney", "10:00", "16:00"),
  TSX: exchange("America/Toronto", "09:30", "16:00"),
  SIX: exchange("Europe/Zurich", "09:00", "17:30"),
  OMX: exchange("Europe/Stockholm", "09:00", "17:30"),
  KRX: exchange("Asia/Seoul", "09:00", "15:30"),
  SGX: exchange("Asia/Singapore", "09:00", "17:00"),
  B3: exchange("America/Sao_Paulo", "10:00", "17:00"),
} as const satisfies Readonly<Record<string, Session>>;

type ExchangeName = keyof typeof EXCHANGE_SESSIONS;
export const EXCHANGE_NAMES = Object.keys(EXCHANGE_SESSIONS).filter(isExchange);

function isExchange(name: string): name is ExchangeName {
  return Object.hasOwn(EXCHANGE_SESSIONS, name);
}

const CLASS_SESSIONS: Readonly<Record<AssetClass, Session>> = {
  crypto: UTC_DAYS,
  forex: { timezone: "America/New_York", open: "17:00", close: "17:00", weekdays: WORKDAYS, extended: null },
  stock: NEW_YORK,
};

/** The facts that decide an instrument's session. */
export type Traded = Pick<Instrument, "assetClass" | "exchange"> & { readonly session?: Session | null | undefined };

/** An instrument's session: its own, else that of its exchange for a stock, else that of its asset class. */
export function sessionOf({ session, assetClass, exchange }: Traded): Session {
  if (session !== null && session !== undefined) return session;
  const name = exchange.toUpperCase();
  return assetClass === "stock" && isExchange(name) ? EXCHANGE_SESSIONS[name] : CLASS_SESSIONS[assetClass];
}

/** The hours that candles are made of. */
export const HOURS = ["regular", "extended"] as const;
export type Hours = (typeof HOURS)[number];

const extendedSessions = new WeakMap<Session, Session>();

/** An instrument's session with the named hours; extended ones are around the clock where the session names none. */
export function sessionWith(instrument: Traded, hours: Hours): Session {
  const session = sessionOf(instrument);
  if (hours === "regular") return session;
  const extended = extendedSessions.get(session) ?? extend(session);
  extendedSessions.set(session, extended);
  return extended;
}

function extend(session: Session): Session {
  if (session.extended !== null) return { ...session, ...session.extended };
  if (session.open === session.close) return { ...session, weekdays: EVERY_DAY };
  return { ...session, open: "00:00", close: "24:00", weekdays: EVERY_DAY };
}
