/**
 * The Redis users: each service that uses Redis has only its own keys and commands. They are written into docker-compose.yml and
 * k8s/overlays/dev. A separate server gets the same users (`ACL SETUSER <name> on ><password> <rules>`) and `ACL SETUSER default
 * off`. Keys begin with BATON_NAMESPACE, default `baton`.
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
