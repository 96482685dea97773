/**
 * Upgrades of agents: a tenth of them at a time, at least one. The next batch begins when all of the last one run the new version. The
 * first agent that goes back to its version, or does not answer in time, stops the upgrade; agents that were told before go on.
 */
import type { Principal } from '@baton/contracts';
import { AppError, type Log, notFound } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import {
  beginUpgrade,
  endUpgrade,
  lockUpgrade,
  orderUpgrades,
  runningUpgrades,
  servedPackages,
  settleUpgraded,
  takeUpgrade,
  unknownAgents,
  upgradeParts,
} from '../../store/agents/upgrades.sql';
import type { DB } from '../../store/tables.gen';

const PART = 0.1;
/** Time for download, drain of running operations, and the first stream. */
const ANSWER_MS = 30 * 60_000;
/** Agents that have not been connected for so long are left out. */
const LIFE_MS = 7 * 86_400_000;

interface Deps {
  db: Db<DB>;
  log: Log;
}

/**
 * Begins an upgrade of the named agents, or of all in the tenant, to the version that the gateways serve; an earlier one ends.
 * @throws AppError not_found_error for a name; illegal_action_error when no gateway serves packages
 */
export async function startUpgrade(
  { db }: Deps,
  { tenant, username }: Principal,
  names: readonly string[],
): Promise<{ number_of_agents: number; version: string }> {
  return await db.tx(async (tx) => {
    const version = (await servedPackages(tx))[0]?.version;
    if (version === undefined)
      throw new AppError(
        'illegal_action_error',
        'The manager serves no package of the agent: set BATON_AGENT_PACKAGES of the gateway',
      );
    await lockUpgrade(tx, tenant);
    const [unknown] = await unknownAgents(tx, tenant, names);
    if (unknown !== undefined) throw notFound('Agent', unknown);
    const upgrade = { tenant, version, names: names.length === 0 ? null : names, by: username };
    return { number_of_agents: await beginUpgrade(tx, upgrade), version };
  });
}

/** Takes a step of each upgrade that has not ended; several replicas may do so. */
export async function driveUpgrades({ db, log }: Deps): Promise<void> {
  for (const tenant of await runningUpgrades(db.query)) await takeStep({ db, log }, tenant);
}

async function takeStep({ db, log }: Deps, tenant: string): Promise<void> {
  const step = await db.tx(async (tx) => {
    const upgrade = await takeUpgrade(tx, tenant, LIFE_MS);
    if (!upgrade) return null;
    await settleUpgraded(tx, tenant);
    const { ordered, waiting, failed } = await upgradeParts(tx, tenant, ANSWER_MS);
    const { version } = upgrade;
    if (failed) {
      const reason = `${failed.name}: ${failed.reason}`;
      await endUpgrade(tx, tenant, 'stopped', reason);
      return { version, stopped: reason };
    }
    if (ordered + waiting === 0 || (ordered === 0 && upgrade.is_overdue)) {
      await endUpgrade(tx, tenant, 'done', waiting === 0 ? null : `${waiting} agents were never connected`);
      return { version, skipped: waiting };
    }
    if (ordered > 0) return null;
    const told = await orderUpgrades(tx, tenant, Math.max(1, Math.ceil(upgrade.total * PART)));
    return told.length === 0 ? null : { version, told };
  });
  if (!step) return;
  if ('stopped' in step) log.warn({ tenant, ...step }, 'the upgrade of agents was stopped');
  else log.info({ tenant, ...step }, 'the upgrade of agents goes on');
}
