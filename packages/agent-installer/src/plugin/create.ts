import type { Json } from '@baton/kernel';
import { isMarkedError, operationErrorMark } from '@baton/plugin-sdk';
import { readInstallChoices } from '../script/options';
import { renderUninstallScript } from '../script/uninstall';
import { numberOf } from './agent-config';
import { atHost } from './login';
import { enrol, putRecord, setState } from './records';
import { runAgentScript } from './run-script';
import { agentFacts, type Scope, saveFacts } from './scope';

const INSTALL_SECONDS = 900;
const UNINSTALL_SECONDS = 120;

/** Whether the host gets no agent of its own; says why. */
export function hasNoAgent({ config, ctx }: Scope): boolean {
  if (config.isProxied) {
    ctx.logger.info('operations of this host go to the agent that agent_config.extra.proxy names');
    return true;
  }
  if (config.method !== 'none' && config.method !== 'ssh') return false;
  ctx.logger.debug(`install_method is ${config.method}: the host has no agent`);
  return true;
}

/** Whether a person or a plugin runs the install script, and not an operation. */
export const isInstalledByOthers = ({ config }: Pick<Scope, 'config'>): boolean =>
  config.method === 'init_script' || config.method === 'plugin' || config.method === 'provided';

/** AG.create: makes the record and brings the agent onto its host (reference/workflows.md 7.2). */
export async function create(scope: Scope): Promise<Json> {
  if (hasNoAgent(scope)) return null;
  if (isInstalledByOthers(scope)) return await offer(scope);
  await putRecord(scope);
  await setState(scope, 'creating');
  await installOverSsh(scope);
  await setState(scope, 'started');
  return null;
}

/**
 * Makes the script and says where it is. A script that ctx.agent.init_script() has made before stays the good one: a new token
 * would spoil it.
 */
async function offer(scope: Scope): Promise<Json> {
  const { ctx, config } = scope;
  const wasThere = await putRecord(scope);
  if (
    wasThere &&
    (config.method !== 'provided' || agentFacts(scope).install_script_download_link !== undefined)
  ) {
    ctx.logger.info(`agent ${config.name} has its install script already`);
    return null;
  }
  const { scriptUrl } = await enrol(scope);
  await saveFacts(scope, { install_script_download_link: scriptUrl });
  ctx.logger.info(
    `run this at the host within an hour to install agent ${config.name}: curl -fsSk ${scriptUrl} | sudo sh`,
  );
  await setState(scope, 'created');
  return null;
}

/** Installs, or repairs, the agent over SSH. A final failure is cleaned up at the host; the record says `failed`. */
export async function installOverSsh(scope: Scope): Promise<void> {
  const { ctx, config } = scope;
  const seconds = numberOf(config.values, 'install_agent_timeout') ?? INSTALL_SECONDS;
  let isBegun = false;
  try {
    await atHost(scope, async (host) => {
      const { script } = await enrol(scope);
      isBegun = true;
      ctx.logger.info(`installing agent ${config.name} at ${host.connection.name}`);
      await runAgentScript(host, script, {
        log: ctx.logger,
        timeoutMs: seconds * 1000,
        what: 'the installation of the agent',
      });
    });
  } catch (thrown) {
    // A stopped operation is neither a success nor a failure of the agent.
    if (ctx.signal.aborted) throw thrown;
    await setState(scope, 'failed').catch(() => undefined);
    // What a retry can go on with stays at the host: the part of the download that has come.
    if (isBegun && isFinal(thrown)) await removeFromHost(scope);
    throw thrown;
  }
}

const isFinal = (thrown: unknown): boolean => isMarkedError(thrown) && thrown[operationErrorMark] === 'fatal';

/** Removes the agent from its host as far as it can be reached. @returns whether it was removed */
export async function removeFromHost(scope: Scope): Promise<boolean> {
  const { ctx, config } = scope;
  try {
    await atHost(scope, (host) =>
      runAgentScript(host, renderUninstallScript({ name: config.name, ...placeOf(scope) }), {
        log: ctx.logger,
        timeoutMs: UNINSTALL_SECONDS * 1000,
        what: 'the removal of the agent',
      }),
    );
    return true;
  } catch (thrown) {
    ctx.logger.warning(
      `agent ${config.name} was not removed from its host: ${(thrown as Error).message}. If the host still exists, run uninstall-<name>.sh beside the folder of the agent there`,
    );
    return false;
  }
}

/** The folders that the author chose. */
function placeOf({ config: { values } }: Scope): { dir?: string; baseDir?: string } {
  const { agentDir, baseDir } = readInstallChoices({
    agent_dir: values.agent_dir,
    install_dir: values.install_dir,
    basedir: values.basedir,
  });
  return { dir: agentDir, baseDir };
}
