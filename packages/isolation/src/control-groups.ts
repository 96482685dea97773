/**
 * Limits of an operation as a whole, by control groups of the kernel (cgroup v2). A worker makes one folder
 * `operations-<pid>` below the group that it was given. In this folder it makes one group for each operation:
 *
 *     <given>/                      delegated to the worker: systemd's `Delegate=yes`, or a path that root names
 *       baton-main/                 the processes that were in <given>: a group with limited child groups holds none itself
 *       operations-<pid>/<number>/  one operation; memory.max, pids.max, cgroup.kill
 *
 * The first process of an operation joins its group itself, through a descriptor that the worker opened: the kernel
 * checks the rights of the process that opened the descriptor. So no process of an operation ever runs outside its
 * group.
 */
import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { ControlGroupChoice, Limits, OperationGroup } from './port';

export interface ControlGroups {
  /** Controllers that limit operations here: some of memory, pids and cpu. */
  readonly controllers: readonly string[];
  /** Makes the group of an operation. Null: there are no groups here, so operations have no limits as a whole. */
  open(): OperationGroup | null;
  /** Removes the empty groups; to be called when the worker ends. */
  close(): void;
}

const WANTED = ['memory', 'pids', 'cpu'];
const MAIN = 'baton-main';
const OPERATIONS = /^operations-(\d+)$/;
/** Attempts to move processes: processes of the same group may start others during the move. */
const MOVES = 20;

/** The folder given to the worker does not work as a control group. */
export class ControlGroupError extends Error {
  override readonly name = 'ControlGroupError';
}

/** The mount of cgroup v2 and the worker's own group; null where there is no cgroup v2. */
export interface OwnGroup {
  /** Folder where cgroup v2 is mounted. */
  mount: string;
  /** Folder of the worker's group. */
  path: string;
}

export const noControlGroups: ControlGroups = { controllers: [], open: () => null, close: () => undefined };

/**
 * Opens the control groups of this worker. `auto` uses the worker's own group where an ordinary user may write to it,
 * which means that the group is delegated. Root can write to every group, so root must choose explicitly (`own`, or a
 * path below the mount).
 * @throws ControlGroupError when the chosen group cannot be used
 */
export function openControlGroups(
  choice: ControlGroupChoice,
  limits: Limits,
  isRoot: boolean,
  own: OwnGroup | null = findOwnGroup(),
): ControlGroups {
  if (choice === 'none' || (choice === 'auto' && isRoot)) return noControlGroups;
  if (own === null) return orNothing(choice, 'there is no cgroup v2 on this machine');
  const given = choice === 'auto' || choice === 'own' ? withoutMain(own.path) : join(own.mount, choice);
  try {
    accessSync(join(given, 'cgroup.procs'), constants.W_OK);
    accessSync(given, constants.W_OK);
    return prepared(given, limits);
  } catch (error) {
    return orNothing(choice, (error as Error).message);
  }
}

function orNothing(choice: ControlGroupChoice, reason: string): ControlGroups {
  if (choice === 'auto') return noControlGroups;
  throw new ControlGroupError(`the control group ${choice} cannot be used: ${reason}`);
}

/** The given group, for a worker started by a worker that has moved all its processes into `baton-main`. */
function withoutMain(path: string): string {
  return basename(path) === MAIN ? dirname(path) : path;
}

/** Finds the worker's group from the texts of /proc/self/mountinfo and /proc/self/cgroup. */
export function findOwnGroup(
  mountInfo = readText('/proc/self/mountinfo'),
  cgroup = readText('/proc/self/cgroup'),
): OwnGroup | null {
  const path = /^0::(\/.*)$/m.exec(cgroup)?.[1];
  const found = mountInfo
    .split('\n')
    .map((line) => /^\S+ \S+ \S+ (\S+) (\S+) .* - cgroup2 /.exec(line))
    .find((match) => match !== null);
  if (path === undefined || !found) return null;
  const [, root = '/', mount = ''] = found;
  const below = root === '/' ? path : path.startsWith(root) ? path.slice(root.length) : null;
  return below === null ? null : { mount, path: join(mount, below) };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function prepared(given: string, limits: Limits): ControlGroups {
  const offered = words(readText(join(given, 'cgroup.controllers')));
  const wanted = WANTED.filter((name) => offered.includes(name));
  sweepLeft(given);
  const folder = join(given, `operations-${process.pid}`);
  if (wanted.length > 0) {
    emptyInto(given, join(given, MAIN));
    enable(given, wanted);
  }
  mkdirSync(folder, { recursive: true });
  if (wanted.length > 0) enable(folder, wanted);
  return groupsIn(folder, wanted, limits);
}

function groupsIn(folder: string, controllers: readonly string[], limits: Limits): ControlGroups {
  let next = 0;
  const left = new Set<string>();
  const sweep = (): void => {
    for (const path of left) if (isRemoved(path)) left.delete(path);
  };
  return {
    controllers,
    open: () => {
      sweep();
      const path = join(folder, String(++next));
      mkdirSync(path);
      bound(path, controllers, limits);
      return {
        procs: join(path, 'cgroup.procs'),
        kill: () => write(path, 'cgroup.kill', '1'),
        isOutOfMemory: () => /^oom_kill [1-9]/m.test(readText(join(path, 'memory.events'))),
        end: () => {
          if (!isRemoved(path)) left.add(path);
        },
      };
    },
    close: () => {
      sweep();
      isRemoved(folder);
    },
  };
}

function bound(path: string, controllers: readonly string[], { memoryBytes, processes }: Limits): void {
  if (controllers.includes('memory') && memoryBytes !== null) {
    write(path, 'memory.max', String(memoryBytes));
    // The kernel kills the whole group: authors seldom expect the loss of a single process.
    write(path, 'memory.oom.group', '1');
    write(path, 'memory.swap.max', '0');
  }
  if (controllers.includes('pids')) write(path, 'pids.max', String(processes));
}

/** Writes one setting. A setting that this kernel does not have is left out: the probe checks the limits that matter. */
function write(path: string, file: string, text: string): void {
  try {
    writeFileSync(join(path, file), text);
  } catch {
    // See above. A group whose processes have ended reports that by an error too.
  }
}

/** Moves all processes of `given` to `main`: a group with limited child groups may hold no process itself. The root group may. */
function emptyInto(given: string, main: string): void {
  if (readText(join(given, 'cgroup.type')) === '') return;
  mkdirSync(main, { recursive: true });
  for (let move = 0; move < MOVES; move++) {
    const ids = words(readText(join(given, 'cgroup.procs')));
    if (ids.length === 0) return;
    for (const id of ids) write(main, 'cgroup.procs', id);
  }
  throw new Error(`processes stay in ${given}`);
}

function enable(path: string, controllers: readonly string[]): void {
  writeFileSync(join(path, 'cgroup.subtree_control'), controllers.map((name) => `+${name}`).join(' '));
}

/** Removes the folders of workers that have ended, as far as no processes are left in them. */
function sweepLeft(given: string): void {
  for (const name of readdirSync(given)) {
    const worker = OPERATIONS.exec(name)?.[1];
    if (worker === undefined || isAlive(Number(worker))) continue;
    const folder = join(given, name);
    for (const entry of readdirSync(folder, { withFileTypes: true }))
      if (entry.isDirectory()) isRemoved(join(folder, entry.name));
    isRemoved(folder);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Removes a group folder. False while processes are left in it. */
function isRemoved(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

function words(text: string): string[] {
  return text.split(/\s+/).filter(Boolean);
}
