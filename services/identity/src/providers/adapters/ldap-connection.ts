/**
 * A connection to a directory: always with TLS, to the address that was judged, with certificate and host verified. It is opened here
 * and not by the library, which would open a second one by itself, without TLS and without a bind.
 */
import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { type TLSSocket, connect as tlsConnect } from 'node:tls';
import { type AddressRules, bareHost, pinnedAddress, whyUnreached } from '@baton/http';
import type { Secret } from '@baton/kernel';
import { Client, type Entry, type Filter, ResultCodeError, type SearchOptions } from 'ldapts';
import type { LdapEntry } from '../domain/ldap-entry';
import { AddressRefused, ProviderUnreached } from './provider-fetch';

/** Time of one question on an open connection. */
const ANSWER_MS = 10_000;
/** Most bytes of one answer, or of one page of a search. A page of 500 groups has about 100 kB. */
const MAX_BYTES = 4 * 1024 * 1024;
const PAGE = 500;
const START_TLS = '1.3.6.1.4.1.1466.20037';
/** Results of a bind that speak about the account: constraintViolation, inappropriateAuthentication, invalidCredentials, insufficientAccessRights, unwillingToPerform. */
const REFUSALS = new Set([19, 48, 49, 50, 53]);

/** The directory refuses the bind of this account. */
export class BindRefused extends Error {}

/** The directory answers, but with an error. */
export class DirectoryFault extends ProviderUnreached {
  constructor(
    readonly code: number,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export interface Search {
  filter: Filter;
  attributes: readonly string[];
  /** One more entry than this may be returned: there are too many. */
  most: number;
}

export interface DirectoryConnection {
  readonly isOpen: boolean;
  /** @throws BindRefused; ProviderUnreached */
  bind(dn: string, password: Secret): Promise<void>;
  /** Searches below `base`, in pages. Referrals are not followed. @throws ProviderUnreached */
  search(base: string, search: Search): Promise<LdapEntry[]>;
  close(): void;
}

export interface ConnectOptions {
  caCertificate: string | null;
  rules: Partial<AddressRules>;
  /** Ends the attempt. */
  signal: AbortSignal;
}

/** Connects to `ldaps://` at once with TLS, to `ldap://` by STARTTLS (RFC 4513, section 3). @throws ProviderUnreached */
export async function connectDirectory(
  url: string,
  { caCertificate, rules, signal }: ConnectOptions,
): Promise<DirectoryConnection> {
  const { protocol, hostname, port } = new URL(url);
  const isTls = protocol === 'ldaps:';
  let socket: Socket | undefined;
  try {
    const address = await until(signal, pinnedAddress(hostname, rules));
    if (address === null) throw new AddressRefused(hostname);
    socket = connect({ host: address, port: Number(port) || (isTls ? 636 : 389) });
    await once(socket, 'connect', { signal });
    if (!isTls) await until(signal, startTls(socket));
    // The connection with TLS tells its faults.
    socket.on('error', () => undefined);
    return connectionOver(await secured(socket, bareHost(hostname), caCertificate, signal));
  } catch (error) {
    socket?.destroy();
    throw faultOf(error);
  }
}

/** Rejects when the signal ends the attempt. */
export function until<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = (): void => reject(signal.reason as Error);
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });
}

/**
 * Asks for TLS on a connection without it. The client is thrown away afterwards: whatever somebody put behind the answer in clear
 * stays in it, and is never read as an answer that came by TLS.
 */
async function startTls(socket: Socket): Promise<void> {
  const limit = limitBytes(socket);
  const client = new Client({
    url: 'ldap://directory',
    timeout: ANSWER_MS,
    createConnection: () => socket,
  });
  await client.exop(START_TLS).catch((error: unknown) => {
    throw limit.isOver() ? tooLarge() : error;
  });
  socket.removeAllListeners('data');
}

const tooLarge = (): ProviderUnreached =>
  new ProviderUnreached(`its answer is larger than ${MAX_BYTES} bytes`);

/** Closes the connection when an answer is too large: the library would keep all of it. */
function limitBytes(socket: Socket): { begin(): void; isOver(): boolean } {
  let received = 0;
  socket.on('data', (piece: Buffer) => {
    received += piece.length;
    if (received > MAX_BYTES) socket.destroy();
  });
  return {
    begin: () => {
      received = 0;
    },
    isOver: () => received > MAX_BYTES,
  };
}

async function secured(
  socket: Socket,
  host: string,
  caCertificate: string | null,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const secure = tlsConnect({
    socket,
    host,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ...(isIP(host) > 0 ? {} : { servername: host }),
    ...(caCertificate === null ? {} : { ca: caCertificate }),
  });
  secure.on('error', () => undefined);
  await once(secure, 'secureConnect', { signal });
  return secure;
}

function connectionOver(socket: TLSSocket): DirectoryConnection {
  const given = [socket];
  const limit = limitBytes(socket);
  const client = new Client({
    url: 'ldaps://directory',
    timeout: ANSWER_MS,
    createSecureConnection: () => {
      const first = given.pop();
      if (first === undefined) throw new ProviderUnreached('the directory closed the connection');
      return first;
    },
  });
  const ask = async <T>(work: () => Promise<T>): Promise<T> => {
    limit.begin();
    try {
      return await work();
    } catch (error) {
      if (limit.isOver()) throw tooLarge();
      if (!(error instanceof ResultCodeError)) socket.destroy();
      throw faultOf(error);
    }
  };
  return {
    get isOpen() {
      return !socket.destroyed && socket.writable;
    },
    bind: (dn, password) =>
      ask(() => client.bind(dn, password.expose())).catch((error: unknown) => {
        if (error instanceof DirectoryFault && REFUSALS.has(error.code))
          throw new BindRefused(error.message, { cause: error });
        throw error;
      }),
    search: async (base, { filter, attributes, most }) => {
      const options: SearchOptions = {
        scope: 'sub',
        derefAliases: 'never',
        filter,
        attributes: [...attributes],
        explicitBufferAttributes: ['objectGUID'],
        paged: { pageSize: Math.min(PAGE, most + 1) },
      };
      const pages = client.searchPaginated(base, options);
      const found: LdapEntry[] = [];
      while (found.length <= most) {
        const page = await ask(() => pages.next());
        if (page.done) break;
        found.push(...page.value.searchEntries.map(entryOf));
      }
      return found;
    },
    close: () => {
      socket.end();
      socket.destroy();
    },
  };
}

function entryOf({ dn, ...attributes }: Entry): LdapEntry {
  const values = Object.entries(attributes).map(([name, value]): [string, (string | Buffer)[]] => [
    name,
    Array.isArray(value) ? [...value] : [value],
  ]);
  return { dn, values: Object.fromEntries(values) };
}

/** Returns the fault in words for administrators; what the directory itself writes is cut. */
function faultOf(error: unknown): Error {
  if (error instanceof ProviderUnreached) return error;
  if (error instanceof ResultCodeError)
    return new DirectoryFault(error.code, `the directory answers: ${error.message.slice(0, 200)}`, {
      cause: error,
    });
  return new ProviderUnreached(whyUnreached(error), { cause: error });
}
