/** A browser of the tests: cookies by origin, redirects one by one, the manager behind the address that users know. */
import { request as httpsRequest } from 'node:https';

export const MANAGER = 'https://manager.example';

export interface Visited {
  status: number;
  location: string;
  /** Lines of Set-Cookie. */
  cookies: string[];
}

export interface TestBrowser {
  /** Cookies of an origin by name. */
  cookies(origin: string): Map<string, string>;
  visit(url: string): Promise<Visited>;
  /** Visits the address and follows redirects until one leads to `until`; returns that address, which was not visited. */
  follow(url: string, until: (url: string) => boolean): Promise<string>;
}

/** Headers that the gateway adds, for a test of identity alone. */
const OF_GATEWAY = { 'x-baton-origin': MANAGER, 'x-baton-https': 'yes' };

/** @param managerOrigin where the manager of the test really listens. @param ca PEM for the provider. */
export function testBrowser(
  managerOrigin: string,
  ca: string,
  headers: Record<string, string> = OF_GATEWAY,
): TestBrowser {
  const jars = new Map<string, Map<string, string>>();
  const jar = (origin: string): Map<string, string> => {
    const found = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, found);
    return found;
  };
  const visit = async (address: string): Promise<Visited> => {
    const url = new URL(address);
    const cookies = jar(url.origin);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const visited =
      url.origin === MANAGER
        ? await visitManager(`${managerOrigin}${url.pathname}${url.search}`, { ...headers, cookie })
        : await visitProvider(url, cookie, ca);
    for (const line of visited.cookies) store(cookies, line);
    return { ...visited, location: visited.location && new URL(visited.location, url).href };
  };
  return {
    cookies: jar,
    visit,
    follow: async (url, until) => {
      for (let at = url, hops = 0; hops < 15; hops++) {
        const { status, location } = await visit(at);
        if (status < 300 || status > 399) throw new Error(`${at} answered ${status}`);
        if (until(location)) return location;
        at = location;
      }
      throw new Error(`${url} leads on and on`);
    },
  };
}

function store(cookies: Map<string, string>, line: string): void {
  const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
  const mark = pair.indexOf('=');
  const isOver = attributes.some((one) => /^max-age=0$/i.test(one) || /^expires=Thu, 01 Jan 1970/i.test(one));
  if (isOver) cookies.delete(pair.slice(0, mark));
  else cookies.set(pair.slice(0, mark), pair.slice(mark + 1));
}

async function visitManager(url: string, headers: Record<string, string>): Promise<Visited> {
  const answer = await fetch(url, { redirect: 'manual', headers });
  await answer.arrayBuffer();
  return {
    status: answer.status,
    location: answer.headers.get('location') ?? '',
    cookies: answer.headers.getSetCookie(),
  };
}

const visitProvider = (url: URL, cookie: string, ca: string): Promise<Visited> =>
  new Promise((resolve, reject) => {
    const headers = { accept: 'text/html', ...(cookie === '' ? {} : { cookie }) };
    const sent = httpsRequest(url, { ca, agent: false, headers }, (got) => {
      got.resume();
      got.on('end', () =>
        resolve({
          status: got.statusCode!,
          location: got.headers.location ?? '',
          cookies: got.headers['set-cookie'] ?? [],
        }),
      );
    });
    sent.on('error', reject);
    sent.end();
  });
