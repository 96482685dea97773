/** The session cookie among the cookies of a request: the gateway reads it and forwards it to no service. */
import { sessionCookieName } from '@baton/contracts';

const NAMES = [sessionCookieName(true), sessionCookieName(false)];

/**
 * Returns the value of the session cookie; null when there is none. Over TLS only the `__Host-` name counts, because no neighbour
 * of this host can set it. Two cookies of the name count as none: one of them may belong to somebody else.
 * @param cookie header Cookie, all its lines joined by `; `.
 */
export function readSession(cookie: string, isHttps: boolean): string | null {
  if (cookie === '') return null;
  const wanted = sessionCookieName(isHttps);
  const found = pairsOf(cookie).filter(({ name }) => name === wanted);
  const value = found.length === 1 ? found[0]!.value : '';
  return value === '' ? null : value;
}

/** Returns the header without session cookies, whatever their name: services do not need them, and logs must not contain them. */
export function withoutSession(cookie: string): string {
  if (!cookie.includes('baton_session')) return cookie;
  return pairsOf(cookie)
    .filter(({ name }) => !NAMES.includes(name))
    .map(({ text }) => text)
    .join('; ');
}

interface Pair {
  name: string;
  value: string;
  text: string;
}

function pairsOf(cookie: string): Pair[] {
  return cookie.split(';').flatMap((piece) => {
    const text = piece.trim();
    if (text === '') return [];
    const mark = text.indexOf('=');
    const name = mark < 0 ? '' : text.slice(0, mark).trim();
    return [{ name, value: text.slice(mark + 1).trim(), text }];
  });
}
