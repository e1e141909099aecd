import { formatTime } from "./format.ts";

/** The time of a chart's point and its values. @param zone IANA name. @param items Labels, each with its value as text. */
export function Legend({ time, zone = "UTC", items }: {
  readonly zone?: string;
  readonly time: number | string | null;
  readonly items: readonly (readonly [label: string, value: string])[];
}) {
  return (
    <>
      <p className="text-muted">{formatTime(time, zone)} {zone.split("/").at(-1)?.replaceAll("_", " ")}</p>
      <dl className="flex flex-wrap gap-x-3">
        {items.map(([label, value]) => (
          <div key={label} className="flex gap-1">
            <dt className="text-muted">{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
