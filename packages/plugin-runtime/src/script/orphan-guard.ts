import { type ChildProcess, spawn } from 'node:child_process';

/** Variable that marks the processes of a plugin. */
export const MARK_VARIABLE = 'PLUGIN_PROCESS_MARK';

/** Records process groups of running operations and kills them after any kind of death of this process. */
export interface OrphanGuard {
  add(groupId: number): void;
  remove(groupId: number): void;
  /** The same for processes with this mark (MARK_VARIABLE), in whatever group they are. */
  addMark(mark: string): void;
  removeMark(mark: string): void;
  /** Ends the guard without killing anything. */
  close(): void;
}

// Reads "+ ID" and "- ID" from a pipe that only the worker holds open: its end means that the worker is dead. An ID is that
// of a group, or "=MARK". A killed process may have started another one before: the marked ones are looked for again.
const GUARD_SCRIPT = `
trap '' INT TERM HUP
known=' '
while read -r op id; do
  case $op in
    +) known="$known$id " ;;
    -) case $known in *" $id "*) known="\${known%% $id *} \${known#* $id }" ;; esac ;;
  esac
done
marked() { grep -lzxF "${MARK_VARIABLE}$1" /proc/[0-9]*/environ 2>/dev/null; }
for id in $known; do
  case $id in
    =*) for i in 1 2 3 4 5; do
        left=$(marked "$id")
        [ -n "$left" ] || break
        for file in $left; do file=\${file#/proc/}; kill -s KILL "\${file%/environ}" 2>/dev/null; done
      done ;;
    *) kill -s KILL -- "-$id" 2>/dev/null ;;
  esac
done
`;

/** Starts the guard process (in its own session, so that a kill of the worker's group does not reach it). */
export function startOrphanGuard(): OrphanGuard {
  const groups = new Set<number | string>();
  let isClosed = false;
  let child: ChildProcess | null = null;
  const start = (): ChildProcess => {
    const guard = spawn('/bin/sh', ['-c', GUARD_SCRIPT], {
      detached: true,
      cwd: '/',
      env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
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
  const add = (id: number | string): void => {
    const hadGuard = child !== null;
    groups.add(id);
    if (hadGuard) tell(`+ ${id}\n`);
    else tell('');
  };
  const remove = (id: number | string): void => {
    if (groups.delete(id) && child) tell(`- ${id}\n`);
  };
  return {
    add,
    remove,
    addMark: (mark) => add(`=${mark}`),
    removeMark: (mark) => remove(`=${mark}`),
    close: () => {
      for (const id of groups) child?.stdin?.write(`- ${id}\n`);
      groups.clear();
      isClosed = true;
      child?.stdin?.end();
    },
  };
}
