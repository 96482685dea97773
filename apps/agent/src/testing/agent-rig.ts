import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LinkTimes } from '@baton/agent-link';
import { type GatewayDouble, startGatewayDouble } from '@baton/agent-link/testing';
import { systemClock } from '@baton/kernel';
import { defaultAssetsDir } from '@baton/plugin-runtime';
import { type AgentConfig, agentConfig } from '../config';
import { type Places, placesOf } from '../places';
import { type RunningAgent, startAgent } from '../run/agent';
import { createAgentLog } from '../run/agent-log';
import { createEngineDouble, type EngineDouble } from './engine-double';

/** An enrolled agent in a folder of its own, and a gateway and an engine for it. */
export interface AgentRig {
  engine: EngineDouble;
  gateway: GatewayDouble;
  places: Places;
  config: AgentConfig;
  start(times?: Partial<LinkTimes>): Promise<RunningAgent>;
  /** Starts the gateway again, at the same port. */
  startGateway(): Promise<void>;
  close(): Promise<void>;
}

export async function createAgentRig(dir?: string): Promise<AgentRig> {
  const engine = createEngineDouble();
  const folder = dir ?? mkdtempSync(join(tmpdir(), 'baton-agent-'));
  const places = placesOf(folder);
  const gateway = await startGatewayDouble(engine.handlers);
  const { cert, key } = await gateway.certificateFor();
  mkdirSync(places.tls, { recursive: true });
  writeFileSync(places.key, key, { mode: 0o600 });
  writeFileSync(places.certificate, cert);
  writeFileSync(places.authorities, gateway.authority.cert);
  const given = {
    name: 'vm_1',
    tenant: 'default_tenant',
    nodeInstanceId: 'vm_1',
    addresses: [gateway.address],
    authorities: gateway.authority.cert,
    noProxy: '*',
  };
  writeFileSync(places.config, JSON.stringify(given));
  const config = agentConfig.parse(given);
  const agents: RunningAgent[] = [];
  const rig: AgentRig = {
    engine,
    gateway,
    places,
    config,
    start: async (times) => {
      const log = createAgentLog(places.log, systemClock, { level: 'debug', maxBytes: 1e6, maxHistory: 1 });
      const agent = await startAgent({
        config,
        places,
        assetsDir: defaultAssetsDir,
        clock: systemClock,
        log,
        times: { firstRetryMs: 50, mostRetryMs: 200, ...times },
      });
      agents.push(agent);
      return agent;
    },
    startGateway: async () => {
      const { port, authority } = rig.gateway;
      rig.gateway = await startGatewayDouble({ ...engine.handlers, port, authority });
    },
    close: async () => {
      for (const agent of agents) await agent.stop(0);
      await rig.gateway.close();
      if (dir === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
  return rig;
}
