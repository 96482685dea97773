import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { eventually } from '@baton/testkit/eventually';
import { mustRun, type Ran, run } from './commands';
import { LOGIN, type LoginKey, pathsOn } from './disk';
import type { Direction, Plug } from './network';

export interface HostProcess {
  /** Process id inside of the host. */
  pid: number;
  command: string;
}

interface RunOptions {
  /** Default: root. */
  as?: 'root' | 'guest';
  stdin?: string;
  limitMs?: number;
}

/** A machine of its own: file systems, processes, name, address, and a real sshd. */
export interface Host {
  /** Its host name. */
  name: string;
  address: string;
  user: string;
  /** Path of the private key of `user`. */
  keyFile: string;
  /** Text of that key. */
  key: string;
  /** Runs a shell command there; works without the network. Returns its end, whatever it is. */
  exec(command: string, options?: RunOptions): Promise<Ran>;
  /** Runs a shell command there and returns its output. @throws Error unless it succeeds */
  must(command: string, options?: RunOptions): Promise<string>;
  /** Runs a shell command through sshd, as `user`. */
  ssh(command: string, options?: { stdin?: string; limitMs?: number }): Promise<Ran>;
  /** Processes there, without sshd, its connections, and this very question. */
  processes(): Promise<HostProcess[]>;
  /** Sends a signal to all processes whose command line matches; returns their number. */
  signal(signal: NodeJS.Signals, pattern: RegExp): Promise<number>;
  /** Paths of its own disk, without those of the system. */
  paths(): string[];
  /** Pulls the cable. */
  cut(): void;
  /** Drops packets without a word: connections stay open on both sides. */
  halfOpen(direction?: Direction): void;
  /** Refuses its connections to a port of this machine: a network that is left only through a proxy. */
  refusePort(port: number): void;
  /** Limits its network to so many thousand bits a second. */
  rate(kbit: number): void;
  /** The network is whole again. */
  heal(): void;
  /** Mounts an empty disk of `bytes` on a folder, which is made; until the next `reboot`. */
  smallDisk(path: string, bytes: number): Promise<void>;
  /**
   * Shifts the clock of processes that start from now on; 0: the right time again. For processes of before it is the same clock as
   * before. Needs Debian's `faketime`.
   */
  shiftClock(ms: number): Promise<void>;
  /** All processes end at once, and the host starts again with its disk. */
  reboot(): Promise<void>;
}

interface At {
  name: string;
  folder: string;
  plug: Plug;
  key: LoginKey;
  hidden: readonly string[];
}

const INIT = join(__dirname, 'host-init.sh');
const ENVIRONMENT = ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'LANG=C.UTF-8'];
const START_MS = 20_000;
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';

