/** The token of the link that this page was opened by; undefined on every other page. */
export function linkToken(): string | undefined {
  return /^\/shared\/([\w-]+)\/?$/.exec(location.pathname)?.[1];
}
