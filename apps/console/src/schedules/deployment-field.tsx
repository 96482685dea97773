import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { useApi, useTenant } from '../api/api-context';
import { deploymentPageQuery } from '../api/deployments';
import { t } from '../text/text';
import { controlClass, Field } from '../ui/field';
import { useRested } from '../ui/use-rested';

/** Input for the id of a deployment. Suggests ids that the manager finds for the typed text. */
export function DeploymentField({
  value,
  onChange,
  error,
}: {
  value: string;
  onChange: (id: string) => void;
  error: string | null;
}) {
  const { client } = useApi();
  const tenant = useTenant();
  const listId = useId();
  const text = useRested(value);
  const found = useQuery({
    ...deploymentPageQuery(client, tenant, { ...(text && { _search: text }), _sort: ['id'] }, 0),
    placeholderData: (before) => before,
  });
  return (
    <Field label={t.schedules.deployment} hint={t.schedules.form.deploymentHint} error={error} isRequired>
      {(ids) => (
        <>
          <input
            {...ids}
            className={controlClass}
            list={listId}
            autoComplete="off"
            spellCheck={false}
            value={value}
            onChange={(event) => onChange(event.currentTarget.value)}
          />
          <datalist id={listId}>
            {(found.data?.items ?? []).map(({ id, display_name }) => (
              <option key={id} value={id}>
                {display_name === id ? undefined : display_name}
              </option>
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
