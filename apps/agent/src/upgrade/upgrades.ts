/**
 * Another version of the program: downloaded beside the present one, tested, and started when the running operations have ended.
 * A version that has no stream within a minute is undone.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { AgentAbout } from '@baton/contracts';
import type { Clock, Log } from '@baton/kernel';
import { productVersion } from '@baton/service-runtime';
import { type AgentConfig, proxyOf } from '../config';
import { exitCodes } from '../exit-codes';
import type { Places } from '../places';
import { agentPlatform } from '../run/about';
import type { RunningAgent } from '../run/agent';
import { download, unpack, type WantedPackage } from './download';
import {
  currentVersion,
  programOf,
  readUpgrade,
  removeOthers,
  switchTo,
  type UpgradeState,
  undo,
  writeUpgrade,
} from './versions';

export interface UpgradesDeps {
  places: Places;
  config: AgentConfig;
  clock: Clock;
  log: Log;
  /** For tests. */
  version?: string;
  trialMs?: number;
}

type Upgraded = Pick<RunningAgent, 'credentials' | 'drain' | 'resume' | 'held' | 'link'>;

export interface Upgrades {
  /** The manager wants this version. */
  ordered(wanted: WantedPackage, agent: Upgraded): void;
  /** There is a stream: a version on trial has passed. */
  connected(): void;
  state(): AgentAbout['upgrade'];
  /** The process ends before the trial is over. */
  stop(): void;
  /** Resolves when the agent is to be started again, with another version. */
  wantsRestart: Promise<number>;
}

/** A new version must have a stream within this time. */
const TRIAL_MS = 60_000;
const MOST_STARTS = 3;
const CHECK_MS = 60_000;
const LOOK_MS = 500;
const run = promisify(execFile);

export function createUpgrades(deps: UpgradesDeps): Upgrades {
  const { places, log, version = productVersion, trialMs = TRIAL_MS } = deps;
  let isAtWork = false;
  let restart!: (code: number) => void;
  const wantsRestart = new Promise<number>((resolve) => {
    restart = resolve;
  });
  const goBack = (reason: string): void => {
    const upgrade = readUpgrade(places);
    if (!upgrade) return;
    try {
      undo(places, upgrade, reason);
      log.error({ version: upgrade.version, from: upgrade.from, reason }, 'the new version is undone');
      restart(exitCodes.again);
    } catch (error) {
      log.error({ reason: (error as Error).message }, 'the new version cannot be undone');
    }
  };
  const trial = startTrial(deps, version, trialMs, goBack);
  return {
    ordered: (wanted, agent) => {
      if (isAtWork || wanted.version === version) return;
      isAtWork = true;
      apply(deps, version, wanted, agent)
        .then((isReady) => isReady && restart(exitCodes.again))
        .finally(() => {
          isAtWork = false;
        })
        .catch((error: Error) => {
          log.error({ version: wanted.version, reason: error.message }, 'the upgrade ended with an error');
        });
    },
    connected: () => trial.passed(),
    stop: () => trial.stop(),
    state: () => {
      const upgrade = readUpgrade(places);
      return upgrade && { version: upgrade.version, state: upgrade.state, reason: upgrade.reason };
    },
    wantsRestart,
  };
}

/** Makes the version the next one to start. False: the present one goes on. Never rejects. */
async function apply(
  deps: UpgradesDeps,
  version: string,
  wanted: WantedPackage,
  agent: Upgraded,
): Promise<boolean> {
  const { places, log } = deps;
  const next = { version: wanted.version, starts: 0 };
  try {
    await fetchProgram(deps, wanted, agent);
    log.info(
      { version: wanted.version },
      'the new version is there; it starts when the operations have ended',
    );
    agent.drain();
    await untilIdle(agent);
    const from = currentVersion(places) ?? version;
    writeUpgrade(places, { ...next, state: 'running', reason: '', from });
    switchTo(places, wanted.version);
    return true;
  } catch (error) {
    const reason = `not installed: ${(error as Error).message}`.slice(0, 2000);
    log.error({ version: wanted.version, reason }, 'the upgrade failed; the present version goes on');
    keep(deps, { ...next, state: 'undone', reason, from: version });
    agent.resume();
    agent.link.tellAbout();
    return false;
  }
}

function keep({ places, log }: UpgradesDeps, state: UpgradeState): void {
  try {
    writeUpgrade(places, state);
  } catch (error) {
    log.error({ reason: (error as Error).message }, 'the state of the upgrade is lost');
  }
}

function startTrial(
  { places, log }: UpgradesDeps,
  version: string,
  trialMs: number,
  goBack: (reason: string) => void,
): { passed(): void; stop(): void } {
  const none = { passed: () => undefined, stop: () => undefined };
  const upgrade = readUpgrade(places);
  if (upgrade?.state !== 'running' || upgrade.version !== version) return none;
  if (upgrade.starts >= MOST_STARTS) {
    goBack(`it ended ${upgrade.starts} times without a stream to the manager`);
    return none;
  }
  writeUpgrade(places, { ...upgrade, starts: upgrade.starts + 1 });
  const timer = setTimeout(
    () => goBack(`it had no stream to the manager within ${Math.round(trialMs / 1000)} s`),
    trialMs,
  );
  let isOver = false;
  return {
    stop: () => clearTimeout(timer),
    passed: () => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      writeUpgrade(places, { ...upgrade, state: 'done' });
      removeOthers(places, [version, upgrade.from]);
      log.info({ version, from: upgrade.from }, 'the new version has a stream; the upgrade is done');
    },
  };
}

async function fetchProgram(
  { places, config, log }: UpgradesDeps,
  wanted: WantedPackage,
  agent: Upgraded,
): Promise<void> {
  if (wanted.platform !== agentPlatform)
    throw new Error(`it is for ${wanted.platform}, this host is ${agentPlatform}`);
  if (!/^[\w.+-]{1,100}$/.test(wanted.version)) throw new Error(`${wanted.version} is no version`);
  if (currentVersion(places) === null)
    throw new Error(`${places.current} is no link to a version: this agent was not installed by its script`);
  const program = programOf(places, wanted.version);
  const file = join(places.versions, `.${wanted.version}-${wanted.sha256.slice(0, 16)}`);
  const failures: string[] = [];
  for (const address of config.addresses) {
    try {
      await download(address, wanted, file, agent.credentials(), proxyOf(config));
      break;
    } catch (error) {
      failures.push(`${address}: ${(error as Error).message}`);
      if (failures.length === config.addresses.length) throw new Error(failures.join('; '), { cause: error });
    }
  }
  await unpack(file, program);
  const { stdout } = await run(program, ['check', '--dir', places.dir], { timeout: CHECK_MS }).catch(
    (error: Error & { stderr?: string }) => {
      throw new Error(`its self-test fails: ${error.stderr?.trim() || error.message}`, { cause: error });
    },
  );
  log.info({ version: wanted.version, check: stdout.trim() }, 'the new version has passed its self-test');
}

async function untilIdle(agent: Upgraded): Promise<void> {
  while (agent.held() > 0) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}
