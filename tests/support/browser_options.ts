/** A browser, and a client that ends in the middle, leave connections whose answers end some moments after the test. */
export const LEAVES_CONNECTIONS = { sanitizeOps: false, sanitizeResources: false } as const;
