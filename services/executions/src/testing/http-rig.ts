import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { Principal } from '@baton/contracts';
import { type BoundRoute, createHttpApp, principalHeader, signPrincipal } from '@baton/http';
import { silentLog } from '@baton/kernel';
import { derivedTrust } from '@baton/trust';
import type { EngineSetup } from './engine-setup';

/** Some routes of the service behind a loopback port. */
export interface HttpRig {
  /** Sends a request as `principal`; the body of an empty answer is null. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers freely.
  call(
    method: string,
    path: string,
    body?: object,
    principal?: Principal,
  ): Promise<{ status: number; body: any }>;
  /** Opens a stream of server-sent events. */
  stream(path: string, o?: { principal?: Principal; lastEventId?: string }): Promise<OpenStream>;
  close(): Promise<void>;
}

export interface SeenEvent {
  id?: string;
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers freely.
  data: any;
}

/** A stream whose events are read as they arrive. */
export interface OpenStream {
  status: number;
  /** Events received so far. */
  events: SeenEvent[];
  /** Number of comment lines received so far. */
  comments(): number;
  /** Resolves when the server has ended the stream. */
  ended: Promise<void>;
  /** Disconnects the client. */
  cut(): Promise<void>;
}

export const admin: Principal = {
  userId: 0,
  username: 'admin',
  tenant: 'default_tenant',
  role: 'sys_admin',
  roles: ['sys_admin'],
  permissions: ['administrators'],
  authMethod: 'token',
  executionId: '',
  tenants: [],
  isBootstrapAdmin: true,
};

export async function httpRig(
  { internalKey }: EngineSetup,
  routes: BoundRoute[],
  o: { heartbeatMs?: number } = {},
): Promise<HttpRig> {
  const app = createHttpApp({
    service: 'executions',
    routes,
    trust: derivedTrust('executions', internalKey),
    log: silentLog,
    wire: 'spec',
    validateResponses: true,
    ...o,
  });
  const base = `http://127.0.0.1:${await app.listen('127.0.0.1', 0)}/api/v3.1`;
  const authorized = async (principal: Principal) => ({
    [principalHeader]: await signPrincipal(
      principal,
      derivedTrust('gateway', internalKey).identity,
      'executions',
    ),
  });
  return {
    async stream(path, { principal = admin, lastEventId } = {}) {
      const headers = {
        ...(await authorized(principal)),
        ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      };
      // Each stream has its own connection, so that a cut does not affect others.
      const asked = request(`${base}${path}`, { headers, agent: false }).end();
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      return readStream(answer);
    },
    async call(method, path, body, principal = admin) {
      const answer = await fetch(`${base}${path}`, {
        method,
        headers: {
          ...(await authorized(principal)),
          'content-type': 'application/json',
        },
        body: body && JSON.stringify(body),
      });
      const text = await answer.text();
      return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
    },
    close: () => app.close(),
  };
}

function readStream(answer: IncomingMessage): OpenStream {
  const events: SeenEvent[] = [];
  let comments = 0;
  let text = '';
  answer.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    const blocks = text.split('\n\n');
    text = blocks.pop()!;
    for (const block of blocks) {
      if (block.startsWith(':')) comments++;
      else events.push(eventOf(block));
    }
  });
  // A cut connection is an error for its reader; the test ignores it.
  answer.on('error', () => undefined);
  const ended = once(answer, 'close').then(() => undefined);
  return {
    status: answer.statusCode!,
    events,
    comments: () => comments,
    ended,
    async cut() {
      answer.destroy();
      await ended;
    },
  };
}

function eventOf(block: string): SeenEvent {
  const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)));
  const { id, event = 'message', data = 'null' } = fields as Record<string, string | undefined>;
  return { ...(id === undefined ? {} : { id }), event, data: JSON.parse(data) };
}
