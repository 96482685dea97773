import { writeFileSync } from 'node:fs';
import { isSea } from 'node:sea';
import { systemClock } from '@baton/kernel';
import { productVersion } from '@baton/service-runtime';
import { assetsOf } from '../assets';
import { readConfig } from '../config';
import { exitCodes } from '../exit-codes';
import type { Places } from '../places';
import { startAgent } from '../run/agent';
import { createAgentLog } from '../run/agent-log';
import { takeLock } from '../run/lock';
import { keepSmall } from '../run/memory';
import { readSettings } from '../run/settings';
import { serveStatus } from '../run/status-socket';
import { keepTrust } from '../run/trust';
import { createUpgrades } from '../upgrade/upgrades';

/** How long a stopping agent waits for running operations, when nothing else is said. */
const STOP_AFTER_MS = 30_000;

/**
 * Runs the agent until it is told to stop or wants to be started again. Returns the exit code. SIGTERM: nothing more is claimed,
 * running operations get time to end; what is left is killed and reported as left. SIGINT is the same without the time.
 * @throws AgentFailure
 */
export async function runAgent(places: Places, { stopAfterMs = STOP_AFTER_MS } = {}): Promise<number> {
  const config = readConfig(places.config);
  const unlock = takeLock(places.lock);
  const { logLevel, logMaxBytes, logMaxHistory } = readSettings(places);
  const log = createAgentLog(places.log, systemClock, {
    level: logLevel,
    maxBytes: logMaxBytes,
    maxHistory: logMaxHistory,
  });
  try {
    const assetsDir = assetsOf(places.lib, productVersion);
    let leave: (exit: number) => void = () => undefined;
    const leaving = new Promise<number>((resolve) => {
      leave = resolve;
    });
    const upgrades = createUpgrades({ places, config, clock: systemClock, log });
    const agent = await startAgent({
      config,
      places,
      assetsDir,
      ...(isSea() && { javascript: [process.execPath, 'run-module'] }),
      clock: systemClock,
      log,
      upgrade: upgrades.state,
      onNotice: (notice) => {
        if (notice.notice === 'trust') trust.noticed(notice);
        else if (notice.notice === 'leave') {
          writeFileSync(places.leave, 'the manager uninstalls this host\n');
          leave(exitCodes.ok);
        } else if (notice.notice === 'upgrade') upgrades.ordered(notice.package, agent);
      },
      onWelcome: (welcome) => {
        trust.welcomed(welcome);
        upgrades.connected();
      },
    });
    const trust = keepTrust({ places, config, agent, clock: systemClock, log });
    const endKeeping = keepSmall(() => agent.held() === 0);
    const status = serveStatus(places.socket, () => agent.status());
    log.info({ version: productVersion, pid: process.pid }, 'the agent runs');
    const stopped = untilSignal();
    const end = await Promise.race([stopped, agent.wantsRestart, upgrades.wantsRestart, leaving]);
    const isSignal = typeof end === 'string';
    log.info({ why: isSignal ? end : 'another start is wanted' }, 'the agent stops');
    await agent.stop(end === 'SIGINT' ? 0 : stopAfterMs);
    endKeeping();
    trust.close();
    upgrades.stop();
    status.close();
    return isSignal ? exitCodes.ok : end;
  } finally {
    unlock();
  }
}

function untilSignal(): Promise<'SIGTERM' | 'SIGINT'> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve(signal));
  });
}
