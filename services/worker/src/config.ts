import { cpus } from 'node:os';
import { type ControlGroupChoice, type Endpoint, parseEndpoint } from '@baton/isolation';
import { envValue, runtimeConfig } from '@baton/service-runtime';
import type { z } from 'zod';
import { z as zod } from 'zod';
import type { Sharing } from './claim/slots';
import { isSeenByScripts } from './run/passed-variables';

/** Like the original's default. Scripts mostly wait, so it is more than the cores can run at once. */
const LEAST_SLOTS = 20;

const list = zod.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);

/** Limits of a tenant's weight: a larger weight would give one tenant so many turns in a row that others are kept out. */
const WEIGHT = { least: 0.01, most: 100 };

const weights = list.transform((parts, context) => {
  const found = new Map<string, number>();
  for (const part of parts) {
    const [, name, text] = /^(.+)=([0-9.]+)$/.exec(part) ?? [];
    const weight = Number(text);
    if (name !== undefined && weight >= WEIGHT.least && weight <= WEIGHT.most) found.set(name, weight);
    else
      context.addIssue({
        code: 'custom',
        message: `${part} must be name=weight, the weight from ${WEIGHT.least} to ${WEIGHT.most}`,
      });
  }
  return found;
});

const endpoints = list.transform((parts, context) =>
  parts.flatMap((part): Endpoint[] => {
    const found = parseEndpoint(part);
    if (found) return [found];
    context.addIssue({
      code: 'custom',
      message: `${part} must be an address or a network with or without a port, like 10.0.0.0/8, 10.1.2.3:443 or [fd00::/8]:443`,
    });
    return [];
  }),
);

const range = zod
  .string()
  .regex(/^\d+-\d+$/, 'must be two whole numbers with - between them')
  .transform((text) => {
    const [first = 0, last = 0] = text.split('-').map(Number);
    return { first, last };
  })
  .refine(
    ({ first, last }) => first > 0 && last >= first && last < 4294967294,
    'must be the first and the last uid, above 0',
  );

