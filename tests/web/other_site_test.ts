import { expect } from "@std/expect";
import type { Page } from "playwright-core";
import { connectBrowser, openPage } from "../support/browser.ts";
import { startTestService } from "../support/service.ts";
import { CERTIFICATE, KEY } from "../workers/sandbox/remote/certificates.ts";

Deno.test("a trusted page of another site signs in over https and reads its runs", async () => {
  let serviceUrl = "";
  // Each name below localhost is a site of its own, and browsers resolve it without a name server.
  await using proxy = serveTls((request) => forward(request, serviceUrl));
  await using frontend = serveTls(() => new Response("<!doctype html><title>A frontend</title>", HTML));
  const [api, origin] = [`https://api.localhost:${proxy.port}`, `https://app.localhost:${frontend.port}`];
  const service = await startTestService("PostgreSQL", { BASE_URL: api, TRUSTED_ORIGINS: origin });
  serviceUrl = service.url;
  const account = { email: "ann@example.com", password: "correct horse battery" };
  await service.client().signUp(account.email, account.password);
  const browser = await connectBrowser();
  // The certificate is of another name and of nobody's authority.
  const { page } = await openPage(browser, { ignoreHTTPSErrors: true });
  await page.goto(origin);
  expect(await ask(page, `${api}/api/backtests`)).toEqual([401, false]);
  expect(await ask(page, `${api}/api/auth/sign-in/email`, account)).toEqual([200, false]);
  for (let visit = 1; visit <= 2; visit++) {
    expect(await ask(page, `${api}/api/backtests`)).toEqual([200, true]);
    await page.reload();
  }
  // The session belongs to the pages of that site: in the service's own it is another visitor's.
  await page.goto(`${api}/api/health`);
  expect(await ask(page, `${api}/api/backtests`)).toEqual([401, false]);
  await page.goto(origin);
  expect(await ask(page, `${api}/api/auth/sign-out`, {})).toEqual([200, false]);
  expect(await ask(page, `${api}/api/backtests`)).toEqual([401, false]);
  await page.context().close();
  await browser.close();
  await service.close();
});

const HTML = { headers: { "content-type": "text/html" } };

/** A page's own request: its status, and whether the answer lists backtests. */
async function ask(page: Page, url: string, body?: object): Promise<[status: number, hasBacktests: boolean]> {
  const answer = await page.evaluate(async ([url, body]) => {
    const sent = body === undefined
      ? {}
      : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const response = await fetch(url, { credentials: "include", ...sent });
    return { status: response.status, text: await response.text() };
  }, [url, body] as const);
  return [answer.status, answer.text.startsWith('{"backtests":[')];
}

function serveTls(handler: (request: Request) => Response | Promise<Response>) {
  const options = { hostname: "127.0.0.1", port: 0, cert: CERTIFICATE, key: KEY, onListen: () => {} };
  const server = Deno.serve(options, handler);
  return { port: server.addr.port, [Symbol.asyncDispose]: () => server.shutdown() };
}

/** Passes a request on to the service, which speaks plain HTTP behind its proxy. */
async function forward(request: Request, serviceUrl: string): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const headers = new Headers(request.headers);
  headers.set("accept-encoding", "identity");
  const { method, body } = request;
  return await fetch(`${serviceUrl}${pathname}${search}`, { method, headers, body, redirect: "manual" });
}
