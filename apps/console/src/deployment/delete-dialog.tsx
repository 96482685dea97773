/** Deletes a deployment after showing the effects. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Impact } from '../api/answers';
import { useApi, useTenant } from '../api/api-context';
import { type DeploymentRow, deploymentKeys, impactQuery } from '../api/deployments';
import type { Page } from '../api/pages';
import { t } from '../text/text';
import { ConfirmDialog } from '../ui/confirm-dialog';
import { Loading } from '../ui/states';
import styles from './delete-dialog.module.css';

const MOST_BLOCKERS = 8;

export default function DeleteDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const { client } = useApi();
  const tenant = useTenant();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const impact = useQuery(impactQuery(client, tenant, id));
  const remove = useMutation({
    mutationFn: () => client.call('deleteDeployment', { tenant, params: { id } }),
    onSuccess: async () => {
      // Removes the deployment from the cached lists before they are read again.
      cache.setQueriesData<Page<DeploymentRow>>(
        { queryKey: deploymentKeys.pages(tenant) },
        (page) => page && { ...page, items: page.items.filter((row) => row.id !== id) },
      );
      await navigate({ to: '/$tenant/deployments', params: { tenant } });
      cache.removeQueries({ queryKey: deploymentKeys.one(tenant, id) });
      await cache.invalidateQueries({ queryKey: deploymentKeys.lists(tenant) });
    },
  });
  return (
    <ConfirmDialog
      title={t.delete.title(id)}
      action={t.delete.submit}
      mutation={remove}
      onClose={onClose}
      typed={id}
      typedLabel={t.delete.confirm}
      isBlocked={impact.isPending || impact.data?.can_delete === false}
    >
      {impact.isPending && <Loading />}
      {impact.error && <p>{t.delete.unknown}</p>}
      {impact.data && <ImpactView impact={impact.data} />}
    </ConfirmDialog>
  );
}

function ImpactView({ impact }: { impact: Impact }) {
  const lines = [
    impact.dependents.length > 0 && t.delete.dependents(impact.dependents.length),
    impact.running_executions.length > 0 && t.delete.running(impact.running_executions.length),
    impact.live_instances > 0 && t.delete.live(impact.live_instances),
    impact.schedules > 0 && t.delete.schedules(impact.schedules),
    impact.groups.length > 0 && t.delete.groups(impact.groups.length),
  ].filter((line) => line !== false);
  return (
    <>
      {impact.blockers.length > 0 && (
        <section className={styles.blockers}>
          <h3>{t.delete.blockers}</h3>
          <ul>
            {impact.blockers.slice(0, MOST_BLOCKERS).map(({ kind, id, reason }) => (
              <li key={`${kind} ${id}`}>
                <strong>{id}</strong>: {reason}
              </li>
            ))}
            {impact.blockers.length > MOST_BLOCKERS && (
              <li>{t.bulk.andMore(impact.blockers.length - MOST_BLOCKERS)}</li>
            )}
          </ul>
        </section>
      )}
      <section>
        <h3>{t.delete.impact}</h3>
        {lines.length === 0 ? (
          <p>{t.delete.nothing}</p>
        ) : (
          <ul className={styles.lines}>
            {lines.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        )}
      </section>
    </>
  );
}
