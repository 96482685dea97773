import { agentsRpc } from '@baton/contracts';
import { badParameter, isUuid } from '@baton/kernel';
import { readAbout } from '../../domain/agents/about';
import { ordersOf } from '../../domain/agents/orders';
import {
  markSilent,
  type ReportAnswer,
  type ReportedAgent,
  writePackages,
  writeReport,
} from '../../store/agents/report.sql';
import { type SettingsDeps, settingsText } from './settings';

/** Silence from which an agent is nonresponsive (reference/agents.md 2 S10). */
const SILENT_AFTER_MS = 45_000;
const MAX_AGENTS = 20_000;
const MAX_PACKAGES = 64;
const MAX_ID = 256;
const MOST_MS = 2_147_483_647;
const BATCH = 500;

const PLATFORM = /^[a-z0-9]{1,32}-[a-z0-9_]{1,32}$/;
const VERSION = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$/;
const SHA256 = /^[0-9a-f]{64}$/;

type Deps = Pick<SettingsDeps, 'db' | 'log'>;

/**
 * Takes the report of a gateway and answers what to tell its agents. A report may be repeated.
 * @throws AppError bad_parameters_error
 */
export async function reportAgents(
  deps: SettingsDeps,
  { gatewayId, agents, gone, packages }: agentsRpc.ReportAgentsRequest,
): Promise<agentsRpc.ReportAgentsResponse> {
  if (gatewayId === '' || gatewayId.length > MAX_ID)
    throw badParameter('gateway_id', 'gateway_id is missing or too long');
  if (agents.length + gone.length > MAX_AGENTS)
    throw badParameter('agents', `A report has at most ${MAX_AGENTS} agents`);
  const { db, log } = deps;
  const served = checkedPackages(packages);
  const result = await db.tx(async (tx) => {
    if (served.length > 0) await writePackages(tx, served);
    return await writeReport(tx, gatewayId, reportedOnce(agents, gone), SILENT_AFTER_MS);
  });
  for (const { tenant, name, former_state: from, state: to } of result.rows)
    if (from !== to) log.info({ tenant, agent: name, from, to }, 'agent changed its state');
  const rows = await Promise.all(result.rows.map((row) => withEnvironment(deps, row)));
  return {
    orders: [...ordersOf(rows, result.trusted), ...strangersOf(agents)],
    listenerDigest: result.listener_digest ?? '',
  };
}

/** Settings that cannot be opened now reach the agent with its next stream: other agents of the report do not wait for them. */
async function withEnvironment(deps: SettingsDeps, row: ReportAnswer): Promise<ReportAnswer> {
  const { tenant, name, settings, env_sealed: sealed } = row;
  if (!settings || tenant === null || name === null) return row;
  const stored = { tenant, name, settings, env_sealed: sealed === null ? null : Buffer.from(sealed, 'hex') };
  try {
    return { ...row, settings: JSON.parse(await settingsText(deps, stored)) };
  } catch (error) {
    deps.log.warn({ tenant, agent: name, err: error }, 'changed settings of an agent cannot be told now');
    return { ...row, settings: null };
  }
}

/** Each agent once: the stream with the highest epoch; of two with the same one that has ended. */
function reportedOnce(
  agents: readonly agentsRpc.ConnectedAgent[],
  gone: readonly agentsRpc.ConnectedAgent[],
): ReportedAgent[] {
  const once = new Map<string, ReportedAgent>();
  const add = ({ agentId: id, epoch, silentMs, aboutJson }: agentsRpc.ConnectedAgent, isGone: boolean) => {
    if (!isUuid(id) || (once.get(id)?.epoch ?? -1) > epoch) return;
    const silence = Math.min(Math.max(silentMs, 0), MOST_MS);
    once.set(id, { id, epoch, silentMs: silence, about: readAbout(aboutJson)?.text ?? null, isGone });
  };
  for (const agent of agents) add(agent, false);
  for (const agent of gone) add(agent, true);
  return [...once.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Ids that no authority has written are ids of no agent. */
const strangersOf = (agents: readonly agentsRpc.ConnectedAgent[]): agentsRpc.AgentOrder[] =>
  agents
    .filter(({ agentId }) => !isUuid(agentId))
    .map(({ agentId, epoch }) => ({
      agentId,
      kind: agentsRpc.AgentOrderKind.AGENT_ORDER_KIND_CUT,
      detailJson: JSON.stringify({ reason: 'deleted', epoch }),
    }));

function checkedPackages(packages: readonly agentsRpc.AgentPackage[]): readonly agentsRpc.AgentPackage[] {
  const isGood = ({ platform, version, sha256, size }: agentsRpc.AgentPackage) =>
    PLATFORM.test(platform) && VERSION.test(version) && SHA256.test(sha256) && size > 0;
  if (packages.length <= MAX_PACKAGES && packages.every(isGood)) return packages;
  throw badParameter('packages', 'The packages of agents cannot be read', {
    expected: `at most ${MAX_PACKAGES}, each with platform (linux-x64), version, sha256 and size`,
  });
}

/** Marks agents of gateways that died, and agents whose streams have ended; at most 500 a call. */
export async function markSilentAgents({ db, log }: Deps): Promise<{ again: boolean }> {
  const marked = await db.tx((tx) => markSilent(tx, SILENT_AFTER_MS, BATCH));
  for (const { tenant, name, former_state: from, state: to } of marked)
    if (from !== to) log.info({ tenant, agent: name, from, to }, 'agent changed its state');
  return { again: marked.length === BATCH };
}
