/** What the user may do with one agent. */
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useMay, useTenant } from '../../api/api-context';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { Button } from '../../ui/button';
import { AGENTS, type AgentRow, type AgentWorkflow, deleteAgent, revokeAgent } from './agents';

const UpgradeDialog = lazy(() => import('./upgrade-dialog'));
const WorkflowDialog = lazy(() => import('./workflow-dialog'));
const ScriptDialog = lazy(() => import('./script-dialog'));
const ConfirmDialog = lazy(async () => ({
  default: (await import('../../ui/confirm-dialog')).ConfirmDialog,
}));

type Open = AgentWorkflow | 'script' | 'upgrade' | 'revoke' | 'delete';

const ACTIONS: readonly { open: Open; permission: string; text: string }[] = [
  { open: 'validate_agents', permission: 'execution_start', text: t.agents.validate },
  { open: 'install_new_agents', permission: 'execution_start', text: t.agents.installOne },
  { open: 'script', permission: 'agent_create', text: t.agents.script },
  { open: 'upgrade', permission: 'agent_replace_certs', text: t.agents.upgradeAction },
  { open: 'revoke', permission: 'agent_replace_certs', text: t.agents.revoke },
  { open: 'delete', permission: 'agent_create', text: t.agents.delete },
];

export function AgentActions({ agent }: { agent: AgentRow }) {
  const may = useMay();
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  // Without a certificate there is nothing to revoke.
  const isRevocable = agent.certificate !== null && agent.certificate.revoked_at === null;
  const offered = ACTIONS.filter((one) => may(one.permission) && (one.open !== 'revoke' || isRevocable));
  return (
    <>
      {offered.map((one) => (
        <Button key={one.open} onClick={() => setOpen(one.open)}>
          {one.text}
        </Button>
      ))}
      <Suspense fallback={null}>{open && <OpenDialog open={open} agent={agent} onClose={close} />}</Suspense>
    </>
  );
}

function OpenDialog({ open, agent, onClose }: { open: Open; agent: AgentRow; onClose: () => void }) {
  const { name } = agent;
  if (open === 'upgrade') return <UpgradeDialog names={[name]} onClose={onClose} onDone={onClose} />;
  if (open === 'script') return <ScriptDialog name={name} onClose={onClose} />;
  if (open === 'revoke') return <Revoke name={name} onClose={onClose} />;
  if (open === 'delete') return <Delete name={name} onClose={onClose} />;
  return <WorkflowDialog workflow={open} rows={[agent]} onClose={onClose} onDone={onClose} />;
}

function Revoke({ name, onClose }: { name: string; onClose: () => void }) {
  const tenant = useTenant();
  const revoke = useChange([AGENTS], (client) => revokeAgent(client, tenant, name), onClose);
  return (
    <ConfirmDialog
      title={t.agents.revokeTitle(name)}
      text={t.agents.revokeText}
      action={t.agents.revoke}
      mutation={revoke}
      typed={name}
      onClose={onClose}
    />
  );
}

function Delete({ name, onClose }: { name: string; onClose: () => void }) {
  const tenant = useTenant();
  const navigate = useNavigate();
  const remove = useChange(
    [AGENTS],
    (client) => deleteAgent(client, tenant, name),
    () => navigate({ to: '/$tenant/admin/agents', params: { tenant } }),
  );
  return (
    <ConfirmDialog
      title={t.agents.deleteTitle(name)}
      text={t.agents.deleteText}
      action={t.agents.delete}
      mutation={remove}
      typed={name}
      onClose={onClose}
    />
  );
}
