import { rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';

const MOST_BYTES = 1024 * 1024;
const WAIT_MS = 5_000;

/** Answers each connection to the socket with the JSON of `status`, and closes it. A socket that cannot be made is no fault. */
export function serveStatus(path: string, status: () => object): { close(): void } {
  rmSync(path, { force: true });
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end(`${JSON.stringify(status())}\n`);
  });
  server.on('error', () => undefined);
  const umask = process.umask(0o177);
  server.listen(path);
  process.umask(umask);
  server.unref();
  return {
    close: () => {
      server.close();
      rmSync(path, { force: true });
    },
  };
}

/** Returns what the running agent says of itself; null: none runs. */
export function askStatus(path: string): Promise<Record<string, unknown> | null> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(path);
    socket.setTimeout(WAIT_MS, () => socket.destroy());
    socket.on('data', (part) => {
      text = (text + String(part)).slice(0, MOST_BYTES);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      try {
        resolve(JSON.parse(text) as Record<string, unknown>);
      } catch {
        resolve(null);
      }
    });
  });
}
