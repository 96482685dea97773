/** Calls of the security tests: each call names its user. */
import { request as httpRequest } from 'node:http';
import type { Fleet } from '../harness/fleet';

// biome-ignore lint/suspicious/noExplicitAny: answers of all routes; the tests say what they expect.
type Any = any;

export interface Who {
  /** `name:password`; null: no credentials. */
  user: string | null;
  tenant: string;
  headers?: Record<string, string>;
}

export interface Answered {
  status: number;
  text: string;
  body: Any;
}

export interface Caller {
  admin: Who;
  send(who: Who, method: string, path: string, body?: unknown, archive?: Buffer): Promise<Answered>;
  /** Returns the body of an answer with a status below 300. @throws Error for any other status */
  must(who: Who, method: string, path: string, body?: unknown, archive?: Buffer): Promise<Any>;
  /** Creates a user with this role in this tenant; creates the tenant if it is missing. */
  user(username: string, tenant: string, role: string): Promise<Who>;
  /** Requests a path unchanged; `fetch` would normalize it. */
  raw(who: Who, method: string, path: string): Promise<{ status: number; text: string }>;
}

export const PASSWORD = 'long-enough-password';

const authorization = (user: string) => `Basic ${Buffer.from(user).toString('base64')}`;

/** `baseUrl`: the gateway to call; default: the first. */
export function callerOf(fleet: Fleet, baseUrl = fleet.baseUrl): Caller {
  const admin: Who = { user: `admin:${fleet.adminPassword}`, tenant: 'default_tenant' };
  const send: Caller['send'] = async (who, method, path, body, archive) => {
    const headers: Record<string, string> = { tenant: who.tenant, ...who.headers };
    if (who.user !== null) headers.authorization = authorization(who.user);
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (archive) headers['content-type'] = 'application/octet-stream';
    const response = await fetch(`${baseUrl}/api/v3.1${path}`, {
      method,
      headers,
      body: archive ? new Uint8Array(archive) : body === undefined ? undefined : textOf(body),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true && text !== '';
    return { status: response.status, text, body: isJson ? JSON.parse(text) : null };
  };
  const must: Caller['must'] = async (who, method, path, body, archive) => {
    const answer = await send(who, method, path, body, archive);
    if (answer.status < 300) return answer.body;
    throw new Error(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
  };
  return {
    admin,
    send,
    must,
    async user(username, tenant, role) {
      await send(admin, 'POST', `/tenants/${tenant}`);
      await must(admin, 'PUT', '/users', { username, password: PASSWORD, role: 'default' });
      await must(admin, 'PUT', '/tenants/users', { tenant_name: tenant, username, role });
      return { user: `${username}:${PASSWORD}`, tenant };
    },
    raw: (who, method, path) => rawCall(baseUrl, who, method, path),
  };
}

/** A body that is a text is sent unchanged: some test bodies are not valid JSON. */
const textOf = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body));

function rawCall(baseUrl: string, who: Who, method: string, path: string) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const { hostname, port } = new URL(baseUrl);
    const headers: Record<string, string> = { tenant: who.tenant };
    if (who.user !== null) headers.authorization = authorization(who.user);
    const sent = httpRequest({ hostname, port, path, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on('error', reject);
    sent.end();
  });
}
