import { createContext, useContext } from "react";

/** True below the page of a link: its reader changes nothing and starts nothing. */
export const ReadOnly = createContext(false);

/** True where the page is a link's. */
export function useReadOnly(): boolean {
  return useContext(ReadOnly);
}
