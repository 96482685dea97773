import { type AgentAbout, agentAbout } from '@baton/contracts';
import { badParameter, storableJson } from '@baton/kernel';

const MAX_LENGTH = 16 * 1024;

/** What an agent said of itself, checked. */
export interface ReadAbout {
  about: AgentAbout;
  /** The same as JSON that the database can store. */
  text: string;
}

/** Reads what an agent says of itself; null when it is too long or has another form: agents are not trusted. */
export function readAbout(json: string): ReadAbout | null {
  if (json === '' || json.length > MAX_LENGTH) return null;
  try {
    const text = storableJson(JSON.stringify(agentAbout.parse(JSON.parse(json))));
    return { about: JSON.parse(text) as AgentAbout, text };
  } catch {
    return null;
  }
}

/** @throws AppError bad_parameters_error */
export function requireAbout(json: string): ReadAbout {
  const read = readAbout(json);
  if (read) return read;
  throw badParameter('about_json', 'What the agent says of itself cannot be read', {
    expected: `AgentAbout as JSON of at most ${MAX_LENGTH} characters`,
  });
}
