import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";

type Texts = Readonly<Record<string, string>>;

/**
 * Makes a wheel: a package of Python.
 *
 * @param name As `bands-1.0`.
 * @param files Its files by path.
 * @param changed Files that are not what RECORD says of them.
 */
export async function makeWheel(name: string, files: Texts, changed: Texts = {}): Promise<Uint8Array> {
  const info = `${name}.dist-info`;
  const [project, version] = name.split("-");
  const all = { ...files, [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: ${project}\nVersion: ${version}\n` };
  const rows = await Promise.all(
    Object.entries(all).map(async ([path, text]) => {
      const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
      return `${path},sha256=${Buffer.from(digest).toString("base64url")},${text.length}\n`;
    }),
  );
  return zip({ ...all, ...changed, [`${info}/RECORD`]: `${rows.join("")}${info}/RECORD,,\n` });
}

/** An archive of texts that are not compressed. */
function zip(files: Texts): Uint8Array {
  const heads: Buffer[] = [];
  const parts: Buffer[] = [];
  let at = 0;
  for (const [path, text] of Object.entries(files)) {
    const body = Buffer.from(text);
    const name = Buffer.from(path);
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt32LE(crc32(body), 10);
    facts.writeUInt32LE(body.length, 14);
    facts.writeUInt32LE(body.length, 18);
    facts.writeUInt16LE(name.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(at, 10);
    heads.push(Buffer.from("PK\x01\x02\x14\0", "latin1"), facts, place, name);
    const part = [Buffer.from("PK\x03\x04", "latin1"), facts, name, body];
    parts.push(...part);
    at += part.reduce((sum, { length }) => sum + length, 0);
  }
  const directory = Buffer.concat(heads);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(Object.keys(files).length, 8);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, directory, end]);
}
