import { readFileSync } from 'node:fs';
import { type ProxySettings, proxyOfEnvironment } from '@baton/agent-link';
import { isJsonObject, nearestName } from '@baton/kernel';
import { z } from 'zod';
import { AgentFailure, exitCodes } from './exit-codes';

const address = z
  .string()
  .max(1_000)
  .refine((text) => {
    if (!URL.canParse(text)) return false;
    const { protocol, pathname } = new URL(text);
    return /^https?:$/.test(protocol) && pathname === '/';
  }, 'expected an address like https://10.0.0.1:8443, without a path');
const proxyUrl = z
  .string()
  .max(1_000)
  .refine(
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
    'expected the address of an HTTP proxy, like http://10.0.0.1:3128',
  );
const short = z.string().min(1).max(256);

/** The configuration file of an agent. It holds no secret, but says where the manager is: 0600. */
export const agentConfig = z.strictObject({
  name: short,
  tenant: short,
  nodeInstanceId: short,
  /** Addresses of the manager as this host reaches it, the best first. */
  addresses: z.array(address).min(1).max(32),
  /** PEM of the authorities that the agent trusts before its first stream. */
  authorities: z
    .string()
    .max(256 * 1024)
    .includes('-----BEGIN CERTIFICATE-----', {
      message: 'expected certificates in PEM',
    }),
  /** What keeps the program alive; `provided`: something that the agent does not know. */
  processManagement: z.enum(['systemd', 'detach', 'provided']).default('provided'),
  /** Address of the API for scripts; absent: the first of `addresses`. */
  managerUrl: address.optional(),
  /** An HTTP proxy on the way to the manager; absent or null: HTTPS_PROXY of the environment. */
  proxy: proxyUrl.nullish(),
  /** Hosts that are reached without the proxy, as in NO_PROXY; `*`: all. */
  noProxy: z.string().max(10_000).optional(),
  /** Command of the Python 3 that runs Python operations. */
  python: z.string().min(1).max(1_000).default('python3'),
  /** Folder of the agent, as its installation tells people; what counts is where the file lies. */
  directory: z.string().startsWith('/', { message: 'expected an absolute folder' }).max(1_000).optional(),
  /** Variables of operations; those of the manager's settings go before them. */
  env: z.record(z.string(), z.string()).default({}),
  /** Folder for runs of scripts where programs may not run in that of the agent. */
  executableTempPath: z
    .string()
    .startsWith('/', { message: 'expected an absolute folder' })
    .max(1_000)
    .nullish(),
});
export type AgentConfig = z.output<typeof agentConfig>;

/** Returns the configuration of the file. @throws AgentFailure that says what is wrong, where, and what was expected */
export function readConfig(path: string): AgentConfig {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`;
    throw new AgentFailure(exitCodes.config, `${path}: ${why}`, { cause });
  }
  return checkedConfig(text, path);
}

/** @throws AgentFailure */
function checkedConfig(text: string, path: string): AgentConfig {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AgentFailure(exitCodes.config, `${path}: not JSON: ${(cause as Error).message}`, { cause });
  }
  if (!isJsonObject(value as never))
    throw new AgentFailure(exitCodes.config, `${path}: expected an object with addresses, name, ...`);
  const read = agentConfig.safeParse(value);
  if (read.success) return read.data;
  throw new AgentFailure(
    exitCodes.config,
    read.error.issues.map((issue) => `${path}: ${faultOf(issue)}`).join('\n'),
  );
}

function faultOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'unrecognized_keys') return `${issue.path.join('.') || 'the file'}: ${issue.message}`;
  const names = Object.keys(agentConfig.shape);
  return issue.keys
    .map((key) => {
      const near = nearestName(key, names);
      return `${key}: no such setting${near ? `; did you mean ${near}?` : `; there are ${names.join(', ')}`}`;
    })
    .join('; ');
}

type Environment = Readonly<Record<string, string | undefined>>;
/** The environment that the program was started with; nothing else reads it. */
export const environment: Environment = { ...process.env };

/** Returns the environment of a program that is started from here: with these variables, and without hidden ones. */
export const environmentWith = (more: Record<string, string>): Environment => ({ ...process.env, ...more });

/** Hides a variable from programs that are started from here. */
export function hideVariable(name: string): void {
  delete process.env[name];
}

/** Returns the proxy of the configuration, else that of the environment. */
export function proxyOf({ proxy, noProxy }: Pick<AgentConfig, 'proxy' | 'noProxy'>): ProxySettings {
  const given = proxyOfEnvironment(environment);
  return { url: proxy ?? given.url, except: noProxy ?? given.except };
}
