import { type ChildProcess, spawn } from 'node:child_process';

/** Records process groups of running operations and kills them after any kind of death of this process. */
export interface OrphanGuard {
  add(groupId: number): void;
  remove(groupId: number): void;
  /** Ends the guard without killing anything. */
  close(): void;
}

// Reads "+ ID" and "- ID" from a pipe that only the worker holds open: its end means that the worker is dead.
const GUARD_SCRIPT = `
trap '' INT TERM HUP
groups=' '
while read -r op id; do
  case $op in
    +) groups="$groups$id " ;;
    -) case $groups in *" $id "*) groups="\${groups%% $id *} \${groups#* $id }" ;; esac ;;
  esac
done
for id in $groups; do kill -s KILL -- "-$id" 2>/dev/null; done
`;

/** Starts the guard process (in its own session, so that a kill of the worker's group does not reach it). */
export function startOrphanGuard(): OrphanGuard {
  const groups = new Set<number>();
  let isClosed = false;
  let child: ChildProcess | null = null;
  const start = (): ChildProcess => {
    const guard = spawn('/bin/sh', ['-c', GUARD_SCRIPT], {
      detached: true,
      cwd: '/',
      env: {},
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    guard.on('error', () => undefined);
    guard.stdin?.on('error', () => undefined);
    guard.on('exit', () => {
      if (child === guard) child = null;
    });
    guard.unref();
    (guard.stdin as unknown as { unref?: () => void } | null)?.unref?.();
    for (const id of groups) guard.stdin?.write(`+ ${id}\n`);
    return guard;
  };
  const tell = (line: string): void => {
    if (isClosed) return;
    if (child) child.stdin?.write(line);
    else child = start();
  };
  return {
    add: (id) => {
      const hadGuard = child !== null;
      groups.add(id);
      if (hadGuard) tell(`+ ${id}\n`);
      else tell('');
    },
    remove: (id) => {
      if (groups.delete(id) && child) tell(`- ${id}\n`);
    },
    close: () => {
      for (const id of groups) child?.stdin?.write(`- ${id}\n`);
      groups.clear();
      isClosed = true;
      child?.stdin?.end();
    },
  };
}
