import type { Json } from '@baton/kernel';
import { OperationDeferred } from '@baton/plugin-sdk';
import { placeName } from '../script/names';
import { hasNoAgent, installOverSsh, isInstalledByOthers, removeFromHost } from './create';
import { atHost } from './login';
import { connectionOf, deleteRecord, putRecord, setState } from './records';
import { agentFacts, removeFacts, type Scope, saveWait, waitOf } from './scope';

/** How long an agent may take to leave its host before its record goes all the same. */
const LEAVE_MS = 30_000;

/** AG.stop: stops the service at a host that is reached over SSH. A host that is gone is no failure. */
export async function stop(scope: Scope): Promise<Json> {
  if (hasNoAgent(scope)) return null;
  await setState(scope, 'stopping');
  if (!isInstalledByOthers(scope)) await service(scope, 'stop');
  await setState(scope, 'stopped');
  return null;
}

/** AG.restart: the service at the host; an agent that others have installed is restarted by its host alone. */
export async function restart(scope: Scope): Promise<Json> {
  if (hasNoAgent(scope)) return null;
  if (isInstalledByOthers(scope)) {
    scope.ctx.logger.warning(
      `agent ${scope.config.name} was not installed over SSH: restart it at its host (systemctl restart ${unitOf(scope)})`,
    );
    return null;
  }
  await setState(scope, 'restarting');
  if (!(await service(scope, 'restart'))) await installOverSsh(scope);
  await setState(scope, 'started');
  return null;
}

/** AG.configure: the installation again, which repairs what has changed. */
export async function configure(scope: Scope): Promise<Json> {
  if (hasNoAgent(scope) || isInstalledByOthers(scope)) return null;
  await putRecord(scope);
  await installOverSsh(scope);
  await setState(scope, 'started');
  return null;
}

/**
 * AG.delete: removes the agent from a host that is reached over SSH, then its record: from then on its certificates are refused.
 * The record goes also when the host is gone. A process that dies in between repeats all of it.
 */
export async function remove(scope: Scope): Promise<Json> {
  if (hasNoAgent(scope)) {
    await removeFacts(scope);
    return null;
  }
  await setState(scope, 'deleting');
  if (!isInstalledByOthers(scope)) await removeFromHost(scope);
  else if ((await connectionOf(scope))?.isConnected) await awaitLeave(scope);
  await saveWait(scope, null);
  await deleteRecord(scope);
  await removeFacts(scope);
  return null;
}

/**
 * Waits until an agent that nobody reaches but by its stream has left its host: the state `deleting` tells it to.
 * @throws OperationDeferred until it has, or the time is over
 */
async function awaitLeave(scope: Scope): Promise<void> {
  const { ctx, config, deps } = scope;
  const now = deps.clock.now();
  const wait = waitOf(scope);
  const isFirst = wait.task !== ctx.taskId || typeof wait.since !== 'number';
  if (isFirst) await saveWait(scope, { task: ctx.taskId, since: now, warned: false });
  else if (now - (wait.since as number) >= LEAVE_MS) {
    ctx.logger.warning(
      `agent ${config.name} has not left its host in ${LEAVE_MS / 1000} s; it is refused from now on, and what is left goes with the host, or by uninstall-<name>.sh beside its folder`,
    );
    return;
  }
  throw new OperationDeferred(`waiting for agent ${config.name} to leave its host`, { checkAfter: 2 });
}

const unitOf = ({ config }: Scope): string => `baton-agent-${placeName(config.name)}.service`;

/** @returns whether it was done; a host that cannot be reached is a warning */
async function service(scope: Scope, verb: 'stop' | 'restart'): Promise<boolean> {
  const { ctx, config } = scope;
  if (agentFacts(scope).name === undefined) return false;
  const unit = unitOf(scope);
  try {
    await atHost(scope, async ({ connection, sudo }) => {
      // Without systemd: removal ends the process, and a new installation starts it.
      const command = `if [ -f /etc/systemd/system/${unit} ]; then systemctl ${verb} ${unit}; else exit 3; fi`;
      await connection.run(command, {
        sudo,
        timeoutMs: 120_000,
        onLine: (line) => ctx.logger.info(line),
        exitCodes: { 3: 'fatal' },
      });
    });
    return true;
  } catch (thrown) {
    if (ctx.signal.aborted) throw thrown;
    ctx.logger.debug(`agent ${config.name}: ${verb} by systemd: ${(thrown as Error).message}`);
    return false;
  }
}
