import { dirname } from 'node:path';
import { ACCOUNTS, accountNames } from './account-names';
import type { ControlGroups } from './control-groups';
import { deviceMounts } from './devices';
import { folderText, joinText, limitText, withPrelude } from './limits';
import type {
  Account,
  Command,
  Confinement,
  Isolation,
  IsolationName,
  IsolationSettings,
  Launch,
} from './port';
import { systemMounts } from './system-paths';

/** How bubblewrap gets its rights. */
export interface BubblewrapPlan {
  name: IsolationName;
  /** Path of bwrap. */
  program: string;
  /**
   * `user-namespace`: bwrap itself starts as the operation's account. `root`: bwrap starts as root, and setpriv changes
   * the account inside; this costs about 2 ms more, but works where user namespaces are forbidden or a parent folder
   * has mode 0700.
   */
  by: 'user-namespace' | 'root';
  /** Path of setpriv, for `root`. */
  setpriv: string | null;
  /** File with the filter of system calls; null: there is no filter for this machine. */
  filter: string | null;
  /** Account that a tenant's operations run as; null: the worker's account. */
  accountOf: (tenant: string) => Account | null;
  groups: ControlGroups;
  description: string;
  notEnforced: readonly string[];
}

/** The first descriptor after the standard ones: the filter's, where there is a filter. */
const FIRST_FD = 3;
/** The worker's home is not visible. */
const HOME = '/tmp';

/** Private mounts, processes, ipc and host name; no capabilities and no way to get any. */
export function bubblewrapIsolation(plan: BubblewrapPlan, settings: IsolationSettings): Isolation {
  const begin = [
    ...(plan.by === 'user-namespace' ? ['--unshare-user'] : []),
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    ...systemMounts(),
    '--proc',
    '/proc',
    ...deviceMounts(settings.workRoot, process.getuid?.() === 0, settings.path),
  ];
  const limits = limitText(settings.limits);
  const shared = settings.shared.flatMap(({ path, isWritable }) => [
    isWritable ? '--bind-try' : '--ro-bind-try',
    path,
    path,
  ]);
  const filter = plan.filter === null ? [] : ['--seccomp', String(FIRST_FD)];
  const namesOf = accountNames(settings.workRoot);
  return {
    name: plan.name,
    description: plan.description,
    notEnforced: plan.notEnforced,
    diskBytes: settings.limits.fileBytes,
    accountOf: plan.accountOf,
    home: HOME,
    launch: (command, confinement) => {
      const account = plan.accountOf(confinement.tenant);
      const descriptors = plan.filter === null ? [] : [plan.filter];
      const group = plan.groups.open();
      const join = group ? joinText(FIRST_FD + descriptors.length) : '';
      const inner = withPrelude(`${join}${limits}${folderText(command.cwd)}`, command, true);
      const own = ownMounts(confinement, settings, plan.by);
      const named = namesOf(account);
      const names = named === null ? [] : ['--ro-bind', named, ACCOUNTS];
      const ids = plan.by === 'root' ? dropping(plan.setpriv!, account) : [];
      return {
        program: plan.program,
        args: [...begin, ...names, ...shared, ...own, ...filter, '--', ...ids, inner.program, ...inner.args],
        cwd: '/',
        env: insideEnv(command),
        account: plan.by === 'root' ? null : account,
        descriptors,
        group,
      } satisfies Launch;
    },
  };
}

/** Mounts of the operation's own folders. /tmp comes first: the other folders may lie below it. */
function ownMounts(
  { tmp, writable, readable }: Confinement,
  { assetsDir }: IsolationSettings,
  by: BubblewrapPlan['by'],
): string[] {
  const shown = [assetsDir, ...readable];
  const crossed = crossedInTmp([...shown, ...writable]);
  return [
    '--bind',
    tmp,
    '/tmp',
    ...crossed.flatMap((folder) => ['--perms', '0755', '--tmpfs', folder]),
    // If root made these folders, no other account could pass through them.
    ...(by === 'root' ? passages([...shown, ...writable]) : []),
    ...shown.flatMap((path) => ['--ro-bind', path, path]),
    ...writable.flatMap((path) => ['--bind', path, path]),
    ...crossed.flatMap((folder) => ['--remount-ro', folder]),
  ];
}

/**
 * Top folders of /tmp on the way to these paths. They are not made in the operation's own /tmp: a program would have to
 * remove them after each run, level by level and with the operation's rights.
 */
function crossedInTmp(paths: readonly string[]): string[] {
  const tops = paths.flatMap((path) => /^(\/tmp\/[^/]+)\/./.exec(path)?.[1] ?? []);
  return [...new Set(tops)].filter((folder) => !paths.includes(folder));
}

/** Arguments that make the parent folders of these paths, passable for every account. */
function passages(paths: readonly string[]): string[] {
  const above = new Set<string>();
  for (const path of paths)
    for (let folder = dirname(path); folder !== '/' && folder !== '/tmp'; folder = dirname(folder))
      above.add(folder);
  return [...above].sort().flatMap((folder) => ['--perms', '0755', '--dir', folder]);
}

function dropping(setpriv: string, account: Account | null): string[] {
  const ids = account
    ? ['--reuid', String(account.uid), '--regid', String(account.gid), '--clear-groups']
    : [];
  return [setpriv, ...ids, '--no-new-privs', '--bounding-set', '-all', '--inh-caps', '-all', '--'];
}

function insideEnv({ env }: Command): Record<string, string> {
  return { ...env, HOME };
}
