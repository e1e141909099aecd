/** Prints the type of all procedures in full, so that a frontend gets it without the service's sources. */
import ts from "typescript";
import { printType } from "./print_type.ts";

const KINDS: ReadonlyMap<string, string> = new Map([
  ['"query"', "TRPCQueryProcedure"],
  ['"mutation"', "TRPCMutationProcedure"],
  ['"subscription"', "TRPCSubscriptionProcedure"],
]);

/**
 * Declares `AppRouter` by its inputs, outputs and errors, with no import but @trpc/server.
 *
 * @param path The file of the program that exports `AppRouter`.
 * @throws Error with the procedure's name where a type cannot be printed in full.
 */
export function printRouter(program: ts.Program, path: string): string {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(path);
  const symbol = source && checker.getSymbolAtLocation(source)?.exports?.get(ts.escapeLeadingUnderscores("AppRouter"));
  if (symbol === undefined) throw new Error(`Cannot find AppRouter in ${path}: export the type of the procedures`);
  const definition = propertyOf(checker, checker.getDeclaredTypeOfSymbol(symbol), "_def");
  const groups = membersOf(checker, propertyOf(checker, definition, "record")).map(({ name, type }) => {
    const procedures = membersOf(checker, type).map((each) => printProcedure(checker, name, each));
    return `${name}: { ${procedures.join("")} };`;
  });
  const types = propertyOf(checker, propertyOf(checker, definition, "_config"), "$types");
  const errors = printType(checker, propertyOf(checker, types, "errorShape"), "the errors");
  return `import type { TRPCBuiltRouter, ${[...KINDS.values()].join(", ")} } from "@trpc/server";
/** Every procedure of the service. */
export type AppRouter = TRPCBuiltRouter<
  { ctx: object; meta: object; errorShape: ${errors}; transformer: false },
  { ${groups.join("")} }
>;`;
}

interface Member {
  readonly name: string;
  readonly type: ts.Type;
  readonly comment: string;
}

function printProcedure(checker: ts.TypeChecker, group: string, { name, type, comment }: Member): string {
  const definition = propertyOf(checker, type, "_def");
  const kind = KINDS.get(checker.typeToString(propertyOf(checker, definition, "type")));
  if (kind === undefined) throw new Error(`Cannot print ${group}.${name}: it is no query, mutation or subscription`);
  const types = propertyOf(checker, definition, "$types");
  const [input, output] = ["input", "output"].map((part) =>
    printType(checker, propertyOf(checker, types, part), `${group}.${name}'s ${part}`)
  );
  const words = comment === "" ? "" : `/** ${comment} */\n`;
  return `\n${words}${name}: ${kind}<{ input: ${input}; output: ${output}; meta: object }>;`;
}

function propertyOf(checker: ts.TypeChecker, type: ts.Type, name: string): ts.Type {
  const symbol = checker.getPropertyOfType(type, name);
  if (symbol === undefined) throw new Error(`Cannot find ${name} in the type ${checker.typeToString(type)}`);
  return checker.getTypeOfSymbol(symbol);
}

function membersOf(checker: ts.TypeChecker, type: ts.Type): Member[] {
  return checker.getPropertiesOfType(type).map((symbol) => ({
    name: symbol.name,
    type: checker.getTypeOfSymbol(symbol),
    comment: ts.displayPartsToString(symbol.getDocumentationComment(checker)),
  }));
}
