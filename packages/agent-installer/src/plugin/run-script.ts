import type { OperationLogger } from '@baton/plugin-sdk';
import { FatalError, RetryableError } from '@baton/plugin-sdk';
import { installExitCodes } from '../script/exit-codes';
import type { AgentHost } from './login';

/** Another try may end otherwise: what the host lacks does not come by waiting, but the network does, and a manager that starts. */
const RETRYABLE = new Set([25, 30, 31, 41, 51]);
const EXIT_MEANINGS = Object.fromEntries(Object.keys(installExitCodes).map((code) => [code, 'ok' as const]));
const LAST_LINES = 5;

/**
 * Runs an install or uninstall script at a host. Each of its lines comes into the log while it runs. The script goes by standard
 * input, so the token in it is in no file and no list of processes there.
 * @throws FatalError, RetryableError with the meaning of the exit code and the last lines of the script
 */
export async function runAgentScript(
  { connection, sudo }: AgentHost,
  script: string,
  { log, timeoutMs, what }: { log: OperationLogger; timeoutMs: number; what: string },
): Promise<void> {
  const last: string[] = [];
  const { exitCode } = await connection
    .run('sh -s', {
      stdin: script,
      sudo,
      timeoutMs,
      exitCodes: { ...EXIT_MEANINGS, 0: 'ok' },
      onLine: (line) => {
        log.info(line);
        if (line.trim() !== '') last.push(line);
        if (last.length > LAST_LINES) last.shift();
      },
    })
    .catch((thrown: unknown) => {
      throw explained(thrown);
    });
  if (exitCode === 0) return;
  const message = `${what} failed at ${connection.name}: ${installExitCodes[exitCode]} (exit code ${exitCode}). ${last.join(' | ')}`;
  throw RETRYABLE.has(exitCode) ? new RetryableError(message) : new FatalError(message);
}

/** sudo that asks for a password is the usual reason why a command does not start. */
function explained(thrown: unknown): unknown {
  if (!(thrown instanceof FatalError) || !/sudo/.test(thrown.message)) return thrown;
  return new FatalError(
    `${thrown.message}. Expected: a user who may use sudo without a password, or agent_config.password, or ` +
      'agent_config.extra.install_with_sudo: false for an agent without the rights of root',
    { cause: thrown },
  );
}
