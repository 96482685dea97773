import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi, useTenant } from '../api/api-context';
import { namesQuery, PEOPLE, type PeopleKind } from '../api/people';
import { useChange } from '../api/use-change';
import { t } from '../text/text';
import { ConfirmDialog } from '../ui/confirm-dialog';
import { FormDialog } from '../ui/form-dialog';
import { SuggestField } from '../ui/suggest-field';
import { useRested } from '../ui/use-rested';
import type { MembershipChanges, MembershipQuestion, PanelWords } from './membership-changes';
import { RoleField } from './role-field';

interface DialogProps {
  question: MembershipQuestion;
  words: PanelWords;
  changes: MembershipChanges;
  onClose: () => void;
}

interface Member {
  name: string;
  role: string;
}

/** Default role of a new member of a tenant. */
const USUAL_ROLE = 'user';

export default function MembershipDialog({ question, words, changes, onClose }: DialogProps) {
  const ask = changes[question.do]!.ask;
  const change = useChange<Member>(
    PEOPLE,
    (client, tenant, { name, role }) => ask(client, tenant, name, role),
    onClose,
  );
  const row = question.do === 'add' ? null : question.row;
  const [name, setName] = useState(row?.name ?? '');
  const [role, setRole] = useState(row?.role ?? USUAL_ROLE);
  if (question.do === 'remove')
    return (
      <ConfirmDialog
        title={t.people.removeTitle(name)}
        text={words.removeText(name)}
        action={t.people.remove}
        mutation={{ ...change, mutate: () => change.mutate({ name, role: '' }) }}
        onClose={onClose}
      />
    );
  return (
    <FormDialog
      title={row ? t.people.roleTitle(name) : words.add}
      submit={row ? t.people.changeRole : words.add}
      mutation={change}
      isIncomplete={name === ''}
      onSubmit={() => change.mutate({ name, role })}
      onClose={onClose}
    >
      {!row && <NameField label={words.column} kind={changes.kind} value={name} onChange={setName} />}
      {changes.change && <RoleField type="tenant_role" value={role} onChange={setRole} />}
    </FormDialog>
  );
}

/** Input for an existing name. Suggests names that the manager finds for the typed text. */
function NameField({
  label,
  kind,
  value,
  onChange,
}: {
  label: string;
  kind: PeopleKind;
  value: string;
  onChange: (value: string) => void;
}) {
  const { client } = useApi();
  const text = useRested(value);
  const { data: names = [] } = useQuery({
    ...namesQuery(client, useTenant(), kind, text),
    placeholderData: (before) => before,
  });
  return (
    <SuggestField label={label} value={value} options={names.map((name) => [name])} onChange={onChange} />
  );
}
