import { dirname, join, sep } from 'node:path';
import { ACCOUNTS, accountNames } from './account-names';
import type { ControlGroups } from './control-groups';
import { folderText, joinText, limitText, quoted, withPrelude } from './limits';
import type { Account, Confinement, Isolation, IsolationSettings } from './port';

export interface UtilLinuxPlan {
  /** `uid`: root starts it, another account inside. `namespaces`: the worker's own account, in a user namespace. */
  name: 'uid' | 'namespaces';
  /** Paths of the programs. */
  unshare: string;
  setpriv: string;
  mount: string;
  accountOf: (tenant: string) => Account | null;
  groups: ControlGroups;
  description: string;
  notEnforced: readonly string[];
}

/** The descriptor of the control group: the only one after the standard descriptors. */
const GROUP_FD = 3;

/**
 * Isolation with only util-linux. It is weaker than bubblewrap: the file system stays visible, and only the worker's
 * own folders (and `hidden`) are covered. It is also slower: each mount starts a program.
 */
export function utilLinuxIsolation(plan: UtilLinuxPlan, settings: IsolationSettings): Isolation {
  const isRoot = plan.name === 'uid';
  const apart = isRoot
    ? ['--mount', '--ipc', '--uts', '--propagation', 'private']
    : ['--user', '--map-current-user', '--keep-caps', '--mount', '--pid', '--fork', '--ipc', '--uts'];
  const limits = limitText(settings.limits);
  // Root's /proc hides the processes of other accounts. In an own pid namespace there are no others.
  const proc = `${plan.mount} -t proc ${isRoot ? '-o hidepid=2 ' : ''}proc /proc`;
  const namesOf = accountNames(settings.workRoot);
  return {
    name: plan.name,
    description: plan.description,
    notEnforced: plan.notEnforced,
    diskBytes: settings.limits.fileBytes,
    accountOf: plan.accountOf,
    launch: (command, confinement) => {
      const account = plan.accountOf(confinement.tenant);
      const group = plan.groups.open();
      const join = group ? joinText(GROUP_FD) : '';
      const inner = withPrelude(`${join}${limits}${folderText(command.cwd)}`, command);
      const ids =
        account === null
          ? ['--ambient-caps', '-all']
          : ['--reuid', String(account.uid), '--regid', String(account.gid), '--clear-groups'];
      const drop = [plan.setpriv, ...ids, '--no-new-privs', '--bounding-set', '-all', '--inh-caps', '-all'];
      const named = namesOf(account);
      const names = named === null ? '' : `${plan.mount} --bind ${quoted(named)} ${ACCOUNTS}; `;
      const setup = `set -e; ${proc}; ${names}${mountsText(confinement, settings, plan.mount)}cd /; exec "$@"`;
      return {
        program: plan.unshare,
        args: [...apart, '--', '/bin/sh', '-c', setup, 'sh', ...drop, '--', inner.program, ...inner.args],
        cwd: '/',
        env: { ...command.env },
        account: null,
        descriptors: [],
        group,
      };
    },
  };
}

/**
 * Shell text that covers the worker's folders, shows the operation's own folders again, and mounts its own /tmp. The
 * mount of /tmp is left out when the worker's folder lies below /tmp.
 */
function mountsText(
  { tmp, writable }: Confinement,
  { workRoot, hidden }: IsolationSettings,
  mount: string,
): string {
  const cover = (path: string): string =>
    `if [ -d ${quoted(path)} ]; then ${mount} -t tmpfs -o size=1m,mode=711 none ${quoted(path)}; fi; `;
  const ownTmp = `cd ${quoted(tmp)}; ${mount} -c --bind . /tmp; `;
  const shown = writable
    .map((path) => ({ path, area: join(workRoot, path.slice(workRoot.length + 1).split(sep)[0] ?? '') }))
    .map(
      ({ path, area }) =>
        // The folder stays reachable as the current folder while its path is covered.
        `cd ${quoted(path)}; ${cover(area)}/bin/mkdir -p -m 711 ${quoted(dirname(path))} ${quoted(path)}; ${mount} -c --bind . ${quoted(path)}; `,
    );
  const areas = ['copies', 'uids'].map((name) => join(workRoot, name));
  const others = [
    ...hidden,
    ...areas.filter((area) => !writable.some((path) => path.startsWith(`${area}${sep}`))),
  ];
  return `${`${workRoot}${sep}`.startsWith('/tmp/') ? '' : ownTmp}${shown.join('')}${others.map(cover).join('')}`;
}
