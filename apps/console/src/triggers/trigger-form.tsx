/** Makes a trigger (`trigger` is null) and shows its address and secret once, or changes what one starts. */
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTenant } from '../api/api-context';
import { useChange } from '../api/use-change';
import { t } from '../text/text';
import { Check } from '../ui/field';
import { FormDialog } from '../ui/form-dialog';
import { SelectField, TextField } from '../ui/inputs';
import { OnceDialog } from '../ui/once-dialog';
import { useChecked } from '../ui/use-checked';
import { addressOf } from './trigger-address';
import { bodyOf, entryOf, faultsOf, newEntry, type TriggerEntry } from './trigger-entry';
import { TriggerFields, useWorkflows } from './trigger-fields';
import { changeTrigger, createTrigger, type NewTrigger, TRIGGERS, type TriggerDetail } from './triggers';

interface TriggerFormProps {
  trigger: TriggerDetail | null;
  onClose: () => void;
}

export default function TriggerForm({ trigger, onClose }: TriggerFormProps) {
  return trigger ? <EditForm trigger={trigger} onClose={onClose} /> : <NewForm onClose={onClose} />;
}

function EditForm({ trigger, onClose }: { trigger: TriggerDetail; onClose: () => void }) {
  const [entry, setEntry] = useState<TriggerEntry>(() => entryOf(trigger));
  const workflows = useWorkflows(entry);
  const save = useChange(
    [TRIGGERS],
    (client, tenant) =>
      changeTrigger(client, tenant, trigger.id, bodyOf({ ...entry, workflowId: workflows.chosen })),
    onClose,
  );
  const checked = useChecked(
    () => faultsOf(entry),
    () => save.mutate(),
  );
  return (
    <FormDialog
      title={t.triggers.form.editOf(trigger.id)}
      submit={t.resource.save}
      mutation={save}
      onClose={onClose}
      {...checked}
      isIncomplete={workflows.chosen === ''}
    >
      {(errorOf) => (
        <TriggerFields entry={entry} workflows={workflows} onChange={setEntry} errorOf={errorOf} />
      )}
    </FormDialog>
  );
}

interface Identity {
  id: string;
  scheme: NonNullable<NewTrigger['scheme']>;
  secret: string;
  isEnabled: boolean;
}

const NEW: Identity = { id: '', scheme: 'standard', secret: '', isEnabled: true };
const SCHEMES = ['standard', 'github'] as const;

function NewForm({ onClose }: { onClose: () => void }) {
  const tenant = useTenant();
  const navigate = useNavigate();
  const [identity, setIdentity] = useState(NEW);
  const [entry, setEntry] = useState<TriggerEntry>(newEntry(''));
  const workflows = useWorkflows(entry);
  const create = useChange([TRIGGERS], (client, ofTenant) =>
    createTrigger(client, ofTenant, identity.id.trim(), {
      ...bodyOf({ ...entry, workflowId: workflows.chosen }),
      scheme: identity.scheme,
      is_enabled: identity.isEnabled,
      ...(identity.secret !== '' && { secret: identity.secret }),
    }),
  );
  const checked = useChecked(
    () => faultsOf(entry),
    () => create.mutate(),
  );
  if (create.data) {
    const made = create.data;
    const close = (): void => {
      onClose();
      void navigate({ to: '/$tenant/triggers/$id', params: { tenant, id: made.id } });
    };
    return (
      <OnceDialog
        title={t.triggers.made(made.id)}
        texts={[
          [t.triggers.address, addressOf(made.path)],
          [t.triggers.secret, made.secret],
        ]}
        hint={t.triggers.madeHint}
        mutation={create}
        onClose={close}
      />
    );
  }
  return (
    <FormDialog
      title={t.triggers.create}
      submit={t.triggers.submit}
      mutation={create}
      onClose={onClose}
      {...checked}
      isIncomplete={identity.id.trim() === '' || workflows.chosen === ''}
    >
      {(errorOf) => {
        const set = (part: Partial<Identity>): void => setIdentity((before) => ({ ...before, ...part }));
        const texts = t.triggers.form;
        return (
          <>
            <TextField
              label={texts.id}
              hint={texts.idHint}
              value={identity.id}
              onChange={(id) => set({ id })}
              error={errorOf('trigger_id')}
              isRequired
            />
            <TriggerFields entry={entry} workflows={workflows} onChange={setEntry} errorOf={errorOf} />
            <SelectField
              label={t.triggers.scheme}
              hint={texts.schemeHint}
              value={identity.scheme}
              options={SCHEMES.map((one) => [one, t.triggers.schemes[one] ?? one] as const)}
              onChange={(scheme) => set({ scheme })}
              error={errorOf('scheme')}
            />
            <TextField
              label={texts.secret}
              hint={texts.secretHint}
              type="password"
              autoComplete="new-password"
              value={identity.secret}
              onChange={(secret) => set({ secret })}
              error={errorOf('secret')}
            />
            <Check
              label={texts.enabled}
              isChecked={identity.isEnabled}
              onChange={(isEnabled) => set({ isEnabled })}
            />
          </>
        );
      }}
    </FormDialog>
  );
}
