/** A manager with much data, the edge in front of it, and a signed-in browser. */
import { withDatabase } from '@baton/testkit';
import { launch, openPage, signIn, type WatchedPage } from '../../test/console/browser';
import { call } from '../../test/harness/session';
import { independent, type Shape } from '../harness/blueprints';
import { allEnded, start } from '../harness/executions';
import {
  createDatabase,
  createNamed,
  type Manager,
  putBlueprint,
  putDeployment,
  serverUrl,
  startManager,
} from '../harness/manager';
import type { Plan } from '../harness/report';
import { moreEvents } from '../seed/more-events';
import { seed } from '../seed/seed';
import type { SeedSizes } from '../seed/sizes';
import { type Edge, startEdge } from './edge';
import { ofKinds } from './kinds';
import { type Page, PROBES } from './probes';

export const TENANT = '/ui/default_tenant';

export interface Sizes extends SeedSizes {
  nodes: number;
  /** Number of nodes in the large installation, each with some 14 tasks. */
  installed: number;
  events: number;
}

const full: Sizes = {
  blueprints: 200,
  deployments: 100_000,
  eventsPerExecution: 1,
  nodes: 1_000,
  installed: 720,
  events: 1_000_000,
};
const small: Sizes = { ...full, blueprints: 20, deployments: 2_000, events: 20_000 };

export interface World {
  manager: Manager;
  edge: Edge;
  sizes: Sizes;
  /** The execution of the large installation, which has ended. */
  executionId: string;
  /** An execution that waits for its scheduled time, hours away. */
  waitingId: string;
  deploymentId: string;
  /** Opens a signed-in page in its own context, with an empty cache. `latencyMs`: simulated round trip of every request. */
  open(o?: { latencyMs?: number }): Promise<WatchedPage>;
  /** Forbidden behaviour of all pages so far. */
  offences(): string[];
  stop(): Promise<void>;
}

const TOPOLOGY = 'bench-topology';
const LARGE = 'bench-large';
/** Number of node types in the topology. */
const KINDS = 250;
const INSTALL_MS = 180_000;

export async function startWorld(plan: Plan): Promise<World> {
  const sizes = plan.isSmall ? small : full;
  const database = await databaseOf(plan, sizes);
  const undo: (() => Promise<unknown>)[] = [database.drop];
  const stop = async (): Promise<void> => {
    for (const one of undo.reverse()) await one().catch(() => undefined);
  };
  try {
    if (!database.isFilled) await seed(database.url, sizes, plan.say);
    const manager = await startManager({ mode: 'standalone', workers: 1, databaseUrl: database.url });
    undo.push(manager.stop);
    const executionId = (await known(manager, LARGE)) ?? (await fill(manager, sizes));
    const waitingId = (await known(manager, TOPOLOGY)) ?? (await waiting(manager));
    await moreEvents(manager.pool, executionId, sizes.events);
    const edge = await startEdge(manager.fleet.baseUrl);
    undo.push(edge.close);
    const browser = await launch();
    undo.push(() => browser.close());
    const opened: WatchedPage[] = [];
    const first = await openPage(browser, edge.origin);
    await first.page.goto(`${edge.origin}${TENANT}/deployments`);
    await signIn(first.page, 'admin', manager.fleet.adminPassword);
    await first.page.locator('[role=row] a').first().waitFor();
    const cookies = await first.page.context().cookies();
    await first.page.context().close();
    return {
      manager,
      edge,
      sizes,
      executionId,
      waitingId,
      deploymentId: TOPOLOGY,
      async open({ latencyMs = 0 } = {}) {
        const watched = await openPage(browser, edge.origin);
        opened.push(watched);
        await watched.page.context().addCookies(cookies);
        await watched.page.addInitScript(PROBES);
        if (latencyMs > 0) await slowDown(watched.page, latencyMs);
        return watched;
      },
      offences: () => opened.flatMap(({ offences }) => offences),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns a new database, or the one that the plan names, which is kept: it is filled the first time. */
async function databaseOf(
  plan: Plan,
  sizes: Sizes,
): Promise<{ url: string; isFilled: boolean; drop(): Promise<void> }> {
  plan.say(`  ${sizes.deployments} deployments, ${sizes.nodes} nodes, ${sizes.events} events`);
  if (plan.database === undefined) return { ...(await createDatabase()), isFilled: false };
  const isFilled = !(await createNamed(plan.database));
  return { url: withDatabase(serverUrl(), plan.database), isFilled, drop: async () => undefined };
}

/** Returns the execution of the deployment, if an earlier run created it. */
async function known(manager: Manager, deploymentId: string): Promise<string | null> {
  const { rows } = await manager.pool.query(
    `select id from executions.executions where deployment_id = $1 and workflow_id = 'install' order by created_at desc limit 1`,
    [deploymentId],
  );
  return rows[0]?.id ?? null;
}

async function slowDown(page: Page, latency: number): Promise<void> {
  const debug = await page.context().newCDPSession(page);
  await debug.send('Network.enable');
  const unlimited = { downloadThroughput: -1, uploadThroughput: -1 };
  await debug.send('Network.emulateNetworkConditions', { offline: false, latency, ...unlimited });
}

/** Creates the deployments to look at; returns the execution with many tasks. */
async function fill(manager: Manager, sizes: Sizes): Promise<string> {
  const shapes: [string, Shape][] = [
    [TOPOLOGY, ofKinds(sizes.nodes, KINDS)],
    [LARGE, independent(sizes.installed)],
  ];
  for (const [id, shape] of shapes) {
    await putBlueprint(manager, shape);
    await putDeployment(manager, id, shape.name);
  }
  const id = await start(manager, LARGE);
  await allEnded(manager, [id], INSTALL_MS);
  return id;
}

async function waiting(manager: Manager): Promise<string> {
  const { rows } = await manager.pool.query(
    `select to_char((now() + interval '6 hours') at time zone 'UTC', 'YYYYMMDDHH24MI+0000') as at`,
  );
  const body = { deployment_id: TOPOLOGY, workflow_id: 'install', scheduled_time: rows[0].at };
  return (await call(manager.client, 'startExecution', {}, body)).id;
}
