import { FatalError } from '../errors';
import type { Received, Send, Sending } from './http-send';

const MOST_REDIRECTS = 10;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Headers that another server may get. Any other one may hold something that only the first server may know. */
const HARMLESS = new Set(['accept', 'accept-language', 'user-agent', 'content-type']);

/**
 * Sends a request and follows redirects. Another server (scheme, name or port differ) gets no credentials: no header but harmless
 * ones, no certificate and no body. A redirect that would need one of them, leads from https to http or to something else than
 * HTTP is not followed: it is the answer.
 * @throws FatalError for too many redirects
 */
export async function follow(first: Sending, send: Send, most = MOST_REDIRECTS): Promise<Received> {
  let sending = first;
  for (let followed = 0; ; followed++) {
    const received = await send(sending);
    const next = most === 0 ? null : nextOf(sending, received);
    if (next === null) return received;
    received.body.destroy();
    if (followed >= most)
      throw new FatalError(
        `${first.method} ${first.url.origin}${first.url.pathname} was redirected more than ${most} times`,
      );
    sending = next;
  }
}

function nextOf(sending: Sending, { status, headers }: Received): Sending | null {
  const { location } = headers;
  if (!REDIRECTS.has(status) || location === undefined || !URL.canParse(location, sending.url.href))
    return null;
  const url = new URL(location, sending.url);
  const isDowngrade = sending.url.protocol === 'https:' && url.protocol !== 'https:';
  if (!/^https?:$/.test(url.protocol) || isDowngrade || url.username !== '' || url.password !== '')
    return null;
  const isOther = url.origin !== sending.url.origin && !isUpgrade(sending.url, url);
  const dropsBody = status === 303 || ((status === 301 || status === 302) && sending.method === 'POST');
  if (isOther && !dropsBody && sending.body !== undefined) return null;
  const { body: _, ...bare } = sending;
  const moved = dropsBody ? { ...bare, method: sending.method === 'HEAD' ? 'HEAD' : 'GET' } : sending;
  const kept = Object.entries(sending.headers).filter(
    ([name]) => (!isOther || HARMLESS.has(name)) && !(dropsBody && name.startsWith('content-')),
  );
  const { cert: _cert, key: _key, serverName: _name, ...believed } = sending.tls ?? {};
  return {
    ...moved,
    url,
    headers: Object.fromEntries(kept),
    ...(isOther && sending.tls ? { tls: believed } : {}),
  };
}

/** The same server by TLS, on the usual ports. It has seen everything already. */
const isUpgrade = (from: URL, to: URL): boolean =>
  from.protocol === 'http:' &&
  to.protocol === 'https:' &&
  from.hostname === to.hostname &&
  from.port === '' &&
  to.port === '';
