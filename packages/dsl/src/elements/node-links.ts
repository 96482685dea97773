import type { ElementContext } from './element-context';
import { containerOf, type ParsedNode } from './node-templates';
import type { PlanPlugin } from './plugins';

const CENTRAL = 'central_deployment_agent';
const HOST_AGENT = 'host_agent';

/** Reports node templates that depend on each other in a circle (E100): relationships must not form a cycle. */
export function checkNodeCycles(context: ElementContext, nodes: ReadonlyMap<string, ParsedNode>): void {
  const done = new Set<string>();
  for (const start of nodes.keys()) {
    if (done.has(start)) continue;
    // depth first with an explicit stack: chains may be as long as the blueprint
    const path: string[] = [start];
    const onPath = new Map<string, number>([[start, 0]]);
    const next: number[] = [0];
    while (path.length > 0) {
      const name = path[path.length - 1]!;
      const targets = nodes.get(name)!.relationships;
      const i = next[next.length - 1]!++;
      if (i >= targets.length) {
        done.add(name);
        onPath.delete(name);
        path.pop();
        next.pop();
        continue;
      }
      const target = targets[i]!.plan.target_id;
      if (target === name || done.has(target) || !nodes.has(target)) continue;
      const at = onPath.get(target);
      if (at !== undefined) {
        reportCycle(context, [...path.slice(at), target], nodes.get(target)!);
        continue;
      }
      onPath.set(target, path.length);
      path.push(target);
      next.push(0);
    }
  }
}

function reportCycle(context: ElementContext, cycle: string[], node: ParsedNode): void {
  context.diagnostics.report(
    'cycle',
    `node_templates: ${cycle.slice(0, 20).join(' -> ')} is a circle of relationships`,
    {
      at: node.entry.key,
      path: `node_templates.${node.entry.name}`,
      cycle: cycle.slice(0, 50),
    },
  );
}

/** Sets host_id: a host's own id; for other nodes the host_id of their container (reference 5.6). */
export function linkHosts(nodes: ReadonlyMap<string, ParsedNode>): void {
  const known = new Map<string, string | null>();
  for (const start of nodes.values()) {
    const chain: ParsedNode[] = [];
    let host: string | null = null;
    let current: ParsedNode | undefined = start;
    const seen = new Set<ParsedNode>();
    while (current && !seen.has(current)) {
      seen.add(current);
      const found = known.get(current.plan.id);
      if (found !== undefined || current.isHost) {
        host = found !== undefined ? found : current.plan.id;
        if (found === undefined) chain.push(current);
        break;
      }
      chain.push(current);
      const container = containerOf(current);
      current = container === undefined ? undefined : nodes.get(container);
    }
    for (const node of chain) {
      known.set(node.plan.id, host);
      if (host !== null) node.plan.host_id = host;
    }
  }
}

function withExecutor(plugin: PlanPlugin, executor: string, copies: Map<string, PlanPlugin>): PlanPlugin {
  const key = `${plugin.name} ${executor}`;
  let copy = copies.get(key);
  if (copy === undefined) {
    copy = plugin.executor === executor ? plugin : { ...plugin, executor };
    copies.set(key, copy);
  }
  return copy;
}

export interface PluginsToInstall {
  deployment: PlanPlugin[];
  hostAgent: PlanPlugin[];
}

function uniqueByName(plugins: Iterable<PlanPlugin>): PlanPlugin[] {
  const byName = new Map<string, PlanPlugin>();
  for (const plugin of plugins) byName.set(plugin.name, plugin);
  return [...byName.values()];
}

/** Sets the plugin lists of the nodes and returns those of the plan (reference 5.6). */
export function linkPlugins(
  context: ElementContext,
  nodes: ReadonlyMap<string, ParsedNode>,
): PluginsToInstall {
  const copies = new Map<string, PlanPlugin>();
  const used = new Map<string, Map<string, PlanPlugin>>();
  const shared = new Map<string, PlanPlugin[]>();
  const add = (node: string, uses: ParsedNode['uses']): void => {
    if (uses.length === 0) return;
    let plugins = used.get(node);
    if (!plugins) used.set(node, (plugins = new Map()));
    for (const { plugin, executor } of uses)
      plugins.set(`${plugin.name} ${executor}`, withExecutor(plugin, executor, copies));
  };
  for (const [name, node] of nodes) {
    add(name, node.uses);
    for (const relationship of node.relationships) {
      add(name, relationship.sourceUses);
      if (nodes.has(relationship.plan.target_id)) add(relationship.plan.target_id, relationship.targetUses);
    }
  }
  const listOf = (plugins: Iterable<PlanPlugin>, keys: string): PlanPlugin[] => {
    let list = shared.get(keys);
    if (!list) shared.set(keys, (list = [...plugins]));
    return list;
  };
  const onHost = new Map<string, PlanPlugin[]>();
  const deployment: PlanPlugin[] = [];
  for (const [name, node] of nodes) {
    const plugins = used.get(name);
    const keys = plugins ? [...plugins.keys()].join('\n') : '';
    node.plan.plugins = plugins ? listOf(plugins.values(), keys) : [];
    if (plugins) placePlugins(context, node, onHost, deployment);
    node.plan.deployment_plugins_to_install = plugins
      ? listOf(uniqueByName(node.plan.plugins.filter((p) => p.executor === CENTRAL)), `central ${keys}`)
      : [];
  }
  for (const node of nodes.values())
    if (node.isHost) node.plan.plugins_to_install = uniqueByName(onHost.get(node.plan.id) ?? []);
  return { deployment: uniqueByName(deployment), hostAgent: uniqueByName([...onHost.values()].flat()) };
}

function placePlugins(
  context: ElementContext,
  node: ParsedNode,
  onHost: Map<string, PlanPlugin[]>,
  deployment: PlanPlugin[],
): void {
  const host = node.plan.host_id;
  for (const plugin of node.plan.plugins) {
    if (plugin.executor === CENTRAL) deployment.push(plugin);
    if (plugin.executor !== HOST_AGENT) continue;
    if (host === undefined) {
      context.diagnostics.report(
        'host_agent_without_host',
        `"${node.plan.id}" uses the plugin "${plugin.name}" with the executor host_agent but is not contained in a host`,
        {
          at: node.entry.key,
          path: `node_templates.${node.plan.id}`,
          value: plugin.name,
          expected:
            'a contained_in relationship to a cloudify.nodes.Compute, or executor: central_deployment_agent',
        },
      );
      continue;
    }
    const list = onHost.get(host);
    if (list) list.push(plugin);
    else onHost.set(host, [plugin]);
  }
}
