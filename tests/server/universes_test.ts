import { expect } from "@std/expect";
import { blockIn, readPage } from "../support/pages.ts";
import { startTestService } from "../support/service.ts";

const DEMO = { symbol: "DEMO", exchange: "SAMPLE" };
const PAGE = JSON.parse(blockIn(await readPage("docs/api.md"), "json", '"universe":'));

Deno.test("universes are owned lists with versions that never change", async (t) => {
  const service = await startTestService();
  const [owner, other] = [await service.user(), await service.user()];
  const membersOf = async (client: typeof owner, path: string) =>
    (await client.get(`/api/universes/${path}`)).at("/members");

  await t.step("the page's universe is made, read, and listed with its members counted", async () => {
    const made = await owner.send("POST", "/api/universes", PAGE);
    expect([made.status, made.headers.get("location")]).toEqual([201, "/api/universes/my-rotation"]);
    expect(made.at("/universe")).toMatchObject({
      slug: "my-rotation",
      description: "",
      is_public: false,
      is_owner: true,
      latest_version: 1,
      members: 2,
    });
    expect((await owner.get("/api/universes")).at("/universes/0/slug")).toBe("my-rotation");
    expect(await membersOf(owner, "my-rotation/members")).toEqual([
      { symbol: "OAK", exchange: "SAMPLE", from: null, to: null },
      { symbol: "PINE", exchange: "SAMPLE", from: "2023-01-01", to: "2024-01-01" },
    ]);
    expect((await owner.send("POST", "/api/universes", PAGE)).at("/error/code")).toBe("SLUG_TAKEN");
  });
  await t.step("a new version leaves the older one as it was", async () => {
    const csv =
      '\uFEFFExchange,Symbol,From,To\r\nSAMPLE,DEMO,2023-01-01,2023-06-01\r\n\r\nSAMPLE,"DEMO",2023-07-01,\r\n';
    const added = await owner.send("POST", "/api/universes/my-rotation/versions", { version: { csv } });
    expect([added.status, added.at("/version/version"), added.at("/version/members")]).toEqual([201, 2, 2]);
    const newest = [
      { ...DEMO, from: "2023-01-01", to: "2023-06-01" },
      { ...DEMO, from: "2023-07-01", to: null },
    ];
    expect(await membersOf(owner, "my-rotation/members")).toEqual(newest);
    expect(await membersOf(owner, "my-rotation/members?version=1")).toHaveLength(2);
    expect((await owner.get("/api/universes/my-rotation/versions")).at("/versions")).toMatchObject([
      { version: 2, members: 2 },
      { version: 1, members: 2 },
    ]);
    const text = (await owner.get("/api/universes/my-rotation/members?format=csv")).text;
    expect(text.trim().split(/\r?\n/)).toEqual([
      "symbol,exchange,from,to",
      "DEMO,SAMPLE,2023-01-01,2023-06-01",
      "DEMO,SAMPLE,2023-07-01,",
    ]);
    // The service reads what it writes.
    const again = await owner.send("POST", "/api/universes/my-rotation/versions", { version: { csv: text } });
    expect(again.status).toBe(201);
    expect(await membersOf(owner, "my-rotation/members?version=3")).toEqual(newest);
    const page = await owner.get("/api/universes/my-rotation/members?limit=1");
    expect([page.at("/members/0/from"), page.at("/next_cursor")]).toEqual(["2023-01-01", expect.any(String)]);
    const rest = await owner.get(`/api/universes/my-rotation/members?limit=1&cursor=${page.at("/next_cursor")}`);
    expect([rest.at("/members/0/from"), rest.at("/next_cursor")]).toEqual(["2023-07-01", null]);
  });
  await t.step("others see a universe once it is public, and never change it", async () => {
    expect((await other.get("/api/universes/my-rotation")).at("/error/code")).toBe("UNIVERSE_NOT_FOUND");
    expect((await other.get("/api/universes")).at("/universes")).toEqual([]);
    const changed = await owner.send("PATCH", "/api/universes/my-rotation", {
      universe: { is_public: true, description: "Public now" },
    });
    expect(changed.at("/universe")).toMatchObject({ is_public: true, description: "Public now", latest_version: 3 });
    expect((await other.get("/api/universes/my-rotation")).at("/universe/is_owner")).toBe(false);
    expect((await other.get("/api/universes?search=PUBLIC")).at("/universes")).toHaveLength(1);
    for (
      const [method, path, body] of [
        ["PATCH", "", { universe: { is_public: false } }],
        ["DELETE", "", undefined],
        ["POST", "/versions", { version: { members: [DEMO] } }],
      ] as const
    ) {
      const answer = await other.send(method, `/api/universes/my-rotation${path}`, body);
      expect([method, answer.status, answer.at("/error/code")]).toEqual([method, 403, "FORBIDDEN"]);
    }
  });
  await t.step("a wrong slug or version names the right ones", async () => {
    expect((await owner.get("/api/universes/my-rotatoin")).at("/error/message"))
      .toBe('Cannot find the universe "my-rotatoin": did you mean my-rotation?');
    expect((await owner.get("/api/universes/my-rotation/members?version=9")).at("/error/message"))
      .toBe("Cannot find version 9 of my-rotation: its versions are 1 to 3");
  });
  await t.step("wrong members are refused by their place", async () => {
    const refuse = async (universe: object) => {
      const answer = await owner.send("POST", "/api/universes", { universe: { slug: "wrong-one", ...universe } });
      expect([answer.status, answer.at("/error/code")]).toEqual([400, "VALIDATION_FAILED"]);
      return String(answer.at("/error/issues/0/path")) + " " + String(answer.at("/error/issues/0/message"));
    };
    const dated = (from: string | null, to: string | null) => ({ ...DEMO, from, to });
    expect(await refuse({})).toBe("/universe/members is required, or csv in its place, and not both");
    expect(await refuse({ members: [DEMO], csv: "symbol,exchange\nA,B" })).toContain("and not both");
    expect(await refuse({ members: [] })).toContain("at least 1 entry long");
    expect(await refuse({ members: [dated("2024-02-01", "2024-01-01")] }))
      .toBe("/universe/members/0 must have a from before its to, 2024-01-01, not 2024-02-01");
    expect(await refuse({ members: [dated("2024-02-30", null)] })).toContain("calendar date YYYY-MM-DD");
    expect(await refuse({ members: [dated(null, "2024-01-01"), dated("2023-12-31", null)] }))
      .toBe(
        "/universe/members/1 must not overlap another membership of DEMO@SAMPLE, from the beginning to 2024-01-01",
      );
    expect(await refuse({ members: [DEMO, DEMO] })).toContain("/universe/members/1 must not overlap");
    expect(await refuse({ members: [{ ...DEMO, form: "2024-01-01" }] })).toContain(
      "form is not a known key: did you mean from? There are symbol",
    );
    expect(await refuse({ members: Array.from({ length: 5_001 }, (_, i) => ({ symbol: `S${i}`, exchange: "X" })) }))
      .toContain("at most 5000 entries long");
    expect(await refuse({ csv: "ticker,exchange\nA,B" }))
      .toBe('/universe/csv must begin with the line symbol,exchange,from,to, not with "ticker"');
    expect(await refuse({ csv: "symbol,exchange,from,to\nA,B\nC,D,2024-13-01,\nE" }))
      .toMatch(/^\/universe\/csv line 3: from must be a calendar date YYYY-MM-DD, not "2024-13-01"$/);
    expect(await refuse({ csv: "symbol,exchange\nA,B,C" })).toContain("line 2 has 3 cells, and the first line has 2");
    expect(await refuse({ csv: "symbol,exchange\nA,B\nA,B" }))
      .toContain("/universe/csv line 3 must not overlap another membership of A@B");
    expect(await refuse({ csv: "symbol,exchange\n" })).toContain("must have a member below its first line");
    expect(await refuse({ csv: "symbol,exchange\n" + "A,B\n".repeat(140_000) })).toContain("characters long");
  });
  await t.step("many members are refused before they are stored, and 5,000 are stored", async () => {
    const many = await owner.send("POST", "/api/universes", {
      universe: {
        slug: "too-many",
        members: Array.from({ length: 65_536 }, (_, i) => ({ symbol: `S${i}`, exchange: "X" })),
      },
    });
    expect([many.status, many.at("/error/code")]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
    const csv = "symbol,exchange\n" + Array.from({ length: 5_000 }, (_, i) => `S${i},X`).join("\n");
    expect((await owner.send("POST", "/api/universes", { universe: { slug: "large", csv } })).status).toBe(201);
    expect(await membersOf(owner, "large/members")).toHaveLength(5_000);
  });
  await t.step("a deleted universe is gone with its versions", async () => {
    expect((await owner.send("DELETE", "/api/universes/my-rotation")).status).toBe(204);
    expect((await owner.get("/api/universes/my-rotation/members?version=1")).status).toBe(404);
  });
  await service.close();
});
