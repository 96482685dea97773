import { execFileSync } from 'node:child_process';
import { connect, type TLSSocket } from 'node:tls';
import { AGENT_SERVER_NAME, type AgentAbout, agentPaths } from '@baton/contracts';

/** Where a manager listens. */
export interface Place {
  host: string;
  port: number;
}

/** What the connection of an agent shows and trusts; PEM. A thief has copied the same from a host. */
export interface Identity {
  key: string;
  certificate: string;
  authorities: string;
}

/** What an agent says of itself; nothing here is true. */
export const someAbout: AgentAbout = {
  protocol: 1,
  version: '0.0.0-by-hand',
  platform: 'linux-x64',
  hostname: 'by-hand',
  system: 'a test',
  processManagement: 'provided',
  startedAt: '2026-01-01T00:00:00.000Z',
  slots: 5,
  running: 0,
  waitingLines: 0,
  droppedLines: 0,
  authoritiesDigest: '',
  certificateUntil: '2030-01-01T00:00:00.000Z',
  upgrade: null,
};

/** Returns a new P-256 key and a request for its certificate. */
export function signingRequest(subject = '/CN=by-hand'): { key: string; request: string } {
  const args = [
    'req',
    '-new',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-keyout',
    '-',
  ];
  const text = execFileSync('openssl', [...args, '-subj', subject], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const at = text.indexOf('-----BEGIN CERTIFICATE REQUEST-----');
  return { key: text.slice(0, at), request: text.slice(at) };
}

/** Opens TLS to the agents' listener. @throws Error when either side refuses the other */
export function openTls(
  { host, port }: Place,
  { authorities, key, certificate }: Partial<Identity> & Pick<Identity, 'authorities'>,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port,
      servername: AGENT_SERVER_NAME,
      ca: authorities,
      ...(key && certificate ? { key, cert: certificate } : {}),
    });
    socket.once('error', reject);
    socket.once('secureConnect', () => resolve(socket));
  });
}

export interface HttpAnswer {
  status: number;
  body: string;
}

/** Sends one request over TLS with this identity. @throws Error when the connection ends without an answer */
export async function requestAs(
  place: Place,
  identity: Partial<Identity> & Pick<Identity, 'authorities'>,
  {
    method,
    path,
    body,
    headers = {},
  }: { method: string; path: string; body?: object; headers?: Record<string, string> },
): Promise<HttpAnswer> {
  const socket = await openTls(place, identity);
  const text = body ? JSON.stringify(body) : '';
  const lines = Object.entries({
    host: `${place.host}:${place.port}`,
    connection: 'close',
    ...(body ? { 'content-type': 'application/json' } : {}),
    'content-length': String(Buffer.byteLength(text)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return await new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    socket.on('data', (part) => parts.push(part));
    socket.once('error', reject);
    socket.once('close', () => {
      const answer = Buffer.concat(parts).toString();
      const status = /^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1];
      if (status) resolve({ status: Number(status), body: answer.slice(answer.indexOf('\r\n\r\n') + 4) });
      else reject(new Error('the connection ended without an answer'));
    });
    socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`);
  });
}

/** Exchanges a token for a certificate. `authorities`: of the enrolment. @throws Error with status and text of a refusal */
export async function enrol(place: Place, token: string, authorities: string): Promise<Identity> {
  const { key, request } = signingRequest();
  const body = { token, signing_request: request, about: someAbout };
  const answer = await requestAs(place, { authorities }, { method: 'POST', path: agentPaths.enrol, body });
  if (answer.status >= 300) throw new Error(`enrol: ${answer.status} ${answer.body}`);
  // Bodies may come in chunks; the object is what stands between the outermost braces.
  const text = answer.body.slice(answer.body.indexOf('{'), answer.body.lastIndexOf('}') + 1);
  const issued = JSON.parse(text) as { certificate: string; authorities: string };
  return { key, certificate: issued.certificate, authorities: issued.authorities };
}
