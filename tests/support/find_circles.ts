const CIRCLE_ADVICE = "move what two of them need into a file of its own, or pass it in as an argument";

/** The shortest circle through each file that is in one, from its first file in the alphabet on. */
export function findCircles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const circles = new Set<string>();
  for (const start of imports.keys()) {
    const cameFrom = new Map<string, string>();
    const queue = [start];
    for (let at = queue.shift(); at !== undefined && !cameFrom.has(start); at = queue.shift()) {
      for (const target of imports.get(at) ?? []) {
        if (cameFrom.has(target)) continue;
        cameFrom.set(target, at);
        queue.push(target);
      }
    }
    if (!cameFrom.has(start)) continue;
    const circle = [start];
    for (let at = cameFrom.get(start)!; at !== start; at = cameFrom.get(at)!) circle.unshift(at);
    const first = circle.indexOf(circle.toSorted()[0]!);
    const turned = [...circle.slice(first), ...circle.slice(0, first)];
    circles.add(`${[...turned, turned[0]].join(" -> ")}: ${CIRCLE_ADVICE}`);
  }
  return [...circles].sort();
}