/** Starts a host on a disk of `makeDisk`; resolves when its sshd greets. `stop` ends its processes. */
export async function startHost(at: At): Promise<Host & { stop(): Promise<void> }> {
  const { name, folder, plug, key } = at;
  let machine = await boot(at);
  const enter = (command: string, { as = 'root', ...options }: RunOptions = {}): Promise<Ran> => {
    const who =
      as === 'root'
        ? { ids: [], env: ['HOME=/root', 'USER=root'] }
        : {
            ids: ['-S', `${LOGIN.id}`, '-G', `${LOGIN.id}`],
            env: [`HOME=/home/${LOGIN.name}`, `USER=${LOGIN.name}`],
          };
    const inside = ['-t', `${machine.init}`, '-m', '-u', '-i', '-n', '-p', '-r', '-w', ...who.ids];
    const env = ['env', '-i', ...ENVIRONMENT, ...who.env];
    return run('nsenter', [...inside, ...env, '/bin/sh', '-c', command], options);
  };
  const must = async (command: string, options?: RunOptions): Promise<string> => {
    const { status, stdout, stderr } = await enter(command, options);
    if (status !== 0) throw new Error(`${name}: status ${status} of: ${command}\n${stdout}${stderr}`);
    return stdout;
  };
  const processes = async (): Promise<HostProcess[]> =>
    (await must("ps -eww -o pid=,args= | grep -vE 'ps -eww|grep -vE'"))
      .split('\n')
      .map((line) => /^ *(\d+) (.*)$/.exec(line))
      .filter((found) => found !== null)
      .map(([, pid, command]) => ({ pid: Number(pid), command: command! }))
      .filter(({ pid, command }) => pid !== 1 && !/^(\S*\/)?sshd(:| |$)|\[sshd\]/.test(command));
  return {
    name,
    address: plug.address,
    user: LOGIN.name,
    keyFile: key.file,
    key: key.text,
    exec: enter,
    must,
    ssh: (command, options) =>
      run('ssh', [...sshOptions(key), `${LOGIN.name}@${plug.address}`, command], options),
    processes,
    signal: async (signal, pattern) => {
      const found = (await processes()).filter(({ command }) => pattern.test(command));
      const number = signal.replace(/^SIG/, '');
      if (found.length > 0) await enter(`kill -s ${number} ${found.map(({ pid }) => pid).join(' ')}`);
      return found.length;
    },
    paths: () => pathsOn(folder),
    cut: plug.down,
    halfOpen: (direction = 'both') => plug.drop(direction),
    refusePort: plug.refusePort,
    rate: plug.rate,
    heal: plug.heal,
    smallDisk: async (path, bytes) =>
      void (await must(`mkdir -p '${path}' && mount -t tmpfs -o size=${bytes},mode=0755 small '${path}'`)),
    shiftClock: async (ms) => {
      await must('rm -f /etc/ld.so.preload /etc/faketimerc');
      if (ms === 0) return;
      const shift = `${ms < 0 ? '-' : '+'}${Math.abs(ms) / 1000}s`;
      await must(`echo '${shift}' >/etc/faketimerc && echo '${FAKETIME}' >/etc/ld.so.preload`);
    },
    reboot: async () => {
      await machine.stop();
      machine = await boot(at);
    },
    stop: () => machine.stop(),
  };
}

const sshOptions = (key: LoginKey): string[] => [
  ...['-i', key.file, '-o', 'IdentitiesOnly=yes', '-o', 'BatchMode=yes', '-o', 'ConnectTimeout=5'],
  ...['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null', '-o', 'LogLevel=ERROR'],
];

interface Machine {
  /** Process id of its first process, as this machine sees it. */
  init: number;
  stop(): Promise<void>;
}

async function boot({ name, folder, plug, hidden }: At): Promise<Machine> {
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--uts', '--ipc'];
  const first = ['/bin/sh', INIT, folder, name, hidden.join(' ')];
  const child = spawn('ip', ['netns', 'exec', plug.namespace, 'unshare', ...namespaces, ...first], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      said = `${said}${chunk}`.slice(-4_000);
    });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    // The end of `unshare` is that of the first process, but the others may take a moment more.
    await eventually(() => mustRun('ip', 'netns', 'pids', plug.namespace).trim() === '', {
      deadlineMs: START_MS,
    });
  };
  try {
    await eventually(() => isUp(child, plug.address), { deadlineMs: START_MS });
    const init = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim());
    return { init, stop };
  } catch (error) {
    await stop();
    throw new Error(`${name} did not start (${(error as Error).message}): ${said}`);
  }
}

/** @throws Error until sshd greets */
function isUp(child: ChildProcess, address: string): Promise<void> {
  if (child.exitCode !== null) throw new Error(`its first process ended with ${child.exitCode}`);
  return new Promise((resolve, reject) => {
    const socket = connect({ port: 22, host: address, timeout: 1_000 });
    const refuse = (): void => {
      socket.destroy();
      reject(new Error('sshd does not greet'));
    };
    socket.once('error', refuse).once('close', refuse).once('timeout', refuse);
    socket.once('data', () => {
      resolve();
      socket.destroy();
    });
  });
}