export const configSchema = runtimeConfig.extend({
  BATON_INTERNAL_KEY: envValue
    .secret(16)
    .optional()
    .describe('Not for workers: one that is given it does not start'),
  BATON_WORKER_SLOTS: envValue
    .integer(0, 10_000)
    .prefault('0')
    .describe(
      'Operations that one worker runs at once, its reserve included; 0: twice the cores, at least 20, and the reserve on top',
    ),
  BATON_WORKER_RESERVE: envValue
    .integer(0, 50)
    .prefault('10')
    .describe(
      'Per cent of the places of a worker that only tenants may take which hold less than their share; at least one place where a worker has four; 0: none',
    ),
  BATON_TENANT_WEIGHTS: weights
    .prefault('')
    .describe('Weights of tenants in the share of places, as name=weight separated by commas; others have 1'),
  BATON_WORKER_DIR: zod
    .string()
    .default('.baton/worker')
    .describe('Private folder for runs of scripts and cached blueprint files'),
  BATON_WORKER_CACHE_BYTES: envValue
    .integer(1_000_000, Number.MAX_SAFE_INTEGER)
    .prefault('1000000000')
    .describe('Most bytes of cached blueprint files'),
  BATON_WORKER_HANDLERS: zod
    .string()
    .optional()
    .describe(
      'Path of a module that exports `handlers`: operations by mapping, or a function that answers them; for tests and benches',
    ),
  BATON_WORKER_PLUGIN_INSPECT: envValue
    .flag()
    .prefault('false')
    .describe(
      'Let builds of plugins under development open the port of a debugger on 127.0.0.1; everybody on this machine can use it',
    ),
  BATON_WORKER_PYTHON: zod
    .string()
    .default('python3')
    .describe('Command of the Python 3 that runs Python scripts'),
  BATON_WORKER_PASS_ENV: list
    .prefault('')
    .describe('Further variables of the worker that scripts see, separated by commas'),
  BATON_WORKER_FETCH_ALLOW: list
    .prefault('')
    .describe(
      'Networks inside the installation that script_path URLs may lead to, as CIDR, separated by commas',
    ),
  BATON_WORKER_DOWNLOADS: zod
    .enum(['allowed', 'refused'])
    .default('allowed')
    .describe(
      'Whether TypeScript plugins may download programs that they need, such as terraform, when the worker does not have them; refused: for installations without a way to the internet',
    ),
  BATON_WORKER_MANAGER_URL: zod
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .default('http://127.0.0.1:8080')
    .describe(
      'Address of the API of this manager, as workers reach it: operations of components and shared resources call it, and scripts with the rights of their execution',
    ),
  BATON_WORKER_ASSETS: zod
    .string()
    .optional()
    .describe('Folder with bin/ and python/ of the plugin runtime, where they do not lie beside the code'),
  BATON_WORKER_ISOLATION: zod
    .enum(['auto', 'best', 'bubblewrap', 'namespaces', 'uid', 'none'])
    .default('auto')
    .describe(
      'What keeps operations apart (docs/SECURITY.md): auto takes the strongest that works and refuses to start without any; best starts all the same, with a warning; none leaves everything open to operations',
    ),
  BATON_WORKER_EGRESS: zod
    .enum(['restricted', 'none', 'open'])
    .default('restricted')
    .describe(
      "What operations reach on the network (docs/SECURITY.md): restricted refuses link-local and metadata addresses, and on this machine all but name servers, the manager's API, proxies and what the same tenant serves, where a worker of root can hold it by nftables; none refuses everything but BATON_WORKER_EGRESS_ALLOW, or does not start; open refuses nothing",
    ),
  BATON_WORKER_EGRESS_ALLOW: endpoints
    .prefault('')
    .describe(
      'Addresses that operations reach all the same, as address[/bits][:port] separated by commas; IP 6 with a port as [fd00::/8]:443',
    ),
  BATON_WORKER_EGRESS_DENY: endpoints
    .prefault('')
    .describe(
      'Further addresses that operations do not reach with BATON_WORKER_EGRESS=restricted, in the same form',
    ),
  BATON_WORKER_CGROUP: zod
    .custom<ControlGroupChoice>(
      (text) => typeof text === 'string' && /^(auto|none|own|\/[^\0]*)$/.test(text),
      'must be auto, none, own or a path that begins with a slash',
    )
    .default('auto')
    .describe(
      'Control group (cgroup v2) that bounds memory and processes of each operation as a whole: own is the group that the worker runs in, a path is one below the mount; auto takes its own where an ordinary user may write to it (Delegate=yes of systemd); a worker that runs as root must be told',
    ),
  BATON_WORKER_UID_RANGE: range
    .prefault('200000-265535')
    .describe('Uids that the operations of tenants run as, one each; for a worker that runs as root'),
  BATON_WORKER_SHARED_PATHS: list
    .prefault('')
    .describe(
      'Files and folders of this machine that operations see besides the system and their own, separated by commas; with :rw behind one they may change it',
    ),
  BATON_WORKER_HIDDEN_PATHS: list
    .prefault('')
    .describe(
      'Folders that are covered where the isolation leaves the file system as it is, separated by commas',
    ),
  BATON_WORKER_LIMIT_PROCESSES: envValue
    .integer(8, 1_000_000)
    .prefault('1024')
    .describe(
      'Most processes and threads of one operation (of one tenant where operations are kept apart by uid only)',
    ),
  BATON_WORKER_LIMIT_OPEN_FILES: envValue
    .integer(16, 1_000_000)
    .prefault('8192')
    .describe('Most open files of one process of an operation'),
  BATON_WORKER_LIMIT_MEMORY: envValue
    .integer(0, Number.MAX_SAFE_INTEGER)
    .prefault('8000000000')
    .describe(
      'Most bytes of private memory of one process of an operation, and of all its processes together where it has a control group; 0: not bounded',
    ),
  BATON_WORKER_LIMIT_DISK: envValue
    .integer(1_000_000, Number.MAX_SAFE_INTEGER)
    .prefault('4000000000')
    .describe('Most bytes of one file of an operation, and of all that one operation keeps in its folders'),
  BATON_WORKER_SCRIPT_UID: envValue
    .integer(1, 4294967294)
    .optional()
    .describe('One user id that operations of all tenants run as; needs a worker that runs as root'),
  BATON_WORKER_SCRIPT_GID: envValue
    .integer(1, 4294967294)
    .optional()
    .describe('Group id that scripts run as, with BATON_WORKER_SCRIPT_UID'),
  BATON_WORKER_STOP_AFTER: envValue
    .durationMs()
    .prefault('30s')
    .describe('How long a stopping worker waits for running operations before it kills and reports them'),
  BATON_WORKER_LOG_BUFFER: envValue
    .integer(65_536, 1_000_000_000)
    .prefault('8000000')
    .describe(
      'Characters of unsent log lines, shared by executions: scripts of one with more than its share wait with their output',
    ),
});

export type WorkerConfig = Readonly<z.output<typeof configSchema>>;

/** Workers with fewer slots have no reserve: one slot of three would be a third. */
const LEAST_SHARED_SLOTS = 4;

/**
 * Returns the number of slots of this worker, and how tenants share them. When the number is not configured, the reserve is added
 * to it.
 */
export function placesOf(config: WorkerConfig): { slots: number; sharing: Sharing } {
  const configured = config.BATON_WORKER_SLOTS;
  const forOne = configured || Math.max(LEAST_SLOTS, 2 * cpus().length);
  const percent = config.BATON_WORKER_RESERVE;
  const isKept = percent > 0 && forOne >= LEAST_SHARED_SLOTS;
  const reserve = isKept ? Math.max(1, Math.floor((forOne * percent) / 100)) : 0;
  const weightOf = (tenant: string): number => config.BATON_TENANT_WEIGHTS.get(tenant) ?? 1;
  return { slots: configured || forOne + reserve, sharing: { reserve, weightOf } };
}

/** Returns the environment that scripts start with. */
export function scriptEnv(
  config: WorkerConfig,
  env: Record<string, string | undefined> = process.env,
): Record<string, string> {
  const isPassed = (name: string): boolean =>
    isSeenByScripts(name) || config.BATON_WORKER_PASS_ENV.includes(name);
  const passed = Object.entries(env).filter(
    (entry): entry is [string, string] => isPassed(entry[0]) && entry[1] !== undefined,
  );
  const downloads: Record<string, string> =
    config.BATON_WORKER_DOWNLOADS === 'refused' ? { BATON_DOWNLOADS: 'refused' } : {};
  return { PATH: '/usr/local/bin:/usr/bin:/bin', ...Object.fromEntries(passed), ...downloads };
}
