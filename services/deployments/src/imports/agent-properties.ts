import { isJsonObject, type JsonObject } from '@baton/kernel';

/** Runtime property in which the original keeps what it needs to talk to an agent. */
const AGENT = 'cloudify_agent';
/** Members that are credentials, or parts of the link to the old manager's broker. */
const STRIPPED =
  /^broker_|^(?:old_)?agent_key$|passw|secret|token|private_key|^key$|credential|ssl_cert|rest_.*cert/i;

/**
 * Returns runtime properties whose records of agents have no credentials, and the names of what was left out; null: there was
 * nothing to leave out, and the properties stay as they came.
 */
export function withoutCredentials(
  properties: JsonObject,
): { properties: JsonObject; stripped: string[] } | null {
  const agent = properties[AGENT];
  if (!isJsonObject(agent)) return null;
  const stripped: string[] = [];
  const kept = withoutMembers(agent, AGENT, stripped);
  return stripped.length === 0 ? null : { properties: { ...properties, [AGENT]: kept }, stripped };
}

function withoutMembers(value: JsonObject, path: string, stripped: string[]): JsonObject {
  const kept: [string, JsonObject[string]][] = [];
  for (const [name, member] of Object.entries(value)) {
    const here = `${path}.${name}`;
    if (STRIPPED.test(name)) stripped.push(here);
    else kept.push([name, isJsonObject(member) ? withoutMembers(member, here, stripped) : member!]);
  }
  return Object.fromEntries(kept);
}
