import type { RelationshipType } from '@baton/plugin-sdk';

const COPIED = ['executable_path', 'installation_source', 'installation_digest'] as const;

/** The source uses the program of its target. */
export const runOnHost: RelationshipType = {
  aliases: ['cloudify.relationships.helm.run_on_host'],
  source: {
    async preconfigure({ ctx }) {
      const [source, target] = [await ctx.source(), await ctx.target()];
      const { runtimeProperties: from } = target.instance;
      const taken = COPIED.filter((name) => from[name] !== undefined).map(
        (name) => [name, from[name]!] as const,
      );
      Object.assign(source.instance.runtimeProperties, Object.fromEntries(taken));
    },
  },
  mappings: { source: { preconfigure: 'helm.cloudify_helm.tasks.inject_env_properties' } },
  resumable: ['source.preconfigure'],
};
