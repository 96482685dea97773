/** A real OpenID provider (npm oidc-provider) behind TLS, whose answers a test may falsify on their way. */
import { generateKeyPairSync } from 'node:crypto';
import {
  createServer as createHttp,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { systemClock } from '@baton/kernel';
import { createAuthority } from '@baton/tls/authority';
import type { Configuration } from 'oidc-provider';

export interface Person {
  preferred_username: string;
  groups: string[];
  email?: string;
}

/** Falsifies a JSON answer; keyed by the path at the provider. */
export type Falsify = (body: Record<string, unknown>) => unknown;

/** An answer that waits for `until`; `reached` tells that a request waits. */
export interface Hold {
  until: Promise<void>;
  status: number;
  body: object;
  reached: Promise<void>;
}

export interface TestOp {
  issuer: string;
  /** PEM of the authority of its certificate. */
  ca: string;
  clientId: string;
  clientSecret: string;
  /** Accounts by subject. */
  people: Map<string, Person>;
  /** Subject that signs in next. */
  signsIn: string;
  falsify: Map<string, Falsify>;
  /** Answers instead of the provider: a status, or null to cut the connection. */
  broken: Map<string, number | null>;
  /** Answers instead of the provider, with status 200. */
  replaced: Map<string, object>;
  holds: { set(path: string, hold: Omit<Hold, 'reached'>): void } & Pick<Map<string, Hold>, 'get' | 'delete'>;
  /** Paths that were asked. */
  asked: string[];
  /** Private keys as JWK; the first signs. */
  keys: Record<string, unknown>[];
  /** Takes other keys from now on. */
  rotate(): Promise<void>;
  stop(): Promise<void>;
}

const CLIENT = { id: 'baton', secret: 'the secret of the client of the tests' };

export const newKey = (kid: string): Record<string, unknown> => ({
  ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
  kid,
  use: 'sig',
  alg: 'RS256',
});

const listening = (server: Server): Promise<number> =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });

export async function startTestOp(redirectUris: readonly string[]): Promise<TestOp> {
  const authority = await createAuthority('tests of sign-ins', systemClock.now());
  const { cert, key } = await authority.issue({ names: ['127.0.0.1'], nowMs: systemClock.now() });
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
  const front = createHttps({ cert, key }, (request, response) => handle(request, response));
  const port = await listening(front);
  const issuer = `https://127.0.0.1:${port}`;
  const op: Omit<TestOp, 'rotate' | 'stop'> = {
    issuer,
    ca: authority.cert,
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    people: new Map(),
    signsIn: '',
    falsify: new Map(),
    broken: new Map(),
    replaced: new Map(),
    holds: heldAnswers(),
    asked: [],
    keys: [newKey('first')],
  };
  let inner = await startInner(op, redirectUris);
  handle = (request, response) => {
    const path = request.url!.split('?')[0]!;
    op.asked.push(path);
    const status = op.broken.has(path) ? op.broken.get(path) : op.broken.get('*');
    const replaced = op.replaced.get(path);
    const hold = op.holds.get(path) as HeldAnswer | undefined;
    if (hold) void hold.answer(response);
    else if (status === null) request.socket.destroy();
    else if (status !== undefined) response.writeHead(status).end('broken');
    else if (replaced)
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(replaced));
    else forward(op, inner.port, response, request, path);
  };
  return Object.assign(op, {
    rotate: async () => {
      op.keys.unshift(newKey(`key-${op.keys.length}`));
      op.keys.length = 1;
      inner.server.closeAllConnections();
      inner.server.close();
      inner = await startInner(op, redirectUris);
    },
    stop: async () => {
      for (const server of [front, inner.server]) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  });
}

interface HeldAnswer extends Hold {
  answer(response: ServerResponse): Promise<void>;
}

function heldAnswers(): TestOp['holds'] {
  const holds = new Map<string, HeldAnswer>();
  return {
    get: (path) => holds.get(path),
    delete: (path) => holds.delete(path),
    set: (path, given) => {
      let reach: () => void = () => undefined;
      const reached = new Promise<void>((resolve) => {
        reach = resolve;
      });
      holds.set(path, {
        ...given,
        reached,
        answer: async (response) => {
          reach();
          await given.until;
          response
            .writeHead(given.status, { 'content-type': 'application/json' })
            .end(JSON.stringify(given.body));
        },
      });
    },
  };
}

/** Starts the provider itself, over plain HTTP. */
async function startInner(
  op: Pick<TestOp, 'issuer' | 'people' | 'keys' | 'signsIn'>,
  redirectUris: readonly string[],
): Promise<{ server: Server; port: number }> {
  const { Provider } = await import('oidc-provider');
  const provider = new Provider(op.issuer, configuration(op, redirectUris));
  provider.proxy = true;
  const callback = provider.callback();
  const server = createHttp((request, response) => {
    // Signs in whom the test has named, as a form would.
    if (request.url!.startsWith('/interaction/'))
      void provider.interactionFinished(request, response, { login: { accountId: op.signsIn } });
    else void callback(request, response);
  });
  return { server, port: await listening(server) };
}

function configuration(
  { people, keys }: Pick<TestOp, 'people' | 'keys'>,
  redirectUris: readonly string[],
): Configuration {
  return {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [...redirectUris],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      },
    ],
    jwks: { keys: keys as never },
    cookies: { keys: ['of the tests'] },
    scopes: ['openid', 'profile', 'groups', 'offline_access'],
    claims: { openid: ['sub'], profile: ['preferred_username', 'email'], groups: ['groups'] },
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    issueRefreshToken: async () => true,
    findAccount: (_ctx, id) => {
      const person = people.get(id);
      return person && { accountId: id, claims: () => ({ sub: id, ...person }) };
    },
    loadExistingGrant: async (ctx) => {
      const grant = new ctx.oidc.provider.Grant({
        clientId: ctx.oidc.client!.clientId,
        accountId: ctx.oidc.session!.accountId!,
      });
      grant.addOIDCScope('openid profile groups offline_access');
      await grant.save();
      return grant;
    },
  };
}

function forward(
  { falsify }: Pick<TestOp, 'falsify'>,
  port: number,
  response: ServerResponse,
  request: IncomingMessage,
  path: string,
): void {
  const headers = { ...request.headers, 'x-forwarded-proto': 'https' };
  const sent = httpRequest(
    { host: '127.0.0.1', port, path: request.url, method: request.method, headers },
    (got) => {
      const pieces: Buffer[] = [];
      got.on('data', (piece: Buffer) => pieces.push(piece));
      got.on('end', () => {
        let body = Buffer.concat(pieces);
        const change = falsify.get(path);
        if (change && got.statusCode === 200)
          body = Buffer.from(JSON.stringify(change(JSON.parse(body.toString()) as Record<string, unknown>)));
        const { 'content-length': _length, 'transfer-encoding': _encoding, ...kept } = got.headers;
        response.writeHead(got.statusCode!, { ...kept, 'content-length': body.length }).end(body);
      });
    },
  );
  sent.on('error', () => response.destroy());
  request.pipe(sent);
}
