// What the tests of a file share: a browser, and a server with their archives; there before the first test, gone after the last.
import { after, before } from "node:test";
import type { Browser } from "playwright-core";
import { launch } from "./browser";
import { type Server, serve } from "./server";

export interface Stage {
  readonly browser: Browser;
  readonly server: Server;
}

/** To be called once in a file, outside of its tests. */
export function stage(archives: string[], more: string[] = []): Stage {
  let browser: Browser | undefined;
  let server: Server | undefined;
  before(async () => {
    browser = await launch();
    server = await serve(archives, { more });
  });
  after(async () => {
    await browser?.close();
    server?.stop();
  });
  const there = <Part>(part: Part | undefined): Part => {
    if (!part) throw new Error("no test runs yet");
    return part;
  };
  return {
    get browser() {
      return there(browser);
    },
    get server() {
      return there(server);
    },
  };
}
