/**
 * A proxy between the browser and the manager: it counts the browser's requests, plays its own streams, and cuts connections. It
 * forwards everything else unchanged, including the Host header, so that the page has one origin.
 */
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  method: string;
  path: string;
  /** An event stream: it stays open. */
  isStream: boolean;
}

/** Plays an event stream; `lastEventId` is empty for a new reader. */
export type PlayStream = (response: ServerResponse, lastEventId: string) => void;

export interface Edge {
  origin: string;
  /** Requests below /api so far. */
  asked: Asked[];
  /** Streams whose path contains the key are played here instead of by the manager. */
  stubs: Map<string, PlayStream>;
  close(): Promise<void>;
}

export async function startEdge(manager: string): Promise<Edge> {
  const asked: Asked[] = [];
  const stubs: Edge['stubs'] = new Map();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const isStream = /\/stream\b/.test(path);
    if (path.startsWith('/api/')) asked.push({ method: request.method ?? '', path, isStream });
    const stub = isStream ? [...stubs].find(([part]) => path.includes(part))?.[1] : undefined;
    if (stub) play(stub, request, response);
    else passOn(manager, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    stubs,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function play(stub: PlayStream, request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.write(': open\n\n');
  stub(response, String(request.headers['last-event-id'] ?? ''));
}

function passOn(manager: string, request: IncomingMessage, response: ServerResponse): void {
  const onward = httpRequest(`${manager}${request.url}`, {
    method: request.method,
    headers: request.headers,
    setHost: false,
  });
  onward.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
    answer.on('error', () => response.destroy());
  });
  onward.on('error', () => response.destroy());
  response.on('close', () => onward.destroy());
  request.pipe(onward);
}

/** Returns an event in its wire format. */
export const eventText = (event: string, id: string | number, data: unknown): string =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
