/** An object of the language, as it was before the first script. */
interface Watched {
  readonly object: object;
  readonly prototype: object | null;
  readonly keys: readonly PropertyKey[];
  /** Null: each script has its own. */
  readonly properties: readonly (PropertyDescriptor | null)[];
  readonly isOpen: boolean;
}

/**
 * Remembers everything that scripts of one realm would share: the language's own objects, as far as properties and prototypes lead. A
 * frozen one stays as it is.
 *
 * @param own Names of the globals that each script gets anew. @param shared Further objects that each gets.
 * @returns A function that tells if all of it is still as it was. Nothing that a script may replace is called there.
 */
export function watchRealm(own: readonly string[], shared: readonly object[]): () => boolean {
  const { ownKeys, getPrototypeOf, getOwnPropertyDescriptor, isExtensible } = Reflect;
  const { is, isFrozen } = Object;
  const owned = new Set<PropertyKey>(own);
  const found = new Set<object>();
  const watched: Watched[] = [];
  const visit = (value: unknown): void => {
    if ((typeof value !== "object" || value === null) && typeof value !== "function" || found.has(value)) return;
    found.add(value);
    const keys = ownKeys(value);
    const isFixed = isFrozen(value);
    const properties = keys.map((key) =>
      value === globalThis && owned.has(key) ? null : getOwnPropertyDescriptor(value, key)!
    );
    if (!isFixed) {
      watched.push({ object: value, prototype: getPrototypeOf(value), keys, properties, isOpen: isExtensible(value) });
    }
    visit(getPrototypeOf(value));
    for (const property of properties) [property?.value, property?.get, property?.set].forEach(visit);
  };
  [globalThis, ...shared, ...listHidden()].forEach(visit);
  const isSameProperty = (a: PropertyDescriptor, b: PropertyDescriptor | undefined): boolean =>
    b !== undefined && is(a.value, b.value) && a.get === b.get && a.set === b.set && a.writable === b.writable &&
    a.enumerable === b.enumerable && a.configurable === b.configurable;
  const isSame = ({ object, prototype, keys, properties, isOpen }: Watched): boolean => {
    if (getPrototypeOf(object) !== prototype || isExtensible(object) !== isOpen) return false;
    if (ownKeys(object).length !== keys.length) return false;
    for (let n = 0; n < keys.length; n++) {
      const property = properties[n]!;
      if (property !== null && !isSameProperty(property, getOwnPropertyDescriptor(object, keys[n]!))) return false;
    }
    return true;
  };
  return () => {
    for (let n = 0; n < watched.length; n++) if (!isSame(watched[n]!)) return false;
    return true;
  };
}

/** Objects of the language that no property leads to. */
export function listHidden(): readonly object[] {
  const iterate = { next: () => ({ done: true, value: undefined }) };
  return [
    function* () {},
    async () => {},
    async function* () {},
    [][Symbol.iterator](),
    ""[Symbol.iterator](),
    new Map().entries(),
    new Set().entries(),
    "".matchAll(/./g),
    [].values().map(String),
    Iterator.from(iterate),
  ].map((made) => Object.getPrototypeOf(made));
}
