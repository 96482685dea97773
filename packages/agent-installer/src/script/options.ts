import { AppError } from '@baton/kernel';
import { z } from 'zod';

/** A package of the agent that the manager serves. */
export interface InstallPackage {
  /** linux-x64, linux-arm64. */
  platform: string;
  version: string;
  /** Of the file that is sent, in hexadecimal digits. */
  sha256: string;
  /** Bytes of the file that is sent. */
  size: number;
}

const MAX_TEXT = 4_096;
const text = z
  .string()
  .max(MAX_TEXT)
  .refine((value) => !value.includes('\0'), 'a text without zero bytes is expected');
/** Folders stand in a unit and in a crontab: signs that mean something there are refused. */
const folder = z
  .string()
  .max(1_024)
  .regex(
    /^\/[A-Za-z0-9/._+@,:=~-]*$/,
    'an absolute folder of letters, digits and / . _ + @ , : = ~ - is expected',
  );
const empty = <S extends z.ZodType>(schema: S) =>
  z.preprocess((value) => (value === '' || value === null ? undefined : value), schema.optional());
const userName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_.@-]{0,63}\$?$/, 'the name of a user of the host is expected');
const processNames = ['auto', 'systemd', 'detach'] as const;
/** `init.d` of the original: hosts without systemd get the agent that keeps itself alive. */
const processName = z.preprocess(
  (value) => (value === 'init.d' || value === 'initd' ? 'auto' : value),
  z.enum(processNames),
);
const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const flag = z.union([z.boolean(), z.enum(['true', 'false']).transform((value) => value === 'true')]);

/** What `agent_config` of a host says about the installation, by its own names; other names are left out. */
const choices = z.object({
  user: empty(userName),
  /** Folder of all agents of the host; the agent's own is `<basedir>/<name>`. */
  basedir: empty(folder),
  /** Folder of this agent; goes before `basedir`. */
  agent_dir: empty(folder),
  install_dir: empty(folder),
  process_management: empty(
    z.union([processName, z.looseObject({ name: empty(processName) }).transform(({ name }) => name)]),
  ),
  executable_temp_path: empty(folder),
  disable_requiretty: empty(flag),
  /** The agent runs with the rights of the user who runs the script, in the home folder. */
  user_mode: empty(flag),
  env: empty(
    z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of a variable is expected'), scalar),
  ),
  package_url: empty(
    text.regex(/^(https?|file):\/\/[^\s]+$/, 'an address (http, https or file) is expected'),
  ),
  /** Address of a proxy by which the host reaches the manager. */
  http_proxy: empty(text.regex(/^https?:\/\/[^\s]+$/, 'an address (http or https) is expected')),
  install_method: empty(text),
});
type ReadChoices = z.output<typeof choices>;

/** The choices of an installation, from `agent_config` of the host. */
export interface InstallChoices {
  /** Runs the agent and its operations. Undefined: `baton-agent`, which is created; in user mode who runs the script. */
  user?: string;
  /** Folder of this agent. Undefined: `<basedir>/<name>`. */
  agentDir?: string;
  /** Undefined: /opt/baton-agent, in user mode ~/.baton-agent. */
  baseDir?: string;
  processManagement?: (typeof processNames)[number];
  executableTempPath?: string;
  /** Default: true. */
  disableRequiretty?: boolean;
  isUserMode?: boolean;
  env?: Record<string, string>;
  packageUrl?: string;
  httpProxy?: string;
  /** The image has the program already: it is looked for before anything is downloaded. */
  isProvided?: boolean;
}

export interface InstallScriptOptions extends InstallChoices {
  /** Of the agent's record. */
  name: string;
  tenant: string;
  nodeInstanceId: string;
  /** Addresses of the manager as the host reaches it, the best first: `https://10.0.0.1:8443`. */
  addresses: readonly string[];
  /** The one-time token. */
  token: string;
  /** PEM of the authorities that the agent trusts. */
  authorities: string;
  packages: readonly InstallPackage[];
}

/** The error for a value of `agent_config` from which no script can be made; `field` is its name there. */
const wrongOption = (field: string, expected: string): AppError =>
  new AppError('bad_parameters_error', `agent_config.${field}: ${expected}`, {
    field: `agent_config.${field}`,
    expected,
  });

/**
 * Reads the choices of an installation from `agent_config` of a host (names of the blueprint, `extra` flattened or not).
 * @throws AppError bad_parameters_error with the name of the value and what is expected
 */
export function readInstallChoices(config: Readonly<Record<string, unknown>>): InstallChoices {
  const { extra } = config;
  const isNested = typeof extra === 'object' && extra !== null && !Array.isArray(extra);
  const read = choices.safeParse({ ...config, ...(isNested ? extra : {}) });
  if (!read.success) {
    const issue = read.error.issues[0]!;
    throw wrongOption(issue.path.join('.'), issue.message);
  }
  return fromRead(read.data);
}

const fromRead = (read: ReadChoices): InstallChoices => ({
  user: read.user,
  agentDir: read.agent_dir ?? read.install_dir,
  baseDir: read.basedir,
  processManagement: read.process_management,
  executableTempPath: read.executable_temp_path,
  disableRequiretty: read.disable_requiretty,
  isUserMode: read.user_mode,
  env: read.env,
  packageUrl: read.package_url,
  httpProxy: read.http_proxy,
  isProvided: read.install_method === 'provided',
});

const scriptOptions = z.object({
  name: text.min(1).max(256),
  tenant: text.min(1).max(256),
  nodeInstanceId: text.min(1).max(256),
  addresses: z
    .array(
      text.regex(
        /^https?:\/\/[^\s/?#]+\/?$/,
        'an address of the manager (http or https, no path) is expected',
      ),
    )
    .min(1, 'at least one address of the manager is expected')
    .max(32),
  token: z.string().regex(/^[A-Za-z0-9._~-]{1,512}$/, 'a token of letters, digits and . _ ~ - is expected'),
  authorities: z
    .string()
    .max(256 * 1_024)
    .regex(/^[\x20-\x7e\r\n]*$/, 'certificates in PEM are expected')
    .includes('-----BEGIN CERTIFICATE-----', { message: 'certificates in PEM are expected' }),
  packages: z
    .array(
      z.object({
        platform: z.string().regex(/^[a-z0-9]+-[a-z0-9]+$/, 'a platform like linux-x64 is expected'),
        version: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$/, 'a version is expected'),
        sha256: z.string().regex(/^[0-9a-f]{64}$/, '64 hexadecimal digits are expected'),
        size: z.number().int().positive(),
      }),
    )
    .max(64),
});

/** @throws AppError bad_parameters_error for what would not make a script */
export function checkScriptOptions(options: InstallScriptOptions): void {
  const read = scriptOptions.safeParse(options);
  if (!read.success) {
    const issue = read.error.issues[0]!;
    throw wrongOption(issue.path.join('.'), issue.message);
  }
  // The choices may come from elsewhere than readInstallChoices.
  readInstallChoices({
    user: options.user,
    basedir: options.baseDir,
    agent_dir: options.agentDir,
    process_management: options.processManagement,
    executable_temp_path: options.executableTempPath,
    env: options.env,
    package_url: options.packageUrl,
    http_proxy: options.httpProxy,
  });
}
