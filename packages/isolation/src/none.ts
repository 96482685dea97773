import type { Account, Isolation } from './port';

const NOTHING = [
  'files, processes and the network of the worker are open to operations',
  'processes, memory and files of an operation are not bounded',
];

/** Isolation `none`: operations run as the worker, or all as one other account. */
export function noIsolation(account: Account | null = null, reason?: string): Isolation {
  return {
    name: 'none',
    description: account
      ? `none; operations run as uid ${account.uid}`
      : 'none; operations run as the worker itself',
    notEnforced: reason ? [reason, ...NOTHING] : NOTHING,
    diskBytes: null,
    accountOf: () => account,
    launch: ({ program, args, cwd, env }) => ({
      program,
      args: [...args],
      cwd,
      env: { ...env },
      account,
      descriptors: [],
      group: null,
    }),
  };
}
