import { useMutation, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { useApi, useMay, useTenant } from '../api/api-context';
import { actOnExecution, type ExecutionAction, type ExecutionDetail, executionKeys } from '../api/executions';
import { t } from '../text/text';
import { Button } from '../ui/button';
import { InlineProblem } from '../ui/states';
import { actionsFor, isSharp } from './actions-for';

const ConfirmDialog = lazy(async () => ({ default: (await import('../ui/confirm-dialog')).ConfirmDialog }));

/** Actions for the execution in its current state. Irreversible actions ask for confirmation. */
export function ExecutionActions({ execution, id }: { execution: ExecutionDetail; id: string }) {
  const { client } = useApi();
  const tenant = useTenant();
  const cache = useQueryClient();
  const may = useMay();
  const [asked, setAsked] = useState<'force-cancel' | 'kill' | null>(null);
  const act = useMutation({
    mutationFn: (action: ExecutionAction) => actOnExecution(client, tenant, id, action),
    onSuccess: (detail) => {
      cache.setQueryData<ExecutionDetail>([...executionKeys.one(tenant, id), 'detail'], (before) => ({
        ...before,
        ...detail,
      }));
    },
    onSettled: () => cache.invalidateQueries({ queryKey: executionKeys.one(tenant, id) }),
  });
  if (!may('execution_cancel')) return null;
  return (
    <>
      <InlineProblem error={asked ? null : act.error} />
      {actionsFor(execution.status).map((action, i) => (
        <Button
          key={action}
          look={i === 0 && action !== 'cancel' && !isSharp(action) ? 'main' : 'plain'}
          disabled={act.isPending}
          onClick={() => (isSharp(action) ? setAsked(action) : act.mutate(action))}
        >
          {t.execution.actions[action]}
        </Button>
      ))}
      {asked && (
        <Suspense fallback={null}>
          <ConfirmDialog
            title={t.execution.sureTitle[asked]}
            text={t.execution.sure[asked]}
            action={t.execution.actions[asked]}
            mutation={{ ...act, mutate: () => act.mutate(asked, { onSuccess: () => setAsked(null) }) }}
            onClose={() => setAsked(null)}
          />
        </Suspense>
      )}
    </>
  );
}
