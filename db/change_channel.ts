/** The channel on which processes notify each other of changes; the payload names what has changed. */
export const CHANGES_CHANNEL = "hindcast_changes";

/** Notifies of the record that a statement changes, as one of the columns that it returns: this needs no statement of its own. */
export const NOTIFY_OF_RECORD = `pg_notify('${CHANGES_CHANNEL}', 'backtest ' || backtests.id)`;
