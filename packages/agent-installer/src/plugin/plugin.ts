import { definePlugin, type Plugin, type PluginOperation, resumable } from '@baton/plugin-sdk';
import { create } from './create';
import { configure, remove, restart, stop } from './end';
import { createNew, validate } from './renew';
import { type AgentPluginDeps, agentOperation, type Work } from './scope';
import { start } from './start';

const INSTALLER: Readonly<Record<string, Work>> = {
  create,
  configure,
  start,
  stop,
  restart,
  delete: remove,
};

/** Operations that the original ran in the agent itself. Workers have no agent to stop, and install plugins when they need them. */
const IN_AGENT = ['stop', 'restart', 'install_plugins', 'uninstall_plugins'];
const nothing: PluginOperation = resumable(async (ctx) => {
  ctx.logger.debug(`${ctx.operation.name}: nothing to do on a worker of the manager`);
  return null;
});

/** The operations behind `agent` in the built-in types, for workers of the manager (reference/workflows.md 7). */
export function agentPlugin(deps: AgentPluginDeps): Plugin {
  const operations: Record<string, PluginOperation> = {
    'cloudify_agent.operations.create_agent_amqp': agentOperation(deps, createNew),
    'cloudify_agent.operations.validate_agent_amqp': agentOperation(deps, validate),
  };
  for (const [name, work] of Object.entries(INSTALLER))
    operations[`cloudify_agent.installer.operations.${name}`] = agentOperation(deps, work);
  for (const name of IN_AGENT) operations[`cloudify_agent.operations.${name}`] = nothing;
  return definePlugin({ name: 'agent', operations });
}
