// A real `partune view` for a test: started on archives, asked until all are open, ended with the test.
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

export const PARTUNE = process.env.PARTUNE_BIN ?? "../target/debug/partune";

export interface Server {
  /** Its address with the token, ending in a slash. */
  address: string;
  api<T>(path: string): Promise<T>;
  stop(): void;
}

interface Run {
  name: string;
  state: string;
  message: string;
}

export async function serve(archives: string[], options: { wait?: boolean; more?: string[] } = {}): Promise<Server> {
  const child = spawn(
    PARTUNE,
    [
      "view",
      "--no-open",
      ...(options.more ?? []),
      ...(process.env.PARTUNE_PAGE ? ["--page", process.env.PARTUNE_PAGE] : []),
      ...archives,
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const address = await firstLine(child);
  const api = async <T>(path: string): Promise<T> => {
    const response = await fetch(`${address}api/${path}`);
    const body = (await response.json()) as T;
    if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(body)}`);
    return body;
  };
  const server: Server = { address, api, stop: () => child.kill("SIGINT") };
  if (options.wait === false) return server;
  for (;;) {
    const runs = await api<Run[]>("runs");
    const failed = runs.find((it) => it.state === "failed");
    if (failed) throw new Error(`${failed.name}: ${failed.message}`);
    if (runs.every((it) => it.state === "ready")) return server;
    await new Promise((done) => setTimeout(done, 100));
  }
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((found, failed) => {
    child.once("error", failed);
    child.once("exit", (code) => failed(new Error(`partune view ended with ${code}`)));
    if (!child.stdout) throw new Error("the child's output is piped");
    createInterface({ input: child.stdout }).once("line", (line) => {
      const file = /^partune: serving; the address is in (.+)$/.exec(line)?.[1];
      if (file) found(readFileSync(file, "utf8").trim());
      else failed(new Error(`partune view said: ${line}`));
    });
  });
}
