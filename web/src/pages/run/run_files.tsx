import { Menu } from "@base-ui/react/menu";
import { linkToken } from "../../link_token.ts";
import { buttonClass } from "../../parts/button.tsx";
import { MENU_ITEM_CLASS, MenuPanel } from "../../parts/menu_panel.tsx";

const EXPORTS = [
  ["equity?format=csv", "Equity, CSV"],
  ["equity?format=arrow", "Equity, Arrow"],
  ["returns?format=csv", "Monthly returns, CSV"],
  ["trades?format=csv", "Trades, CSV"],
  ["trades?format=arrow", "Trades, Arrow"],
  ["trades", "Trades, JSON"],
  ["orders?format=csv", "Orders, CSV"],
  ["orders?format=arrow", "Orders, Arrow"],
  ["orders", "Orders, JSON"],
] as const;
const PORTFOLIO_EXPORTS = [
  ["holdings?format=csv", "Weights and profits, CSV"],
  ["holdings?format=arrow", "Weights and profits, Arrow"],
] as const;

/** A completed run as files: its report and its tables, on its own page and on that of a link. */
export function RunFiles({ id, isPortfolio }: { readonly id: string; readonly isPortfolio: boolean }) {
  const token = linkToken();
  const folder = token === undefined ? `/api/backtests/${id}` : `/api/shared/${token}`;
  return (
    <>
      <a
        href={`${folder}/report`}
        target="_blank"
        rel="noreferrer"
        title="The run as one file, to keep, print or send"
        className={buttonClass()}
      >
        Report
      </a>
      <ExportMenu {...{ id, folder, isPortfolio }} />
    </>
  );
}

function ExportMenu({ id, folder, isPortfolio }: {
  readonly id: string;
  readonly folder: string;
  readonly isPortfolio: boolean;
}) {
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger className={buttonClass()}>Export</Menu.Trigger>
      <MenuPanel align="end">
        {[...EXPORTS, ...(isPortfolio ? PORTFOLIO_EXPORTS : [])].map(([path, label]) => (
          <Menu.Item
            key={path}
            className={MENU_ITEM_CLASS}
            render={<a href={`${folder}/${path}`} download={fileName(id, path)}>{label}</a>}
          />
        ))}
      </MenuPanel>
    </Menu.Root>
  );
}

function fileName(id: string, path: string): string {
  const [name, format = "json"] = path.split("?format=");
  return `${name}-${id}.${format}`;
}
