import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTenant } from '../../api/api-context';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { FormDialog } from '../../ui/form-dialog';
import { TextField } from '../../ui/inputs';
import { useChecked } from '../../ui/use-checked';
import { type Visibility, VisibilityField } from '../../ui/visibility';
import {
  entryOf,
  type FilterKind,
  faultsOf,
  NEW_RULE,
  type RuleEntry,
  ruleOf,
  wouldKeepRules,
} from './filter-rules';
import { changeFilter, createFilter, FILTERS, type FilterRow } from './filters';
import { Found } from './found';
import { RulesEditor } from './rules-editor';

interface FilterFormProps {
  kind: FilterKind;
  /** null: create a new filter. */
  filter: FilterRow | null;
  onClose: () => void;
}

/** Edits the rules of a new or existing filter, with a preview of the results during editing. */
export default function FilterForm({ kind, filter, onClose }: FilterFormProps) {
  const tenant = useTenant();
  const navigate = useNavigate();
  const [id, setId] = useState(filter?.id ?? '');
  const [rules, setRules] = useState<RuleEntry[]>(() => filter?.value.map(entryOf) ?? [NEW_RULE]);
  const [visibility, setVisibility] = useState<Visibility>(filter?.visibility ?? 'tenant');
  const save = useChange(
    [FILTERS],
    (client) => {
      const body = { filter_rules: rules.map(ruleOf), visibility };
      return filter
        ? changeFilter(client, tenant, kind, id, body)
        : createFilter(client, tenant, kind, id, body);
    },
    async () => {
      onClose();
      if (!filter) await navigate({ to: '/$tenant/filters/$kind/$id', params: { tenant, kind, id } });
    },
  );
  const checked = useChecked(
    () => {
      const isKept = filter !== null && wouldKeepRules(filter.value, rules.map(ruleOf));
      return { ...(isKept && { rules: t.filters.kept }), ...faultsOf(rules) };
    },
    () => save.mutate(),
  );
  return (
    <FormDialog
      title={filter ? t.filters.editOf(filter.id) : t.filters.create}
      submit={filter ? t.resource.save : t.filters.submit}
      mutation={save}
      onClose={onClose}
      {...checked}
      isIncomplete={id === ''}
    >
      {(errorOf) => (
        <>
          {!filter && (
            <TextField
              label={t.filters.id}
              value={id}
              onChange={setId}
              error={errorOf('id') ?? errorOf('filter_id')}
              isRequired
            />
          )}
          <p>{t.filters.all[kind]}</p>
          <RulesEditor kind={kind} rules={rules} onChange={setRules} errorOf={errorOf} />
          {checked.errors.rules && <p role="alert">{checked.errors.rules}</p>}
          <Found kind={kind} rules={rules.map(ruleOf)} />
          <VisibilityField
            value={visibility}
            atLeast={filter?.visibility}
            onChange={setVisibility}
            error={errorOf('visibility')}
          />
        </>
      )}
    </FormDialog>
  );
}
