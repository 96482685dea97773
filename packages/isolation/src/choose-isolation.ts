import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bubblewrapIsolation } from './bubblewrap';
import { ControlGroupError, type ControlGroups, noControlGroups, openControlGroups } from './control-groups';
import { type Egress, holdEgress, openEgress } from './egress/egress';
import { noIsolation } from './none';
import type { Account, Isolation, IsolationName, IsolationSettings } from './port';
import { findProgram, probeIsolation } from './probe';
import { systemCallFilter } from './system-call-filter';
import { createTenantUids } from './tenant-uids';
import { utilLinuxIsolation } from './util-linux';

/** None of the requested kinds of isolation works here. */
export class NoIsolationError extends Error {
  constructor(
    message: string,
    readonly attempts: readonly Attempt[],
  ) {
    super(message);
    this.name = 'NoIsolationError';
  }
}

/** A kind of isolation that was tried and does not work on this machine. */
export interface Attempt {
  what: string;
  reason: string;
}

export interface Choice {
  isolation: Isolation;
  attempts: readonly Attempt[];
  egress: Egress;
  groups: ControlGroups;
}

/** Properties of this machine that the choice depends on. */
export interface Machine {
  uid: number;
  platform: string;
  arch: string;
}

const here = (): Machine => ({
  uid: process.getuid?.() ?? -1,
  platform: process.platform,
  arch: process.arch,
});

/**
 * Returns the strongest requested isolation that passes a real run on this machine, with the network policy of its
 * operations. Makes the worker's folder.
 * @throws NoIsolationError with one sentence for the operator who starts the worker
 */
export function chooseIsolation(settings: IsolationSettings, machine: Machine = here()): Choice {
  const groups = groupsOf(settings, machine);
  const { isolation, attempts } = chooseWay(settings, machine, groups);
  const egress = settings.egress ? holdEgress(isolation, settings, settings.egress) : openEgress();
  if (settings.egress?.mode === 'none' && egress.description === null)
    throw new NoIsolationError(
      `operations cannot be kept from the network here (BATON_WORKER_EGRESS=none): ${egress.notEnforced.join('; ')}`,
      attempts,
    );
  const { description, notEnforced } = isolation;
  return {
    isolation: {
      ...isolation,
      description: egress.description === null ? description : `${description}, ${egress.description}`,
      // Without any isolation `notEnforced` says this already.
      notEnforced: isolation.name === 'none' ? notEnforced : [...notEnforced, ...egress.notEnforced],
    },
    attempts,
    egress,
    groups,
  };
}

function groupsOf(
  { controlGroup, limits, mode }: IsolationSettings,
  { uid, platform }: Machine,
): ControlGroups {
  if (platform !== 'linux' || mode === 'none' || controlGroup === undefined) return noControlGroups;
  try {
    return openControlGroups(controlGroup, limits, uid === 0);
  } catch (error) {
    if (error instanceof ControlGroupError)
      throw new NoIsolationError(`${error.message} (BATON_WORKER_CGROUP)`, []);
    throw error;
  }
}

function chooseWay(
  settings: IsolationSettings,
  machine: Machine,
  groups: ControlGroups,
): Pick<Choice, 'isolation' | 'attempts'> {
  if (settings.account !== null && machine.uid !== 0)
    throw new NoIsolationError('BATON_WORKER_SCRIPT_UID needs a worker that runs as root', []);
  // Other accounts may pass through the folder to their own folders, and cannot list it.
  mkdirSync(settings.workRoot, { recursive: true, mode: 0o711 });
  chmodSync(settings.workRoot, 0o711);
  const attempts: Attempt[] = [];
  if (settings.mode !== 'none')
    for (const way of waysOf(settings, machine, groups)) {
      if (settings.mode !== 'auto' && settings.mode !== 'best' && settings.mode !== way.name) continue;
      const built = way.build();
      const problem = typeof built === 'string' ? built : probeIsolation(built, settings);
      if (problem === null) return { isolation: built as Isolation, attempts };
      attempts.push({ what: way.what, reason: problem });
    }
  if (settings.mode === 'none') return { isolation: noIsolation(settings.account), attempts };
  if (settings.mode === 'best')
    return {
      isolation: noIsolation(settings.account, 'nothing that isolates works on this machine'),
      attempts,
    };
  throw new NoIsolationError(sentence(settings.mode, machine, attempts), attempts);
}

function sentence(mode: string, { platform }: Machine, attempts: readonly Attempt[]): string {
  const tried = attempts.map(({ what, reason }) => `${what}: ${reason}`).join('; ');
  const wish =
    mode === 'auto' ? 'no isolation of operations works here' : `isolation ${mode} does not work here`;
  const why =
    platform === 'linux'
      ? tried || 'it needs a worker of the other kind (root or not)'
      : `it needs Linux, this is ${platform}`;
  return `${wish} (${why}). Install bubblewrap, or allow user namespaces, or run the worker as root; BATON_WORKER_ISOLATION=none starts it with operations that can read and change whatever the worker can`;
}

