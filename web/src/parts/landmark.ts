/** Where tooltips and menus are drawn: screen readers look for all of a page's content in its landmarks. */
export const LANDMARK = {
  get current(): HTMLElement | null {
    return document.querySelector("main");
  },
};
