import { spawn } from 'node:child_process';

/**
 * Environment variable that marks every process of a run. Scripts of operations have their own environment and end with their
 * worker.
 */
const MARK = 'FAULT_RUN';

// $1: the mark; lines of standard input: folders to remove. The end of the input means that the run is over, for any reason.
const SWEEP = `
trap '' INT TERM HUP
folders=
while read -r folder; do folders="$folders $folder"; done
marked() {
  for entry in /proc/[0-9]*; do
    tr '\\0' '\\n' 2>/dev/null <"$entry/environ" | grep -qx "$1" && echo "\${entry#/proc/}"
  done 2>/dev/null
}
pids=$(marked "$1")
[ -z "$pids" ] || { kill -s QUIT $pids; kill -s CONT $pids; sleep 1; }
pids=$(marked "$1")
[ -z "$pids" ] || kill -s KILL $pids
for folder in $folders; do
  grep -q " $folder " /proc/mounts && umount -l "$folder"
done
[ -z "$folders" ] || rm -rf $folders
` as const;

/** Cleans up after a run: ends processes by their mark, removes folders by name. */
export interface Sweeper {
  /** The folder is removed at the end, even if this process is killed. */
  addFolder(path: string): void;
  /** Resolves when nothing of the run is left. */
  close(): Promise<void>;
}

/**
 * Marks all children that this process starts from now on, and starts a guard process that reads a pipe from here. When this
 * process ends, even by kill -9, the guard ends all processes with the mark.
 */
export function startSweeper(): Sweeper {
  const mark = `${process.pid}-${Date.now().toString(36)}`;
  const guard = spawn('/bin/sh', ['-c', SWEEP, 'sweep', `${MARK}=${mark}`], {
    detached: true,
    env: { PATH: process.env.PATH },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const gone = new Promise<void>((resolve) => guard.once('exit', () => resolve()));
  guard.unref();
  process.env[MARK] = mark;
  return {
    addFolder: (path) => void guard.stdin.write(`${path}\n`),
    close: async () => {
      guard.ref();
      guard.stdin.end();
      await gone;
    },
  };
}
