import type { Command, Limits } from './port';

/**
 * Shell text that bounds what follows it. By `ulimit` and not by prlimit(1): a shell stands at the begin of most operations
 * anyway, and one more program costs about a millisecond each. `-p` (dash, busybox) and `-u` (bash) are the same limit.
 */
export function limitText({ processes, openFiles, fileBytes, memoryBytes }: Limits): string {
  // Blocks of 512 bytes: so POSIX says it, and dash and bash in its mode do.
  const blocks = Math.ceil(fileBytes / 512);
  const parts = [
    'ulimit -c 0',
    `{ ulimit -p ${processes} || ulimit -u ${processes}; } 2>/dev/null`,
    `ulimit -n ${openFiles} 2>/dev/null`,
    `ulimit -f ${blocks} 2>/dev/null`,
  ];
  if (memoryBytes !== null) parts.push(`ulimit -d ${Math.ceil(memoryBytes / 1024)} 2>/dev/null`);
  return `${parts.join('; ')}; `;
}

/** Joins the control group whose list of processes stands open as `descriptor`, before anything else runs. */
export function joinText(descriptor: number): string {
  return `echo 0 >&${descriptor} || exit 126; exec ${descriptor}>&-; `;
}

/** The folder that the program starts in, or what is wrong with it: exit code 126 as of a program that cannot start. */
export function folderText(cwd: string): string {
  const path = quoted(cwd);
  return `cd ${path} 2>/dev/null || { echo "process.cwd: operations do not see the folder "${path}" (BATON_WORKER_SHARED_PATHS)" >&2; exit 126; }; `;
}

/** A line that is nothing but the path of a program. */
const ONE_PROGRAM = /^\/[\w./-]+$/;

/**
 * The command with shell text before it, on its first line so that line numbers in messages of the shell stay.
 * `canReplace`: who waits for it makes no difference between a shell that tells of a death by a signal and the death.
 */
export function withPrelude(
  prelude: string,
  { program, args }: Command,
  canReplace = false,
): { program: string; args: string[] } {
  const [flag, text = '', ...others] = args;
  if (program === '/bin/sh' && flag === '-c') {
    // Without a second process: about 0.4 ms.
    const exec = canReplace && ONE_PROGRAM.test(text) ? 'exec ' : '';
    return { program, args: [flag, `${prelude}${exec}${text}`, ...others] };
  }
  return { program: '/bin/sh', args: ['-c', `${prelude}exec "$@"`, 'sh', program, ...args] };
}

export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
