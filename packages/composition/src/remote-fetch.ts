import type { OperationContext } from '@baton/plugin-sdk';
import { FatalError } from '@baton/plugin-sdk';
import { Agent, FormData as UndiciFormData, fetch as undiciFetch } from 'undici';
import type { RemoteClientConfig } from './remote-client';

/**
 * Returns a `fetch` with the headers, the query, the version and the trust settings of a node's `client`. `cert`:
 * certificates in PEM, or the path of such a file in the blueprint.
 */
export async function remoteFetch(
  config: RemoteClientConfig,
  ctx: Pick<OperationContext, 'getResource'>,
): Promise<typeof fetch> {
  const ca = config.cert === undefined ? undefined : await certificateOf(config.cert, ctx);
  const isTrustingAll = config.trust_all === true;
  const dispatcher =
    ca === undefined && !isTrustingAll
      ? undefined
      : new Agent({
          connect: { ...(ca === undefined ? {} : { ca }), rejectUnauthorized: !isTrustingAll },
          keepAliveTimeout: 1_000,
        });
  const ask = (input: unknown, init: Record<string, unknown> = {}): Promise<unknown> => {
    const url = new URL(String(input));
    for (const [name, value] of Object.entries(config.query_params ?? {}))
      url.searchParams.append(name, value);
    if (config.api_version !== undefined)
      url.pathname = url.pathname.replace(/^\/api\/v[\d.]+\//, `/api/${config.api_version}/`);
    const headers = { ...(config.headers ?? {}), ...(init.headers as object) };
    if (!dispatcher) return fetch(url, { ...init, headers } as never);
    return undiciFetch(url, { ...init, headers, body: ownForm(init.body), dispatcher } as never);
  };
  return ask as typeof fetch;
}

/** Converts a form of Node.js to one of undici: undici accepts no other class and would send its name as the body. */
function ownForm(body: unknown): unknown {
  if (!(body instanceof FormData)) return body;
  const form = new UndiciFormData();
  for (const [name, value] of body.entries()) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, value, value.name);
  }
  return form;
}

async function certificateOf(cert: string, ctx: Pick<OperationContext, 'getResource'>): Promise<string> {
  if (cert.includes('-----BEGIN')) return cert;
  const text = Buffer.from(await ctx.getResource(cert)).toString('utf8');
  if (text.includes('-----BEGIN')) return text;
  throw new FatalError(`client.cert: ${cert} of the blueprint holds no certificate in PEM`);
}
