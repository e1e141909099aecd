import { Menu } from "@base-ui/react/menu";
import type { ReactNode } from "react";
import { LANDMARK } from "./landmark.tsx";

/** The look of an entry of a menu. */
export const MENU_ITEM_CLASS =
  "flex w-full cursor-default items-center gap-2 px-3 py-1.5 text-sm data-highlighted:bg-sunken";

/** The entries of a menu, below the button that opens it. @param align The side of the button that they line up with. */
export function MenuPanel({ align, children }: { readonly align: "start" | "end"; readonly children: ReactNode }) {
  return (
    <Menu.Portal container={LANDMARK}>
      <Menu.Positioner align={align} sideOffset={4} className="visible z-20">
        <Menu.Popup className="min-w-44 rounded-md border border-line bg-surface py-1 shadow-lg">{children}</Menu.Popup>
      </Menu.Positioner>
    </Menu.Portal>
  );
}
