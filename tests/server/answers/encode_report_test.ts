import { expect } from "@std/expect";
import { embed, ReportShell } from "../../../server/answers/encode_report.ts";

Deno.test("embedded JSON reads back as it was, and no text in it ends its element or begins a comment", () => {
  const value = { a: "</script><!--<script>-->]]>", b: "\u2028\u2029", c: "$& & ' \"", "</SCRIPT": [null, 1.5] };
  const text = embed(value);
  expect(JSON.parse(text)).toEqual(value);
  expect(text).not.toMatch(/[<>\u2028\u2029]/);
});

Deno.test("the page of a report is read once a build; without a build the error says what to do", async () => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const shell = new ReportShell(folder);
  const read = async () => {
    const { head, tail } = await shell.read();
    return [head, tail].map((part) => new TextDecoder().decode(part));
  };
  await expect(read()).rejects.toMatchObject({
    appCode: "UNAVAILABLE",
    message: expect.stringMatching(/not built; run `deno task web:build`/),
  });
  const write = async (page: string, at: Date) => {
    await Deno.writeTextFile(`${folder}/report.html`, page);
    await Deno.utime(`${folder}/report.html`, at, at);
  };
  const [first, later] = [new Date("2024-01-01T00:00:00Z"), new Date("2024-01-01T00:00:01Z")];
  await write("a<script>REPORT_DATA</script>b", first);
  expect(await read()).toEqual(["a<script>", "</script>b"]);
  // The same time of change: the same build.
  await write("unread", first);
  expect(await read()).toEqual(["a<script>", "</script>b"]);
  await write("cREPORT_DATAd", later);
  expect(await read()).toEqual(["c", "d"]);
  await Deno.remove(folder, { recursive: true });
});
