/** Edits the rules of trust of a service account. All of them are replaced at once. */
import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { PEOPLE } from '../../api/people';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { Button } from '../../ui/button';
import { type ErrorOf, FormDialog } from '../../ui/form-dialog';
import styles from '../../ui/group-field.module.css';
import { AreaField, TextField } from '../../ui/inputs';
import { rowProblem } from '../../ui/row-problem';
import { type ServiceAccount, setTrust } from './service-accounts';
import { entriesOf, faultsOf, NEW_TRUST, rulesOf, type TrustEntry } from './trust-entry';

interface TrustDialogProps {
  account: ServiceAccount;
  onClose: () => void;
}

export default function TrustDialog({ account: { name, trust }, onClose }: TrustDialogProps) {
  const [rules, setRules] = useState<TrustEntry[]>(() => (trust.length > 0 ? entriesOf(trust) : [NEW_TRUST]));
  const [errors, setErrors] = useState<Record<string, string>>({});
  const save = useChange(PEOPLE, (client, tenant) => setTrust(client, tenant, name, rulesOf(rules)), onClose);
  const submit = (): void => {
    const found = faultsOf(rules);
    setErrors(found);
    if (Object.keys(found).length === 0) save.mutate();
  };
  const texts = t.serviceAccounts;
  return (
    <FormDialog
      title={texts.trustOf(name)}
      submit={t.resource.save}
      mutation={save}
      onSubmit={submit}
      onClose={onClose}
      errors={errors}
    >
      {(errorOf) => (
        <>
          <p>{texts.trustHint}</p>
          {rules.map((rule, at) => (
            <RuleFields
              // Rules have no ids, so their index is the key.
              key={at}
              at={at}
              rule={rule}
              errorOf={errorOf}
              onChange={(next) => setRules(rules.map((one, i) => (i === at ? next : one)))}
              onRemove={() => setRules(rules.filter((_, i) => i !== at))}
            />
          ))}
          <div>
            <Button onClick={() => setRules([...rules, NEW_TRUST])}>
              <Plus size={15} aria-hidden="true" /> {texts.addRule}
            </Button>
          </div>
        </>
      )}
    </FormDialog>
  );
}

interface RuleFieldsProps {
  at: number;
  rule: TrustEntry;
  errorOf: ErrorOf;
  onChange: (rule: TrustEntry) => void;
  onRemove: () => void;
}

function RuleFields({ at, rule, errorOf, onChange, onRemove }: RuleFieldsProps) {
  const texts = t.serviceAccounts;
  const name = texts.rule(at + 1);
  const set = (part: Partial<TrustEntry>): void => onChange({ ...rule, ...part });
  const of = (field: string): string | null => rowProblem(errorOf, 'trust', at, field);
  return (
    <fieldset className={styles.part}>
      <legend>{name}</legend>
      <TextField
        label={texts.issuer}
        hint={texts.issuerHint}
        value={rule.issuer}
        onChange={(issuer) => set({ issuer })}
        error={of('issuer')}
        isRequired
      />
      <TextField
        label={texts.audience}
        hint={texts.audienceHint}
        value={rule.audience}
        onChange={(audience) => set({ audience })}
        error={of('audience')}
        isRequired
      />
      <TextField
        label={texts.subject}
        hint={texts.subjectHint}
        value={rule.subject}
        onChange={(subject) => set({ subject })}
        error={of('subject')}
        isRequired
      />
      <AreaField
        label={texts.certificate}
        hint={texts.certificateHint}
        rows={2}
        value={rule.caCertificate}
        onChange={(caCertificate) => set({ caCertificate })}
        error={of('ca_certificate')}
      />
      <Button
        look="icon"
        className={styles.remove}
        aria-label={texts.removeRule(name)}
        title={texts.removeRule(name)}
        onClick={onRemove}
      >
        <Trash2 size={16} aria-hidden="true" />
      </Button>
    </fieldset>
  );
}
