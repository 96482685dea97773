import { FatalError } from '../errors';
import type { RunOptions, SudoOptions } from './options';
import { LINE_END, quote, quoteInLine } from './quote';

/*
 * How a command starts on the host. The login shell may be any shell, and other users of the host see the arguments of all processes.
 * So the arguments hold only a wrapper. Its messages begin with a random mark:
 *   <mark>:<pid>   sshd makes each command the leader of a process group, and each step replaces the shell before it: the id of the group
 *   <mark>:pw      sudo asks for its password
 *   <mark>:ready   it waits for one line with variables, folder and command. What follows is the standard input of the command
 *   <mark>:go      the command begins
 */

/** A shell that knows what people write into commands; else the one of POSIX. */
const SHELL = 'case "${SHELL##*/}" in bash|zsh|ksh) _s=$SHELL;; *) _s=/bin/sh;; esac';

/** The line that is sent to the login shell. `mark`: a random word that begins each message of the wrapper. */
export function wrapperLine(mark: string, { sudo, pty }: Pick<RunOptions, 'sudo' | 'pty'>): string {
  // Lines to a terminal would come back, and could have 4,096 bytes only.
  const quiet = pty ? 'stty -echo -icanon 2>/dev/null; ' : '';
  const loud = pty ? 'stty icanon 2>/dev/null; ' : '';
  const reader =
    `${quiet}${LINE_END}=$(printf "\\nx"); ${LINE_END}=\${${LINE_END}%x}; printf "%s\\n" "${mark}:ready"; ` +
    `IFS= read -r _baton; case "$_baton" in "${mark} "*) ;; *) exit 255;; esac; ` +
    `${loud}printf "%s\\n" "${mark}:go"; eval "\${_baton#${mark} }"`;
  const start = `${quiet}printf "%s\\n" "${mark}:$$"; ${SHELL}; exec ${sudoWords(mark, sudo)}"$_s" -c ${quote(reader)} sh`;
  return `exec /bin/sh -c ${quote(start)}`;
}

function sudoWords(mark: string, sudo: RunOptions['sudo']): string {
  if (!sudo) return '';
  const user = typeof sudo === 'object' ? sudo.user : undefined;
  // Without a password it must not wait for one.
  const how = passwordOf(sudo) === undefined ? '-n' : `-S -p ${mark}:pw`;
  return `sudo ${how}${user === undefined ? '' : ` -u ${quote(user)}`} -- `;
}

const passwordOf = (sudo: RunOptions['sudo']): string | undefined =>
  typeof sudo === 'object' ? (sudo as SudoOptions).password : undefined;

/** The line that the wrapper reads. @throws FatalError for odd names of variables */
export function commandLine(
  mark: string,
  command: string,
  { env = {}, cwd }: Pick<RunOptions, 'env' | 'cwd'>,
): string {
  const variables = Object.entries(env).map(([name, value]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw new FatalError(
        `ssh: ${JSON.stringify(name)} is no name of a variable: expected letters, digits and _`,
      );
    return `export ${name}=${quoteInLine(value)}; `;
  });
  const folder = cwd === undefined ? '' : `cd -- ${quoteInLine(cwd)} || exit; `;
  return `${mark} ${variables.join('')}${folder}eval ${quoteInLine(command)}\n`;
}

/** The password for sudo as a line; '' without one. @throws FatalError for a password with a line end */
export function passwordLine(sudo: RunOptions['sudo']): string {
  const password = passwordOf(sudo);
  if (password === undefined) return '';
  if (/[\r\n\0]/.test(password)) throw new FatalError('ssh: the password of sudo holds a line end');
  return `${password}\n`;
}

/** Ends a process group: by request, and after two seconds by force. */
export const endOfGroup = (pid: number): string => {
  const group = `-- -${pid}`;
  return (
    `kill -s TERM ${group} 2>/dev/null; n=0; ` +
    `while kill -s 0 ${group} 2>/dev/null && [ $n -lt 20 ]; do sleep 0.1 2>/dev/null || sleep 1; n=$((n+1)); done; ` +
    `kill -s KILL ${group} 2>/dev/null; :`
  );
};
