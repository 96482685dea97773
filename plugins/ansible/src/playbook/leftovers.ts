import { readdir, readFile } from 'node:fs/promises';

/**
 * Kills processes that a run has left: connections of ssh that stay open for later tasks, and what Ansible started in sessions of its
 * own. They are those that name one of the folders of the run, in their arguments or environment. Where there is no /proc, such
 * connections end by themselves after a minute.
 */
export async function endLeftovers(folders: readonly string[]): Promise<void> {
  for (const name of await readdir('/proc').catch(() => [] as string[])) {
    const pid = Number(name);
    if (!Number.isSafeInteger(pid) || pid === process.pid) continue;
    const texts = await Promise.all(
      ['cmdline', 'environ'].map((part) => readFile(`/proc/${name}/${part}`, 'latin1').catch(() => '')),
    );
    if (folders.some((folder) => texts.some((text) => text.includes(folder)))) end(pid);
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It has ended by itself, or it belongs to somebody else.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}
