/** Edits the rules of a mapping. All of them are stored at once, and count at once. */
import { useState } from 'react';
import { PEOPLE } from '../../api/people';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import styles from '../../ui/group-field.module.css';
import { SelectField, TextField } from '../../ui/inputs';
import { rowProblem } from '../../ui/row-problem';
import { RulePart } from '../../ui/rule-part';
import { adminWarning } from '../admin-warning';
import { type RuleRow, RulesDialog } from '../rules-dialog';
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
  const save = useChange(
    [PROVIDERS, ...PEOPLE],
    (client, tenant) => changeProvider(client, tenant, provider.id, { mapping: rulesOf(rules) }),
    onClose,
  );
  const texts = t.identityProviders;
  return (
    <RulesDialog
      title={texts.mappingOf(provider.id)}
      hint={texts.mappingHint}
      addText={texts.addRule}
      rules={rules}
      onChange={setRules}
      newRule={NEW_RULE}
      faultsOf={faultsOf}
      save={save}
      onClose={onClose}
    >
      {(row) => <RuleFields {...row} />}
    </RulesDialog>
  );
}

function RuleFields({ at, rule, errorOf, onChange, onRemove }: RuleRow<RuleEntry>) {
  const texts = t.identityProviders;
  const choices = useRoleChoices('system_role');
  const name = texts.rule(at + 1);
  const set = (part: Partial<RuleEntry>): void => onChange({ ...rule, ...part });
  return (
    <RulePart name={name} removeText={texts.removeRule(name)} onRemove={onRemove}>
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
    </RulePart>
  );
}
