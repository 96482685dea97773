/** Cells that the list of agents, one agent, and the screens of deployments share. */
import { systemClock } from '@baton/kernel';
import { durationText } from '../../text/format';
import { t } from '../../text/text';
import { ToneBadge } from '../../ui/badge';
import cells from '../../ui/row-cells.module.css';
import { aboutOf, certificateState, toneOfWord, wordOf } from './agent-state';
import type { AgentRow, DeploymentAgent } from './agents';

export function AgentBadge({
  agent,
  isBare = false,
}: {
  agent: Pick<DeploymentAgent, 'state' | 'is_connected' | 'certificate'>;
  isBare?: boolean;
}) {
  const word = wordOf(agent);
  return <ToneBadge tone={toneOfWord(word)} text={t.agents.words[word]} isBare={isBare} />;
}

/** Rest of the validity in words. `isQuiet`: only where somebody has to do something. */
export function CertificateCell({
  certificate,
  isQuiet = false,
}: Pick<AgentRow, 'certificate'> & { isQuiet?: boolean }) {
  const nowMs = systemClock.now();
  const state = certificateState(certificate, nowMs);
  const names = t.agents.certificate;
  if (isQuiet && state !== 'soon' && state !== 'expired') return null;
  if (state === 'none' || state === 'revoked') return <span className={cells.quiet}>{names[state]}</span>;
  if (state === 'expired') return <span className={cells.bad}>{names.expired}</span>;
  const left = durationText(Date.parse(certificate!.expires_at) - nowMs);
  return state === 'soon' ? <span className={cells.bad}>{names.soon(left)}</span> : <span>{left}</span>;
}

/** The version, the one that it changes to, and whether the last change was undone. */
export function VersionCell({ row }: { row: AgentRow }) {
  const { upgrade } = aboutOf(row.about);
  const { version, wanted_version: wanted } = row;
  return (
    <span className={cells.main}>
      <span className={cells.cut}>
        {wanted && wanted !== version ? t.agents.toVersion(version ?? t.none, wanted) : (version ?? t.none)}
      </span>
      {upgrade?.state === 'undone' && (
        <span className={`${cells.sub} ${cells.bad}`} title={upgrade.reason ?? undefined}>
          {t.agents.undone}
        </span>
      )}
    </span>
  );
}

/** Operations that run now, of how many at once; log lines that the manager does not have yet. */
export function WorkCell({ row }: { row: AgentRow }) {
  const { slots, running, waitingLines, droppedLines } = aboutOf(row.about);
  const lines = t.agents.lines(waitingLines ?? 0, droppedLines ?? 0);
  return (
    <span className={cells.main}>
      <span>{slots === null ? t.none : t.agents.running(running ?? 0, slots)}</span>
      {lines && (
        <span className={(droppedLines ?? 0) > 0 ? `${cells.sub} ${cells.bad}` : cells.sub}>{lines}</span>
      )}
    </span>
  );
}
