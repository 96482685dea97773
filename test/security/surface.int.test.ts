import { once } from 'node:events';
import { connect } from 'node:net';
import { allRoutes } from '@baton/contracts/http/all';
import { eventually } from '@baton/testkit';
import { startWorld, type World } from '../gateway/world';
import { type Fleet, startFleet } from '../harness/fleet';

/**
 * S26 and row 11: every page and path that is served, with odd methods, headers and bodies, from the sources and from the
 * bundles. Nothing ends the process, no answer is 500, and the headers and pages that a scanner checks are present.
 */

const PAGES = [
  '/',
  '/api/docs',
  '/api/docs/start.js',
  '/api/docs/swagger-ui.css',
  '/api/docs/swagger-ui-bundle.js',
  '/api/docs/favicon-32x32.png',
  '/api/openapi.json',
  '/device',
  '/ui/',
  '/ui/default_tenant/deployments',
  '/ui/favicon.svg',
];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];

/** Sends bytes as a client may send them. Returns the first line of the response; empty when the connection is only closed. */
async function firstLine(origin: string, text: string): Promise<string> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(text);
  const timer = setTimeout(() => socket.destroy(), 5_000);
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk.toString('latin1');
  });
  await once(socket, 'close').catch(() => undefined);
  clearTimeout(timer);
  return answer.split('\r\n', 1)[0]!;
}

const odd = (method: string, path: string): string[] => {
  const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`;
  return [
    `${head}\r\n`,
    `${head}Authorization: Basic ${'A'.repeat(8_000)}\r\nTenant: \x80\xff\r\n\r\n`,
    `${head}Range: bytes=9-1\r\nIf-None-Match: ,,"\r\nIf-Modified-Since: x\r\nContent-Type: \x01;=\r\n\r\n`,
    `${head}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{"a":[\x00}]`,
  ];
};

describe.each(['sources', 'bundles'] as const)('%s', (kind) => {
  let world: World | undefined;
  let fleet: Fleet | undefined;
  let origin: string;
  beforeAll(async () => {
    if (kind === 'sources') {
      world = await startWorld({ isLocal: true });
      origin = world.gateways[0]!;
    } else {
      fleet = await startFleet({ mode: 'standalone', workers: 0 });
      origin = fleet.baseUrl;
    }
  }, 120_000);
  afterAll(async () => {
    await world?.stop();
    await fleet?.stop();
  }, 60_000);

  test.each(PAGES)('%s is served with what a scanner looks for', async (path) => {
    const answer = await fetch(origin + path);
    expect(answer.status).toBe(200);
    expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(50);
    const { headers } = answer;
    const policy = headers.get('content-security-policy')!;
    expect(policy).toMatch(/default-src '(self|none)'/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    for (const name of ['access-control-allow-origin', 'server', 'x-powered-by'])
      expect(headers.get(name)).toBeNull();
  });

  test('pages have no script and no style in their text', async () => {
    for (const path of ['/', '/api/docs', '/ui/']) {
      const html = await (await fetch(origin + path)).text();
      expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|style=|javascript:/i);
    }
  });

  test('answers of the API are in no cache, and refusals tell nothing of the inside', async () => {
    for (const path of ['/api/v3.1/users', '/api/v3.1/version', '/api/v3.1/nosuch', '/nosuch']) {
      const answer = await fetch(origin + path, { headers: { origin: 'https://evil.example' } });
      expect([path, answer.headers.get('cache-control')]).toEqual([path, 'no-store']);
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      const body = await answer.text();
      expect(body).not.toMatch(/node_modules|\.ts:\d|\.js:\d|at \w+ \(/);
    }
  });

  test('pages with odd methods and headers', async () => {
    const lines: string[] = [];
    for (const path of [...PAGES, '/api/docs/', '/api/docs/../x', '/api/docs/%00', '/healthz', '/metrics/x'])
      for (const method of METHODS)
        for (const text of odd(method, path))
          lines.push(`${method} ${path} ${await firstLine(origin, text)}`);
    expect(lines.filter((line) => / 5\d\d /.test(line))).toEqual([]);
    expect((await fetch(`${origin}/healthz`)).status).toBe(200);
  }, 60_000);

  test('every route with odd headers and bodies', async () => {
    const lines: string[] = [];
    const texts = allRoutes.flatMap(({ method, path, versions }) =>
      odd(method, `/api/${versions[0]}${path.replace(/:\w+|\*/g, '%E0%A4x')}`),
    );
    // Only a few in parallel: the test is about the contents, not about load.
    const work = Array.from({ length: 8 }, async () => {
      for (let text = texts.pop(); text !== undefined; text = texts.pop())
        lines.push(`${text.split(' HTTP', 1)[0]} ${await firstLine(origin, text)}`);
    });
    await Promise.all(work);
    // GET /ok reports a missing part of the manager by its status; this manager has no workers.
    expect(lines.filter((line) => / 500 /.test(line) && !line.includes('/v3.1/ok '))).toEqual([]);
    await eventually(async () => (await fetch(`${origin}/healthz`)).status === 200);
  }, 120_000);
});
