/**
 * Who may do what in Redis: the services that use it, each its own keys and commands and nothing else. Written into
 * docker-compose.yml and k8s/overlays/dev; a server of one's own gets the same users (`ACL SETUSER <name> on ><password>
 * <rules>`) and `ACL SETUSER default off`. Keys begin with BATON_NAMESPACE, default `baton`.
 */
export const redisUsers = {
  gateway: {
    name: 'baton-gateway',
    keys: ['rate:*'],
    commands: ['ping', 'info', 'multi', 'exec', 'set', 'incr'],
  },
  catalog: { name: 'baton-catalog', keys: ['import:*'], commands: ['ping', 'info', 'get', 'set'] },
} as const;

export function redisRules(service: keyof typeof redisUsers, namespace = 'baton'): string {
  const { keys, commands } = redisUsers[service];
  const patterns = keys.map((key) => `~${namespace}:${key}`).join(' ');
  return `resetkeys ${patterns} resetchannels -@all ${commands.map((name) => `+${name}`).join(' ')}`;
}
