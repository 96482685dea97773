import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a script said at a host, and its exit code. */
export interface Said {
  code: number;
  /** Both outputs. */
  text: string;
}

/** A machine for install scripts: a mount namespace with /etc, /opt, /run, /var/log and /root of its own. Needs root. */
export interface ScriptHost {
  /** Runs a text with a shell there: `dash`, `busybox sh`. `before`: further commands before the shell, e.g. variables. */
  script(text: string, shell?: string, args?: readonly string[], env?: Record<string, string>): Promise<Said>;
  /** Runs a line of sh there; returns its output. @throws Error for another exit code than 0 */
  sh(line: string): string;
  stop(): void;
}

const SETUP = `set -e
mount --make-rprivate /
mount -t tmpfs tmpfs "$1"
for d in etc opt run log root; do mkdir "$1/$d" "$1/$d-work"; done
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$1/etc,workdir=$1/etc-work" /etc
mount --bind "$1/opt" /opt
mount --bind "$1/run" /run
mount --bind "$1/log" /var/log
mount --bind "$1/root" /root
mkdir -p "$1/bin" /etc/sudoers.d /etc/systemd/system
echo ready
exec sleep 100000`;

/** A crontab that keeps its table in a file: no cron of the machine is asked. */
const CRONTAB = `#!/bin/sh
table=/run/crontab.$(id -un)
case "\${1:-}" in
  -l) [ -f "$table" ] && cat "$table" ;;
  -r) rm -f "$table" ;;
  -) cat >"$table.new" && mv "$table.new" "$table" ;;
esac
`;

/** Starts the machine. @param programs scripts by name, before those of the machine in PATH */
export async function scriptHost(programs: Readonly<Record<string, string>> = {}): Promise<ScriptHost> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-script-'));
  const root = join(folder, 'root');
  const bin = join(folder, 'bin');
  mkdirSync(root);
  mkdirSync(bin);
  execFileSync('chmod', ['755', folder, bin, root]);
  for (const [name, text] of Object.entries({ crontab: CRONTAB, ...programs }))
    writeFileSync(join(bin, name), text, { mode: 0o755 });
  const process = spawn('unshare', ['-m', 'sh', '-c', SETUP, 'sh', root], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await ready(process);
  execFileSync('nsenter', ['-t', String(process.pid), '-m', 'chmod', '1777', '/run']);
  const enter = ['-t', String(process.pid), '-m'];
  const path = `${bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`;
  const base = { PATH: path, HOME: '/root', LANG: 'C' };
  return {
    script: (text, shell = 'dash', args = [], env = {}) => {
      const file = join(folder, 'install.sh');
      writeFileSync(file, text);
      return said('nsenter', [...enter, ...shell.split(' '), file, ...args], { ...base, ...env });
    },
    sh: (line) =>
      execFileSync('nsenter', [...enter, 'sh', '-c', line], {
        env: base,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    stop: () => {
      for (const pid of programsBelow(process.pid!)) killQuietly(pid);
      process.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const ready = (child: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    child.stdout!.once('data', () => resolve());
    child.once('exit', (code) => reject(new Error(`the namespace ended with ${code}`)));
  });

function said(file: string, args: string[], env: Record<string, string>): Promise<Said> {
  return new Promise((resolve) => {
    execFile(file, args, { env, encoding: 'utf8' }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), text: stdout + stderr }),
    );
  });
}

/** Processes in the namespace, except the one that holds it. */
function programsBelow(holder: number): number[] {
  const own = namespaceOf(holder);
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== holder && own !== null && namespaceOf(pid) === own);
}

/** Null: the process has ended. */
function namespaceOf(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/ns/mnt`);
  } catch {
    return null;
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
