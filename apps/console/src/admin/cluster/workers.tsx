/**
 * Processes that run operations: the number of operations of each, and their isolation. An untrusted worker can be revoked here.
 */
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { useApi, useTenant } from '../../api/api-context';
import { type Worker, workersQuery } from '../../api/manager';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Panel } from '../../ui/panel';
import cells from '../../ui/row-cells.module.css';
import { SimpleTable } from '../../ui/simple-table';
import { Loaded } from '../../ui/states';
import { Time } from '../../ui/time';

const ConfirmDialog = lazy(async () => ({
  default: (await import('../../ui/confirm-dialog')).ConfirmDialog,
}));

const nameOf = ({ id, hostname }: Worker): string => (hostname ? `${hostname} (${id})` : id);
const stateOf = ({ revoked_at, is_alive }: Worker): string =>
  revoked_at ? 'revoked' : is_alive ? 'well' : 'gone';

export function Workers() {
  const { client } = useApi();
  const query = useQuery(workersQuery(client, useTenant()));
  const [revoked, setRevoked] = useState<Worker | null>(null);
  return (
    <Panel title={t.cluster.workers}>
      <Loaded query={query}>{(workers) => <Table workers={workers} onRevoke={setRevoked} />}</Loaded>
      {revoked && (
        <Suspense fallback={null}>
          <Revoke worker={revoked} onClose={() => setRevoked(null)} />
        </Suspense>
      )}
    </Panel>
  );
}

function Table({ workers, onRevoke }: { workers: Worker[]; onRevoke: (worker: Worker) => void }) {
  const names = t.cluster;
  if (workers.length === 0) return <p className={cells.quiet}>{names.noWorkers}</p>;
  return (
    <SimpleTable<Worker>
      label={names.workers}
      rows={workers}
      keyOf={({ id }) => id}
      columns={[
        { name: names.worker, cell: nameOf },
        { name: names.state, cell: (worker) => <Badge status={stateOf(worker)} /> },
        { name: names.held, isNumber: true, cell: ({ held }) => t.number(held) },
        {
          name: names.places,
          isNumber: true,
          cell: ({ places }) => (places === null ? t.none : t.number(places)),
        },
        { name: names.isolation, cell: ({ isolation }) => isolation ?? t.none },
        { name: names.version, cell: ({ version }) => version ?? t.none },
        { name: names.joined, cell: (worker) => <Time at={worker.registered_at} /> },
        { name: names.lastSeen, cell: (worker) => <Time at={worker.last_seen} /> },
        {
          name: names.actions,
          cell: (worker) =>
            worker.revoked_at ? null : (
              <Button aria-label={names.revokeId(nameOf(worker))} onClick={() => onRevoke(worker)}>
                {names.revoke}
              </Button>
            ),
        },
      ]}
    />
  );
}

function Revoke({ worker, onClose }: { worker: Worker; onClose: () => void }) {
  const revoke = useChange(
    ['cluster'],
    (client, tenant) => client.call('revokeWorker', { tenant, params: { worker_id: worker.id } }),
    onClose,
  );
  return (
    <ConfirmDialog
      title={t.cluster.revokeTitle(nameOf(worker))}
      text={t.cluster.revokeText(worker.held)}
      action={t.cluster.revoke}
      mutation={revoke}
      onClose={onClose}
    />
  );
}
