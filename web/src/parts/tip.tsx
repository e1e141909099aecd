import { Tooltip } from "@base-ui/react/tooltip";
import type { ReactNode } from "react";
import { LANDMARK } from "./landmark.tsx";

/** Shows an explanation while its subject has the pointer or the focus. @param onClick Of a subject that also does something. */
export function Tip({ children, text, onClick }: {
  readonly children: ReactNode;
  readonly text: ReactNode;
  readonly onClick?: () => void;
}) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger
        delay={200}
        onClick={onClick}
        className="cursor-help text-left underline decoration-strong-line/60 decoration-dotted underline-offset-3"
      >
        {children}
      </Tooltip.Trigger>
      <Tooltip.Portal container={LANDMARK}>
        <Tooltip.Positioner sideOffset={6} className="z-30">
          <Tooltip.Popup
            role="tooltip"
            className="max-w-80 rounded-md border border-line bg-surface p-2.5 text-sm shadow-lg"
          >
            {text}
          </Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
