/** Edits the rules of trust of a service account. All of them are replaced at once. */
import { useState } from 'react';
import { PEOPLE } from '../../api/people';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { AreaField, TextField } from '../../ui/inputs';
import { rowProblem } from '../../ui/row-problem';
import { RulePart } from '../../ui/rule-part';
import { type RuleRow, RulesDialog } from '../rules-dialog';
import { type ServiceAccount, setTrust } from './service-accounts';
import { entriesOf, faultsOf, NEW_TRUST, rulesOf, type TrustEntry } from './trust-entry';

interface TrustDialogProps {
  account: ServiceAccount;
  onClose: () => void;
}

export default function TrustDialog({ account: { name, trust }, onClose }: TrustDialogProps) {
  const [rules, setRules] = useState<TrustEntry[]>(() => (trust.length > 0 ? entriesOf(trust) : [NEW_TRUST]));
  const save = useChange(PEOPLE, (client, tenant) => setTrust(client, tenant, name, rulesOf(rules)), onClose);
  const texts = t.serviceAccounts;
  return (
    <RulesDialog
      title={texts.trustOf(name)}
      hint={texts.trustHint}
      addText={texts.addRule}
      rules={rules}
      onChange={setRules}
      newRule={NEW_TRUST}
      faultsOf={faultsOf}
      save={save}
      onClose={onClose}
    >
      {(row) => <RuleFields {...row} />}
    </RulesDialog>
  );
}

function RuleFields({ at, rule, errorOf, onChange, onRemove }: RuleRow<TrustEntry>) {
  const texts = t.serviceAccounts;
  const name = texts.rule(at + 1);
  const set = (part: Partial<TrustEntry>): void => onChange({ ...rule, ...part });
  const of = (field: string): string | null => rowProblem(errorOf, 'trust', at, field);
  return (
    <RulePart name={name} removeText={texts.removeRule(name)} onRemove={onRemove}>
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
    </RulePart>
  );
}
