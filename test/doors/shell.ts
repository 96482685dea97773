/** Runs programs as somebody who has Node.js and npm, an empty home, and nothing of this repository. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { freePorts, root } from '../harness/processes';

/** One way in: it passes, or throws. */
export interface Door {
  name: string;
  pass(): Promise<void>;
}

/** The account of an ordinary user, when these tests run as root. */
const NOBODY = 65_534;

export interface Ended {
  code: number | null;
  /** Standard output and error. */
  said: string;
}

export interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
  /** As an ordinary user, when these tests run as root. */
  isUnprivileged?: boolean;
}

export class Shell {
  readonly home: string;
  #running = new Set<ChildProcess>();
  #env: Record<string, string>;

  constructor(readonly folder: string) {
    chmodSync(folder, 0o755);
    this.home = join(folder, 'home');
    mkdirSync(this.home);
    this.#env = {
      PATH: [
        dirname(realpathSync(process.execPath)),
        '/usr/local/bin',
        '/usr/bin',
        '/bin',
        '/usr/sbin',
        '/sbin',
      ].join(':'),
      HOME: this.home,
      TMPDIR: folder,
      LANG: 'C.UTF-8',
      npm_config_cache: join(folder, 'npm'),
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      npm_config_update_notifier: 'false',
    };
  }

  /** Runs a program to its end. */
  run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Ended> {
    const child = this.start(command, args, options);
    let said = '';
    child.stdout!.on('data', (text: Buffer) => (said += text.toString()));
    child.stderr!.on('data', (text: Buffer) => (said += text.toString()));
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, said }));
    });
  }

  /** Runs a program to its end. @throws Error with its output when it does not end with 0. Returns its output. */
  async must(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
    const { code, said } = await this.run(command, args, options);
    if (code !== 0)
      throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${said.slice(-4_000)}`);
    return said;
  }

  start(
    command: string,
    args: readonly string[],
    { cwd, env, isUnprivileged }: RunOptions = {},
  ): ChildProcess {
    const isRoot = process.getuid?.() === 0;
    const child = spawn(command, args, {
      cwd: cwd ?? this.home,
      env: { ...this.#env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(isUnprivileged && isRoot && { uid: NOBODY, gid: NOBODY }),
    });
    this.#running.add(child);
    child.once('close', () => this.#running.delete(child));
    return child;
  }

  /** Makes a folder that an ordinary user owns. */
  ownFolder(name: string): string {
    const path = join(this.folder, name);
    mkdirSync(path);
    this.give(path);
    return path;
  }

  /** Gives a folder to the ordinary user. */
  give(path: string): void {
    if (process.getuid?.() !== 0) return;
    for (const one of [
      path,
      ...readdirSync(path, { recursive: true }).map((name) => join(path, String(name))),
    ])
      if (!lstatSync(one).isSymbolicLink()) chownSync(one, NOBODY, NOBODY);
  }

  /** Runs a tool of this repository. */
  tool(path: string, args: readonly string[]): Promise<string> {
    const env = { HOME: process.env.HOME ?? this.home, npm_config_cache: process.env.npm_config_cache ?? '' };
    return this.must(process.execPath, [join(root, path), ...args], { cwd: root, env });
  }

  async freePort(): Promise<string> {
    return String((await freePorts(1))[0]);
  }

  /** Ends what still runs. */
  async end(): Promise<void> {
    const ends = [...this.#running].map((child) => new Promise((resolve) => child.once('close', resolve)));
    for (const child of this.#running) child.kill('SIGTERM');
    await Promise.all(ends);
  }
}

/** @throws Error when `condition` is false. */
export function demand(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(message);
}
