/** Edits the rules of a mapping. All of them are stored at once, and count at once. */
import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { PEOPLE } from '../../api/people';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { Button } from '../../ui/button';
import { type ErrorOf, FormDialog } from '../../ui/form-dialog';
import styles from '../../ui/group-field.module.css';
import { SelectField, TextField } from '../../ui/inputs';
import { rowProblem } from '../../ui/row-problem';
import { adminWarning } from '../admin-warning';
import { TenantRolesField } from '../tenant-roles-field';
import { useRoleChoices } from '../use-roles';
import { changeProvider, type IdentityProvider, PROVIDERS } from './identity-providers';
import { entriesOf, faultsOf, NEW_RULE, type RuleEntry, rulesOf } from './mapping-entry';

interface MappingDialogProps {
  provider: IdentityProvider;
  onClose: () => void;
}

export default function MappingDialog({ provider, onClose }: MappingDialogProps) {
  const [rules, setRules] = useState<RuleEntry[]>(() => entriesOf(provider.mapping));
  const [errors, setErrors] = useState<Record<string, string>>({});
  const save = useChange(
    [PROVIDERS, ...PEOPLE],
    (client, tenant) => changeProvider(client, tenant, provider.id, { mapping: rulesOf(rules) }),
    onClose,
  );
  const submit = (): void => {
    const found = faultsOf(rules);
    setErrors(found);
    if (Object.keys(found).length === 0) save.mutate();
  };
  const texts = t.identityProviders;
  return (
    <FormDialog
      title={texts.mappingOf(provider.id)}
      submit={t.resource.save}
      mutation={save}
      onSubmit={submit}
      onClose={onClose}
      errors={errors}
    >
      {(errorOf) => (
        <>
          <p>{texts.mappingHint}</p>
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
            <Button onClick={() => setRules([...rules, NEW_RULE])}>
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
  rule: RuleEntry;
  errorOf: ErrorOf;
  onChange: (rule: RuleEntry) => void;
  onRemove: () => void;
}

function RuleFields({ at, rule, errorOf, onChange, onRemove }: RuleFieldsProps) {
  const texts = t.identityProviders;
  const choices = useRoleChoices('system_role');
  const name = texts.rule(at + 1);
  const set = (part: Partial<RuleEntry>): void => onChange({ ...rule, ...part });
  return (
    <fieldset className={styles.part}>
      <legend>{name}</legend>
      <div className={styles.two}>
        <TextField
          label={texts.group}
          value={rule.group}
          onChange={(group) => set({ group })}
          error={rowProblem(errorOf, 'mapping', at, 'group')}
          isRequired
        />
        <SelectField
          label={t.people.systemRole}
          value={rule.role}
          options={[['', texts.noRole], ...choices]}
          onChange={(role) => set({ role })}
          error={rowProblem(errorOf, 'mapping', at) ?? rowProblem(errorOf, 'mapping', at, 'role')}
        />
      </div>
      {adminWarning(rule.role)}
      <TenantRolesField
        rows={rule.tenants}
        onChange={(tenants) => set({ tenants })}
        errorOf={errorOf}
        field={`mapping.${at}.tenants`}
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
