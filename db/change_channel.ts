/** The channel on which processes notify each other of changes; the payload names what has changed. */
export const CHANGES_CHANNEL = "hindcast_changes";

/**
 * Notifies of the record that a statement changes, and of its owner's list, as one of the columns that the statement returns: this needs
 * no statement of its own, and PostgreSQL sends equal notifications of a transaction once.
 */
export const NOTIFY_OF_RECORD = `concat(
  pg_notify('${CHANGES_CHANNEL}', 'backtest ' || backtests.id),
  pg_notify('${CHANGES_CHANNEL}', 'backtests ' || backtests.owner_id)
)`;
