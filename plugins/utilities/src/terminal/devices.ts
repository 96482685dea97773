import { FatalError } from '@baton/plugin-sdk';
import { problemsOf } from '../problems';
import { TERMINAL_AUTH, type TerminalAuth, type TerminalScope } from './schema';

/** The login, and the addresses of the devices. The input `terminal_auth` goes before the property, key by key. @throws FatalError */
export async function devicesOf(scope: TerminalScope): Promise<{ auth: TerminalAuth; addresses: string[] }> {
  const { properties, inputs } = scope;
  const given = inputs.terminal_auth ?? {};
  if (typeof given !== 'object' || Array.isArray(given))
    throw new FatalError('inputs.terminal_auth: expected a dictionary');
  const parsed = TERMINAL_AUTH.safeParse({ ...properties.terminal_auth, ...given });
  if (!parsed.success) throw new FatalError(problemsOf('terminal_auth', parsed.error));
  const auth = parsed.data;
  const addresses = [auth.ip].flat().filter((one): one is string => typeof one === 'string' && one !== '');
  if (addresses.length === 0) addresses.push(...(await containerAddress(scope)));
  if (addresses.length === 0 || auth.user === '')
    throw new FatalError('terminal_auth: expected ip and user, or a node in a host with an address');
  return { auth, addresses };
}

async function containerAddress({ ctx }: TerminalScope): Promise<string[]> {
  try {
    return [await (await ctx.instance()).hostIp()];
  } catch (error) {
    if (error instanceof FatalError) return [];
    throw error;
  }
}
