import { t } from '../../text/text';
import { aboutOf, certificateState, wordOf } from './agent-state';
import type { AgentRow } from './agents';

/** Returns what somebody should know of an agent, the gravest first. */
export function warningsOf(agent: AgentRow, nowMs: number): string[] {
  const texts = t.agents.warnings;
  const word = wordOf(agent);
  const certificate = certificateState(agent.certificate, nowMs);
  const { upgrade, droppedLines } = aboutOf(agent.about);
  const found: string[] = [];
  if (word === 'revoked' || word === 'nonresponsive' || word === 'failed' || word === 'restored')
    found.push(texts[word]);
  if (certificate === 'soon' || certificate === 'expired') found.push(texts[certificate]);
  if (upgrade?.state === 'undone')
    found.push([texts.undone(upgrade.version), upgrade.reason].filter(Boolean).join(' '));
  if (droppedLines !== null && droppedLines > 0) found.push(texts.dropped(droppedLines));
  return found;
}
