/** The name that another one may have meant. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const plain = (text: string) => text.replaceAll("_", "").toLowerCase();
  const given = plain(name);
  return known.find((each) => plain(each) === given) ?? known.find((each) => isNearly(given, plain(each)));
}

/** True for names that one typing error parts: letters too many, too few or wrong at one place, or two that changed places. */
export function isNearly(given: string, known: string): boolean {
  let start = 0;
  while (start < given.length && given[start] === known[start]) start++;
  let [end, knownEnd] = [given.length, known.length];
  while (end > start && knownEnd > start && given[end - 1] === known[knownEnd - 1]) {
    [end, knownEnd] = [end - 1, knownEnd - 1];
  }
  const [rest, other] = [given.slice(start, end), known.slice(start, knownEnd)];
  const lettersMax = given.length < 5 ? 1 : 2;
  const isSwapped = rest.length === 2 && rest === `${other[1]}${other[0]}` && other.length === 2;
  return isSwapped || Math.max(rest.length, other.length) <= lettersMax;
}
