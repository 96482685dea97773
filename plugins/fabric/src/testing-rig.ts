import type { JsonObject } from '@baton/kernel';
import { makeRig, type Rig } from '@baton/plugin-runtime/testing';
import type { SshHost } from '@baton/testkit';
import plugin from './plugin';

/** A worker in memory that runs operations of the plugin at a real host. */
export interface FabricRig extends Rig {
  /** Runs `fabric_plugin.tasks.<name>`. `env`: more of `fabric_env`. */
  fabric(name: string, inputs: JsonObject, env?: JsonObject, signal?: AbortSignal): ReturnType<Rig['run']>;
  /** Lines of the log, without those of the level debug. */
  lines(): string[];
  runtime(): JsonObject;
}

export function fabricRig({ host, port, user, key }: SshHost): FabricRig {
  const rig = makeRig();
  rig.deps.operations = new Map(Object.entries(plugin.operations));
  return {
    ...rig,
    fabric: (name, inputs, env = {}, signal) =>
      rig.run(
        {
          mapping: `fabric_plugin.tasks.${name}`,
          inputs: { ...inputs, fabric_env: { host, port, user, key, ...env } },
        },
        signal,
      ),
    lines: () => rig.host.lines.filter(({ level }) => level !== 'debug').map(({ message }) => message),
    runtime: () => rig.host.instances.get('web_abc123')!.runtime_properties as JsonObject,
  };
}
