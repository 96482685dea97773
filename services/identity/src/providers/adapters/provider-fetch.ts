/**
 * Requests to identity providers: over TLS only, to addresses that the operator allows, with bounds on time, size and number. The
 * host is resolved once and the connection is made to that address. Redirects are not followed.
 */
import type { IncomingMessage } from 'node:http';
import { type AddressRules, pinnedAddress, pinnedRequest, whyUnreached } from '@baton/http';

/** Discovery documents and key sets have a few kB; Microsoft's largest has 20. */
const MAX_BYTES = 256 * 1024;
export const PROVIDER_TIMEOUT_MS = 10_000;
/** Requests of this process to providers at once; a flood of sign-ins must not become a flood of the provider. */
const MAX_AT_ONCE = 32;

export interface ProviderRequest {
  method?: string | undefined;
  headers?: Record<string, string> | undefined;
  body?: string | undefined;
}

/** The provider gave no answer that can be used; `message` is a clause for administrators. */
export class ProviderUnreached extends Error {}

/** The host has an address that the operator does not allow. */
export class AddressRefused extends ProviderUnreached {
  constructor(hostname: string) {
    super(`the host ${hostname} is not public, and BATON_LOGIN_PROVIDER_ALLOW does not name its network`);
  }
}

/** Returns the answer of the provider, whatever its status. @throws ProviderUnreached */
export type ProviderFetch = (
  url: string,
  asked: ProviderRequest,
  caCertificate: string | null,
) => Promise<Response>;

export function createProviderFetch(rules: Partial<AddressRules>): ProviderFetch {
  let running = 0;
  return async (url, asked, caCertificate) => {
    if (running >= MAX_AT_ONCE) throw new ProviderUnreached('too many sign-ins ask the provider at once');
    running += 1;
    try {
      return await ask(new URL(url), asked, caCertificate, rules);
    } catch (error) {
      if (error instanceof ProviderUnreached) throw error;
      throw new ProviderUnreached(whyUnreached(error), { cause: error });
    } finally {
      running -= 1;
    }
  };
}

async function ask(
  url: URL,
  asked: ProviderRequest,
  caCertificate: string | null,
  rules: Partial<AddressRules>,
): Promise<Response> {
  if (url.protocol !== 'https:')
    throw new ProviderUnreached(`the address ${url.origin} does not begin with https://`);
  const address = await pinnedAddress(url.hostname, rules);
  if (address === null) throw new AddressRefused(url.hostname);
  const response = await send(url, asked, address, caCertificate);
  const bytes = await wholeBody(response);
  // A status without a body refuses even an empty one.
  const isEmpty = response.statusCode === 204 || response.statusCode === 304;
  return new Response(isEmpty ? null : new Uint8Array(bytes), {
    status: response.statusCode!,
    headers: Object.entries(response.headersDistinct).flatMap(([name, values]) =>
      (values ?? []).map((value): [string, string] => [name, value]),
    ),
  });
}

function send(
  url: URL,
  { method, headers, body }: ProviderRequest,
  address: string,
  caCertificate: string | null,
): Promise<IncomingMessage> {
  return pinnedRequest({
    url,
    address,
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) },
    body: body === undefined ? undefined : Buffer.from(body, 'utf8'),
    signal: AbortSignal.timeout(PROVIDER_TIMEOUT_MS),
    ca: caCertificate ?? undefined,
  });
}

async function wholeBody(response: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of response) {
    size += (piece as Buffer).length;
    if (size > MAX_BYTES) {
      response.destroy();
      throw new ProviderUnreached(`its answer is larger than ${MAX_BYTES} bytes`);
    }
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces);
}
