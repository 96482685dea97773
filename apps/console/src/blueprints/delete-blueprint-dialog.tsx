/** Deletes a blueprint after showing its users. Deployments prevent the deletion; importing blueprints only cause a warning. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi, useTenant } from '../api/api-context';
import {
  type BlueprintDetail,
  blueprintKeys,
  deploymentsOfQuery,
  importersQuery,
  isUploading,
} from '../api/blueprints';
import { problemOf } from '../api/problem';
import { useChange } from '../api/use-change';
import { t } from '../text/text';
import { ConfirmDialog } from '../ui/confirm-dialog';
import { Check } from '../ui/field';
import { Loading } from '../ui/states';

const SHOWN = 8;

export default function DeleteBlueprintDialog({
  blueprint: { id, state },
  onClose,
}: {
  blueprint: Pick<BlueprintDetail, 'id' | 'state'>;
  onClose: () => void;
}) {
  const { client } = useApi();
  const tenant = useTenant();
  const navigate = useNavigate();
  const cache = useQueryClient();
  const deployments = useQuery(deploymentsOfQuery(client, tenant, id));
  const importers = useQuery(importersQuery(client, tenant, id));
  const [isForced, setForced] = useState(false);
  const remove = useChange(
    ['blueprints'],
    (api, ofTenant) =>
      api.call('deleteBlueprint', {
        tenant: ofTenant,
        params: { blueprint_id: id },
        query: isForced ? { force: true } : {},
      }),
    async () => {
      await navigate({ to: '/$tenant/blueprints', params: { tenant } });
      cache.removeQueries({ queryKey: blueprintKeys.one(tenant, id) });
    },
  );
  const isPending = deployments.isPending || importers.isPending;
  const made = deployments.data?.total ?? 0;
  const users = importers.data?.items ?? [];
  const isKnown = !isPending && [deployments.error, importers.error].every(isReadable);
  const mustForce = users.length > 0 || isUploading(state);
  return (
    <ConfirmDialog
      title={t.deleteBlueprint.title(id)}
      action={t.deleteBlueprint.action}
      mutation={remove}
      onClose={onClose}
      typed={id}
      isBlocked={isPending || made > 0 || (mustForce && !isForced)}
    >
      {isPending && <Loading />}
      {!isPending && !isKnown && <p>{t.deleteBlueprint.unknown}</p>}
      {made > 0 && <p>{t.deleteBlueprint.deployments(made)}</p>}
      {users.length > 0 && <p>{t.deleteBlueprint.importers(importers.data?.total ?? users.length)}</p>}
      {users.length > 0 && (
        <ul>
          {users.slice(0, SHOWN).map((one) => (
            <li key={one.id}>
              <strong>{one.id}</strong>
            </li>
          ))}
          {users.length > SHOWN && <li>{t.deleteBlueprint.more(users.length - SHOWN)}</li>}
        </ul>
      )}
      {isKnown && made === 0 && users.length === 0 && <p>{t.deleteBlueprint.nothing}</p>}
      {made === 0 && mustForce && (
        <Check
          label={users.length > 0 ? t.deleteBlueprint.force : t.deleteBlueprint.forceUpload}
          isChecked={isForced}
          onChange={setForced}
        />
      )}
    </ConfirmDialog>
  );
}

/** Whether the uses could be read. If the user may not see them, the manager decides and refuses. */
const isReadable = (error: unknown): boolean => !error || problemOf(error).kind === 'missing';
