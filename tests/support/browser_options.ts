/** For tests whose browser, Node program or second service may leave in the middle: their connections may end some moments after the test. */
export const LEAVES_CONNECTIONS = { sanitizeOps: false, sanitizeResources: false } as const;
