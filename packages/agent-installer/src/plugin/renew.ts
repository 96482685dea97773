import { ApiError } from '@baton/client';
import { isoInstant, type Json, type JsonObject } from '@baton/kernel';
import { FatalError, OperationDeferred, RetryableError } from '@baton/plugin-sdk';
import { numberOf, text } from './agent-config';
import { hasNoAgent, installOverSsh, isInstalledByOthers } from './create';
import { type Connection, connectionOf, enrol, putRecord, setState } from './records';
import { type Scope, saveFacts, saveWait, waitOf } from './scope';
import { nextLook } from './start';

const VALIDATE_SECONDS = 20;
const INSTALL_SECONDS = 300;
/** An agent gives a sign of life each 15 s; the manager stores it each second. */
const FRESH_MS = 20_000;

/**
 * AG.validate_amqp (the name is the original's): has the agent its stream, with a sign of life of the last seconds? Stored in
 * the runtime property `agent_status`.
 * @throws RetryableError when it is not there within `validate_agent_timeout`
 */
export async function validate(scope: Scope): Promise<Json> {
  if (hasNoAgent(scope)) return null;
  const { ctx, config, inputs, deps } = scope;
  const limit = numberOf(inputs, 'validate_agent_timeout') ?? VALIDATE_SECONDS;
  const found = await connectionOf(scope);
  const now = deps.clock.now();
  if (found !== null && isAlive(found, now)) {
    await saveWait(scope, null);
    await saveStatus(scope, null);
    ctx.logger.info(`agent ${config.name} is connected`);
    return null;
  }
  const wait = waitOf(scope);
  const isFirst = wait.task !== ctx.taskId || typeof wait.since !== 'number';
  const waited = isFirst ? 0 : Math.round((now - (wait.since as number)) / 1000);
  if (isFirst) await saveWait(scope, { task: ctx.taskId, since: now });
  if (waited < limit)
    throw new OperationDeferred(`waiting for a sign of life of agent ${config.name}`, {
      checkAfter: Math.min(2, limit),
    });
  await saveWait(scope, null);
  const why = silence(scope, found);
  await saveStatus(scope, why);
  throw new RetryableError(why);
}

function isAlive({ isConnected, lastSeen }: Connection, now: number): boolean {
  const seen = lastSeen === null ? Number.NaN : Date.parse(lastSeen);
  // The clocks of two machines: a sign of life of the future is one, too.
  return isConnected && seen > now - FRESH_MS;
}

function silence({ config }: Scope, found: Connection | null): string {
  if (found === null) return `agent ${config.name} has no record: it was never installed, or was deleted`;
  const seen =
    found.lastSeen === null ? 'it has never connected' : `its last sign of life was ${found.lastSeen}`;
  if (found.state === 'restored')
    return (
      `agent ${config.name} comes from a snapshot and is not connected (${seen}). An agent of another manager cannot join: ` +
      'only SSH (install_method remote, with user and key) or its install script run at the host can bring a new one'
    );
  return `agent ${config.name} is not connected: ${seen}. Look at the host: systemctl status baton-agent-*, and whether it reaches the manager`;
}

async function saveStatus({ instance, deps }: Scope, error: string | null): Promise<void> {
  const status: JsonObject = {
    agent_alive: error === null,
    agent_alive_error: error,
    // The original asked the broker before an upgrade, and the one after it; here is one place to ask.
    agent_alive_crossbroker: error === null,
    agent_alive_crossbroker_error: error,
    timestamp: isoInstant(deps.clock.now()),
  };
  instance.runtimeProperties = { ...instance.runtimeProperties, agent_status: status };
  await instance.update();
}

/**
 * AG.create_amqp of install_new_agents: a connected agent changes to the version of the manager; another one is installed anew
 * over SSH. What SSH cannot reach is told, with the way to do it by hand.
 */
export async function createNew(scope: Scope): Promise<Json> {
  if (hasNoAgent(scope)) return null;
  const { ctx, inputs } = scope;
  if (text(inputs, 'manager_ip') !== undefined)
    ctx.logger.warning(
      'manager_ip is not used: agents know the addresses of their manager by BATON_AGENTS_URL and BATON_AGENTS_NETWORKS',
    );
  const found = await connectionOf(scope);
  if (waitOf(scope).upgrade === ctx.taskId) return await followUpgrade(scope, found);
  if (found?.isConnected) return await beginUpgrade(scope, found);
  if (isInstalledByOthers(scope)) return await byHand(scope, found);
  await putRecord(scope);
  await setState(scope, 'upgrading');
  await installOverSsh(scope);
  await setState(scope, 'started');
  return null;
}

async function byHand(scope: Scope, found: Connection | null): Promise<never> {
  await putRecord(scope);
  const { scriptUrl } = await enrol(scope);
  await saveFacts(scope, { install_script_download_link: scriptUrl });
  throw new FatalError(
    `${silence(scope, found)}. It was not installed over SSH (install_method: ${scope.config.method}), so this manager cannot install it anew. ` +
      `Run this at the host within an hour: curl -fsSk ${scriptUrl} | sudo sh`,
  );
}

async function beginUpgrade(scope: Scope, found: Connection): Promise<Json> {
  const { client, config, ctx, deps } = scope;
  const { number_of_agents: number, version } = await client
    .call('upgradeAgents', { body: { names: [config.name] } })
    .catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 403)
        throw new FatalError(
          `agent ${config.name} is not upgraded: ${error.message}. The user of the execution needs the permission agent_replace_certs`,
        );
      throw error;
    });
  if (number === 0 || found.version === version) {
    ctx.logger.info(`agent ${config.name} has version ${found.version ?? version} already`);
    return null;
  }
  ctx.logger.info(`agent ${config.name} changes from version ${found.version ?? 'unknown'} to ${version}`);
  await saveWait(scope, { upgrade: ctx.taskId, since: deps.clock.now(), version });
  throw new OperationDeferred(`waiting for agent ${config.name} to change its version`, { checkAfter: 2 });
}

/** A worker that dies here finds the wait in the runtime properties. */
async function followUpgrade(scope: Scope, found: Connection | null): Promise<Json> {
  const { ctx, config, deps, inputs } = scope;
  const { since, version } = waitOf(scope);
  const limit = numberOf(inputs, 'install_agent_timeout') ?? INSTALL_SECONDS;
  const waited = Math.round((deps.clock.now() - Number(since)) / 1000);
  if (found?.isConnected && found.version === version) {
    await saveWait(scope, null);
    await saveFacts(scope, { version: found.version });
    ctx.logger.info(`agent ${config.name} has version ${found.version}`);
    return null;
  }
  const { state, reason } = found?.upgrade ?? {};
  if (state === 'undone' && found?.upgrade?.version === version) {
    await saveWait(scope, null);
    throw new FatalError(
      `agent ${config.name} went back to version ${found?.version ?? 'unknown'}: ${String(reason)}`,
    );
  }
  if (waited >= limit) {
    await saveWait(scope, null);
    throw new RetryableError(
      `agent ${config.name} did not change to version ${String(version)} in ${limit} seconds`,
    );
  }
  throw new OperationDeferred(`waiting for agent ${config.name} to change its version`, {
    checkAfter: nextLook(waited),
  });
}
