import { useId, useState } from "react";
import { FieldNote } from "../../parts/field.tsx";
import { formatCount } from "../../parts/format.ts";
import type { ModuleFile } from "./registration_form.ts";

const MAGIC = [0x00, 0x61, 0x73, 0x6d] as const;

/** A place to drop a WebAssembly module, which is also a button to choose one. */
export function ModuleDrop({ module, error, onChoose, onRefuse }: {
  readonly module: ModuleFile | null;
  readonly error: string | undefined;
  readonly onChoose: (module: ModuleFile) => void;
  readonly onRefuse: (reason: string) => void;
}) {
  const id = useId();
  const [isOver, setOver] = useState(false);
  const take = async (file: File | undefined) => {
    if (file === undefined) return;
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (!MAGIC.every((byte, i) => bytes[i] === byte)) {
      return onRefuse(`${file.name} is no WebAssembly module: choose a .wasm file`);
    }
    onChoose({ name: file.name, bytes: bytes.length, base64: await toBase64(file) });
  };
  const border = error !== undefined ? "border-danger" : isOver ? "border-accent" : "border-strong-line";
  return (
    <div>
      <label
        htmlFor={id}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          void take(event.dataTransfer.files[0]);
        }}
        className={`flex min-h-24 cursor-pointer flex-col items-center justify-center gap-0.5 rounded-md border border-dashed p-4 text-center focus-within:outline-2 focus-within:outline-offset-2 focus-within:outline-accent hover:bg-sunken ${border}`}
      >
        <span className="max-w-full font-medium break-words">
          {module === null ? "Drop a .wasm module here, or choose one" : module.name}
        </span>
        <span className="text-xs text-muted">
          {module === null
            ? "At most 4 MiB. A worker checks it and runs it once on sample candles before it is kept."
            : `${formatCount(module.bytes)} bytes. Choose or drop another one to replace it.`}
        </span>
        <input
          id={id}
          type="file"
          accept=".wasm,application/wasm"
          aria-describedby={`${id}-note`}
          className="sr-only"
          onChange={({ target }) => void take(target.files?.[0])}
        />
      </label>
      <FieldNote id={`${id}-note`} error={error} />
    </div>
  );
}

/** A file's bytes as base64. */
function toBase64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => reject(reader.error ?? new Error(`Cannot read ${file.name}`));
    reader.onload = () => resolve(String(reader.result).split(",", 2)[1] ?? "");
    reader.readAsDataURL(file);
  });
}
