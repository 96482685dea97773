/** Dialogs for one secret: set a new value, change its visibility, delete it. */
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTenant } from '../../api/api-context';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { ConfirmDialog } from '../../ui/confirm-dialog';
import { Check } from '../../ui/field';
import { FormDialog } from '../../ui/form-dialog';
import { InlineProblem, Loading } from '../../ui/states';
import { type Visibility, VisibilityField } from '../../ui/visibility';
import { UsesList, useUses } from '../uses';
import { readValue, valueFormOf } from './secret-value';
import { changeSecret, deleteSecret, SECRETS, type SecretAction, type SecretDetail } from './secrets';
import { ValueFields } from './value-fields';

interface SecretDialogProps {
  secret: SecretDetail;
  onClose: () => void;
}

export default function SecretDialogs({ action, ...props }: SecretDialogProps & { action: SecretAction }) {
  if (action === 'value') return <NewValue {...props} />;
  if (action === 'edit') return <Edit {...props} />;
  return <Delete {...props} />;
}

function NewValue({ secret, onClose }: SecretDialogProps) {
  const form = valueFormOf(secret.schema);
  const [texts, setTexts] = useState<Record<string, string>>({});
  const [errors, setErrors] = useState<Record<string, string>>({});
  const change = useChange(
    [SECRETS],
    (client, tenant, value: unknown) => changeSecret(client, tenant, secret.key, { value }),
    onClose,
  );
  const submit = (): void => {
    const read = readValue(form, texts);
    setErrors(read.errors);
    if (Object.keys(read.errors).length === 0) change.mutate(read.value);
  };
  return (
    <FormDialog
      title={t.secrets.newValueOf(secret.key)}
      submit={t.resource.save}
      mutation={change}
      onSubmit={submit}
      onClose={onClose}
      errors={errors}
    >
      {(errorOf) => (
        <>
          <p>{t.secrets.newValueHint}</p>
          <ValueFields form={form} texts={texts} onChange={setTexts} errorOf={errorOf} />
        </>
      )}
    </FormDialog>
  );
}

function Edit({ secret, onClose }: SecretDialogProps) {
  const [visibility, setVisibility] = useState<Visibility>(secret.visibility);
  const [isHidden, setHidden] = useState(secret.is_hidden_value);
  const change = useChange(
    [SECRETS],
    (client, tenant) => changeSecret(client, tenant, secret.key, { visibility, is_hidden_value: isHidden }),
    onClose,
  );
  return (
    <FormDialog
      title={t.secrets.editOf(secret.key)}
      submit={t.resource.save}
      mutation={change}
      onSubmit={() => change.mutate()}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <VisibilityField
            value={visibility}
            atLeast={secret.visibility}
            onChange={setVisibility}
            error={errorOf('visibility')}
          />
          <Check label={t.secrets.hide} isChecked={isHidden} onChange={setHidden} />
        </>
      )}
    </FormDialog>
  );
}

function Delete({ secret, onClose }: SecretDialogProps) {
  const tenant = useTenant();
  const navigate = useNavigate();
  const uses = useUses({ kind: 'secrets', key: secret.key });
  const remove = useChange(
    [SECRETS],
    (client) => deleteSecret(client, tenant, secret.key),
    () => navigate({ to: '/$tenant/secrets', params: { tenant } }),
  );
  const isUsed = uses.data !== undefined && uses.data.total > 0;
  return (
    <ConfirmDialog
      title={t.secrets.deleteOf(secret.key)}
      text={t.secrets.deleteText}
      action={t.secrets.deleteSubmit}
      mutation={remove}
      onClose={onClose}
      isBlocked={uses.isPending}
      typed={isUsed ? secret.key : undefined}
    >
      {uses.isPending && <Loading />}
      <InlineProblem error={uses.error} />
      {uses.data && <UsesList uses={uses.data} />}
    </ConfirmDialog>
  );
}
