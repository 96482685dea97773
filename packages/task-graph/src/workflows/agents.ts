import { err, type JsonObject, ok, type Result } from '@baton/kernel';
import { addSubgraph, type Draft, sequence } from '../build/draft';
import { emitLinks } from '../build/emit';
import { filterInstances, namesOf } from '../build/filter';
import { graphSpec } from '../build/lifecycle-graph';
import { containedSubgraph, getsAgent, installMethodOf, isHostNode } from '../build/model-index';
import { instanceOperation } from '../build/read-subject';
import { AGENT, event, type Link, MONITORING, MONITORING_AGENT } from '../build/steps';
import type { NodeInstance } from '../model';
import { type EndStage, failed, flag, graphStage, must, type Program, type Run, SUCCEEDED } from './program';

/** validate_agents and install_new_agents (reference workflows.md 1.14). */

export function* validateAgents(run: Run): Program {
  const name = 'validate';
  const failure = yield* must(
    graphStage(name, () => {
      const hosts = selectHosts(run);
      if (!hosts.ok) return hosts.error;
      return {
        spec: graphSpec(run.context, name, (draft) => void addValidation(draft, run, hosts.value, true)),
      };
    }),
  );
  return failure ?? SUCCEEDED;
}

export function* installNewAgents(run: Run): Program {
  const name = 'install_agents';
  const failure = yield* must(
    graphStage(name, () => {
      const hosts = selectHosts(run);
      if (!hosts.ok) return hosts.error;
      const spec = graphSpec(run.context, name, (draft) => {
        const line = sequence(draft);
        if (flag(run, 'validate', true)) line.add([addValidation(draft, run, hosts.value, false)]);
        if (flag(run, 'install', true)) line.add([addInstallation(draft, run, hosts.value)]);
      });
      return { spec };
    }),
  );
  return failure ?? SUCCEEDED;
}

const DEFAULT_METHODS = ['init_script', 'plugin', 'remote'];

/** Returns the requested hosts: named ones must all be hosts with an agent, and every one must be started. */
function selectHosts(run: Run): Result<NodeInstance[], EndStage> {
  const { node_ids, node_instance_ids } = run.parameters;
  const isNamed = namesOf(node_ids).size + namesOf(node_instance_ids).size > 0;
  const nodeOf = (i: NodeInstance) => run.ix.nodes.get(i.node_id);
  const selected = filterInstances(run.ix, {
    node_ids: node_ids ?? [],
    node_instance_ids: node_instance_ids ?? [],
  });
  const asked = namesOf(run.parameters.install_methods);
  const methods = asked.size > 0 ? asked : new Set(DEFAULT_METHODS);
  const isHost = (i: NodeInstance) => isHostNode(nodeOf(i)) && getsAgent(installMethodOf(nodeOf(i)));
  const wrong = isNamed ? selected.filter((i) => !isHost(i)) : [];
  if (wrong.length > 0) {
    const lines = wrong.map((i) => `${i.id} is not a host with an agent`);
    return err(failed('ValueError', `Specified filters are not correct:\n${lines.join('\n')}`));
  }
  const hosts = selected.filter((i) => isHost(i) && (isNamed || methods.has(installMethodOf(nodeOf(i)))));
  const idle = hosts.find((i) => i.state !== 'started');
  if (idle) return err(failed('RuntimeError', `Node ${idle.id} is not started (state: ${idle.state})`));
  return ok(hosts);
}

const NO_RETRY = { totalRetries: 0, onFailure: null };
const WHOLE = { nodeInstanceId: null, nodeId: null };

function addValidation(draft: Draft, run: Run, hosts: NodeInstance[], isCurrent: boolean): number {
  const subgraph = addSubgraph(draft, null, 'validate', WHOLE, NO_RETRY);
  for (const host of hosts) {
    const links = [
      [event('Validating agent connection.')],
      ...validation(run, host, isCurrent),
      [event('Validation done')],
    ];
    emitLinks(draft, subgraph, { instanceId: host.id, nodeId: host.node_id }, links, { onFailure: null });
  }
  return subgraph;
}

function addInstallation(draft: Draft, run: Run, hosts: NodeInstance[]): number {
  const subgraph = addSubgraph(draft, null, 'install', WHOLE, NO_RETRY);
  const { install_agent_timeout, manager_ip, manager_certificate, stop_old_agent } = run.parameters;
  const given = { install_agent_timeout, manager_ip, manager_certificate, stop_old_agent };
  const kwargs = Object.fromEntries(Object.entries(given).filter(([, v]) => v !== undefined)) as JsonObject;
  for (const host of hosts) {
    const contained = containedSubgraph(run.ix, host).filter((i) => i !== host);
    const links: Link[] = [
      [event('Installing new agent')],
      ...link(run, host, `${AGENT}.create_amqp`, kwargs),
      [event('New agent installed.')],
      ...validation(run, host, true),
      ...link(run, host, `${MONITORING_AGENT}.install`),
      ...link(run, host, `${MONITORING_AGENT}.start`),
      ...contained.flatMap((i) => link(run, i, `${MONITORING}.start`)),
    ];
    emitLinks(draft, subgraph, { instanceId: host.id, nodeId: host.node_id }, links, { onFailure: null });
  }
  return subgraph;
}

function validation(run: Run, host: NodeInstance, isCurrent: boolean): Link[] {
  const managerIp = run.parameters.manager_ip;
  const kwargs: JsonObject = {
    current_amqp: isCurrent,
    manager_ip: managerIp ?? '',
    manager_certificate: null,
  };
  return link(run, host, `${AGENT}.validate_amqp`, kwargs);
}

function link(run: Run, instance: NodeInstance, operation: string, kwargs: JsonObject = {}): Link[] {
  const template = instanceOperation(run.ix, run.input.config, instance, operation, kwargs);
  return template ? [[{ item: 'operation', template }]] : [];
}
