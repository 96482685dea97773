/** One agent: its connection, its host, its certificate, its last upgrade, and what somebody should know of it. */
import { systemClock } from '@baton/kernel';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useApi, useTenant } from '../../api/api-context';
import { t } from '../../text/text';
import { Facts } from '../../ui/facts';
import { Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { Permitted } from '../../ui/permitted';
import cells from '../../ui/row-cells.module.css';
import { Screen } from '../../ui/screen';
import { Loaded } from '../../ui/states';
import { Time } from '../../ui/time';
import { AgentActions } from './agent-actions';
import { AgentBadge, CertificateCell } from './agent-cells';
import { type About, aboutOf } from './agent-state';
import { warningsOf } from './agent-warnings';
import { type AgentRecord, type AgentRow, agentQuery, agentRecordQuery } from './agents';

export function AgentScreen() {
  const { id } = useParams({ strict: false }) as { id: string };
  return (
    <Permitted permission="agent_get">
      <Read key={id} name={id} />
    </Permitted>
  );
}

function Read({ name }: { name: string }) {
  const { client } = useApi();
  const query = useQuery(agentQuery(client, useTenant(), name));
  return <Loaded query={query}>{(agent) => <Shown agent={agent} />}</Loaded>;
}

function Shown({ agent }: { agent: AgentRow }) {
  const { client } = useApi();
  const tenant = useTenant();
  // What the record has besides comes when it comes: the connection is what people look for.
  const { data: record } = useQuery(agentRecordQuery(client, tenant, agent.name));
  const about = aboutOf(agent.about);
  const warnings = warningsOf(agent, systemClock.now());
  return (
    <Screen
      name={agent.name}
      title={
        <>
          {agent.name} <AgentBadge agent={agent} />
        </>
      }
      above={
        <Link to="/$tenant/admin/agents" params={{ tenant }}>
          {t.agents.title}
        </Link>
      }
      side={<AgentActions agent={agent} />}
    >
      {warnings.length > 0 && (
        <Notice>
          {warnings.map((text) => (
            <p key={text}>{text}</p>
          ))}
        </Notice>
      )}
      <Panel title={t.agents.connection}>
        <Facts facts={connectionFacts(agent, about)} />
      </Panel>
      <Panel title={t.agents.host}>
        <Facts facts={hostFacts(agent, about, record, tenant)} />
      </Panel>
      <Panel title={t.agents.work}>
        {agent.about ? <Facts facts={workFacts(about)} /> : <p className={cells.quiet}>{t.agents.silent}</p>}
      </Panel>
      <Panel title={t.agents.certificateTitle}>
        <Facts facts={certificateFacts(agent)} />
      </Panel>
    </Screen>
  );
}

type FactList = [name: string, value: ReactNode][];
const at = (instant: string | null | undefined): ReactNode => instant && <Time key={instant} at={instant} />;
const count = (n: number | null): string | null => (n === null ? null : t.number(n));

function connectionFacts(agent: AgentRow, about: About): FactList {
  const { upgrade } = about;
  const method = agent.install_method ?? '';
  const texts = t.agents.upgradeStates as Readonly<Record<string, (version: string) => string>>;
  return [
    [agent.is_connected ? t.agents.since.on : t.agents.since.off, at(agent.since)],
    [t.agents.lastSeen, at(agent.last_seen)],
    [t.agents.version, agent.version],
    [t.agents.wanted, agent.wanted_version === agent.version ? null : agent.wanted_version],
    [t.agents.upgrade, upgrade && (texts[upgrade.state]?.(upgrade.version) ?? upgrade.state)],
    [t.agents.method, t.agents.methods[method] ?? method],
  ];
}

function hostFacts(
  agent: AgentRow,
  about: About,
  record: Pick<AgentRecord, 'ip' | 'system' | 'node' | 'created_at'> | undefined,
  tenant: string,
): FactList {
  const deployment = (
    <Link
      key="deployment"
      to="/$tenant/deployments/$id/$tab"
      params={{ tenant, id: agent.deployment_id, tab: 'nodes' }}
    >
      {agent.deployment_id}
    </Link>
  );
  return [
    [t.agents.deployment, deployment],
    [t.agents.instance, agent.node_instance_id],
    [t.agents.ip, record?.ip],
    [t.agents.hostname, about.hostname],
    [t.agents.system, about.system ?? record?.system],
    [t.agents.platform, about.platform],
    [t.agents.supervisor, about.processManagement],
    [t.agents.created, at(record?.created_at)],
  ];
}

function workFacts({ slots, running, waitingLines, droppedLines, startedAt }: About): FactList {
  return [
    [t.agents.runningNow, slots === null ? count(running) : t.agents.running(running ?? 0, slots)],
    [t.agents.waitingLines, count(waitingLines)],
    [t.agents.droppedLines, count(droppedLines)],
    [t.agents.startedAt, at(startedAt)],
  ];
}

function certificateFacts({ certificate }: AgentRow): FactList {
  if (!certificate) return [[t.agents.certificateTitle, t.agents.certificate.none]];
  const until = (
    <span key="until" className={cells.pair}>
      <Time at={certificate.expires_at} /> <CertificateCell certificate={certificate} />
    </span>
  );
  return [
    [t.agents.expires, until],
    [t.agents.serial, <code key="serial">{certificate.serial}</code>],
    [t.agents.revokedAt, at(certificate.revoked_at)],
  ];
}
