import type { Command, Limits } from './port';

/**
 * Returns shell text that limits the commands after it. It uses `ulimit` and not prlimit(1): most operations begin with
 * a shell anyway, and one more program costs about a millisecond each. `-p` (dash, busybox) and `-u` (bash) are the
 * same limit.
 */
export function limitText({ processes, openFiles, fileBytes, memoryBytes }: Limits): string {
  // Blocks of 512 bytes: POSIX defines it so; dash, and bash in POSIX mode, follow it.
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

/** Returns shell text that joins the control group before anything else runs. `descriptor`: its open list of processes. */
export function joinText(descriptor: number): string {
  return `echo 0 >&${descriptor} || exit 126; exec ${descriptor}>&-; `;
}

/**
 * Returns shell text that changes to the working folder, or reports the error with exit code 126, like a program that
 * cannot start.
 */
export function folderText(cwd: string): string {
  const path = quoted(cwd);
  return `cd ${path} 2>/dev/null || { echo "process.cwd: operations do not see the folder "${path}" (BATON_WORKER_SHARED_PATHS)" >&2; exit 126; }; `;
}

/** A command line that is only the path of a program. */
const ONE_PROGRAM = /^\/[\w./-]+$/;

/**
 * Puts shell text before the command, on the command's first line, so that line numbers in messages of the shell do not
 * change. `canReplace`: the program may replace the shell, because the caller treats a shell that reports a death by
 * signal and the death itself alike.
 */
export function withPrelude(
  prelude: string,
  { program, args }: Command,
  canReplace = false,
): { program: string; args: string[] } {
  const [flag, text = '', ...others] = args;
  if (program === '/bin/sh' && flag === '-c') {
    // `exec` avoids a second process: about 0.4 ms.
    const exec = canReplace && ONE_PROGRAM.test(text) ? 'exec ' : '';
    return { program, args: [flag, `${prelude}${exec}${text}`, ...others] };
  }
  return { program: '/bin/sh', args: ['-c', `${prelude}exec "$@"`, 'sh', program, ...args] };
}

export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
