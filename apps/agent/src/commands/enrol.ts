import { readFileSync } from 'node:fs';
import { systemClock } from '@baton/kernel';
import { environment, readConfig } from '../config';
import { enrol } from '../enrolment/certificates';
import { AgentFailure, exitCodes } from '../exit-codes';
import type { Places } from '../places';
import { aboutOf } from '../run/about';

const MOST_TOKEN = 4_096;

/** @throws AgentFailure */
export async function enrolAgent(places: Places, tokenFile: string | undefined): Promise<number> {
  const config = readConfig(places.config);
  const token = readToken(tokenFile);
  const about = aboutOf({
    processManagement: config.processManagement,
    startedAtMs: systemClock.now(),
    slots: 0,
    running: 0,
    waitingLines: 0,
    droppedLines: 0,
    authorities: config.authorities,
    certificate: null,
    upgrade: null,
  });
  const { id, until } = await enrol(places, config, token, about);
  process.stdout.write(`enrolled as agent ${id}; the certificate is good until ${until}\n`);
  return exitCodes.ok;
}

/** A token is never an argument: everybody on the host can read those. */
function readToken(file: string | undefined): string {
  const from = file ?? (environment.BATON_AGENT_TOKEN ? null : 0);
  let text: string;
  try {
    text = from === null ? environment.BATON_AGENT_TOKEN! : readFileSync(from, 'utf8');
  } catch (cause) {
    throw new AgentFailure(
      exitCodes.usage,
      `the token cannot be read from ${file ?? 'the standard input'}: ${(cause as Error).message}`,
      { cause },
    );
  }
  const token = text.trim();
  if (token === '' || token.length > MOST_TOKEN || /\s/.test(token))
    throw new AgentFailure(
      exitCodes.usage,
      `${file ?? 'the input'} holds no token: expected one word of at most ${MOST_TOKEN} characters`,
    );
  return token;
}
