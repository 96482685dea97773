import { definePlugin, type Plugin, type PluginOperation, resumable } from '@baton/plugin-sdk';

/** What the program of an agent does when operations ask for it. Each is done after the outcome of the operation was taken. */
export interface AgentProgram {
  /** Ends, and does not come back: writes the file LEAVE_FILE into its folder first. */
  leave(): void;
  /** Ends and starts again. */
  restart(): void;
}

/**
 * File in the folder of an agent that is to go. With it the unit starts the agent no more, and systemd runs the uninstall script
 * (unit of the install script); without systemd the next call of cron does.
 */
export const LEAVE_FILE = 'leave';

/**
 * The operations behind `agent` that the engine sends to the agent itself (reference/workflows.md 7.1): `stop_amqp` of the
 * methods init_script, plugin and provided, `restart_amqp`, and those of plugins, which are installed when they are needed.
 */
export function inAgentPlugin({ leave, restart }: AgentProgram): Plugin {
  const nothing: PluginOperation = resumable(async () => null);
  const then = (act: () => void): PluginOperation =>
    resumable(async () => {
      act();
      return null;
    });
  return definePlugin({
    name: 'agent',
    operations: {
      'cloudify_agent.operations.stop': then(leave),
      'cloudify_agent.operations.restart': then(restart),
      'cloudify_agent.operations.install_plugins': nothing,
      'cloudify_agent.operations.uninstall_plugins': nothing,
    },
  });
}
