/** Rows are not read any more, since the service ends. */
export class RowsClosed extends Error {
  override readonly name = "RowsClosed";

  constructor() {
    super("Cannot read rows: the service is shutting down");
  }
}
