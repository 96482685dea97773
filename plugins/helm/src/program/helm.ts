import { join } from 'node:path';
import { type BaseScope, type ExecResult, type ExitMeaning, FatalError } from '@baton/plugin-sdk';
import type { PrivateFolder } from './private-folder';

export interface HelmOptions {
  /** Path or name of the program. */
  program: string;
  folder: PrivateFolder;
  /** File of the cluster; without it commands that need one fail. */
  kubeconfig?: string;
  /** Helm is ended when it writes nothing for this time. */
  silenceLimitMs: number;
}

/** Runs helm in a folder of its own: nothing that the machine has configured for helm counts. */
export class Helm {
  readonly #exec: BaseScope['exec'];
  readonly #options: HelmOptions;

  constructor({ exec }: Pick<BaseScope, 'exec'>, options: HelmOptions) {
    this.#exec = exec;
    this.#options = options;
  }

  /** @throws FatalError, RetryableError as `exec` does. `exitCodes`: default: everything but 0 is an error that may pass */
  async run(
    args: readonly string[],
    more: { input?: string; exitCodes?: Record<number, ExitMeaning> } = {},
  ): Promise<ExecResult> {
    const { program, folder, kubeconfig, silenceLimitMs } = this.#options;
    const at = (name: string): string => join(folder.path, name);
    return await this.#exec(program, args, {
      ...more,
      cwd: folder.path,
      silenceLimitMs,
      env: {
        HOME: folder.path,
        HELM_CACHE_HOME: at('cache'),
        HELM_CONFIG_HOME: at('config'),
        HELM_DATA_HOME: at('data'),
        HELM_PLUGINS: at('plugins'),
        HELM_REGISTRY_CONFIG: at('registry.json'),
        HELM_REPOSITORY_CONFIG: at('repositories.yaml'),
        HELM_REPOSITORY_CACHE: at('cache/repository'),
        HELM_DRIVER: 'secret',
        HELM_DEBUG: 'false',
        KUBECONFIG: kubeconfig ?? at('no-kubeconfig'),
      },
    });
  }

  /** Runs a command that prints JSON; null: helm says that there is no such release. */
  async json(args: readonly string[]): Promise<unknown> {
    const { exitCode, stdout, stderr } = await this.run([...args, '--output=json'], {
      exitCodes: { 1: 'ok' },
    });
    if (exitCode === 1) {
      if (/release: not found|has no deployed releases/.test(stderr)) return null;
      throw failureOf(args[0]!, stderr);
    }
    return parsed(stdout, args[0]!);
  }

  /** Like json, for commands that change something. */
  async change(args: readonly string[]): Promise<unknown> {
    const { exitCode, stdout, stderr } = await this.run([...args, '--output=json'], {
      exitCodes: { 1: 'ok' },
    });
    if (exitCode === 1) throw failureOf(args[0]!, stderr);
    return parsed(stdout, args[0]!);
  }
}

function parsed(stdout: string, command: string): unknown {
  // Charts may print lines before the JSON.
  const begin = stdout.search(/[{[]/);
  try {
    return JSON.parse(stdout.slice(Math.max(0, begin)));
  } catch (cause) {
    throw new FatalError(`helm ${command} has printed no JSON, or more than a million characters`, { cause });
  }
}

const SHOWN = 1_500;

/** What helm says of a failure, without its warnings. A retry may succeed: clusters and repositories are often late. */
function failureOf(command: string, stderr: string): Error {
  const lines = stderr
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^(WARNING|W\d{4}|coalesce)/.test(line));
  const said = lines
    .join('\n')
    .replace(/^Error: /m, '')
    .trim()
    .slice(-SHOWN);
  const message = `helm ${command} failed: ${said || 'it said nothing'}`;
  return FINAL.test(said) ? new FatalError(message) : new Error(message);
}

/** Another try gives the same: wrong charts, values and names. */
const FINAL =
  /cannot re-use a name|unknown flag|execution error at|parse error at|failed to parse|is invalid: spec|failed to load values|values don't meet|Chart\.yaml file is missing|invalid ownership metadata|unknown command/;
