// Agents that only speak: the client of the real agent over a real stream, but operations succeed without being run. Hundreds of them
// in one process (bench/suites/agents.ts).
import { randomUUID } from 'node:crypto';
import { type AgentLink, createAgentLink } from '@baton/agent-link';
import { agentWorkerId, executionsRpc } from '@baton/contracts';
import { silentLog, systemClock } from '@baton/kernel';
import { enrol, type Identity, type Place, someAbout } from '../../test/hosts/client/identity';
import { serveParent } from '../harness/child';

export interface NewAgent {
  token: string;
  authorities: string;
  tenant: string;
  instance: string;
}

export type ProtocolQuestion = { add: NewAgent[]; place: Place } | 'count';

export interface ProtocolAnswer {
  /** Streams that are open now. */
  open: number;
  /** Welcomes so far. */
  welcomes: number;
  /** Operations that were reported as done. */
  finished: number;
}

const PLACES = 5;
/** As the real agent does. */
const ASK_EVERY_MS = 900_000;
/** Enrolments at the same moment. */
const AT_ONCE = 8;

const links: AgentLink[] = [];
const said: Omit<ProtocolAnswer, 'open'> = { welcomes: 0, finished: 0 };

const { ExecutionsServiceDefinition, OutcomeKind } = executionsRpc;
const KIND = OutcomeKind.OUTCOME_KIND_SUCCEEDED;

serveParent<ProtocolQuestion>(
  async (question) => {
    if (question !== 'count') await addAll(question.add, question.place);
    return { ...said, open: links.filter((link) => link.isOpen()).length };
  },
  async () => {
    for (const link of links) link.close();
  },
);

async function addAll(agents: readonly NewAgent[], place: Place): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < agents.length) {
      const agent = agents[next++]!;
      openLink(agent, await enrol(place, agent.token, agent.authorities), place);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, agents.length) }, lane));
}

function openLink({ tenant, instance }: NewAgent, identity: Identity, { host, port }: Place): void {
  const link = createAgentLink({
    addresses: () => [`http://${host}:${port}`],
    credentials: () => identity,
    proxy: { url: null, except: '' },
    processId: randomUUID(),
    about: () => ({ ...someAbout, slots: PLACES }),
    patienceMs: () => 60_000,
    clock: systemClock,
    log: silentLog,
    onWelcome: () => {
      said.welcomes++;
      work.ask(true);
    },
    onNotice: (notice) => {
      if (notice.notice === 'task-ready') work.ask(false);
    },
    onLost: () => undefined,
  });
  const work = worker(agentWorkerId(`${tenant}/${instance}`), link);
  links.push(link);
  link.start();
}

/** Claims what there is and reports it as done, until there is nothing more. */
function worker(workerId: string, link: AgentLink): { ask(isNewStream: boolean): void } {
  const executions = link.rpc.client(ExecutionsServiceDefinition, 'executions');
  let isBusy = false;
  let isMissed = false;
  const round = async (isNewStream: boolean): Promise<void> => {
    let { leases } = await executions.claimAgentTasks({ workerId, room: PLACES, isNewStream, held: [] });
    while (leases.length > 0) {
      const outcomes = leases.map(({ taskId, executionId, attempt }) => ({
        taskId,
        executionId,
        attempt,
        kind: KIND,
        resultJson: 'null',
        retryAfter: -1,
      }));
      ({ leases } = await executions.finishTasks({ workerId, outcomes, room: PLACES }));
      said.finished += outcomes.length;
    }
  };
  const ask = (isNewStream: boolean): void => {
    if (isBusy) {
      isMissed = true;
      return;
    }
    isBusy = true;
    round(isNewStream)
      .catch(() => undefined)
      .finally(() => {
        isBusy = false;
        if (!isMissed) return;
        isMissed = false;
        ask(false);
      });
  };
  setInterval(() => link.isOpen() && ask(false), ASK_EVERY_MS).unref();
  return { ask };
}
