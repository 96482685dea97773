import type { Json } from '@baton/kernel';
import { FatalError, OperationDeferred } from '@baton/plugin-sdk';
import { numberOf } from './agent-config';
import { hasNoAgent, isInstalledByOthers } from './create';
import { connectionOf, setState } from './records';
import { agentFacts, type Scope, saveFacts, saveWait, waitOf } from './scope';

const LEAST_SECONDS = 2;
const MOST_SECONDS = 15;
const WARN_AFTER_SECONDS = 300;
const GIVE_UP_SECONDS = 3_600;

/** Seconds until the next look: 2 at first, then a tenth of the time that has passed, at most 15. */
export const nextLook = (waitedSeconds: number): number =>
  Math.min(MOST_SECONDS, Math.max(LEAST_SECONDS, Math.round(waitedSeconds / 10)));

/**
 * AG.start: waits until the agent has its stream, without a place at the worker. After 300 s the record says `nonresponsive`;
 * after 3,600 s (`install_agent_timeout`) the operation fails (reference/workflows.md 7.2).
 */
export async function start(scope: Scope): Promise<Json> {
  if (hasNoAgent(scope)) return null;
  const { ctx, config, deps, inputs } = scope;
  const limit = numberOf({ ...config.values, ...inputs }, 'install_agent_timeout') ?? GIVE_UP_SECONDS;
  const found = await connectionOf(scope);
  if (found?.isConnected) {
    await saveWait(scope, null);
    await saveFacts(scope, {
      version: found.version,
      ...(found.processManagement !== null && { process_management: { name: found.processManagement } }),
    });
    await setState(scope, 'started');
    ctx.logger.info(
      `agent ${config.name} is connected${found.version === null ? '' : `, version ${found.version}`}`,
    );
    return null;
  }
  const now = deps.clock.now();
  const wait = waitOf(scope);
  const isFirst = wait.task !== ctx.taskId || typeof wait.since !== 'number';
  const since = isFirst ? now : (wait.since as number);
  const waited = Math.round((now - since) / 1000);
  if (isFirst) {
    await saveWait(scope, { task: ctx.taskId, since, warned: false });
    await setState(scope, 'starting');
  } else if (waited >= limit) {
    await saveWait(scope, null);
    await setState(scope, 'failed');
    throw new FatalError(`Agent ${config.name} did not start in ${limit} seconds. ${adviceOf(scope)}`);
  } else if (waited >= WARN_AFTER_SECONDS && wait.warned !== true) {
    await saveWait(scope, { ...wait, warned: true });
    await setState(scope, 'nonresponsive');
    ctx.logger.warning(
      `agent ${config.name} has not connected for ${waited} s; waiting up to ${limit} s. ${adviceOf(scope)}`,
    );
  }
  throw new OperationDeferred(`waiting for agent ${config.name} to connect`, {
    checkAfter: Math.min(nextLook(waited), Math.max(1, limit - waited)),
  });
}

function adviceOf(scope: Scope): string {
  const link = agentFacts(scope).install_script_download_link;
  const run = isInstalledByOthers(scope)
    ? `Did the host run the install script${typeof link === 'string' ? ` (${link})` : ''}? `
    : '';
  return `${run}Look at the log of the installation on the host (/var/log/baton-agent-*.install.log), and whether it reaches the manager`;
}
