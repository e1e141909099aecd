/** Prints a type in full. The compiler's own printer leaves the names of interfaces, which a reader without the sources lacks. */
import ts from "typescript";

/**
 * The text of a type that needs no declaration but the language's own.
 *
 * @param of Names the type in errors.
 * @throws Error where the compiler knows a part as `any`, as where it cannot find an import, and where a type holds itself.
 */
export function printType(checker: ts.TypeChecker, type: ts.Type, of: string): string {
  return print({ checker, of, outer: [] }, type);
}

interface Printing {
  readonly checker: ts.TypeChecker;
  readonly of: string;
  /** The types around this one. */
  readonly outer: readonly ts.Type[];
}

function print(printing: Printing, type: ts.Type): string {
  const { checker, of, outer } = printing;
  if (type.flags & ts.TypeFlags.Any) {
    throw new Error(`Cannot print the type of ${of}: it has an any, as where an import is not found`);
  }
  if (!(type.flags & ts.TypeFlags.Object) && !type.isUnionOrIntersection() || type.flags & ts.TypeFlags.Boolean) {
    return checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation);
  }
  if (outer.includes(type)) {
    throw new Error(`Cannot print the type of ${of}: it holds itself, and has no name of its own`);
  }
  const inner = { ...printing, outer: [...outer, type] };
  if (type.isUnion()) return unionOf(inner, type.types);
  if (isReference(type)) {
    const parts = checker.getTypeArguments(type);
    if (checker.isTupleType(type)) return `[${parts.map((part) => print(inner, part)).join(", ")}]`;
    const name = type.symbol.name;
    const [item] = parts;
    if (item !== undefined && name in GENERICS) return `${GENERICS[name]}<${print(inner, item)}>`;
  }
  return objectOf(inner, type);
}

/** Types of the language that have a part. Their further parameters are the language's own. */
const GENERICS: Readonly<Record<string, string>> = {
  Array: "Array",
  ReadonlyArray: "ReadonlyArray",
  AsyncIterable: "AsyncIterable",
};

function unionOf(printing: Printing, types: readonly ts.Type[]): string {
  const texts = types.map((type) => print(printing, type));
  const [yes, no] = [texts.indexOf("true"), texts.indexOf("false")];
  if (yes === -1 || no === -1) return texts.join(" | ");
  return [...texts.filter((text) => !["true", "false"].includes(text)), "boolean"].join(" | ");
}

function objectOf(printing: Printing, type: ts.Type): string {
  const { checker, of } = printing;
  if (type.getCallSignatures().length > 0 || type.getConstructSignatures().length > 0) {
    throw new Error(`Cannot print the type of ${of}: it has a function, which JSON cannot carry`);
  }
  const fields = checker.getPropertiesOfType(type).map((symbol) => {
    const name = /^[a-z_$][\w$]*$/i.test(symbol.name) ? symbol.name : JSON.stringify(symbol.name);
    const mark = symbol.flags & ts.SymbolFlags.Optional ? "?" : "";
    return `${name}${mark}: ${print(printing, checker.getTypeOfSymbol(symbol))};`;
  });
  const others = checker.getIndexInfosOfType(type).map(({ keyType, type: value }) =>
    `[key: ${print(printing, keyType)}]: ${print(printing, value)};`
  );
  return `{ ${[...fields, ...others].join(" ")} }`;
}

function isReference(type: ts.Type): type is ts.TypeReference {
  return "target" in type;
}
