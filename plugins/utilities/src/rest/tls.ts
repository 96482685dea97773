import { open } from 'node:fs/promises';
import { FatalError, type TlsOptions } from '@baton/plugin-sdk';
import type { Call } from './call';
import type { RestScope } from './scope';

const MAX_PEM_BYTES = 1024 * 1024;
const KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]+?-----END [A-Z ]*PRIVATE KEY-----/;
const CERTIFICATES = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/**
 * How the server is known, and the certificate of the client. Both are PEM, or name a file of the machine or of the blueprint.
 * @throws FatalError for a file that is not there, and for a certificate without its key
 */
export async function tlsOf(scope: RestScope, { verify, cert }: Call): Promise<TlsOptions> {
  const tls: TlsOptions = {};
  if (verify === false || (typeof verify === 'string' && /^false$/i.test(verify))) tls.verify = false;
  else if (typeof verify === 'string' && !/^(true)?$/i.test(verify))
    tls.ca = await pemOf(scope, 'verify', verify);
  if (cert) {
    const [own, key] = typeof cert === 'string' ? [cert, cert] : cert;
    const keyText = KEY.exec(await pemOf(scope, 'cert', key))?.[0];
    const certificates = (await pemOf(scope, 'cert', own)).match(CERTIFICATES);
    if (keyText === undefined || certificates === null)
      throw new FatalError('cert: expected a certificate and its private key, both as PEM');
    scope.hide(keyText);
    tls.cert = certificates.join('\n');
    tls.key = keyText;
  }
  return tls;
}

async function pemOf({ ctx }: RestScope, name: string, value: string): Promise<string> {
  if (value.includes('-----BEGIN')) return value;
  const local = await readLocal(value);
  if (local !== null) return local;
  try {
    return Buffer.from(await ctx.getResource(value)).toString('utf8');
  } catch (cause) {
    throw new FatalError(
      `${name}: ${value} is no PEM, no file that the worker shows to the plugin, and no file of the blueprint`,
      { cause },
    );
  }
}

/** A file as the plugin sees it; null: there is none. */
async function readLocal(path: string): Promise<string | null> {
  try {
    const file = await open(path, 'r');
    try {
      const { size, isFile } = await file.stat().then((stat) => ({ size: stat.size, isFile: stat.isFile() }));
      return isFile && size <= MAX_PEM_BYTES ? await file.readFile('utf8') : null;
    } finally {
      await file.close();
    }
  } catch {
    return null;
  }
}

/** The proxy for the scheme of the call, as a list of proxies names it. */
export function proxyOf({ ssl, proxies }: Call): string | undefined {
  const named = proxies[ssl ? 'https' : 'http'] ?? proxies.all;
  if (named === undefined || named === null || named === '') return undefined;
  if (typeof named !== 'string') throw new FatalError('proxies: expected addresses by http and https');
  return /^[a-z]+:\/\//i.test(named) ? named : `http://${named}`;
}
