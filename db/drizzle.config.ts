// A plain object: drizzle-kit is fetched by its task alone, so its types are not here.
export default { dialect: "postgresql", schema: ["db/schema.ts", "db/run_members.ts"], out: "./db/migrations" };
