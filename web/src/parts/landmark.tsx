import { createContext, type HTMLAttributes, use } from "react";

const Inner = createContext(false);

/** A page's `main`: inside of another one, a plain block, so that each page has a single one. */
export function Main(props: HTMLAttributes<HTMLElement>) {
  if (use(Inner)) return <div {...props} />;
  return (
    <Inner value>
      <main {...props} />
    </Inner>
  );
}

/** Where tooltips and menus are drawn: screen readers look for all of a page's content in its landmarks. */
export const LANDMARK = {
  get current(): HTMLElement | null {
    return document.querySelector("main");
  },
};
