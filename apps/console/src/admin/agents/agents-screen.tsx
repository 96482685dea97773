/** Agents of the tenant: which are connected, which need somebody; several are upgraded or validated at once. */
import { lazy, Suspense, useCallback, useState } from 'react';
import { useMay, useTenant } from '../../api/api-context';
import { t } from '../../text/text';
import { Button } from '../../ui/button';
import { ListScreen } from '../../ui/list-screen';
import { Empty } from '../../ui/states';
import { agentColumns } from './agent-columns';
import { AgentFilters } from './agent-filters';
import { AgentSelection } from './agent-selection';
import { AGENTS_POLL_MS, type AgentRow, type AgentWorkflow, agentList } from './agents';

const UpgradeDialog = lazy(() => import('./upgrade-dialog'));
const WorkflowDialog = lazy(() => import('./workflow-dialog'));

const SORT = ['name'];

/** The rows of a dialog are those that were selected when it was opened; null: all agents of the tenant. */
type Open = { kind: 'upgrade'; rows: AgentRow[] | null } | { kind: AgentWorkflow; rows: AgentRow[] };

export function AgentsScreen() {
  const tenant = useTenant();
  const may = useMay();
  const [selected, setSelected] = useState<ReadonlyMap<string, AgentRow>>(new Map());
  const [open, setOpen] = useState<Open | null>(null);
  const select = useCallback(
    (row: AgentRow, isOn: boolean): void =>
      setSelected((before) => {
        const next = new Map(before);
        if (isOn) next.set(row.name, row);
        else next.delete(row.name);
        return next;
      }),
    [],
  );
  const clear = (): void => setSelected(new Map());
  const mayAct = may('agent_replace_certs') || may('execution_start');
  return (
    <>
      <ListScreen
        name={t.agents.title}
        label={t.agents.title}
        list={agentList}
        columns={agentColumns({ tenant, selected, onSelect: mayAct ? select : null })}
        keyOf={({ name }) => name}
        count={t.agents.count}
        sort={SORT}
        searchLabel={t.agents.search}
        filters={<AgentFilters />}
        side={
          may('agent_replace_certs') && (
            <Button onClick={() => setOpen({ kind: 'upgrade', rows: null })}>{t.agents.upgradeAll}</Button>
          )
        }
        pollMs={AGENTS_POLL_MS}
        isSelected={({ name }) => selected.has(name)}
        selection={
          selected.size > 0 && (
            <AgentSelection
              count={selected.size}
              onOpen={(kind) => setOpen({ kind, rows: [...selected.values()] })}
              onClear={clear}
            />
          )
        }
        empty={<Empty title={t.agents.empty} hint={t.agents.emptyHint} />}
      />
      <Suspense fallback={null}>
        {open && <OpenDialog open={open} onClose={() => setOpen(null)} onDone={clear} />}
      </Suspense>
    </>
  );
}

function OpenDialog({ open, onClose, onDone }: { open: Open; onClose: () => void; onDone: () => void }) {
  if (open.kind === 'upgrade')
    return (
      <UpgradeDialog
        names={open.rows?.map(({ name }) => name) ?? null}
        onClose={onClose}
        onDone={() => {
          onDone();
          onClose();
        }}
      />
    );
  return (
    <WorkflowDialog
      workflow={open.kind}
      rows={open.rows}
      onClose={onClose}
      onDone={() => {
        onDone();
        onClose();
      }}
    />
  );
}
