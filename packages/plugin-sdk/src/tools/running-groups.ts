/** Groups of processes that this process has started. They are killed when it exits: nobody would end them later. */
const running = new Set<number>();

/** Kills a group; one that is not there any more is fine. */
export function sendToGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

const killAll = (): void => {
  for (const pid of running) sendToGroup(pid, 'SIGKILL');
};

/** Holds a group until it has ended. Returns the function that tells its end. */
export function holdGroup(pid: number): () => void {
  if (running.size === 0) process.on('exit', killAll);
  running.add(pid);
  return () => {
    running.delete(pid);
    if (running.size === 0) process.off('exit', killAll);
  };
}
