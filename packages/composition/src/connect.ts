import { type Client, createClient } from '@baton/client';
import type { JsonObject } from '@baton/kernel';
import type { OperationContext } from '@baton/plugin-sdk';
import type { CompositionDeps } from './deps';
import { isMissing } from './failures';
import type { Manager } from './manager';
import { type RemoteClientConfig, remoteBaseUrl, remoteClientConfig } from './remote-client';
import { remoteFetch } from './remote-fetch';

/** Returns this manager with the rights of the execution. */
export function ownManager(deps: CompositionDeps, ctx: OperationContext): Manager {
  return {
    client: createClient({ baseUrl: deps.managerUrl, token: ctx.executionToken, tenant: ctx.tenant }),
    tenant: ctx.tenant,
    host: hostOf(deps.managerUrl),
    isExternal: false,
  };
}

/**
 * Returns the manager that a node's `client` names; it may be this manager with other rights.
 * @throws FatalError with the name of the wrong setting.
 */
export async function namedManager(
  deps: CompositionDeps,
  ctx: OperationContext,
  own: Manager,
  client: JsonObject,
): Promise<Manager> {
  const config = remoteClientConfig(client, 'client');
  const tenant = config.tenant ?? ctx.tenant;
  const host = config.host ?? own.host;
  const baseUrl = config.host === undefined ? deps.managerUrl : remoteBaseUrl(config);
  const named = createClient({
    baseUrl,
    tenant,
    ...credentialsOf(config, ctx),
    fetch: await remoteFetch(config, ctx),
  });
  const isHere = async () => (await isOwnHost(deps, own, host)) && (await isThisOne(named, ctx));
  const isOwn = tenant === ctx.tenant && (config.host === undefined || (await isHere()));
  return { client: named, tenant, host, isExternal: !isOwn };
}

/**
 * Whether the client's manager is this one: several managers may share a host on different ports, but only this one
 * knows the running execution.
 */
async function isThisOne(client: Client, { executionId }: OperationContext): Promise<boolean> {
  try {
    await client.call('getExecution', { params: { executionId }, query: { _include: 'id' } });
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Credentials of the settings; without any, and on this manager, the credentials of the execution. */
function credentialsOf(
  config: RemoteClientConfig,
  ctx: OperationContext,
): Partial<Parameters<typeof createClient>[0]> {
  if (config.token !== undefined) return { token: config.token };
  if (config.username !== undefined) return { username: config.username, password: config.password ?? '' };
  return config.host === undefined ? { token: ctx.executionToken } : {};
}

async function isOwnHost(deps: CompositionDeps, own: Manager, host: string): Promise<boolean> {
  if (['127.0.0.1', 'localhost', '::1', hostOf(deps.managerUrl)].includes(host)) return true;
  return (await ownAddresses(own)).includes(host);
}

/** Returns the addresses of this manager's nodes; none when the user may not see them. */
export async function ownAddresses(own: Manager): Promise<string[]> {
  try {
    const { items } = await own.client.call('listManagers');
    return items
      .flatMap(({ private_ip, public_ip }) => [private_ip, public_ip])
      .filter((ip) => ip !== undefined);
  } catch {
    return [];
  }
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '');
}