interface Way {
  name: IsolationName;
  what: string;
  /** Builds the isolation. A text: the reason why it cannot be built. */
  build: () => Isolation | string;
}

/** The possible kinds of isolation, from the strongest to the weakest. */
function waysOf(settings: IsolationSettings, machine: Machine, groups: ControlGroups): Way[] {
  if (machine.platform !== 'linux') return [];
  return machine.uid === 0
    ? [
        withBubblewrap('bubblewrap', 'user-namespace', settings, machine, groups),
        withBubblewrap('bubblewrap', 'root', settings, machine, groups),
        withUtilLinux('uid', settings, machine, groups),
      ]
    : [
        withBubblewrap('namespaces', 'user-namespace', settings, machine, groups),
        withUtilLinux('namespaces', settings, machine, groups),
      ];
}

/** Texts: the limits that control groups enforce, and the limits that nothing enforces without them. */
function together({ controllers }: ControlGroups): { bounded: string; open: string[] } {
  const names = { memory: 'memory', pids: 'processes', cpu: 'processor time' } as Record<string, string>;
  const bounded = controllers.map((name) => names[name] ?? name);
  const open = ['memory', 'processor time'].filter((name) => !bounded.includes(name));
  return {
    bounded: bounded.length > 0 ? `, a control group for each operation (${bounded.join(', ')})` : '',
    open:
      open.length > 0
        ? [`${open.join(' and ')} of all processes of an operation together (no control group for it)`]
        : [],
  };
}

function withBubblewrap(
  name: IsolationName,
  by: 'user-namespace' | 'root',
  settings: IsolationSettings,
  machine: Machine,
  groups: ControlGroups,
): Way {
  const how = by === 'root' ? 'bubblewrap started by root' : 'bubblewrap with user namespaces';
  const build = (): Isolation | string => {
    const program = findProgram('bwrap', settings.path);
    const setpriv = findProgram('setpriv', settings.path);
    if (program === null) return 'there is no bwrap';
    if (by === 'root' && setpriv === null) return 'there is no setpriv';
    const filter = placeFilter(settings, machine);
    const account = machine.uid === 0 ? 'an account for each tenant' : "the worker's account";
    return bubblewrapIsolation(
      {
        name,
        program,
        by,
        setpriv,
        filter,
        accountOf: accountsOf(settings, machine),
        groups,
        description: `${how}, ${settings.account ? `uid ${settings.account.uid}` : account}, private files, processes and ipc${filter ? ', filtered system calls' : ''}${together(groups).bounded}`,
        notEnforced: [
          ...together(groups).open,
          ...(filter ? [] : [`no filter of system calls for ${machine.arch}`]),
          ...(machine.uid === 0 ? [] : ['operations of all tenants run as the uid of the worker']),
        ],
      },
      settings,
    );
  };
  return { name, what: how, build };
}

function withUtilLinux(
  name: 'uid' | 'namespaces',
  settings: IsolationSettings,
  machine: Machine,
  groups: ControlGroups,
): Way {
  const what = name === 'uid' ? 'setpriv and unshare' : 'unshare with a user namespace';
  const build = (): Isolation | string => {
    const unshare = findProgram('unshare', settings.path);
    const setpriv = findProgram('setpriv', settings.path);
    const mount = findProgram('mount', settings.path);
    if (unshare === null || setpriv === null || mount === null)
      return 'there is no unshare, setpriv or mount (package util-linux)';
    const accountOf = accountsOf(settings, machine);
    const shared =
      name === 'uid'
        ? 'operations of one tenant see and can stop each other'
        : 'operations read what the account of the worker can read outside of its folder';
    return utilLinuxIsolation(
      {
        name,
        unshare,
        setpriv,
        mount,
        accountOf,
        groups,
        description: `${what}, ${name === 'uid' ? 'an account for each tenant' : "the worker's account"}, covered folders${together(groups).bounded}`,
        notEnforced: [
          'what the system lets every account read stays to be read (bubblewrap would hide it)',
          shared,
          'system calls are not filtered',
          ...together(groups).open,
        ],
      },
      settings,
    );
  };
  return { name, what, build };
}

function accountsOf(settings: IsolationSettings, machine: Machine): (tenant: string) => Account | null {
  if (settings.account) return () => settings.account;
  if (machine.uid !== 0) return () => null;
  return createTenantUids(join(settings.workRoot, 'uids'), settings.uids);
}

/** Writes the filter file again at each start. The write need not be atomic: the bytes are the same, and the probe runs later. */
function placeFilter({ workRoot }: IsolationSettings, { arch }: Machine): string | null {
  const filter = systemCallFilter(arch);
  if (filter === null) return null;
  const file = join(workRoot, `filter-${process.pid}.bpf`);
  writeFileSync(file, filter, { mode: 0o600 });
  return file;
}
