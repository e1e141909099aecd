import { Link, type LinkProps, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";

/**
 * A row of a table that opens a page by a click or Enter; the keys `j` and `k` reach it.
 *
 * @param link Where it leads, as linkOptions() gives it; the row also holds a RowLink to there.
 * @param className The look of the table's rows.
 */
export function LinkRow({ link, className, children }: {
  readonly link: LinkProps;
  readonly className: string;
  readonly children: ReactNode;
}) {
  const navigate = useNavigate();
  const open = () => void navigate(link);
  return (
    <tr
      data-row
      tabIndex={-1}
      onClick={open}
      onKeyDown={(event) => event.key === "Enter" && event.target === event.currentTarget && open()}
      className={`${className} cursor-pointer hover:bg-sunken focus:bg-sunken`}
    >
      {children}
    </tr>
  );
}

/** The link of a row, whose text may be too long for its cell. */
export function RowLink(
  { link, text, label = text }: { readonly link: LinkProps; readonly text: string; readonly label?: string },
) {
  return (
    <Link
      {...link}
      title={label}
      aria-label={label}
      onClick={(event) => event.stopPropagation()}
      className="block truncate font-medium hover:underline"
    >
      {text}
    </Link>
  );
}
